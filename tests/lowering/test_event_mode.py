"""A host with an event mode: both limits of every event, by the entry points that the C shell calls."""

from __future__ import annotations

import pytest
from lowered_run import LoweredRun
from thrown_ball import EVENTS, RISE, thrown_ball

from cosim.run_data.records.clock import JUMP_WAITS
from cosim.run_data.run import ARRAYS
from cosim.step import failures


def value(run: LoweredRun, path: str) -> float:
    assert run.call("evaluate", run.memory.clock.time) == failures.REACHED
    slot = run.program.system.signal(path).slot
    return float(run.arrays[slot.array][slot.offset])


def step(run: LoweredRun, target: float) -> bool:
    """As the shell does it: pieces until the target, or until something waits."""
    while run.memory.clock.time < target:
        assert run.call("step", target) in (failures.REACHED, failures.STEPPED)
        if run.call("find_next_event") == failures.EVENT:
            return True
    return False


def started(h: bool = True) -> LoweredRun:
    run = LoweredRun(thrown_ball().build(), "integrators.dormand_prince", accuracy=1e-8)
    assert run.call("accuracy", 1e-8) == failures.REACHED
    assert run.call("initialize", 0.0) == failures.REACHED
    run.memory.course.halts = int(h)
    return run


@pytest.mark.parametrize("h", [0.01, 0.35, 1.0])
def test_both_limits_of_a_bounce_a_kick_and_what_arrives_late(h: float) -> None:
    run = started()
    seen = []
    for i in range(1, round(1.0 / h) + 1 if h < 1.0 else 2):
        target = i * h
        while step(run, target):
            time = run.memory.clock.time
            before = value(run, "ball.speed"), value(run, "late")
            assert run.call("advance", time) == failures.REACHED
            assert run.memory.clock.states_changed == 1.0
            assert run.call("find_next_event") == failures.REACHED
            assert run.memory.clock.next_event > time
            seen.append((time, *before, value(run, "ball.speed"), value(run, "late")))
    assert [row for row in seen if row[0] < 0.9] == [pytest.approx(row, abs=1e-5) for row in EVENTS]


def test_a_host_without_event_mode_gets_what_one_with_it_gets() -> None:
    with_mode, without = started(), started(False)
    for i in range(1, 120):
        while step(with_mode, i * 0.01):
            assert with_mode.call("advance", with_mode.memory.clock.time) == failures.REACHED
        assert without.call("advance", i * 0.01) in (failures.REACHED, failures.STEPPED)
        if abs(i * 0.01 - 0.7) > 1e-9:  # there one of them has the right limit already
            for path in ("ball.height", "ball.speed", "late"):
                assert value(with_mode, path) == pytest.approx(value(without, path), abs=1e-7)


def test_what_waits_survives_a_saved_state() -> None:
    run, other = started(), started()
    while True:
        assert step(run, 1.0)
        if run.memory.agenda.next_start == JUMP_WAITS:
            break
        run.call("advance", run.memory.clock.time)
    for name, _, role in ARRAYS:
        if role == "state":
            other.arrays[name] = run.arrays[name].copy()
    assert other.call("check") == failures.REACHED
    assert other.call("find_next_event") == failures.EVENT
    for each in (run, other):
        assert each.call("advance", each.memory.clock.time) == failures.REACHED
    assert value(run, "late") == value(other, "late") == pytest.approx(RISE, abs=1e-5)
