"""Random witnesses with known zeros: none is missed, none triggers twice or late."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from how_many import many
from kernel_parts import system_of
from random_witnesses import FAMILIES, Signal, SignalWithRate, Tally, at, random_values, tally, zeros

import cosim

ERROR_CONTROL = {"accuracy": 1e-6}
FIXED_STEPS = {"integrator": "integrators.runge_kutta_4", "fixed_step": 0.1, "accuracy": 1e-6}
MAY_BE_MISSED = 0.01  # of all zeros: bumps of a hundredth of a step, which lie between two check points


def check(counts: Tally) -> None:
    assert counts.zeros > counts.signals
    assert counts.doubled == counts.late == 0
    assert counts.missed <= MAY_BE_MISSED * counts.zeros, counts


@pytest.mark.few(1)
@pytest.mark.parametrize("options", [ERROR_CONTROL, FIXED_STEPS], ids=["error control", "fixed steps"])
@pytest.mark.parametrize("component", [Signal, SignalWithRate])
def test_some_witnesses_of_each_family(component: type[Signal], options: dict[str, Any]) -> None:
    for family in FAMILIES:
        check(tally(component, family, range(many(12)), options))


def test_an_oscillation_whose_turning_points_are_the_check_points_is_seen() -> None:
    """It makes two cycles in a quarter of the last step: all ten zeros were missed once."""
    counts = tally(Signal, "sinusoids", range(470, 471), ERROR_CONTROL)
    assert (counts.zeros, counts.missed, counts.doubled, counts.late) == (10, 0, 0, 0)


@pytest.mark.thorough
@pytest.mark.parametrize("component", [Signal, SignalWithRate])
@pytest.mark.parametrize("family", FAMILIES)
def test_ten_thousand_witnesses(family: str, component: type[Signal]) -> None:
    for options, numbers in ((ERROR_CONTROL, range(625)), (FIXED_STEPS, range(625, 1250))):
        check(tally(component, family, numbers, options))


def test_the_zeros_of_a_polynomial_alone_are_its_roots() -> None:
    """The zeros that witnesses are compared with are found right."""
    for number in range(20):
        values = random_values("polynomial", np.random.default_rng(number), 60.0, 0.01)
        values["offset"][:] = 0.0
        inside = np.sort(values["roots"][(values["roots"] > 0) & (values["roots"] < 1)])
        assert zeros(values) == pytest.approx(inside, abs=1e-12)
        assert np.abs(at(values, inside)).max(initial=0.0) < 1e-9


def test_fast_oscillations_are_counted() -> None:
    """320 cycles in a step of a second have 640 zeros: each ends a step."""
    system = system_of(part=Signal())
    state = system.default_state()
    state["part.amplitudes"], state["part.frequencies"] = [1.0, 0, 0, 0], [2010.6, 0, 0, 0]
    state["part.phases"] = [0.3, 0, 0, 0]
    simulator = cosim.Simulator(system, state, accuracy=1e-6)
    simulator.advance_to(1.0)
    assert simulator.state["part.seen"] == 640
