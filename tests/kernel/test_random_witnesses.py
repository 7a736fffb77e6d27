"""Random witnesses with known zeros: none is missed, none fires twice or late."""

from __future__ import annotations

from typing import Any

import pytest
from how_many import many
from random_witnesses import FAMILIES, Signal, SignalWithRate, Tally, at, random_values, tally, zeros

FIXED = {"integrator": "integrators.runge_kutta_4", "fixed_step": 0.1, "accuracy": 1e-6}
BEYOND = 0.01  # the part of zeros that may be missed: bumps of a hundredth of a step, which no look meets


def check(found: Tally) -> None:
    assert found.zeros > found.signals
    assert found.doubled == found.late == 0
    assert found.missed <= BEYOND * found.zeros, found


@pytest.mark.few(1)
@pytest.mark.parametrize("how", [{"accuracy": 1e-6}, FIXED], ids=["error control", "fixed steps"])
@pytest.mark.parametrize("component", [Signal, SignalWithRate])
def test_a_few(component: type[Signal], how: dict[str, Any]) -> None:
    for family in FAMILIES:
        check(tally(component, family, range(many(12)), how))


def test_an_oscillation_that_keeps_time_with_the_looks_is_seen() -> None:
    """Two cycles in a quarter of the last step, looked at where it turns: all ten zeros were missed."""
    found = tally(Signal, "sinusoids", range(470, 471), {"accuracy": 1e-6})
    assert (found.zeros, found.missed, found.doubled, found.late) == (10, 0, 0, 0)


@pytest.mark.thorough
@pytest.mark.parametrize("component", [Signal, SignalWithRate])
@pytest.mark.parametrize("family", FAMILIES)
def test_ten_thousand(family: str, component: type[Signal]) -> None:
    for how, numbers in (({"accuracy": 1e-6}, range(625)), (FIXED, range(625, 1250))):
        check(tally(component, family, numbers, how))


def test_the_zeros_are_those_of_the_signal() -> None:
    """The polynomial alone has the zeros that it was given."""
    import numpy as np

    for number in range(20):
        values = random_values("polynomial", np.random.default_rng(number), 60.0, 0.01)
        values["offset"][:] = 0.0
        inside = np.sort(values["roots"][(values["roots"] > 0) & (values["roots"] < 1)])
        assert zeros(values) == pytest.approx(inside, abs=1e-12)
        assert np.abs(at(values, inside)).max(initial=0.0) < 1e-9


def test_fast_oscillations_are_counted() -> None:
    """320 cycles in a step of a second: every zero ends a step, and none is leapt over."""
    from kernel_parts import system_of

    import cosim

    system = system_of(part=Signal())
    state = system.default_state()
    state["part.amplitudes"], state["part.frequencies"] = [1.0, 0, 0, 0], [2010.6, 0, 0, 0]
    state["part.phases"] = [0.3, 0, 0, 0]
    simulator = cosim.Simulator(system, state, accuracy=1e-6)
    simulator.advance_to(1.0)
    assert simulator.state["part.seen"] == 640
