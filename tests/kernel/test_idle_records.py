"""Records of completed steps without a change do not displace events from the list of a long run."""

from __future__ import annotations

import cosim


class EveryStep(cosim.Component):
    """Its handler runs after each step, and changes something once a second."""

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


def run_with_limit(idle_cause: cosim.EventCause | None, limit: int) -> cosim.Simulator:
    model = cosim.Model("steps")
    model.add(EveryStep, "part")
    simulator = cosim.Simulator(
        model.build(), integrator="integrators.explicit_euler", fixed_step=1e-3, event_limit=limit
    )
    simulator.events.idle_cause = idle_cause
    simulator.advance_to(20.0)
    return simulator


def test_records_of_an_idle_cause_without_a_change_are_not_stored() -> None:
    simulator = run_with_limit(cosim.EventCause.TIME_ADVANCED, 50)
    events = list(simulator.events)
    assert len(events) == simulator.events.total == 19
    assert all(event.changed for event in events)
    all_times = [event.time for event in run_with_limit(None, 100_000).events if event.changed]
    assert [event.time for event in events] == all_times


def test_without_an_idle_cause_all_records_are_stored() -> None:
    simulator = run_with_limit(None, 50)
    assert simulator.events.total == 20_000
    assert simulator.events.forgotten > 0
    assert len(simulator.events) >= 50


def test_truncating_keeps_the_first_events_and_the_idle_cause() -> None:
    simulator = run_with_limit(cosim.EventCause.TIME_ADVANCED, 50)
    simulator.events.truncate(3)
    assert [round(event.time) for event in simulator.events] == [1, 2, 3]
    assert simulator.events.copy().idle_cause is cosim.EventCause.TIME_ADVANCED
