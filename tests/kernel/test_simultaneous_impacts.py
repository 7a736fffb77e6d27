"""Derivatives of runs whose impacts coincide: of wheels that one body carries, and of unconnected wheels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from order_parts import BY_OF_CART, Wheel, cart, derivative_findings, model_of

import cosim


@pytest.mark.few(1)
@pytest.mark.parametrize("method", ["dormand_prince", "radau5"])
def test_wheels_that_meet_the_floor_together(method: str) -> None:
    """Both bounce at one instant, in either order: their effects on the body add up."""
    system = cart(0.0)
    options = {"until": 0.6, "output_interval": 0.6, "accuracy": 1e-11, "integrator": f"integrators.{method}"}
    options["maximum_step"] = 0.001  # a free fall is a polynomial: steps would be long
    result = cosim.simulate(system, derivatives=BY_OF_CART, **options)
    times = [event.time for event in result.events]
    assert len(times) == 2 and times[0] == times[1]
    assert not derivative_findings(result)
    step, signals = 1e-4, ("b.x", "one.x", "two.v")
    base = np.array([result[signal][-1] for signal in signals])

    def moved_ends(path: str, move: float) -> np.ndarray:
        state = system.default_state()
        state[path] = float(state[path]) + move
        # with a derivative, since events are located to rounding then
        moved = cosim.simulate(system, state=state, derivatives=BY_OF_CART[:1], **options)
        return np.array([moved[signal][-1] for signal in signals])

    for path in BY_OF_CART:
        # the second derivative jumps with the order of the impacts: each side is extrapolated by itself
        ahead = (4.0 * moved_ends(path, 0.5 * step) - moved_ends(path, step) - 3.0 * base) / step
        behind = (3.0 * base + moved_ends(path, -step) - 4.0 * moved_ends(path, -0.5 * step)) / step
        slopes = [result.derivative(signal, path)[-1] for signal in signals]
        assert slopes == pytest.approx(ahead, rel=1e-5, abs=1e-5)
        assert slopes == pytest.approx(behind, rel=1e-5, abs=1e-5)


def test_wheels_whose_order_matters_have_no_derivative() -> None:
    """Between both bounces the body has an acceleration that it has neither before nor behind them."""
    for mixed in (0.3, -1e-3):
        result = cosim.simulate(cart(mixed), until=0.6, derivatives=["one.floor"], accuracy=1e-9)
        assert derivative_findings(result) == ["no derivative"]
        assert math.isnan(result.derivative("b.x", "one.floor")[-1])
        together = cosim.simulate(cart(mixed), until=0.6, derivatives=["b.x"], accuracy=1e-9)
        assert not derivative_findings(together)


@pytest.mark.parametrize("count", [2, 5])
def test_equal_wheels_without_a_connection(count: int) -> None:
    """Each wheel has the derivatives that it has alone; by parameters of the others they are 0.

    A gradient goes back over one order alone, and there is none.
    """
    names = [f"w{i}" for i in range(count)]
    model = cosim.Model("wheels")
    for name in names:
        model.add(Wheel(), name)
    alone = model_of(Wheel(), "w0").simulate(until=1.4, derivatives=["w0.floor", "w0.e"], accuracy=1e-9)
    by = [*(f"{name}.floor" for name in names), "w1.e"]
    result = model.simulate(until=1.4, derivatives=by, accuracy=1e-9)
    assert not derivative_findings(result) and len(result.events) == 6 * count
    for of in names:
        for path in by:
            is_own = path.startswith(of)
            expected = alone.derivative("w0.x", path.replace(of, "w0"))[-1] if is_own else 0.0
            assert result.derivative(f"{of}.x", path)[-1] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    gradient = model.gradient("w0.x", ["w0.floor"], until=1.4)
    assert np.isnan(gradient["w0.floor"]).all()


def test_equal_wheels_that_come_to_rest_together() -> None:
    """Between two holds that begin at one instant the flow is another one: there are no derivatives."""
    model = cosim.Model("wheels")
    for name, x in (("w0", 1.0), ("w1", 1.0), ("w2", 0.9)):
        model.add(Wheel(x=x), name)
    result = model.simulate(until=2.0, derivatives=["w1.floor"], accuracy=1e-9)
    (finding,) = [finding for finding in result.findings if finding.kind == "no derivative"]
    assert 1.4 < finding.time < 1.6  # where w0 and w1 come to rest
    assert math.isnan(result.derivative("w0.x", "w1.floor")[-1])
    # where they come to rest one after the other there are
    result = model.simulate(until=2.0, derivatives=["w2.floor"], accuracy=1e-9)
    assert not derivative_findings(result)
    assert result.derivative("w2.x", "w2.floor")[-1] == pytest.approx(1.0, abs=1e-6)
