"""Auto-update variables: a value with an update in the cache that is swapped in when a step ends."""

from __future__ import annotations

import math

import pytest

import cosim


class Swing(cosim.Component):
    """An undamped swing."""

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


def swing() -> cosim.System:
    model = cosim.Model("swing")
    model.add(Swing, "swing")
    model.add(Largest, "largest", source="swing.x")
    return model.build()


def test_the_largest_value_is_kept() -> None:
    simulator = cosim.Simulator(swing(), accuracy=1e-9)
    seen = []
    simulator.set_monitor(lambda state: seen.append(state["swing.x"]))
    simulator.advance_to(2.0 * math.pi)
    assert simulator.state["largest.extreme"] == max(seen)
    assert simulator.state["largest"] == pytest.approx(1.0, abs=0.01)
    assert simulator.state["largest.count"] > 3


def test_a_swap_bumps_the_stage_of_the_variable_and_costs_no_evaluation() -> None:
    system = swing()
    simulator = cosim.Simulator(system, accuracy=1e-9)
    simulator.initialize()
    before = simulator.statistics.evaluations
    for _ in range(20):
        simulator.step()
    assert simulator.state.stage >= cosim.Stage.ACCELERATION
    assert simulator.statistics.evaluations - before == 5 * 20


def test_saved_and_restored() -> None:
    system = swing()
    simulator = cosim.Simulator(system, accuracy=1e-9)
    simulator.advance_to(1.0)
    again = cosim.Simulator(system, system.state_from_bytes(simulator.state.to_bytes()), accuracy=1e-9)
    for each in (simulator, again):
        each.advance_to(3.0)
    assert again.state.to_bytes() == simulator.state.to_bytes()


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
