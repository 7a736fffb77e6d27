"""The registration of this package."""

from __future__ import annotations

import cosim
from cosim_measures.constant import Constant
from cosim_measures.delay import Delay
from cosim_measures.differentiate import Differentiate
from cosim_measures.first_order_filter import FirstOrderFilter
from cosim_measures.integrate import Integrate
from cosim_measures.max_abs import MaxAbs
from cosim_measures.maximum import Maximum
from cosim_measures.min_abs import MinAbs
from cosim_measures.minimum import Minimum
from cosim_measures.minus import Minus
from cosim_measures.one import One
from cosim_measures.plus import Plus
from cosim_measures.product import Product
from cosim_measures.rate_limiter import RateLimiter
from cosim_measures.result import Result
from cosim_measures.sample_and_hold import SampleAndHold
from cosim_measures.scale import Scale
from cosim_measures.signal import Signal
from cosim_measures.sinusoid import Sinusoid
from cosim_measures.sliding_mean import SlidingMean
from cosim_measures.sliding_rms import SlidingRms
from cosim_measures.time import Time
from cosim_measures.variable import Variable
from cosim_measures.variable_delay import VariableDelay
from cosim_measures.zero import Zero

cosim_contract = "1.0"


@cosim.hookimpl
def cosim_register(register: cosim.Register) -> None:
    register("measures.delay", Delay)
    register("measures.variable_delay", VariableDelay)
    register("measures.constant", Constant)
    register("measures.zero", Zero)
    register("measures.one", One)
    register("measures.time", Time)
    register("measures.variable", Variable)
    register("measures.result", Result)
    register("measures.signal", Signal)
    register("measures.sinusoid", Sinusoid)
    register("measures.plus", Plus)
    register("measures.minus", Minus)
    register("measures.scale", Scale)
    register("measures.product", Product)
    register("measures.integrate", Integrate)
    register("measures.differentiate", Differentiate)
    register("measures.minimum", Minimum)
    register("measures.maximum", Maximum)
    register("measures.min_abs", MinAbs)
    register("measures.max_abs", MaxAbs)
    register("measures.sample_and_hold", SampleAndHold)
    register("measures.first_order_filter", FirstOrderFilter)
    register("measures.sliding_mean", SlidingMean)
    register("measures.sliding_rms", SlidingRms)
    register("measures.rate_limiter", RateLimiter)
