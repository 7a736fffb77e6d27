"""Participants that step at the same time: which may, in threads, while that is faster."""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from cosim_master.algorithms.programmed_algorithm import Call, ExchangeMemory
from cosim_master.coupling.link import Link
from cosim_master.exchange.called_in_python import CalledInPython
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_machine import ExchangeMachine
from cosim_master.exchange.run_exchanges import DONE


class StepThreads:
    """Calls functions at the same time; a context manager.

    Which thread calls which function depends on the clock, so the functions must not: each touches a
    participant of its own. Functions that spend their time in C or in compiled code run side by side.

    Parameters
    ----------
    count : int
        The number of threads, the calling one included.

    Examples
    --------
    >>> found = []
    >>> with StepThreads(2) as threads:
    ...     threads.call([lambda: found.append(1), lambda: found.append(2)])
    >>> sorted(found)
    [1, 2]
    """

    def __init__(self, count: int) -> None:
        self.count = count
        # Bare queues: futures cost four times as much, and a hand-over is what limits the gain of threads.
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._others: list[threading.Thread] = []

    def __enter__(self) -> StepThreads:
        names = [f"cosim-step-{i}" for i in range(1, self.count)]
        self._others = [threading.Thread(target=self._run, name=name) for name in names]
        for thread in self._others:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        for _ in self._others:
            self._work.put(None)
        for thread in self._others:
            thread.join()
        self._others = []

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work()
            except BaseException as error:
                self._done.put(error)
            else:
                self._done.put(None)

    def call(self, shared: Sequence[Callable[[], None]], own: Sequence[Callable[[], None]] = ()) -> None:
        """Call each function once and return when all have returned.

        Parameters
        ----------
        shared : sequence of callable
            For any thread.
        own : sequence of callable
            For the calling thread, in this order, before it takes part in the others.
        """
        left = iter(shared)  # its `__next__` is one step of the interpreter: no two threads get the same

        def work() -> None:
            for function in left:
                function()

        helpers = min(len(self._others), len(shared) - (not own))
        for _ in range(helpers):
            self._work.put(work)
        try:
            for function in own:
                function()
            work()
        finally:  # a participant that is still at work must not be freed
            errors = [self._done.get() for _ in range(helpers)]
        for error in errors:
            if error is not None:
                raise error


def levels(operations: Sequence[tuple[int, str]], links: Sequence[Link]) -> list[list[int]]:
    """Calls in levels: those of one level do not care in which order they are made.

    Two calls keep their order when they are of the same participant, or when one reads outputs that the
    other hands on as inputs.

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
    busy: dict[str, int] = {}  # and after the last one of this participant
    ordered: list[list[int]] = []
    for place, (kind, name) in enumerate(operations):
        others = fed.get(name, ()) if kind == READ else feeding.get(name, ()) if kind == SET else ()
        against = SET if kind == READ else READ
        level = max([busy.get(name, 0), *(after.get((against, other), 0) for other in others)])
        after[kind, name] = max(after.get((kind, name), 0), level + 1)
        busy[name] = level + 1
        if level == len(ordered):
            ordered.append([])
        ordered[level].append(place)
    return ordered


class ThreadedProgram(NamedTuple):
    """The operations of another program, some of them together.

    Attributes
    ----------
    operations : list of (int, str)
        ADVANCE_ALL where several step at once.
    covers : list of list of int
        For each of them which operations of the other program it does.
    """

    operations: list[Call]
    covers: list[list[int]]


def threaded_program(
    operations: Sequence[Call], links: Sequence[Link], free: Container[str], along: bool
) -> ThreadedProgram | None:
    """Steps that do not depend on each other together; None where there are no two of them.

    Parameters
    ----------
    operations : sequence of (int, str)
    links : sequence of Link
    free : container of str
        Participants that may step in other threads.
    along : bool
        Whether inputs run along lines, or states are restored: then only steps in a row are together.
    """
    if along:
        pieces = [[0]] if operations else []
        for place in range(1, len(operations)):
            if operations[place][0] == ADVANCE == operations[place - 1][0]:
                pieces[-1].append(place)
            else:
                pieces.append([place])
        steps_in = [(piece, [operations[p][0] == ADVANCE for p in piece]) for piece in pieces]
    else:
        ordered = levels(operations, links)
        steps_in = [(level, [operations[p][0] == ADVANCE for p in level]) for level in ordered]
    program = ThreadedProgram([], [])
    for level, steps in steps_in:
        together = [p for p, is_step in zip(level, steps, strict=True) if is_step]
        if len(together) < 2 or not any(operations[p][1] in free for p in together):
            together = []
        for place in level:
            if place not in together:
                program.operations.append(operations[place])
                program.covers.append([place])
        if together:
            program.operations.append((ADVANCE_ALL, ""))
            program.covers.append(together)
    return program if any(len(each) > 1 for each in program.covers) else None


def steps_in_halves(
    operations: Sequence[Call], program: ThreadedProgram, elsewhere: Mapping[str, object]
) -> list[Call]:
    """The operations of a program without threads: steps that take place elsewhere begin before the others.

    Parameters
    ----------
    operations : sequence of (int, str)
        As `threaded_program` had them.
    program : ThreadedProgram
    elsewhere : mapping of str to object
        Participants that begin a step and wait for it later, and `BeginsSteps.process_key` of each.

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
        done = [operations[place] for place in covered]
        begun = [name for _, name in done if name in elsewhere] if len(done) > 1 else []
        last = {elsewhere[name]: name for name in begun}
        in_halves += [(BEGIN_STEP if last[elsewhere[n]] == n else COLLECT_STEP, n) for n in begun]
        in_halves += [call for call in done if call[1] not in begun]
        in_halves += [(FINISH_STEP, name) for name in begun]
    return in_halves


