"""A run of a system of ours that compiled code steps: its functions, and the inputs that they write."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import cosim
from cosim.kit import SAME_TIME
from cosim_lowering.refusals import method_refusals, system_refusals
from cosim_master.model_exchange.called_simulator import CalledSimulator
from cosim_master.native_calls import NativeCalls

Hooks = tuple[Callable[[], Any], Callable[[Any], None]]
"""A function that returns what is remembered, and one that restores it."""


class SystemNativeRun:
    """The functions of a simulator that is initialized, until `take_back` and from `hand_over` on.

    Parameters
    ----------
    simulator : Simulator
    inputs : sequence of str
        Variables that the compiled loop writes, in its order.
    outputs : sequence of str
        Variables that it reads, in its order.
    """

    def __init__(self, simulator: cosim.Simulator, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        self._called = CalledSimulator(simulator)
        self._inputs = inputs
        self._input_table, self._last_values = self._called.inputs(inputs)
        self._output_table = self._called.outputs(outputs)
        self._no_state = np.zeros(1, dtype=np.int64)

    def take_back(self) -> dict[str, float]:
        """Let Python use the simulator; the values of inputs that compiled code wrote last, by name."""
        self._called.unbind()
        values = zip(self._inputs, self._last_values.tolist(), strict=True)
        return {name: value for name, value in values if not math.isnan(value)}

    def hand_over(self, simulator: cosim.Simulator, written: Mapping[str, float]) -> None:
        """Let the functions go on from the State of a simulator, whose inputs have these values."""
        self._last_values[:] = [written.get(name, math.nan) for name in self._inputs]
        self._called.bind(simulator)

    def finish_step(self, time: float, size: float) -> Any:
        """Do the rest of a step that was left to Python, and keep the simulator there; its status."""
        return self._called.resume(time + size, SAME_TIME * size)

    def calls(
        self, *, whole_state: Hooks, event_count: Hooks, counts_events: bool, leave: Callable[[], None]
    ) -> NativeCalls:
        """The functions for the compiled loop.

        Parameters
        ----------
        whole_state, event_count : (callable, callable)
            What Python remembers and restores of a saved state: all of it where histories may grow, which
            compiled code cannot save; else only the number of events.
        counts_events : bool
            Whether events are possible, so that their number is remembered with each state.
        leave : callable
            Called when the functions are not used after all.
        """
        called = self._called
        state = called.state
        remember, forget = event_count if state else whole_state
        return NativeCalls(
            instance=called.handle,
            set=called.set,
            step=called.step,
            get=called.get,
            input_references=int(self._input_table.ctypes.data),
            output_references=int(self._output_table.ctypes.data),
            same_size=False,
            keep=(called, self._input_table, self._last_values, self._output_table, self._no_state),
            set_slopes=called.set_slopes,
            save=called.save if state else called.nothing,
            restore=called.restore if state else called.nothing,
            state=state or int(self._no_state.ctypes.data),
            remember=remember,
            forget=forget,
            always_remembered=counts_events or not state,
            leave=leave,
        )


def native_refusals(simulator: cosim.Simulator, inputs: Sequence[str]) -> list[cosim.Problem]:
    """The reasons why compiled code cannot step a simulator or write these variables of its system."""
    system = simulator.system
    changing = [name for name in inputs if name.partition("[")[0] not in system.inputs]
    if changing:
        return cosim.ModelError.of(changing[0], "a parameter that changes is written in Python").problems
    return [*system_refusals(system), *method_refusals(type(simulator.integrator))]
