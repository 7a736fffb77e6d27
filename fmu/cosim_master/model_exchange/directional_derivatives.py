"""The directional derivatives that a Model Exchange FMU gives, at a point of its run."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_fmi.binding.statuses import OK
from cosim_fmi.description.fmu_interface import Element
from cosim_fmi.variables.typed_variables import CalledPython
from cosim_master.model_exchange.evaluation import Evaluation

if TYPE_CHECKING:
    from cosim_fmi.binding.fmu_instance import FmuInstance

Reals = NDArray[np.float64]
TIME_STEP = 1e-5
"""Of a difference in time, s, for times up to 1 s; for later ones relative to them."""


class Jacobian(NamedTuple):
    """The derivatives of some variables by states and by inputs, one row for each variable."""

    by_states: Reals
    by_inputs: Reals


class DirectionalDerivatives:
    """Answers compiled code with tangents of the derivatives of the states.

    FMI knows no derivatives by time: this one is a difference of second order, backward from the second step
    on, so that no time behind the end of a run is tried.

    Parameters
    ----------
    instance : FmuInstance
        In continuous-time mode.
    rates, states, inputs : sequence of Element
        The derivatives of the states, the states, and the continuous inputs.
    evaluation : Evaluation
        Of this instance alone.
    start : float
        Of the run, s.
    """

    def __init__(
        self,
        instance: FmuInstance,
        rates: Sequence[Element],
        states: Sequence[Element],
        inputs: Sequence[Element],
        evaluation: Evaluation,
        start: float,
    ) -> None:
        self._instance, self._evaluation, self._start = instance, evaluation, start
        self._rates, self._states, self._inputs = list(rates), list(states), list(inputs)
        self._function = CalledPython(self._answer)
        self._direction, self._changes = evaluation.derive_along(self._function.address)

    def _answer(self, *_: int) -> int:
        """Called where the instance is at the point."""
        time_dot, dots = float(self._direction[0]), self._direction[1:]
        self._changes[:] = self.along(self._rates, dots)
        if time_dot != 0.0:
            self._changes += time_dot * self._by_time()
        return OK

    def along(self, of: Sequence[Element], dots: Reals) -> Reals:
        """The derivatives of some variables along a direction of states and inputs."""
        elements_moved = [*self._states, *self._inputs]
        seeds = [element.sign * dot for element, dot in zip(elements_moved, dots.tolist(), strict=True)]
        if not of or not any(seeds):
            return np.zeros(len(of))
        if not all(map(math.isfinite, seeds)):  # unknown from an event on; FMUs refuse such seeds
            return np.full(len(of), math.nan)
        unknowns, knowns = ([element.reference for element in elements] for elements in (of, elements_moved))
        derivatives = self._instance.directional_derivative(unknowns, knowns, seeds)
        return np.array([element.sign * x for element, x in zip(of, derivatives, strict=True)])

    def jacobian(self, of: Sequence[Element]) -> Jacobian:
        """The derivatives of some variables by each state and input."""
        count = len(self._states)
        columns = [self.along(of, unit) for unit in np.eye(count + len(self._inputs))]
        whole = np.array(columns).reshape(len(columns), len(of)).T
        return Jacobian(whole[:, :count], whole[:, count:])

    def rate_jacobian(self) -> Jacobian:
        """The derivatives of the derivatives of the states."""
        return self.jacobian(self._rates)

    def _by_time(self) -> Reals:
        time = self._evaluation.time
        step = TIME_STEP * max(1.0, abs(time))
        if time - 2.0 * step >= self._start:
            step = -step
        near, far = self._rates_at(time + step), self._rates_at(time + 2.0 * step)
        rates_by_time: Reals = (4.0 * near - far - 3.0 * self._rates_at(time)) / (2.0 * step)
        return rates_by_time

    def _rates_at(self, time: float) -> Reals:
        rates = (ctypes.c_double * len(self._rates))()
        self._instance.set_time(time)
        self._instance.get_derivatives(rates)
        return np.array(rates)
