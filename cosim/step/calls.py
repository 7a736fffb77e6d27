"""Large kernel functions that a run calls by their addresses: only runs with witnesses need them."""

from __future__ import annotations

from cosim.compiled.walker import plain_blocks
from cosim.contracts.method_layout import TUNE_SIGNATURE
from cosim.step.crossing import RATES_SIGNATURE, SEARCH_SIGNATURE
from cosim.step.forecast import FORECAST_SIGNATURE


def call_search(address, arguments):
    """`cosim.step.crossing.first_crossing`."""
    return plain_blocks[address](*arguments)


def call_rates(address, arguments):
    """`cosim.step.crossing.rates_along`."""
    return plain_blocks[address](*arguments)


def call_forecast(address, arguments):
    """`cosim.step.forecast.forecast`."""
    return plain_blocks[address](*arguments)


def call_tune(address, arguments):
    """What of an integrator's coefficients depends on the accuracy."""
    plain_blocks[address](*arguments)


call_tune.__dict__["__indirect__"] = TUNE_SIGNATURE
call_search.__dict__["__indirect__"] = SEARCH_SIGNATURE
call_rates.__dict__["__indirect__"] = RATES_SIGNATURE
call_forecast.__dict__["__indirect__"] = FORECAST_SIGNATURE
