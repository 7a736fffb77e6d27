"""Auto-update variables: their update is computed in the cache and becomes their value when a step ends."""

from __future__ import annotations

import math

import pytest

import cosim


class Swing(cosim.Component):
    """Law: x'' = -x, with x = sin t."""

    x = cosim.position(start=0.0)
    v = cosim.speed(start=1.0)

    @cosim.kernel
    def derivatives(x, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -x


class Largest(cosim.Measure):
    """The largest value that the source had at the end of a step."""

    source = cosim.source()
    extreme = cosim.discrete(start=-1e300, invalidates=cosim.Stage.REPORT)
    count = cosim.discrete(dtype=int, invalidates=cosim.Stage.REPORT)

    @cosim.kernel
    def value(source, extreme, value):
        value[0] = max(source, extreme)

    @cosim.update
    def remember(source, extreme, count, extreme_next, count_next):
        if source > extreme:
            extreme_next[0] = source
            count_next[0] = count + 1


def swing_with_largest() -> cosim.System:
    model = cosim.Model("swing")
    model.add(Swing, "swing")
    model.add(Largest, "largest", source="swing.x")
    return model.build()


def test_the_largest_value_at_the_end_of_a_step_is_stored() -> None:
    simulator = cosim.Simulator(swing_with_largest(), accuracy=1e-9)
    values = []
    simulator.set_monitor(lambda state: values.append(state["swing.x"]))
    simulator.advance_to(2.0 * math.pi)
    assert simulator.state["largest.extreme"] == max(values)
    assert simulator.state["largest"] == pytest.approx(1.0, abs=0.01)
    assert simulator.state["largest.count"] > 3


def test_a_swap_bumps_the_stage_of_the_variable_and_costs_no_evaluation() -> None:
    system = swing_with_largest()
    simulator = cosim.Simulator(system, accuracy=1e-9)
    simulator.initialize()
    evaluations_before = simulator.statistics.evaluations
    steps, stages_of_merson = 20, 5
    for _ in range(steps):
        simulator.step()
    assert simulator.state.stage >= cosim.Stage.ACCELERATION
    assert simulator.statistics.evaluations - evaluations_before == stages_of_merson * steps


def test_a_restored_run_goes_on_to_the_same_bytes() -> None:
    system = swing_with_largest()
    simulator = cosim.Simulator(system, accuracy=1e-9)
    simulator.advance_to(1.0)
    restored = cosim.Simulator(system, system.state_from_bytes(simulator.state.to_bytes()), accuracy=1e-9)
    for each in (simulator, restored):
        each.advance_to(3.0)
    assert restored.state.to_bytes() == simulator.state.to_bytes()


def test_a_kernel_function_cannot_write_a_next_value() -> None:
    with pytest.raises(cosim.ContractError, match="'level_next'.*neither declared nor"):

        class Wrong(cosim.Component):
            """Writes the next value outside of an event."""

            level = cosim.discrete()

            @cosim.kernel
            def run(level, level_next):
                level_next[0] = level + 1.0


def test_an_auto_update_cannot_write_a_continuous_state() -> None:
    with pytest.raises(cosim.ContractError, match="'level_next'.*neither declared nor"):

        class Wrong(cosim.Component):
            """Jumps without an event."""

            level = cosim.auxiliary_state()

            @cosim.kernel
            def derivatives(level_dot):
                level_dot[0] = 0.0

            @cosim.update
            def run(level, level_next):
                level_next[0] = level + 1.0
