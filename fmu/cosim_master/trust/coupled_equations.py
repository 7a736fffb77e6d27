"""The difference equations of participants, coupled: the state of all after an interval."""

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
        The share that an output at the begin, and at the end of an interval has in the mean of an input.
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


def couple(factors: Factors, wires: Wires, interval: float) -> CoupledEquations:
    """Couple fitted participants.

    Parameters
    ----------
    factors : Factors
    wires : Wires
    interval : float
        The length of an interval, s.
    """
    parts = factors.parts
    at_once = factors.of_means.sum(axis=0) @ wires.at_end + factors.of_ends.sum(axis=0) @ wires.ends
    solve = np.linalg.inv(np.eye(parts.outputs) - at_once)
    each_defect = np.eye(parts.inputs + parts.direct)
    means, ends = each_defect[: parts.inputs], each_defect[parts.inputs :]
    at_rest, no_state = np.zeros((parts.width, 1)), np.zeros((parts.width, len(each_defect)))
    return CoupledEquations(
        move=_next_state(factors, wires, solve, np.eye(parts.width), 0.0, 0.0, 0.0),
        push=_next_state(factors, wires, solve, no_state, means, ends, 0.0),
        constant=_next_state(factors, wires, solve, at_rest, 0.0, 0.0, factors.constant)[:, 0],
        gains=factors.slopes_of_answers() / interval,
    )


def _next_state(
    factors: Factors,
    wires: Wires,
    solve: Vector,
    state: Vector,
    defects: Vector | float,
    end_defects: Vector | float,
    constant: Vector | float,
) -> Vector:
    """The state after one interval, by columns; the mean of an input follows both ends of its output.

    Parameters
    ----------
    factors : Factors
    wires : Wires
    solve : ndarray, shape (outputs, outputs)
        Solves for outputs that depend on the same instant.
    state : ndarray, shape (width, columns)
    defects, end_defects : ndarray or float
        The means of inputs, and their ends, minus the outputs.
    constant : ndarray or float
    """
    lags = factors.parts.lags
    outputs, means, ends = factors.parts.split(state)
    mean = wires.at_begin @ outputs[0] + defects
    total = outputs[0] + constant
    mean_before = np.zeros_like(mean)
    for j in range(lags):
        total = total + factors.of_outputs[j] @ outputs[j] + factors.of_means[j] @ (mean - mean_before)
        mean_before = mean_before + means[j]
    end_before = np.zeros((factors.parts.direct, state.shape[1]))
    for j in range(lags + 1):
        total = total + factors.of_ends[j] @ (end_defects - end_before)
        end_before = end_before + ends[j] if j < lags else end_before
    new_output = solve @ total
    return np.vstack(
        with_differences(new_output, outputs, lags)
        + with_differences(mean + wires.at_end @ new_output, means, lags)
        + with_differences(wires.ends @ new_output + end_defects, ends, lags)
    )
