"""The control block of an instance (`instance_calls`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cosim.kit import black_box
from cosim_fmi.binding import modes
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmi.binding.fmu_library import FmiError
from cosim_fmi.binding.rounding import ROUNDING_AT
from cosim_fmi.model_exchange import instance_calls as words

if TYPE_CHECKING:
    from cosim_fmi.variables.variable_access import Access

Reals = NDArray[np.float64]


class InstanceBlock:
    """Addresses of the functions and buffers of an instance, and what has become of its calls.

    Parameters
    ----------
    instance : FmuInstance
        Instantiated.
    states, indicators : int
        The numbers of continuous states and event indicators.
    wants_steps : bool
        Whether it is notified when an integrator step has ended.

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
        self._numbers = np.full(indicators, math.inf)
        self._found: tuple[Reals, Reals] = np.zeros(0), np.zeros(0)  # derivatives, indicators
        self.words[words.HANDLE] = instance.component
        self.words[words.STATES], self.words[words.INDICATORS] = states, indicators
        at = self.words[words.ANSWERS_AT] = self._answers.ctypes.data
        self.words[words.COMPLETE_1 : words.COMPLETE_3 + 1] = instance.step_arguments(int(at))
        self.words[words.NUMBERS_AT] = self._numbers.ctypes.data
        self.words[words.ROUNDING_AT] = ROUNDING_AT

    def report_calls(self) -> None:
        """Let the process that outlives this one see which function compiled code calls."""
        instance = self._instance
        for place, name in self._functions.items():
            self.words[place + words.TOLD_SET_TIME - words.SET_TIME] = instance.call_number(name)
        self.words[words.TOLD_SET] = instance.call_number(f"Set{instance.real}")
        self.words[words.TOLD_GET] = instance.call_number(f"Get{instance.real}")
        if "set" in instance.state_functions:
            self.words[words.TOLD_RESTORE] = instance.call_number(instance.state_functions["set"])
        self.words[words.CALLING_AT] = black_box.calling_address()

    def place(self, states: Reals, rates: Reals, indicators: Reals) -> None:
        """Set the buffers, which the caller owns."""
        self.words[words.STATES_AT] = states.ctypes.data
        self.words[words.RATES_AT] = rates.ctypes.data
        self.words[words.INDICATORS_AT] = indicators.ctypes.data
        self._found = rates, indicators

    @property
    def stopped(self) -> bool:
        """Whether the instance has asked for the end of the run."""
        return bool(self.words[words.STOPPED])

    @stopped.setter
    def stopped(self, value: bool) -> None:
        self.words[words.STOPPED] = int(value)

    def forget(self) -> None:
        """Forget the values of event indicators, which may be later than a restored state."""
        self._numbers[:] = math.inf
        self.words[words.UNDEFINED] = words.DEFINED

    @property
    def undefined(self) -> str:
        """A sentence about values that are not defined at the last point; "" if all are."""
        kind = int(self.words[words.UNDEFINED])
        time = f"t = {self.words.view(np.float64)[words.UNDEFINED_AT]:.9g} s"
        rates, indicators = self._found
        if kind == words.RATES_DISCARDED:
            return f"it discards the derivatives at {time}: they are not defined there"
        if kind == words.RATES_UNDEFINED:
            first = int(np.flatnonzero(~np.isfinite(rates))[0])
            return (
                f"the derivative of continuous state {first + 1} is {rates[first]} at {time}: look for a "
                "division by zero, or a solution that ends there"
            )
        if kind == words.INDICATORS_LOST:
            lost = [str(i + 1) for i in np.flatnonzero(np.isnan(indicators))]
            which = f" {lost[0]} is" if len(lost) == 1 else f"s {', '.join(lost)} are"
            return f"event indicator{which} nan at {time}, and a number before: events could be missed"
        return ""

    def failure(self, accesses: Sequence[Access]) -> Exception | None:
        """The error of the last evaluation, or of a value that is not defined; None if there is none.

        Parameters
        ----------
        accesses : sequence of Access
            In the order of their numbers.
        """
        place, status = int(self.words[words.FAULT_IN]), int(self.words[words.STATUS])
        try:
            if place > 0:
                self._instance.check(self._functions[place], status)
            elif place < 0:
                accesses[-1 - place].check(status)
        except Exception as error:
            return error
        if self.undefined:
            self._instance.mode = modes.FAILED
            return FmiError(self.undefined)
        return None
