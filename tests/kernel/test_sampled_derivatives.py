"""Derivatives by the period and the offset of a handler that runs periodically."""

from __future__ import annotations

import math

import pytest
from order_parts import Sampled, derivative_findings, model_of


def sampled(period, offset, k):
    """y of `Sampled` at 1 s, for real and for complex numbers."""
    y, time, n = 1.0, 0.0, 0
    while (offset + n * period).real < 1.0:
        y = y * math.e ** (k * (offset + n * period - time)) + n + 1.0
        time, n = offset + n * period, n + 1
    return y * math.e ** (k * (1.0 - time))


@pytest.mark.parametrize(("period", "offset"), [(0.31, 0.1), (0.07, 0.0), (0.211, 0.003)])
def test_a_period_and_an_offset_that_are_parameters(period: float, offset: float) -> None:
    values = {"period": period, "offset": offset, "k": 0.8}
    by = ["m.period", "m.k"] if offset == 0.0 else ["m.period", "m.offset", "m.k"]
    model = model_of(Sampled(period=period, offset=offset, k=0.8))
    result = model.simulate(until=1.0, derivatives=by, accuracy=1e-10)
    gradient = model.gradient("m.y", by, until=1.0, accuracy=1e-10)
    assert not derivative_findings(result)
    step = 1e-30  # along the imaginary axis: its square is nothing beside the numbers
    for path in by:
        complex_values = {name: complex(value) for name, value in values.items()}
        complex_values[path.removeprefix("m.")] += step * 1j
        expected = sampled(**complex_values).imag / step
        assert result.derivative("m.y", path)[-1] == pytest.approx(expected, rel=1e-7)
        assert gradient[path].item() == pytest.approx(expected, rel=1e-7)
    # a tick at the very start would not be there with an offset that is a little smaller
    result = model.simulate(until=1.0, derivatives=["m.offset"])
    assert derivative_findings(result) == (["no derivative"] if offset == 0.0 else [])
