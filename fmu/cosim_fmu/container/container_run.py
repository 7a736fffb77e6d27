"""What a native container consists of: its members, what its host sets and reads, and its arrays."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.container.container_arrays import OWN, Vector, own_arrays, run_arrays
from cosim_fmu.container.container_interface import COUPLING
from cosim_fmu.container.container_interface import TYPES as CONTAINER_TYPES
from cosim_fmu.container.native_member import NativeMember
from cosim_master.exchange.exchange_algorithms import ExchangePrograms
from cosim_master.participants.system_participant import ACCURACY
from cosim_master.recording.recorder import Recorder
from cosim_master.run.stepped_run import SteppedRun
from cosim_master.start.initialize_participants import passing_order

VERDICT_NAMES = (f"{COUPLING}.verdict", f"{COUPLING}.error")
"""The first of `Assessment.outcome`; behind them stands the error of each output that is sampled."""


@dataclass(frozen=True)
class ContainerRun:
    """The run of a native container at its start, read from a run in Python that has begun.

    Attributes
    ----------
    members : list of NativeMember
    parameters, inputs, outputs : list of FmuVariable
        What the host sets before and while it runs, and what it reads.
    output_slots : list of int
        The place of each output among the outputs of all members.
    errors : list of str
        The verdict on the coupling, then the error of each output that is sampled.
    arrays : dict of str to ndarray
        Those of the container itself, then those of the interpreter of exchanges.
    goes_back : bool
        Whether the algorithm repeats steps.
    """

    members: list[NativeMember]
    parameters: list[FmuVariable]
    inputs: list[FmuVariable]
    outputs: list[FmuVariable]
    output_slots: list[int]
    errors: list[str]
    arrays: dict[str, Vector]
    goes_back: bool

    @property
    def settings(self) -> list[FmuVariable]:
        """What the host sets, parameters first."""
        return [*self.parameters, *self.inputs]

    @property
    def systems(self) -> list[NativeMember]:
        """The members that are systems of ours."""
        return [member for member in self.members if member.program is not None]

    @property
    def has_fmus(self) -> bool:
        """Whether FMUs travel in the resources."""
        return any(member.fmu is not None for member in self.members)

    @property
    def takes_tolerance(self) -> bool:
        """Whether some member integrates with the tolerance of the host."""
        return any(member.takes_tolerance for member in self.members)

    @property
    def accuracy(self) -> float:
        """The accuracy of the members that take the tolerance of the host; the usual one without them."""
        return next((member.accuracy for member in self.members if member.takes_tolerance), ACCURACY)

    def owner(self, variable: FmuVariable) -> tuple[int, NativeMember, str]:
        """The number of a variable's participant, that participant, and its own name for the variable."""
        return _owner(self.members, variable)


def read_container_run(
    loop: CoSimulation, shown: Sequence[FmuVariable], *, is_assessed: bool
) -> ContainerRun:
    """Begin a run, read its arrays and the references of all variables, and close it.

    Parameters
    ----------
    loop : CoSimulation
    shown : sequence of FmuVariable
        The variables of the FMU; no texts.
    is_assessed : bool
        Whether the error of the coupling is estimated.

    Raises
    ------
    ModelError
        Parts that only Python runs, each with the reason.
    """
    members = [NativeMember.of(loop, i, name) for i, name in enumerate(loop.participants)]
    run = _recording_numbers(loop).led_run()
    run.initialize()
    try:
        return _read_begun(loop, run, members, shown, is_assessed=is_assessed)
    finally:
        run.close()


