"""Inside a step only the blocks are called that derivatives need; at its end all are."""

import math

import pytest
from gain_parts import Follower, Gain, Ramp

import cosim


class Hump(cosim.Component):
    """2 N at half seconds, 0 N at full ones."""

    out = cosim.output(unit="N")

    @cosim.kernel
    def go(t, out):
        out[0] = 8.0 * (t % 1.0) * (1.0 - t % 1.0)


class Refusing(cosim.Component):
    """Shows its input, and raises an error if that is above 1."""

    entry = cosim.input(unit="N")
    seen = cosim.output(unit="N")

    @cosim.kernel
    def look(entry, seen):
        if entry > 1.0:
            raise ValueError("too much")
        seen[0] = entry


def late_follower():
    """A ramp; a follower reads it through one delay, and nothing reads it through another one."""
    model = cosim.Model("late")
    model.add(Ramp, "ramp")
    model.add(Gain, "gain", factor=0.9)
    model.connect("ramp", "gain.entry")
    model.measure("measures.delay", "late", source="gain.out", delay=0.05)
    model.measure("measures.delay", "later", source="gain.out", delay=0.07)
    model.add(Follower, "follower")
    model.connect("late", "follower.entry")
    return model


def test_blocks_that_no_derivative_needs_are_left_out_inside_a_step():
    system = late_follower().build()
    inside = {
        (owner, system.blocks[i].label) for i in system.inner_blocks for owner in system.blocks[i].owners
    }
    assert {("late", "from_the_past"), ("follower", "follow")} <= inside
    # values of the others have no effect on the derivatives
    left_out = [i for i in range(*system.derivative_range) if i not in system.inner_blocks]
    assert {system.blocks[i].label for i in left_out} >= {"next_break", "estimate_error", "change"}
    state = system.default_state().realize()
    c = system.arrays(state)[-1]
    for block in (system.blocks[i] for i in left_out):
        for slot in block.writes:
            c[slot.offset : slot.offset + slot.size] = math.nan
    expected = system.default_state()
    state.set_time(0.3)
    expected.set_time(0.3)
    assert system.walk(state, *system.inner_range) == 0
    assert c[: system.ny].tobytes() == expected.realize().y_dot.tobytes()


@pytest.mark.parametrize("method", ["runge_kutta_4", "dormand_prince", "radau5", "bdf"])
def test_a_run_has_the_bytes_of_one_that_calls_all_blocks_inside_steps(method):
    outcomes = []
    for calls_all in (False, True):
        system = late_follower().build()
        if calls_all:
            vars(system)["inner_range"] = system.derivative_range
        fixed = {"fixed_step": 0.01} if method == "runge_kutta_4" else {}
        simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=1e-6, **fixed)
        simulator.initialize()
        values = []
        for i in range(1, 31):
            simulator.advance_to(0.01 * i)
            values += [
                simulator.state.to_bytes(),
                simulator.state["later"],
                simulator.state["late.step_error"],
            ]
        outcomes.append(values)
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("is_needed", [False, True])
def test_a_part_raises_inside_a_step_only_if_derivatives_need_it(is_needed):
    """The input of the part is above 1 in the middle of the only step, and 0 at its end."""
    model = cosim.Model("refusing")
    model.add(Hump, "hump")
    model.add(Refusing, "guard")
    model.connect("hump", "guard.entry")
    model.add(Follower, "follower")
    model.connect("guard" if is_needed else "hump", "follower.entry")
    simulator = cosim.Simulator(model.build(), integrator="integrators.runge_kutta_4", fixed_step=1.0)
    if is_needed:
        with pytest.raises(cosim.SimulationError, match="guard: look: too"):
            simulator.advance_to(1.0)
    else:
        simulator.advance_to(1.0)
        assert simulator.state["guard"] == 0.0
