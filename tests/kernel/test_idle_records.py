"""Notifications of completed steps are no events: they do not push events out of a long run's list."""

from __future__ import annotations

import cosim


class Told(cosim.Component):
    """Told of each step, which it seldom wants to know."""

    z = cosim.auxiliary_state()
    seen = cosim.discrete()

    @cosim.kernel
    def law(z_dot):
        z_dot[0] = 1.0

    @cosim.on(cosim.EventCause.TIME_ADVANCED, does="discrete")
    def step_ended(t, seen, seen_next):
        if t > seen + 1.0:
            seen_next[0] = t
            return 1
        return 0


def told(idle_cause: cosim.EventCause | None, limit: int) -> cosim.Simulator:
    model = cosim.Model("told")
    model.add(Told, "part")
    simulator = cosim.Simulator(
        model.build(), integrator="integrators.explicit_euler", fixed_step=1e-3, event_limit=limit
    )
    simulator.events.idle_cause = idle_cause
    simulator.advance_to(20.0)
    return simulator


def test_records_that_change_nothing_are_not_kept() -> None:
    simulator = told(cosim.EventCause.TIME_ADVANCED, 50)
    events = list(simulator.events)
    assert len(events) == simulator.events.total == 19
    assert all(event.changed for event in events)
    wanted = [event.time for event in told(None, 100_000).events if event.changed]
    assert [event.time for event in events] == wanted


def test_they_count_unless_a_host_says_otherwise() -> None:
    simulator = told(None, 50)
    assert simulator.events.total == 20_000
    assert simulator.events.forgotten > 0
    assert len(simulator.events) >= 50


def test_what_is_truncated_are_events() -> None:
    simulator = told(cosim.EventCause.TIME_ADVANCED, 50)
    simulator.events.truncate(3)
    assert [round(event.time) for event in simulator.events] == [1, 2, 3]
    assert simulator.events.copy().idle_cause is cosim.EventCause.TIME_ADVANCED
