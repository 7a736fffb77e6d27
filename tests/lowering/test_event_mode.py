"""A host with an event mode gets the values before and after every event from the entry points of C."""

from __future__ import annotations

import pytest
from lowered_run import LoweredRun
from thrown_ball import EVENTS, RISE, thrown_ball

from cosim.run_data.records.clock import JUMP_WAITS
from cosim.run_data.run import ARRAYS
from cosim.step import failures


def value_of(run: LoweredRun, path: str) -> float:
    """The value of a signal at the present time."""
    assert run.call("evaluate", run.memory.clock.time) == failures.REACHED
    slot = run.program.system.signal(path).slot
    return float(run.arrays[slot.array][slot.offset])


def step(run: LoweredRun, target: float) -> bool:
    """Advance in pieces, as the shell does; True if an event waits before the target."""
    while run.memory.clock.time < target:
        assert run.call("step", target) in (failures.REACHED, failures.STEPPED)
        if run.call("find_next_event") == failures.EVENT:
            return True
    return False


def started_run(has_event_mode: bool = True) -> LoweredRun:
    """An initialized run of the thrown ball, which halts at events if the host has an event mode."""
    run = LoweredRun(thrown_ball().build(), "integrators.dormand_prince", accuracy=1e-8)
    assert run.call("accuracy", 1e-8) == failures.REACHED
    assert run.call("initialize", 0.0) == failures.REACHED
    run.memory.course.halts = int(has_event_mode)
    return run


@pytest.mark.parametrize("step_size", [0.01, 0.35, 1.0])
def test_both_limits_of_a_bounce_a_kick_and_their_delayed_arrivals(step_size: float) -> None:
    run = started_run()
    limits = []
    for i in range(1, round(1.0 / step_size) + 1 if step_size < 1.0 else 2):
        target = i * step_size
        while step(run, target):
            time = run.memory.clock.time
            before = value_of(run, "ball.speed"), value_of(run, "late")
            assert run.call("advance", time) == failures.REACHED
            assert run.memory.clock.states_changed == 1.0
            assert run.call("find_next_event") == failures.REACHED
            assert run.memory.clock.next_event > time
            limits.append((time, *before, value_of(run, "ball.speed"), value_of(run, "late")))
    assert [row for row in limits if row[0] < 0.9] == [pytest.approx(row, abs=1e-5) for row in EVENTS]


def test_a_host_without_event_mode_gets_the_same_values() -> None:
    with_mode, without = started_run(), started_run(False)
    for i in range(1, 120):
        while step(with_mode, i * 0.01):
            assert with_mode.call("advance", with_mode.memory.clock.time) == failures.REACHED
        assert without.call("advance", i * 0.01) in (failures.REACHED, failures.STEPPED)
        if abs(i * 0.01 - 0.7) > 1e-9:  # there is an event, of which one run has the value before it
            for path in ("ball.height", "ball.speed", "late"):
                assert value_of(with_mode, path) == pytest.approx(value_of(without, path), abs=1e-7)


def test_a_waiting_event_is_part_of_the_saved_state() -> None:
    run, restored = started_run(), started_run()
    while True:
        assert step(run, 1.0)
        if run.memory.agenda.next_start == JUMP_WAITS:
            break
        run.call("advance", run.memory.clock.time)
    for name, _, role in ARRAYS:
        if role == "state":
            restored.arrays[name] = run.arrays[name].copy()
    assert restored.call("check") == failures.REACHED
    assert restored.call("find_next_event") == failures.EVENT
    for each in (run, restored):
        assert each.call("advance", each.memory.clock.time) == failures.REACHED
    assert value_of(run, "late") == value_of(restored, "late") == pytest.approx(RISE, abs=1e-5)
