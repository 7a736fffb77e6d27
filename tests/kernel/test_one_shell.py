"""A Simulator calls the Step itself, and what it adds to the Step outlives an integrator."""

import gc
import math
import sys
import weakref

import numpy as np
import pytest
from kernel_parts import Clock, system_of

import cosim

EULER = "integrators.explicit_euler"


class Undefined(cosim.Component):
    """An output that is not a number from 0.25 s on."""

    x = cosim.auxiliary_state(start=1.0)
    root = cosim.output()

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = -x

    @cosim.kernel
    def outputs(t, root):
        root[0] = math.nan if t > 0.24 else 1.0


class Filling(cosim.Component):
    """A handler that fills an integer, and fails where it is full."""

    level = cosim.discrete(dtype=int)
    amount = cosim.parameter(default=0.5)

    @cosim.every(1.0, does="discrete")
    def fill(amount, level_next):
        level_next[0] = amount
        return 3 if amount >= 1.0 else 1


def test_nothing_stands_between_the_simulator_and_the_entry_points():
    """Whose functions are on the stack when a handler runs, from the outermost one inward."""
    stacks = []

    class Watching(cosim.Component):
        @cosim.every(1.0, does="publish")
        def look(self, state):
            frame, owners = sys._getframe(1), []
            while frame is not None:
                owners.append(frame.f_code.co_qualname.rpartition(".")[0])
                frame = frame.f_back
            stacks.append(owners[::-1])

    simulator = cosim.Simulator(system_of(watching=Watching), integrator=EULER, fixed_step=0.5)
    simulator.initialize()
    calls = (simulator.step, simulator.step, lambda: simulator.advance_to(2.0))
    for call in (*calls, lambda: simulator.advance_some(3.0)):
        call()
    assert len(stacks) == 4
    for owners in stacks:
        begin, end = owners.index("Simulator"), owners.index("CompiledStep")
        assert set(owners[begin:end]) == {"Simulator", "StepCalls"}
        assert end - begin <= 5
        assert owners.count("CompiledStep") == 1


@pytest.mark.parametrize("call", ["advance_to", "step"])
def test_a_monitor_may_record_and_the_run_goes_on(call):
    """The answer to `record_now` was taken for that of the step, so `advance_to` ended with it."""
    simulator = cosim.Simulator(system_of(clock=Clock), integrator=EULER, fixed_step=0.125)
    simulator.record(["clock.phase"])
    simulator.set_monitor(lambda state: simulator.record_now())
    status = getattr(simulator, call)(1.0)
    assert status.return_time == (1.0 if call == "advance_to" else 0.125)
    assert list(simulator.take_rows()[:, 0]) == list(np.arange(0.0, status.return_time + 0.1, 0.125))


def test_rows_that_wait_outlive_the_integrator():
    simulator = cosim.Simulator(system_of(part=Undefined), integrator=EULER, fixed_step=0.125)
    simulator.record(["part.x"], "steps")
    simulator.advance_to(0.25)
    simulator.stop_recording()
    simulator.reset_integrator(EULER, fixed_step=0.125)
    simulator.advance_to(0.5)
    assert list(simulator.take_rows()[:, 0]) == [0.125, 0.25]


def test_the_first_value_that_is_no_number_is_noticed_once_in_each_run():
    """A second run of the same recording did not notice it."""
    system = system_of(part=Undefined)
    simulator = cosim.Simulator(system, integrator=EULER, fixed_step=0.125)
    simulator.record(["part.root"], "steps")

    def noticed(until):
        simulator.advance_to(until)
        simulator.take_rows()
        return [finding.time for finding in simulator.findings if finding.kind == "not a number"]

    assert noticed(0.5) == noticed(0.75) == [0.25]
    simulator.reset_integrator(EULER, fixed_step=0.125)
    assert noticed(1.0) == [0.875]
    simulator.replace_state(system.default_state())
    simulator.initialize()
    assert noticed(0.5) == [0.25]


def test_a_handler_that_fails_again_says_why_it_fails_now():
    simulator = cosim.Simulator(system_of(tank=Filling), integrator=EULER, fixed_step=0.5)
    with pytest.raises(cosim.SimulationError, match=r"tank.fill: an integer became \[0.5\]: tank.level"):
        simulator.advance_to(2.0)
    simulator.state["tank.amount"] = 1.0
    with pytest.raises(cosim.SimulationError, match=r"tank.fill failed: $"):
        simulator.advance_to(2.0)


@pytest.mark.few(1)
@pytest.mark.parametrize("method", ["integrators.runge_kutta_merson", "integrators.scipy_radau"])
def test_what_is_not_used_any_more_is_collected(method):
    """The addresses of a method in Python kept its Step alive, with all arrays."""
    gc.freeze()  # else the search below goes through all that other tests have left
    simulator = cosim.Simulator(system_of(clock=Clock), integrator=method, accuracy=1e-6)
    simulator.advance_to(0.5)
    alive = [weakref.ref(each) for each in (simulator, simulator.compiled_step, simulator.integrator)]
    del simulator
    gc.collect()
    assert [reference() for reference in alive] == [None] * 3


def test_a_monitor_cannot_use_the_simulator_that_calls_it():
    simulator = cosim.Simulator(system_of(clock=Clock), integrator=EULER, fixed_step=0.125)
    refused = []

    def monitor(state):
        for use in (simulator.step, simulator.finish, simulator.release_state, simulator.initialize):
            with pytest.raises(cosim.SimulationError, match="in the middle of a step"):
                use()
            refused.append(use)

    simulator.set_monitor(monitor)
    assert simulator.advance_to(0.25).succeeded
    assert len(refused) == 4 * 3
