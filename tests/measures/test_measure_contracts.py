"""Measures keep their contract."""

from cosim.testing import MeasureContract
from cosim_measures.constant import Constant
from cosim_measures.delay import Delay
from cosim_measures.differentiate import Differentiate
from cosim_measures.first_order_filter import FirstOrderFilter
from cosim_measures.integrate import Integrate
from cosim_measures.max_abs import MaxAbs
from cosim_measures.min_abs import MinAbs
from cosim_measures.product import Product
from cosim_measures.rate_limiter import RateLimiter
from cosim_measures.sample_and_hold import SampleAndHold
from cosim_measures.sliding_mean import SlidingMean
from cosim_measures.sliding_rms import SlidingRms
from cosim_measures.variable import Variable


class TestDelay(MeasureContract):
    make = staticmethod(lambda: Delay(delay=0.1, interpolation="dense_output"))
    tolerance = 1e-4


class TestProduct(MeasureContract):
    make = staticmethod(lambda: Product())


class TestIntegrate(MeasureContract):
    make = staticmethod(lambda: Integrate(value=0.3))


class TestDifferentiate(MeasureContract):
    make = staticmethod(lambda: Differentiate())


class TestMaxAbs(MeasureContract):
    make = staticmethod(lambda: MaxAbs())
    times = (0.03, 0.06, 0.83)


class TestMinAbs(MeasureContract):
    make = staticmethod(lambda: MinAbs())


class TestFirstOrderFilter(MeasureContract):
    make = staticmethod(lambda: FirstOrderFilter(time_constant=0.05))


class TestRateLimiter(MeasureContract):
    make = staticmethod(lambda: RateLimiter(rising=0.4, falling=0.3, time_constant=0.01))


class TestSlidingMean(MeasureContract):
    make = staticmethod(lambda: SlidingMean(window=0.3))


class TestSlidingRms(MeasureContract):
    make = staticmethod(lambda: SlidingRms(window=0.3))


class TestSampleAndHold(MeasureContract):
    make = staticmethod(lambda: SampleAndHold(period=0.1))


class TestVariable(MeasureContract):
    make = staticmethod(lambda: Variable(value=2.0))


class TestConstant(MeasureContract):
    make = staticmethod(lambda: Constant(value=2.0))
