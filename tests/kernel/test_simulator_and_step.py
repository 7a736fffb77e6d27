"""A Simulator calls the entry points of the Step directly; recordings and findings outlive an integrator."""

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


def test_a_handler_is_called_through_the_simulator_and_the_entry_points_alone():
    """The classes whose methods are on the stack when a handler runs, from the outermost inward."""
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
    # the handler runs at 0, 1, 2 and 3 s: once in each kind of call
    simulator.step()
    simulator.step()
    simulator.advance_to(2.0)
    simulator.advance_some(3.0)
    assert len(stacks) == 4
    for owners in stacks:
        outermost, innermost = owners.index("Simulator"), owners.index("CompiledStep")
        assert set(owners[outermost:innermost]) == {"Simulator", "StepCalls"}
        assert innermost - outermost <= 5
        assert owners.count("CompiledStep") == 1


@pytest.mark.parametrize("call", ["advance_to", "step"])
def test_a_monitor_may_record_without_ending_the_call(call):
    """The answer to `record_now` was taken for that of the step, so `advance_to` ended with it."""
    simulator = cosim.Simulator(system_of(clock=Clock), integrator=EULER, fixed_step=0.125)
    simulator.record(["clock.phase"])
    simulator.set_monitor(lambda state: simulator.record_now())
    status = getattr(simulator, call)(1.0)
    assert status.return_time == (1.0 if call == "advance_to" else 0.125)
    assert list(simulator.take_rows()[:, 0]) == list(np.arange(0.0, status.return_time + 0.1, 0.125))


def test_rows_that_were_not_taken_outlive_the_integrator():
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

    def nan_times(until):
        """The times of all findings about it so far."""
        simulator.advance_to(until)
        simulator.take_rows()
        return [finding.time for finding in simulator.findings if finding.kind == "not a number"]

    assert nan_times(0.5) == nan_times(0.75) == [0.25]
    simulator.reset_integrator(EULER, fixed_step=0.125)
    assert nan_times(1.0) == [0.875]
    simulator.replace_state(system.default_state())
    simulator.initialize()
    assert nan_times(0.5) == [0.25]


def test_a_handler_that_fails_twice_gives_the_second_reason():
    simulator = cosim.Simulator(system_of(tank=Filling), integrator=EULER, fixed_step=0.5)
    with pytest.raises(cosim.SimulationError, match=r"tank.fill: an integer became \[0.5\]: tank.level"):
        simulator.advance_to(2.0)
    simulator.state["tank.amount"] = 1.0
    with pytest.raises(cosim.SimulationError, match=r"tank.fill failed: $"):
        simulator.advance_to(2.0)


@pytest.mark.few(1)
@pytest.mark.parametrize("method", ["integrators.runge_kutta_merson", "integrators.scipy_radau"])
def test_a_simulator_without_references_is_collected(method):
    """The addresses of a method in Python kept its Step references, with all arrays."""
    gc.freeze()  # so that the search below leaves the objects of other tests out
    simulator = cosim.Simulator(system_of(clock=Clock), integrator=method, accuracy=1e-6)
    simulator.advance_to(0.5)
    references = [weakref.ref(item) for item in (simulator, simulator.compiled_step, simulator.integrator)]
    del simulator
    gc.collect()
    assert [reference() for reference in references] == [None] * 3


def test_a_monitor_cannot_use_the_simulator_that_calls_it():
    simulator = cosim.Simulator(system_of(clock=Clock), integrator=EULER, fixed_step=0.125)
    methods = (simulator.step, simulator.finish, simulator.release_state, simulator.initialize)
    refused = []

    def monitor(state):
        for method in methods:
            with pytest.raises(cosim.SimulationError, match="in the middle of a step"):
                method()
            refused.append(method)

    simulator.set_monitor(monitor)
    assert simulator.advance_to(0.25).succeeded
    assert refused == [*methods] * 3  # at the start and at the ends of two steps


def test_resetting_the_integrator_initializes_again():
    class Begun(cosim.Component):
        """Counts its initializations."""

        n = cosim.discrete()

        @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
        def begin(n, n_next):
            n_next[0] = n + 1

    model = cosim.Model("m")
    model.add(Begun, "p")
    simulator = cosim.Simulator(model.build())
    simulator.advance_to(1.0)
    simulator.reset_integrator("integrators.dormand_prince")
    assert not simulator.is_initialized
    assert simulator.advance_to(2.0).succeeded
    assert simulator.state["p.n"] == 2.0
