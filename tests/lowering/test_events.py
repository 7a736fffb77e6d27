"""Lowered event handlers and witnesses against the Simulator, bit by bit."""

from __future__ import annotations

import math

import pytest
from event_parts import Ball, Clockwork
from lowered_parts import system_of
from lowered_run import LoweredRun, compare
from zero_parts import Cradle, FloorBall, Mixture, Tank

import cosim
from cosim.step import failures

LONG = pytest.mark.thorough  # each method is compiled
TIMES = [0.05, 0.1, 0.26, 0.26, 0.5, 0.77, 1.3]


@pytest.mark.parametrize("integrator", ["dormand_prince_853", pytest.param("radau5", marks=LONG)])
def test_every_cause_and_kind(integrator: str) -> None:
    writes = {0.5: [("clockwork.drive", 0.5)], 0.77: [("clockwork.period", 0.07), ("clockwork.z", 2.0)]}
    run = compare(system_of(Clockwork), f"integrators.{integrator}", TIMES, writes, accuracy=1e-6)
    assert run.arrays["k"].max() not in (0, 100)  # it begins with 100 and is changed by every handler


def test_periods_that_are_set_are_rational_numbers() -> None:
    """The run finds the fractions: of a decimal, of simple fractions, of 16 digits and of a power of two."""
    numbers = [0.1, 1 / 30, 2 / 7, 0.1234567890123456, 0.0023456789012345678, 2.0**-9]
    times = list(dict.fromkeys(TIMES))
    writes = {time: [("clockwork.period", number)] for time, number in zip(times, numbers, strict=True)}
    compare(system_of(Clockwork), "integrators.dormand_prince_853", TIMES, writes, accuracy=1e-6)


def test_every_cause_with_fixed_steps() -> None:
    compare(system_of(Clockwork), "integrators.dormand_prince_853", TIMES, fixed_step=0.01)


def test_a_request_to_stop() -> None:
    run = compare(system_of(Clockwork, stop_at=0.3), "integrators.dormand_prince_853", TIMES, accuracy=1e-6)
    assert run.time < 0.77


@pytest.mark.parametrize(
    ("integrator", "options"),
    [
        ("dormand_prince_853", {"accuracy": 1e-8}),
        ("dormand_prince_853", {"fixed_step": 0.02, "accuracy": 1e-4}),
        pytest.param("radau5", {"accuracy": 1e-5}, marks=LONG),
        pytest.param("velocity_verlet", {"fixed_step": 0.02}, marks=LONG),
    ],
)
def test_witnesses(integrator: str, options: dict[str, float]) -> None:
    writes = {0.77: [("ball.floor_height", 0.6)], 1.3: [("ball.floor_height", -0.2)]}
    system = system_of(Ball)
    times = [*TIMES, 2.0, 2.6]
    run = compare(system, f"integrators.{integrator}", times, writes, **options)
    assert run.arrays["k"].max() >= 3


@pytest.mark.parametrize("part", [Tank, Mixture, FloorBall, Cradle])
def test_witnesses_at_exactly_zero(part: type[cosim.Component]) -> None:
    values = {"put_at": 0.5} if part is FloorBall else {"spring": 20.0} if part is Cradle else {}
    writes = {0.77: [("floorball.h", 0.0), ("floorball.v", 0.0)]} if part is FloorBall else {}
    compare(system_of(part, **values), "integrators.dormand_prince_853", TIMES, writes, accuracy=1e-6)


def test_the_policy_stop_returns_a_code_and_the_witness() -> None:
    run = LoweredRun(
        system_of(Ball, restitution=0.5),
        "integrators.dormand_prince_853",
        accuracy=1e-6,
        endless_events="stop",
    )
    assert run.call("initialize") == failures.REACHED
    assert run.call("advance", 3.0) == failures.EndlessEvents.number
    assert run.program.witnesses[run.memory.failure.witness] == "ball.floor"


def test_the_policy_report_continues() -> None:
    compare(
        system_of(Ball, restitution=0.5),
        "integrators.dormand_prince_853",
        [1.0, 1.35],
        accuracy=1e-6,
        endless_events="report",
    )


class Spoiler(cosim.Component):
    """Writes infinity to a state."""

    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(x_dot):
        x_dot[0] = 1.0

    @cosim.at([0.5], does="unrestricted")
    def spoil(x, x_next):
        x_next[0] = math.inf * x


def test_a_handler_that_writes_infinity_is_refused() -> None:
    run = LoweredRun(system_of(Spoiler), "integrators.dormand_prince_853", accuracy=1e-6)
    assert run.call("initialize") == failures.REACHED
    assert run.call("advance", 1.0) == failures.InfiniteState.number
    assert run.arrays["y"][0] == pytest.approx(1.5)