def _read_begun(
    loop: CoSimulation,
    run: SteppedRun,
    members: list[NativeMember],
    shown: Sequence[FmuVariable],
    *,
    is_assessed: bool,
) -> ContainerRun:
    """The arrays of a run that has begun, and the variables that the host sets and reads."""
    coupled = run.coupled
    goes_back = _read_algorithm(run, members)
    if coupled.solved_at_start:
        text = "its first values are found by Newton's method, in Python"
        raise cosim.ModelError.of(coupled.solved_at_start[0], text)
    parameters = [v for v in shown if v.causality == "parameter"]
    inputs = [v for v in shown if v.causality == "input"]
    outputs = [v for v in shown if not v.is_settable and not v.name.startswith(f"{COUPLING}.")]
    for member in members:
        member.inputs = coupled.interface.input_names[member.name]
        member.outputs = list(coupled.reads[member.name])
    _assign_references(members, outputs, [*parameters, *inputs])
    output_slots = []
    for variable in outputs:
        _, member, name = _owner(members, variable)
        output_slots.append(run.machine.output_slot(member.name, member.outputs.index(name)))
    number_count = 0
    for member in members:
        member.first_number = number_count
        number_count += member.number_count
    own = own_arrays(
        settings=[float(v.start or 0.0) for v in (*parameters, *inputs)],
        parameters=len(parameters),
        outputs=len(outputs),
        members=len(members),
        room=max(member.room for member in members),
        times=number_count,
    )
    own |= _order_arrays(loop, run)
    return ContainerRun(
        members,
        parameters,
        inputs,
        outputs,
        output_slots,
        [*VERDICT_NAMES, *(f"{COUPLING}.{'.'.join(port)}" for port in coupled.sampled.ports)],
        {name: own[name] for name in OWN} | dict(run_arrays(run, is_assessed=is_assessed)),
        goes_back,
    )


def _read_algorithm(run: SteppedRun, members: Sequence[NativeMember]) -> bool:
    """Tell members whether their inputs run along lines; return whether the algorithm repeats steps.

    Raises
    ------
    ModelError
        An algorithm that decides in Python.
    """
    programs = ExchangePrograms(run.algorithm, run.coupled)
    if programs.in_python is not None:
        raise cosim.ModelError.of(
            "master.algorithm", f"{type(programs.in_python).__name__} decides in Python"
        )
    for member in members:
        member.follows = programs.along and run.coupled.interface.follows_lines(member.name)
    return programs.saves_states


def _owner(members: Sequence[NativeMember], variable: FmuVariable) -> tuple[int, NativeMember, str]:
    name, _, own = variable.path.partition(".")
    number = next(i for i, member in enumerate(members) if member.name == name)
    return number, members[number], own


def _assign_references(
    members: Sequence[NativeMember], outputs: Sequence[FmuVariable], settings: Sequence[FmuVariable]
) -> None:
    """Assign the references of all members: of variables that the host reads, then sets, then of others.

    Raises
    ------
    ModelError
        A variable of a type that only Python sets and reads.
    """
    for variable in outputs:
        _, member, name = _owner(members, variable)
        member.assign_reference(name, is_set=False)
    for variable in settings:
        _, member, name = _owner(members, variable)
        member.assign_reference(name, is_set=True)
        member.set_by_host.append(name)
    for member in members:
        member.assign_other_references()


def _order_arrays(loop: CoSimulation, run: SteppedRun) -> dict[str, NDArray[np.int64]]:
    """The order in which outputs pass before and after members are initialized, and in which members step."""
    numbers = run.machine.number
    arrays = {
        "before": _passing_words(loop, run, initializing=True),
        "after": _passing_words(loop, run, initializing=False),
        "order": [numbers[name] for name in run.coupled.order],
    }
    return {name: np.array(words, dtype=np.int64) for name, words in arrays.items()}


def _passing_words(loop: CoSimulation, run: SteppedRun, *, initializing: bool) -> list[int]:
    """The groups of `passing_order` one after the other, as integers.

    Of each: how many outputs it has, 1 where there is a closed path in it, then for each output the number of
    its participant and its place among all outputs.
    """
    coupled, machine = run.coupled, run.machine
    words = []
    for ports, closed_path in passing_order(loop.descriptions, loop.links, initializing=initializing):
        words += [len(ports), int(bool(closed_path))]
        for name, output in ports:
            place = list(coupled.reads[name]).index(output)
            words += [machine.number[name], machine.output_slot(name, place)]
    return words


def _recording_numbers(loop: CoSimulation) -> CoSimulation:
    """A co-simulation that records no clocks and no binary data, which the FMU cannot show."""
    recorder = Recorder(loop.descriptions, loop.links, loop.run_options.record, derived=loop.derived)
    kinds = {port: loop.descriptions[port[0]].variables[port[1]].type for port in recorder.ports}
    restricted = copy.copy(loop)
    if not set(kinds.values()) <= set(CONTAINER_TYPES):
        shown = [".".join(port) for port, kind in kinds.items() if kind in CONTAINER_TYPES]
        restricted._set(run_options=replace(loop.run_options, record=[*shown, *loop.derived]))
    return restricted
