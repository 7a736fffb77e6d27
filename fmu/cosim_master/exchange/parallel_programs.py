"""Programs of exchanges in which participants step at the same time, in threads or in other processes."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from cosim_master.abilities import BeginsSteps
from cosim_master.algorithms.exchange_layout import (
    ADVANCE,
    ADVANCE_ALL,
    BEGIN_STEP,
    COLLECT_STEP,
    FINISH_STEP,
    READ,
    SET,
)
from cosim_master.algorithms.noted_calls import Call
from cosim_master.coupling.link import Link
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_algorithms import AlgorithmArrays
from cosim_master.exchange.exchange_machine import ExchangeMachine
from cosim_master.native_calls import NativeCalls


def levels(operations: Sequence[tuple[int, str]], links: Sequence[Link]) -> list[list[int]]:
    """Groups calls into levels; calls of one level may be made in any order.

    Two calls keep their order if they are calls of the same participant, or if one reads outputs that the
    other writes to inputs.

    Parameters
    ----------
    operations : sequence of (int, str)
        The operations, each with a participant, as `operations_of` returns them.
    links : sequence of Link

    Returns
    -------
    list of list of int
        Places in `operations`, in their order within a level.

    Examples
    --------
    >>> from cosim_master.algorithms.exchange_layout import ADVANCE
    >>> levels([(ADVANCE, "a"), (READ, "a"), (SET, "b"), (ADVANCE, "b")], [Link("a", "y", "b", "u")])
    [[0], [1], [2], [3]]
    >>> levels([(ADVANCE, "a"), (READ, "a"), (SET, "b"), (ADVANCE, "b")], [])
    [[0, 2], [1, 3]]
    """
    fed: dict[str, set[str]] = {}
    feeding: dict[str, set[str]] = {}
    for link in links:
        fed.setdefault(link.source, set()).add(link.target)
        feeding.setdefault(link.target, set()).add(link.source)
    after: dict[tuple[int, str], int] = {}  # the level after the last call of this kind
    busy: dict[str, int] = {}  # the level after the last call of this participant
    ordered: list[list[int]] = []
    for place, (kind, name) in enumerate(operations):
        conflicting: set[tuple[int, str]] = set()
        if kind == READ:
            conflicting = {(SET, target) for target in fed.get(name, ())}
        elif kind == SET:
            conflicting = {(READ, source) for source in feeding.get(name, ())}
        level = max([busy.get(name, 0), *(after.get(call, 0) for call in conflicting)])
        after[kind, name] = max(after.get((kind, name), 0), level + 1)
        busy[name] = level + 1
        if level == len(ordered):
            ordered.append([])
        ordered[level].append(place)
    return ordered


class ThreadedProgram(NamedTuple):
    """A program in which some operations of another program are made together.

    Attributes
    ----------
    operations : list of (int, str)
        ADVANCE_ALL for several steps at once.
    covers : list of list of int
        For each of these operations the places of the operations of the other program that it makes.
    """

    operations: list[Call]
    covers: list[list[int]]


def threaded_program(
    operations: Sequence[Call], links: Sequence[Link], free: Container[str], along: bool
) -> ThreadedProgram | None:
    """The program with independent steps together; None if no two steps are independent.

    Parameters
    ----------
    operations : sequence of (int, str)
    links : sequence of Link
    free : container of str
        Participants that may step in other threads.
    along : bool
        Whether inputs run along lines, or states are restored: then only successive steps are together.
    """
    program = ThreadedProgram([], [])
    for level in _successive_steps(operations) if along else levels(operations, links):
        together = [place for place in level if operations[place][0] == ADVANCE]
        if len(together) < 2 or not any(operations[p][1] in free for p in together):
            together = []
        for place in level:
            if place not in together:
                program.operations.append(operations[place])
                program.covers.append([place])
        if together:
            program.operations.append((ADVANCE_ALL, ""))
            program.covers.append(together)
    return program if any(len(covered) > 1 for covered in program.covers) else None


def _successive_steps(operations: Sequence[Call]) -> list[list[int]]:
    """The places of the operations in groups: successive steps together, all others alone."""
    groups = [[0]] if operations else []
    for place in range(1, len(operations)):
        if operations[place][0] == ADVANCE == operations[place - 1][0]:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def steps_in_halves(
    operations: Sequence[Call], program: ThreadedProgram, elsewhere: Mapping[str, object]
) -> list[Call]:
    """The operations of a program without threads, in which steps in other processes begin before the others.

    Parameters
    ----------
    operations : sequence of (int, str)
        The argument of `threaded_program`.
    program : ThreadedProgram
    elsewhere : mapping of str to object
        Participants in other processes, and `BeginsSteps.process_key` of each.

    Examples
    --------
    >>> steps = [(ADVANCE, "a"), (ADVANCE, "b"), (ADVANCE, "c")]
    >>> program = threaded_program(steps, [], ("a", "c"), along=False)
    >>> steps_in_halves(steps, program, {"a": 1, "c": 2}) == [
    ...     (BEGIN_STEP, "a"), (BEGIN_STEP, "c"), (ADVANCE, "b"), (FINISH_STEP, "a"), (FINISH_STEP, "c")]
    True
    >>> steps_in_halves(steps, program, {"a": 1, "c": 1})[:2] == [(COLLECT_STEP, "a"), (BEGIN_STEP, "c")]
    True
    """
    in_halves: list[Call] = []
    for covered in program.covers:
        calls = [operations[place] for place in covered]
        begun = [name for _, name in calls if name in elsewhere] if len(calls) > 1 else []
        last_of_process = {elsewhere[name]: name for name in begun}
        in_halves += [
            (BEGIN_STEP if last_of_process[elsewhere[name]] == name else COLLECT_STEP, name) for name in begun
        ]
        in_halves += [(call, name) for call, name in calls if name not in begun]
        in_halves += [(FINISH_STEP, name) for name in begun]
    return in_halves


class ParallelPrograms:
    """The programs of the master's exchange for one thread and for several, of which one is in use.

    Parameters
    ----------
    machine : ExchangeMachine
    main : AlgorithmArrays
        The arrays of the master's algorithm, with the program for one thread.
    threaded : ThreadedProgram

    Attributes
    ----------
    with_threads : bool
        Whether the program for several threads runs now.
    """

    def __init__(self, machine: ExchangeMachine, main: AlgorithmArrays, threaded: ThreadedProgram) -> None:
        self.threaded, self.with_threads = threaded, False
        self._machine = machine
        self._programs = [main.program_of(calls) for calls in (main.operations, threaded.operations)]

    def choose(self, *, with_threads: bool) -> None:
        """Run the program with threads, or the one without."""
        if with_threads != self.with_threads:
            self.with_threads = with_threads
            self._machine.run_program(0, self._programs[with_threads])


def parallel_programs(
    coupled: CoupledParticipants,
    machine: ExchangeMachine,
    main: AlgorithmArrays,
    calls: Mapping[str, NativeCalls],
    carries_slopes: bool,
) -> ParallelPrograms | None:
    """Prepare the master's exchange with steps at the same time; None if there is only one program.

    One program suffices if C functions begin all these steps in other processes (`steps_in_halves`).

    Parameters
    ----------
    coupled : CoupledParticipants
        With threads.
    machine : ExchangeMachine
    main : AlgorithmArrays
        Of the master's algorithm.
    calls : mapping of str to NativeCalls
        By participant.
    carries_slopes : bool
        Whether inputs run along lines, so that the order of the other operations stays.
    """
    assert coupled.threads is not None
    parts, descriptions = coupled.participants, coupled.descriptions
    free = {name for name, description in descriptions.items() if description.steps_in_threads}
    if coupled.threads.count == 1:
        free = {name for name in free if isinstance(parts[name], BeginsSteps)}
    in_a_row = carries_slopes or coupled.joint is not None or bool(coupled.loops)
    program = threaded_program(main.operations, coupled.links, free, in_a_row)
    if program is None:
        return None
    if not all(calls[name].begin for name in free):
        return ParallelPrograms(machine, main, program)
    keys = {name: p.process_key for name in free if isinstance(p := parts[name], BeginsSteps)}
    main.operations = steps_in_halves(main.operations, program, keys)
    machine.run_program(0, main.program_of(main.operations))
    return None
