"""Threads in which participants step at the same time, while that is faster."""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from cosim_master.abilities import BeginsSteps
from cosim_master.algorithms.programmed_algorithm import ExchangeMemory
from cosim_master.exchange.called_in_python import CalledInPython
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_machine import ExchangeMachine
from cosim_master.exchange.stop_codes import DONE


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