ENOUGH = 1.2
"""Threads pay if the time in steps is this many times the elapsed time."""
TRIED = 0.005
"""s, of steps in threads before that is judged."""
TRIED_AGAIN = 0.5
"""s, after which threads are tried again: steps may have become longer."""


class ThreadGain:
    """Compares what steps took together with the time that passed.

    Attributes
    ----------
    uses_threads : bool
    """

    def __init__(self) -> None:
        self.uses_threads = True
        self._busy = self._passed = 0.0
        self._until, self._pause = 0.0, TRIED_AGAIN

    def add(self, busy: float, passed: float) -> None:
        """Steps that took so long in all (s) were taken while so much time passed (s)."""
        self._busy += busy
        self._passed += passed
        if self._passed < TRIED:
            return
        if self._busy < ENOUGH * self._passed:
            self.uses_threads = False
            self._until = perf_counter() + self._pause
            self._pause *= 2.0
        else:
            self._pause = TRIED_AGAIN
        self._busy = self._passed = 0.0

    def retry_threads(self) -> None:
        """Try threads again, if it is time."""
        if not self.uses_threads and perf_counter() >= self._until:
            self.uses_threads = True


Function = Callable[..., int]


class StepsTogether:
    """Has several participants step, whole chains of them in each thread.

    Parameters
    ----------
    coupled : CoupledParticipants
    threads : StepThreads
    machine : ExchangeMachine
    called : mapping of str to CalledInPython
    begin, take : callable
        `start_steps` and `take_steps`.

    Attributes
    ----------
    gain : ThreadGain
    """

    def __init__(
        self,
        coupled: CoupledParticipants,
        threads: StepThreads,
        machine: ExchangeMachine,
        called: Mapping[str, CalledInPython],
        begin: Function,
        take: Function,
    ) -> None:
        self._coupled, self._threads, self._machine, self._called = coupled, threads, machine, called
        self._begin, self._take, self.gain = begin, take, ThreadGain()
        self._chains: dict[tuple[str, ...], tuple[list[NDArray[np.int64]], NDArray[np.int64]]] = {}

    def step_all(self, names: Sequence[str], memory: ExchangeMemory) -> dict[str, tuple[int, int]]:
        """Step participants. Returns the stop code and the status of unusual steps.

        Steps that take place elsewhere begin first, and their answers are waited for last.

        Parameters
        ----------
        names : sequence of str
        memory : ExchangeMemory
            The memory of the algorithm whose step it is.
        """
        machine, algorithm = self._machine, int(self._machine.report.algorithm)
        shared, own = self._chains.setdefault(tuple(names), self._split(names))
        numbers = [machine.number[name] for name in names]
        every = np.array(numbers, dtype=np.int64)
        self._begin(machine.address, algorithm, every.ctypes.data, every.size)
        waiting = [self._called[name] for name in names if name in self._called]
        for each in waiting:
            each.waits = True
        busy = [0.0] * (len(shared) + 1)
        has_started = self._start_in_processes(names, memory)

        def step(place: int, chain: NDArray[np.int64]) -> None:
            begun = perf_counter()
            self._take(machine.address, algorithm, chain.ctypes.data, chain.size)
            busy[place] = perf_counter() - begun

        begun = perf_counter()
        tasks = [partial(step, i, chain) for i, chain in enumerate(shared)]
        try:
            self._threads.call(tasks, [partial(step, len(shared), own)] if own.size else [])
        finally:
            for each in waiting:
                each.waits = False
        if not has_started:
            self.gain.add(sum(busy), perf_counter() - begun)
        answers = [machine.answers[number] for number in numbers]
        return {
            name: (int(answer.stop), int(answer.status))
            for name, answer in zip(names, answers, strict=True)
            if answer.stop != DONE
        }

    def _start_in_processes(self, names: Sequence[str], memory: ExchangeMemory) -> bool:
        """Start the steps of participants in other processes; whether there are any."""
        coupled, begun = self._coupled, []
        for name in names:
            participant = coupled.participants[name]
            if isinstance(participant, BeginsSteps) and not coupled.rests(name):
                length = coupled.length(name, memory.time, memory.length)
                begun.append(participant.begin_step(memory.time, length))
        for send in begun:
            send()
        return bool(begun)

    def _split(self, names: Sequence[str]) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
        """Numbers of the participants for each thread, and of those that stay in the caller's."""
        participants, numbers = self._coupled.participants, self._machine.number
        keys = {n: p.process_key for n in names if isinstance(p := participants[n], BeginsSteps)}
        users = Counter(keys.values())
        free = [
            name
            for name in names
            if self._coupled.descriptions[name].steps_in_threads and users[keys.get(name)] < 2
        ]
        free.sort(key=lambda name: isinstance(participants[name], BeginsSteps))
        chains = np.array_split([numbers[n] for n in free], max(1, min(len(free), self._threads.count)))
        own = [numbers[n] for n in names if n not in free]
        return [np.array(c, dtype=np.int64) for c in chains], np.array(own, dtype=np.int64)
