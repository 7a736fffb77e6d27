"""Steps of several participants at the same time: in threads, and in other processes."""

from __future__ import annotations

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
from cosim_master.exchange.step_threads import StepThreads, ThreadGain
from cosim_master.exchange.stop_codes import DONE

Function = Callable[..., int]
"""A compiled function, by the addresses of its arguments."""


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
        all_numbers = np.array(numbers, dtype=np.int64)
        self._begin(machine.address, algorithm, all_numbers.ctypes.data, all_numbers.size)
        waiting = [self._called[name] for name in names if name in self._called]
        for called in waiting:
            called.waits = True
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
            for called in waiting:
                called.waits = False
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
