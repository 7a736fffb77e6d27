"""The directional derivatives of a Model Exchange FMU at a point of its run."""

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
"""The step of a difference in time, s, for times up to 1 s; relative to later times."""


class Jacobian(NamedTuple):
    """The derivatives of some variables by states and by inputs, one row for each variable."""

    by_states: Reals
    by_inputs: Reals


class DirectionalDerivatives:
    """Computes tangents of the derivatives of the states, for compiled code.

    FMI has no derivatives by time: they are differences of second order. The differences are backward from
    the second step on, so that no time after the end of a run is tried.

    Parameters
    ----------
    instance : FmuInstance
        In continuous-time mode.
    rates, states, inputs : sequence of Element
        The derivatives of the states, the states, and the continuous inputs.
    evaluation : Evaluation
        Of this instance alone.
    start : float
        The start of the run, s.
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
        self._function = CalledPython(self._write_changes)
        self._direction, self._changes = evaluation.derive_along(self._function.address)

    def _write_changes(self, *_: int) -> int:
        """Write the changes along the direction; called when the instance is at the point."""
        time_dot, dots = float(self._direction[0]), self._direction[1:]
        self._changes[:] = self.along(self._rates, dots)
        if time_dot != 0.0:
            self._changes += time_dot * self._by_time()
        return OK

    def along(self, variables: Sequence[Element], dots: Reals) -> Reals:
        """The derivatives of some variables along a direction of states and inputs."""
        elements_moved = [*self._states, *self._inputs]
        seeds = [element.sign * dot for element, dot in zip(elements_moved, dots.tolist(), strict=True)]
        if not variables or not any(seeds):
            return np.zeros(len(variables))
        if not all(map(math.isfinite, seeds)):  # as after an event; FMUs refuse such seeds
            return np.full(len(variables), math.nan)
        unknowns = [element.reference for element in variables]
        knowns = [element.reference for element in elements_moved]
        derivatives = self._instance.directional_derivative(unknowns, knowns, seeds)
        return np.array([element.sign * x for element, x in zip(variables, derivatives, strict=True)])

    def jacobian(self, variables: Sequence[Element]) -> Jacobian:
        """The derivatives of some variables by each state and input."""
        count = len(self._states)
        columns = [self.along(variables, unit) for unit in np.eye(count + len(self._inputs))]
        whole = np.array(columns).reshape(len(columns), len(variables)).T
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
