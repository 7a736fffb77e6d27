"""Lowered runs with held witnesses against the Simulator, bit by bit."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from event_parts import Ball
from held_parts import Fading, Gears, Relay, Shaken, Stuck
from lowered_parts import system_of
from lowered_run import LoweredRun, compare

import cosim
from cosim.run_data.records.evaluation import NOTHING
from cosim.run_data.records.holds import Hold, Holds
from cosim.run_data.run import ARRAYS, STATE
from cosim.step import failures
from cosim_compiler.record import place_in

LONG = pytest.mark.thorough  # each method is compiled
MERSON = "integrators.runge_kutta_merson"


def as_numbers(record: Any) -> Any:
    return np.frombuffer(record, dtype=np.float64)


def held_count(run: LoweredRun) -> int:
    """The number of witnesses that are held."""
    return int(run.memory.holds.count)


METHODS = [
    ("runge_kutta_merson", {"fixed_step": 0.01}),
    pytest.param("dormand_prince_853", {}, marks=LONG),
    pytest.param("radau5", {}, marks=LONG),
    pytest.param("bdf", {}, marks=LONG),
    pytest.param("velocity_verlet", {"fixed_step": 0.01}, marks=LONG),
]


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_a_ball_comes_to_rest(method: str, options: dict[str, float]) -> None:
    system = system_of(Ball, restitution=0.5)
    writes = {1.6: [("ball.floor_height", 0.25)], 2.6: [("ball.speed", 1.0)]}
    times = [1.0, 1.5, 1.6, 1.9, 2.6, 2.65, 4.0]
    run = compare(system, f"integrators.{method}", times, writes, accuracy=1e-6, **options)
    assert run.findings.count("held") >= 1 and run.findings.count("released") >= 1


def test_a_held_witness_that_becomes_nan_is_released_without_an_event() -> None:
    options = {"fixed_step": 2.0**-7, "accuracy": 1e-4}
    run = compare(system_of(Fading, drive=0.5), "integrators.explicit_euler", [0.9, 0.9, 1.5], **options)
    assert run.findings.count("held") == run.findings.count("released") == 1


@pytest.mark.by_turns
@pytest.mark.parametrize(("method", "options"), METHODS)
@pytest.mark.parametrize("part", [Relay, Shaken, Gears])
def test_a_hold_is_released(part: type[cosim.Component], method: str, options: dict[str, float]) -> None:
    writes = {2.2: [("relay.drive", 1.6)]} if part is Relay else {}
    times = [0.4, 1.2, 1.7, 1.9, 2.2, 3.4]
    if method == "velocity_verlet" and part is not Shaken:
        pytest.skip("a method for systems of second order")
    if method == "bdf" and part is Gears:
        pytest.skip("handlers at every step keep a multistep method at its first order")
    run = compare(system_of(part), f"integrators.{method}", times, writes, accuracy=1e-6, **options)
    assert "held" in run.findings and "released" in run.findings


@pytest.mark.parametrize("method", ["dormand_prince_853", pytest.param("radau5", marks=LONG)])
def test_several_held_witnesses_with_a_delay_and_a_restored_state(method: str) -> None:
    model = cosim.Model("all")
    for part in (Relay, Shaken, Ball):
        model.add(part, part.__name__.lower(), **({"restitution": 0.5} if part is Ball else {}))
    model.add("measures.delay", "late", source="ball.height", delay=0.1)
    model.add("measures.integrate", "felt", source="late")
    system, most_held = model.build(), 0
    run = compare(system, f"integrators.{method}", [0.5, 1.0], accuracy=1e-6)
    for time in (1.5, 1.85, 1.95, 2.5):
        restored = LoweredRun(system, f"integrators.{method}", accuracy=1e-6)
        for name, _, role in ARRAYS:
            if role == STATE:
                restored.arrays[name] = copy.copy(run.arrays[name])
        assert restored.call("check") == failures.REACHED
        for each in (run, restored):
            assert each.call("advance", time) == failures.REACHED
        for name, _, role in ARRAYS:
            if role == STATE:
                assert restored.arrays[name].tobytes() == run.arrays[name].tobytes()
        most_held = max(most_held, held_count(run))
    assert most_held >= 2
    compared = compare(system, f"integrators.{method}", [1.0, 1.85, 2.5, 4.0], accuracy=1e-6)
    assert compared.findings.count("held") >= 3


def test_a_witness_that_cannot_be_held_is_an_error() -> None:
    run = LoweredRun(system_of(Stuck), MERSON, accuracy=1e-6)
    assert run.call("initialize") == failures.REACHED
    assert run.call("advance", 3.0) == failures.NothingToHoldBy.number
    assert run.program.witnesses[run.memory.failure.witness] == "stuck.zero"


def test_model_exchange_stops_endless_events_in_place_of_holding() -> None:
    run = LoweredRun(system_of(Relay), MERSON, accuracy=1e-6)
    assert run.call("initialize") == failures.REACHED and run.call("event") == failures.REACHED
    code = 0
    for i in range(12):
        run.arrays["y"][0] = 1e-9 if i % 2 == 0 else -1e-9
        run.memory.evaluation.stage = NOTHING
        if code == failures.REACHED:
            code = run.call("event", 0.1)
    assert code == failures.EndlessEvents.number
    assert run.program.witnesses[run.memory.failure.witness] == "relay.zero"


def test_a_saved_state_with_impossible_holds_is_refused() -> None:
    run = LoweredRun(system_of(Ball, restitution=0.5), MERSON, accuracy=1e-6)
    assert run.call("initialize") == failures.REACHED and run.call("advance", 1.7) == failures.REACHED
    assert held_count(run) == 1
    memory = run.memory
    counts, order, hold = memory.holds, memory.held_order, memory.witness_holds
    for numbers, place, value in (
        (as_numbers(counts), place_in(Holds, "count"), 9.0),
        (order, 0, -1.0),
        (as_numbers(hold[0]), place_in(Hold, "kind"), 5.0),
        (as_numbers(hold[0]), place_in(Hold, "size"), 1e9),
    ):
        saved_number = numbers[place]
        numbers[place] = value
        assert run.call("check") == failures.ForeignState.number
        numbers[place] = saved_number
    assert run.call("check") == failures.REACHED
