"""The control block of an instance (`instance_calls`)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cosim_fmu.binding.fmu_instance import FmuInstance
from cosim_fmu.master.evaluation import instance_calls as words

Reals = NDArray[np.float64]


class InstanceBlock:
    """Addresses of the functions and buffers of an instance, and what has become of its calls.

    Parameters
    ----------
    instance : FmuInstance
        Instantiated.
    states, indicators : int
        How many continuous states and event indicators it has.
    wants_steps : bool
        Whether it is told when an integrator step has ended.

    Attributes
    ----------
    address : int
    words : ndarray of int

    Raises
    ------
    MissingFunctionError
        The library lacks a function that is needed.
    """

    def __init__(self, instance: FmuInstance, states: int, indicators: int, wants_steps: bool) -> None:
        self._instance, self.states, self.indicators = instance, states, indicators
        self.words = np.zeros(words.SIZE, dtype=np.int64)
        self.address = int(self.words.ctypes.data)
        self._functions = {words.SET_TIME: "SetTime"}
        if states:
            self._functions |= {
                words.SET_STATES: "SetContinuousStates",
                words.GET_RATES: instance.rates_function,
            }
        if indicators:
            self._functions[words.GET_INDICATORS] = "GetEventIndicators"
        if wants_steps:
            self._functions[words.COMPLETE] = "CompletedIntegratorStep"
        for place, name in self._functions.items():
            instance.library.function(name)  # which may be missing
            self.words[place] = instance.library.address(name)
        self._answers = np.zeros(2, dtype=np.int64)
        self._numbers, self._lost = np.full(indicators, math.inf), np.zeros(indicators, dtype=np.int64)
        self.words[words.HANDLE] = instance.component
        self.words[words.STATES], self.words[words.INDICATORS] = states, indicators
        at = self.words[words.ANSWERS_AT] = self._answers.ctypes.data
        self.words[words.COMPLETE_1 : words.COMPLETE_3 + 1] = instance.step_arguments(int(at))
        self.words[words.NUMBERS_AT] = self._numbers.ctypes.data
        self.words[words.LOST_AT] = self._lost.ctypes.data

    def place(self, states: Reals, rates: Reals, indicators: Reals) -> None:
        """Say where these buffers are; the caller keeps them."""
        self.words[words.STATES_AT] = states.ctypes.data
        self.words[words.RATES_AT] = rates.ctypes.data
        self.words[words.INDICATORS_AT] = indicators.ctypes.data

    @property
    def stopped(self) -> bool:
        """Whether the instance has asked for the end of the run."""
        return bool(self.words[words.STOPPED])

    @stopped.setter
    def stopped(self, value: bool) -> None:
        self.words[words.STOPPED] = int(value)

    def forget(self) -> None:
        """What event indicators were, which may be later than a restored state."""
        self._numbers[:] = math.inf
        self.words[words.UNDEFINED] = 0

    @property
    def is_undefined(self) -> bool:
        """Whether event indicators are NaN at the last point that were numbers before."""
        return bool(self.words[words.UNDEFINED])

    @property
    def undefined(self) -> str:
        """Which they were when some were so last."""
        return ", ".join(f"event indicator {i + 1}" for i in np.flatnonzero(self._lost))

    @property
    def status(self) -> int:
        """What the failed call has returned."""
        return int(self.words[words.STATUS])

    def check(self) -> int:
        """Raise what the failed call of one of these functions means; else the number of what has failed.

        Returns
        -------
        int
            0: nothing; -1 - number of an access.
        """
        place = int(self.words[words.FAULT_IN])
        self.words[words.FAULT_IN] = 0
        if place > 0:
            self._instance.check(self._functions[place], self.status)
        return place
