"""What algorithms do, as programs for the interpreter of exchanges."""

from __future__ import annotations

from collections.abc import Sequence

import cosim
from cosim.kit import Exchange
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.exchange_memory import ExchangeMemory
from cosim_master.algorithms.joint import Joint
from cosim_master.algorithms.loop_iteration import LoopExchange
from cosim_master.algorithms.operations import operations_of
from cosim_master.algorithms.programmed_algorithm import Call, ProgrammedAlgorithm
from cosim_master.exchange.algorithm_arrays import AlgorithmArrays
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_machine import ExchangeMachine


class ExchangePrograms:
    """The algorithm of the master, and the iterations of the loops in it.

    Parameters
    ----------
    algorithm : MasterAlgorithm
        Initialized.
    coupled : CoupledParticipants

    Attributes
    ----------
    asked : MasterAlgorithm or None
        The algorithm, if it decides in Python.
    along : bool
        Whether inputs may run along lines.
    goes_back : bool
        Whether states are saved in compiled code.
    """

    def __init__(self, algorithm: cosim.MasterAlgorithm, coupled: CoupledParticipants) -> None:
        self._coupled = coupled
        if isinstance(algorithm, Joint):
            algorithm = algorithm.others
        self._algorithm = algorithm
        programmed = None
        if isinstance(algorithm, ProgrammedAlgorithm) and type(algorithm).step is ProgrammedAlgorithm.step:
            programmed = algorithm
        self._programmed = programmed
        self.asked = None if programmed is not None or algorithm.fixed_sequence else algorithm
        self.along = self.asked is not None or (programmed is not None and programmed.looks)
        self._loops = () if programmed is None else tuple(coupled.loops)
        self.goes_back = (programmed is not None and programmed.goes_back) or bool(self._loops)

    def arrays(self, machine: ExchangeMachine, exchange: Exchange) -> list[AlgorithmArrays]:
        """The algorithm of the master first, then its loops; asked in Python they get this exchange."""
        coupled, size = self._coupled, len(self._coupled.interface_names)
        numbers, outputs = machine.number, machine.outputs.size
        programmed = self._programmed
        operations: Sequence[Call] = ()
        memory = ExchangeMemory(size)
        if programmed is not None:
            memory, operations = programmed.memory, programmed.calls(coupled.order, self._loops)
        elif self.asked is None:
            memory, operations = ExchangeMemory(), operations_of(self._algorithm, coupled.order)
        first = {loop.participants[0]: i + 1 for i, loop in enumerate(self._loops)}
        given = self._of_members(operations, coupled.order), numbers, first, machine.ports
        found = [AlgorithmArrays(memory, *given, machine.names, outputs, programmed, exchange)]
        for loop in self._loops:
            assert programmed is not None
            iteration = programmed.iteration(loop)
            part = LoopExchange(exchange, loop)
            members = [member for name in loop.participants for member in coupled.units[name]]
            ports = [machine.ports[place] for place in part.places.tolist()]
            calls = self._of_members(iteration.calls(loop.participants), loop.participants)
            found.append(
                AlgorithmArrays(
                    iteration.memory, calls, numbers, {}, ports, members, outputs, iteration, part
                )
            )
        return found

    def _of_members(self, calls: Sequence[Call], order: Sequence[str]) -> list[Call]:
        """One for each participant in place of one that steps all, or that is for several solved jointly."""
        units, found = self._coupled.units, list[Call]()
        for call, name in calls:
            if call in (layout.ADVANCE, layout.ADVANCE_ALL):
                going = order if call == layout.ADVANCE_ALL else [name]
                found += [(layout.NOTE_COURSE, member) for each in going for member in units[each][1:]]
                found += [(layout.ADVANCE, each) for each in going]
            elif call in (layout.PUT_END, layout.ITERATE):
                found.append((call, name))
            else:
                found += [(call, member) for member in units[name]]
        return found
