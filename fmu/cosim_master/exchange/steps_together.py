"""Steps of several participants at the same time: in threads, and in other processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import NamedTuple

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


class _Chains(NamedTuple):
    """Numbers of participants that step one after the other.

    Attributes
    ----------
    shared : list of ndarray
        Chains for any thread.
    in_caller : ndarray
        The chain of the calling thread.
    """

    shared: list[NDArray[np.int64]]
    in_caller: NDArray[np.int64]


class StepsTogether:
    """Steps several participants at the same time, in each thread a chain of them.

    Parameters
    ----------
    coupled : CoupledParticipants
    threads : StepThreads
    machine : ExchangeMachine
    called : mapping of str to CalledInPython
    start_steps, take_steps : callable
        The compiled functions of these names.

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
        start_steps: Function,
        take_steps: Function,
    ) -> None:
        self._coupled, self._threads, self._machine, self._called = coupled, threads, machine, called
        self._start_steps, self._take_steps, self.gain = start_steps, take_steps, ThreadGain()
        self._chains: dict[tuple[str, ...], _Chains] = {}

    def step_all(self, names: Sequence[str], memory: ExchangeMemory) -> dict[str, tuple[int, int]]:
        """Step participants. Returns the stop code and the status of steps that Python has to finish.

        Steps in other processes begin first, and their answers are awaited last.

        Parameters
        ----------
        names : sequence of str
        memory : ExchangeMemory
            The memory of the algorithm whose step it is.
        """
        machine, algorithm = self._machine, int(self._machine.report.algorithm)
        shared, in_caller = self._chains.setdefault(tuple(names), self._split(names))
        numbers = [machine.number[name] for name in names]
        all_numbers = np.array(numbers, dtype=np.int64)
        self._start_steps(machine.address, algorithm, all_numbers.ctypes.data, all_numbers.size)
        waiting = [self._called[name] for name in names if name in self._called]
        for called in waiting:
            called.waits = True
        busy = [0.0] * (len(shared) + 1)
        has_started = self._start_in_processes(names, memory)

        def step(place: int, chain: NDArray[np.int64]) -> None:
            chain_start = perf_counter()
            self._take_steps(machine.address, algorithm, chain.ctypes.data, chain.size)
            busy[place] = perf_counter() - chain_start

        wall_start = perf_counter()
        tasks = [partial(step, i, chain) for i, chain in enumerate(shared)]
        try:
            self._threads.call(tasks, [partial(step, len(shared), in_caller)] if in_caller.size else [])
        finally:
            for called in waiting:
                called.waits = False
        if not has_started:
            self.gain.add(sum(busy), perf_counter() - wall_start)
        answers = [machine.answers[number] for number in numbers]
        return {
            name: (int(answer.stop), int(answer.status))
            for name, answer in zip(names, answers, strict=True)
            if answer.stop != DONE
        }

    def _start_in_processes(self, names: Sequence[str], memory: ExchangeMemory) -> bool:
        """Start the steps of participants in other processes; whether there are any."""
        coupled, sends = self._coupled, []
        for name in names:
            participant = coupled.participants[name]
            if isinstance(participant, BeginsSteps) and not coupled.rests(name):
                length = coupled.length(name, memory.time, memory.length)
                sends.append(participant.begin_step(memory.time, length))
        for send in sends:
            send()
        return bool(sends)

    def _split(self, names: Sequence[str]) -> _Chains:
        """Split participants into chains."""
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
        in_caller = [numbers[n] for n in names if n not in free]
        return _Chains([np.array(c, dtype=np.int64) for c in chains], np.array(in_caller, dtype=np.int64))
