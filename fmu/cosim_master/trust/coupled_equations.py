"""The difference equations of participants, coupled: the state of all after an interval.

With outputs y, means ū of inputs over the interval and ends e of direct inputs, and with ∇ for backward
differences, the fitted equations of the participants (`Factors`) are ::

    y' = y + Σ of_outputs[j] ∇ʲy + Σ of_means[j] ∇ʲū' + Σ of_ends[j] ∇ʲe' + constant

where a prime means the next interval. Wires close them, up to defects of the coupling::

    ū' = at_begin y + at_end y' + defects        e' = ends y' + defects of the ends

So y' is on both sides, and the equations are solved for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_master.trust.difference_equations import Factors, with_differences

Vector = NDArray[np.float64]


class Wires(NamedTuple):
    """The outputs that inputs follow.

    Attributes
    ----------
    at_begin, at_end : ndarray, shape (inputs, outputs)
        The weight of an output at the begin, and at the end of an interval, in the mean of an input.
    ends : ndarray, shape (direct inputs, outputs)
        1 where the end of a direct input is that of an output.
    """

    at_begin: Vector
    at_end: Vector
    ends: Vector

    @property
    def all(self) -> Vector:
        """1 where an input, or an end, follows an output, shape (inputs + direct, outputs)."""
        return np.vstack([self.at_begin + self.at_end, self.ends])


class CoupledEquations(NamedTuple):
    """Equations of the coupled participants in a window: next = move @ state + push @ defects + constant.

    The defects are those of the means, then those of the ends; `gains` is ∂ẏ/∂u.
    """

    move: Vector
    push: Vector
    constant: Vector
    gains: Vector


class _Columns(NamedTuple):
    """The arguments of the next state, with a column for each case; 0.0 if an argument is zero.

    Attributes
    ----------
    state : ndarray, shape (width, columns)
    defects, end_defects : ndarray or float
        The means and the ends of inputs, minus the outputs.
    constant : ndarray or float
    """

    state: Vector
    defects: Vector | float = 0.0
    end_defects: Vector | float = 0.0
    constant: Vector | float = 0.0


def couple(factors: Factors, wires: Wires, interval: float) -> CoupledEquations:
    """Couple fitted participants: the next state is linear, so its matrices are its values for unit columns.

    Parameters
    ----------
    factors : Factors
    wires : Wires
    interval : float
        The length of an interval, s.

    Raises
    ------
    LinAlgError
        Outputs that depend on each other at one instant have no solution.
    """
    parts = factors.parts
    at_once = factors.of_means.sum(axis=0) @ wires.at_end + factors.of_ends.sum(axis=0) @ wires.ends
    inverse = np.linalg.inv(np.eye(parts.outputs) - at_once)
    unit_defects = np.eye(parts.inputs + parts.direct)
    of_states = _Columns(np.eye(parts.width))
    of_defects = _Columns(
        np.zeros((parts.width, len(unit_defects))),
        defects=unit_defects[: parts.inputs],
        end_defects=unit_defects[parts.inputs :],
    )
    of_constant = _Columns(np.zeros((parts.width, 1)), constant=factors.constant)
    return CoupledEquations(
        move=_next_state(factors, wires, inverse, of_states),
        push=_next_state(factors, wires, inverse, of_defects),
        constant=_next_state(factors, wires, inverse, of_constant)[:, 0],
        gains=factors.slopes_of_answers() / interval,
    )


def _next_state(factors: Factors, wires: Wires, inverse: Vector, columns: _Columns) -> Vector:
    """The state after one interval, by columns.

    Parameters
    ----------
    factors : Factors
    wires : Wires
    inverse : ndarray, shape (outputs, outputs)
        The inverse of the matrix of y', with all its terms on one side.
    columns : _Columns
    """
    lags = factors.parts.lags
    outputs, means, ends = factors.parts.split(columns.state)
    mean = wires.at_begin @ outputs[0] + columns.defects  # without the part of y', which is in `inverse`
    total = outputs[0] + columns.constant
    mean_before = np.zeros_like(mean)  # the sum of its differences so far
    for j in range(lags):
        total = total + factors.of_outputs[j] @ outputs[j] + factors.of_means[j] @ (mean - mean_before)
        mean_before = mean_before + means[j]
    end_before = np.zeros((factors.parts.direct, columns.state.shape[1]))
    for j in range(lags + 1):
        total = total + factors.of_ends[j] @ (columns.end_defects - end_before)
        end_before = end_before + ends[j] if j < lags else end_before
    new_output = inverse @ total
    return np.vstack(
        with_differences(new_output, outputs, lags)
        + with_differences(mean + wires.at_end @ new_output, means, lags)
        + with_differences(wires.ends @ new_output + columns.end_defects, ends, lags)
    )
