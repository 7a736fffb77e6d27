"""The kernel functions and handlers of a Model Exchange FMU's class, as the text that Python compiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cosim.kit import run_source

POINT = ("t", "z", "scale", "epoch", "block_address")
"""The arguments of kernel functions that set the state of the FMU."""
REQUEST_EVENT = ("        wanted_next[0] = 1", "        return 1")


class OutputGroup(NamedTuple):
    """Outputs that depend on the same inputs and are read together; names in Python."""

    outputs: list[str]
    follows: list[str]


class FmuPorts(NamedTuple):
    """The ports that kernel functions read and write, by their names in Python.

    Attributes
    ----------
    inputs : list of str
        Continuous ones.
    groups : list of OutputGroup
        All continuous outputs.
    discrete_inputs, discrete_outputs : list of str
    indicators : int
        Event indicators.
    wants_steps : bool
        Whether the FMU is notified of each completed integrator step.
    """

    inputs: list[str]
    groups: list[OutputGroup]
    discrete_inputs: list[str]
    discrete_outputs: list[str]
    indicators: int
    wants_steps: bool


def make_kernels(ports: FmuPorts, module: str) -> dict[str, Any]:
    """Functions for outputs, derivatives, witnesses and ends of steps, by name, as if defined in `module`."""
    lines = [
        "import cosim",
        "from cosim_master.component.calls import *",
        "class Kernels:",
        *_output_functions(ports),
        *_derivatives(ports.inputs),
    ]
    for i in range(ports.indicators):
        lines += _witness(i)
    if ports.discrete_outputs:
        lines += _discrete_outputs(ports.discrete_outputs)
    if ports.wants_steps:
        lines += _completed_step(ports.inputs)
    if ports.discrete_inputs:  # after all updates of the instant that may change them
        lines += _changed_inputs(ports.discrete_inputs)
    if ports.wants_steps or ports.discrete_inputs:
        lines += [
            "    wanted = cosim.signal()",
            "    @cosim.on(wanted, does='unrestricted')",
            "    def step_event(self, state, next_state):",
            "        return self._handle_request(state, next_state)",
        ]
    kernels = run_source("\n".join(lines) + "\n", {"__name__": module})["Kernels"]
    return {name: value for name, value in vars(kernels).items() if not name.startswith("__")}


def _output_functions(ports: FmuPorts) -> list[str]:
    """The source of a function for each group of outputs: it sets the inputs they follow, and reads them."""
    lines: list[str] = []
    first = 0
    for place, group in enumerate(ports.groups):
        lines += _function(f"outputs_{place}", group.follows, group.outputs)
        lines += [
            f"        write_input(block_address, {ports.inputs.index(name)}, {name})"
            for name in group.follows
        ]
        lines += [f"        read_outputs(block_address, {place})"]
        lines += [
            f"        {name}[0] = output(block_address, {i})" for i, name in enumerate(group.outputs, first)
        ]
        first += len(group.outputs)
    return lines


def _derivatives(inputs: Sequence[str]) -> list[str]:
    return [
        *_function("derivatives", inputs, ["z_dot", "indicators"]),
        *_written_inputs(inputs),
        "        read_rates(block_address, t, scale, z_dot, indicators)",
    ]


def _witness(i: int) -> list[str]:
    """The source of an event indicator, with the handler of its events."""
    return [
        "    @cosim.witness",
        f"    def indicator_{i}(indicators):",
        f"        return indicators[{i}]",
        f"    @cosim.on(indicator_{i}, does='unrestricted')",
        f"    def state_event_{i}(self, state, next_state):",
        "        return self._handle(state, next_state)",
    ]


def _discrete_outputs(names: Sequence[str]) -> list[str]:
    """The source of a function that returns values of the last event."""
    lines = ["    @cosim.kernel", f"    def show(event_outputs, {', '.join(names)}):"]
    return lines + [f"        {name}[0] = event_outputs[{i}]" for i, name in enumerate(names)]


def _completed_step(inputs: Sequence[str]) -> list[str]:
    """The source of a handler that reports the end of each step to the FMU, which may request an event."""
    return [
        "    @cosim.on(cosim.EventCause.TIME_ADVANCED, does='unrestricted')",
        f"    def step_ended({', '.join((*POINT, *inputs, 'wanted_next'))}):",
        "        if not has_instance(block_address, epoch):",
        "            return 0",
        "        move_to(block_address, t, z, scale, epoch)",
        *_written_inputs(inputs),
        "        if not completed_step(block_address):",
        "            return 0",
        *REQUEST_EVENT,
    ]


def _changed_inputs(names: Sequence[str]) -> list[str]:
    """The source of a handler that requests an event if a discrete input has changed."""
    is_same = " and ".join(f"received_inputs[{i}] == {name}" for i, name in enumerate(names))
    return [
        "    @cosim.on(cosim.EventCause.TIME_ADVANCED, does='discrete')",
        f"    def inputs_changed(epoch, block_address, {', '.join(names)}, received_inputs, wanted_next):",
        f"        if not has_instance(block_address, epoch) or ({is_same}):",
        "            return 0",
        *REQUEST_EVENT,
    ]


def _written_inputs(inputs: Sequence[str]) -> list[str]:
    return [f"        write_input(block_address, {i}, {name})" for i, name in enumerate(inputs)]


def _function(name: str, reads: Sequence[str], writes: Sequence[str]) -> list[str]:
    """The head of a kernel function: results are zero without an instance, which is moved to the point."""
    arguments = ", ".join((*POINT, *reads, *writes))
    vectors = [result for result in writes if result in ("z_dot", "indicators")]
    zeros = [f"        {result}[0] = 0.0" for result in writes if result not in vectors]
    zeros += [f"        for i in range(len({vector})):\n            {vector}[i] = 0.0" for vector in vectors]
    return [
        "    @cosim.kernel",
        f"    def {name}({arguments}):",
        *zeros,
        "        if not has_instance(block_address, epoch):",
        "            return",
        "        move_to(block_address, t, z, scale, epoch)",
    ]
