"""Participants that step at the same time: in threads, where that is faster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from cosim_master.exchange.called_in_python import CalledInPython
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_machine import ExchangeMachine
from cosim_master.exchange.run_exchanges import DONE
from cosim_master.exchange.thread_gain import ThreadGain

Function = Callable[..., int]


class StepsTogether:
    """Has several participants step, whole chains of them in each thread.

    Parameters
    ----------
    coupled : CoupledParticipants
    machine : ExchangeMachine
    called : mapping of str to CalledInPython
    begin, take : callable
        `begin_steps` and `take_steps`.

    Attributes
    ----------
    gain : ThreadGain
    """

    def __init__(
        self,
        coupled: CoupledParticipants,
        machine: ExchangeMachine,
        called: Mapping[str, CalledInPython],
        begin: Function,
        take: Function,
    ) -> None:
        self._coupled, self._machine, self._called = coupled, machine, called
        self._begin, self._take, self.gain = begin, take, ThreadGain()
        self._chains: dict[tuple[str, ...], tuple[list[NDArray[np.int64]], NDArray[np.int64]]] = {}

    def take(self, names: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Step them; the stop code and the status of those that were not as usual."""
        machine, algorithm = self._machine, int(self._machine.report.algorithm)
        shared, own = self._chains.setdefault(tuple(names), self._made(names))
        numbers = [machine.number[name] for name in names]
        every = np.array(numbers, dtype=np.int64)
        self._begin(machine.address, algorithm, every.ctypes.data, every.size)
        waiting = [self._called[name] for name in names if name in self._called]
        for each in waiting:
            each.waits = True
        busy = [0.0] * (len(shared) + 1)

        def step(place: int, chain: NDArray[np.int64]) -> None:
            begun = perf_counter()
            self._take(machine.address, algorithm, chain.ctypes.data, chain.size)
            busy[place] = perf_counter() - begun

        begun = perf_counter()
        tasks = [partial(step, i, chain) for i, chain in enumerate(shared)]
        try:
            self._coupled.threads.call(tasks, [partial(step, len(shared), own)] if own.size else [])
        finally:
            for each in waiting:
                each.waits = False
        self.gain.add(sum(busy), perf_counter() - begun)
        answers = [machine.answers[number] for number in numbers]
        return {
            name: (int(answer.stop), int(answer.status))
            for name, answer in zip(names, answers, strict=True)
            if answer.stop != DONE
        }

    def _made(self, names: Sequence[str]) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
        """Numbers of the participants for each thread, and of those that stay in the caller's."""
        free = [n for n in names if self._coupled.descriptions[n].steps_in_threads]
        numbers = self._machine.number
        chains = np.array_split([numbers[n] for n in free], min(len(free), self._coupled.threads.count))
        own = [numbers[n] for n in names if n not in free]
        return [np.array(c, dtype=np.int64) for c in chains], np.array(own, dtype=np.int64)
