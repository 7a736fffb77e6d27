"""A linear system as matrices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

import cosim


def column(matrix: Any) -> Any:
    """A matrix; a list of numbers is its only column."""
    return [[number] for number in matrix] if _is_list(matrix) else matrix


def row(matrix: Any) -> Any:
    """A matrix; a list of numbers is its only row."""
    return [list(matrix)] if _is_list(matrix) else matrix


def _is_list(matrix: Any) -> bool:
    return isinstance(matrix, (list, tuple, np.ndarray)) and all(np.ndim(item) == 0 for item in matrix)


def product(matrix, i, vector):
    """Row `i` of a matrix, which lies row by row, times a vector."""
    n = len(vector)
    total = 0.0
    for j in range(n):
        total += matrix[i * n + j] * vector[j]
    return total


def rate_of(i, source, A, B, C, x):
    """The rate of an output that follows from the states."""
    n = len(x)
    total = 0.0
    for j in range(n):
        total += C[i * n + j] * (product(A, j, x) + product(B, j, source))
    return total


class StateSpace(cosim.Measure):
    """A linear system of any number of inputs, states and outputs as matrices.

    Law: x' = A x + B source, value = C x + D source. The derivative is known where that of the source is, or
    D is 0.

    Limits: where D is 0 when the system is built the value does not depend on the source at once, and D stays
    0: a loop through it is not an algebraic loop.

    Parameters
    ----------
    source : measure or path of a signal
        A number, or a vector of m elements.
    A : array_like, shape (n, n)
    B : array_like, shape (n, m); a list of n numbers for a single input
    C : array_like, shape (p, n); a list of n numbers for a single output
    D : array_like, shape (p, m); or one number for all its elements, default 0
        Numbers without units: those of source, states and value in SI, or in `unit`.
    x : float or array_like, shape (n,)
        Start value of the states.
    unit : str, optional
        Of the value, as for sources of signals.

    Returns
    -------
    value : shape (p,); a number where p = 1

    Raises
    ------
    ModelError
        Matrices that do not go together.

    References
    ----------
    Modelica Standard Library, block ``Continuous.StateSpace`` (A, B, C, D, x_start). Drake, class
    ``LinearSystem``.

    Examples
    --------
    >>> StateSpace(source="force", A=[[0, 1], [-4, -0.4]], B=[0, 1], C=[1, 0]).C.shape
    (1, 2)
    """

    elementwise = False
    tried_with: ClassVar[Mapping[str, Any]] = {"A": [[0, 1], [-4, -0.4]], "B": [0, 1], "C": [1, 0]}
    conditions: ClassVar[dict[str, Any]] = {
        "feeds_through": lambda part: bool(part.values.numbers["D"].any())
    }

    source = cosim.source(shape="inputs", description="what goes in")
    A = cosim.parameter(unit="1", shape=("order", "order"), description="states to rates")
    B = cosim.parameter(unit="1", shape=("order", "inputs"), convert=column, description="inputs to rates")
    C = cosim.parameter(unit="1", shape=("outputs", "order"), convert=row, description="states to outputs")
    D = cosim.parameter(
        unit="1", shape=("outputs", "inputs"), default=0.0, description="inputs to outputs at once"
    )
    unit = cosim.option("", unit_of="value")
    x = cosim.auxiliary_state(shape="order", description="states")
    value = cosim.cache_slot(shape="outputs", description="what comes out")
    value_dot = cosim.cache_slot(unit="{value}/s", shape="outputs", description="its time derivative")
    value_dot2 = None
    value_dot3 = None

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        if self.declarations["value"].size == 1:  # a number, for those who read it
            for name in ("value", "value_dot"):
                self.declarations[name] = replace(self.declarations[name], shape=())

    @cosim.kernel
    def derivatives(source, A, B, x, x_dot):
        for i in range(len(x)):
            x_dot[i] = product(A, i, x) + product(B, i, source)

    @cosim.kernel(
        unless="feeds_through", refuses=["D was 0 when the system was built: give it when the part is added"]
    )
    def check(D):
        for i in range(len(D)):
            if D[i] != 0.0:
                return 1.0
        return 0.0

    @cosim.kernel(unless="feeds_through")
    def output(C, x, value):
        for i in range(len(value)):
            value[i] = product(C, i, x)

    @cosim.kernel(when="feeds_through")
    def output_at_once(source, C, D, x, value):
        for i in range(len(value)):
            value[i] = product(C, i, x) + product(D, i, source)

    @cosim.kernel(unless="feeds_through")
    def output_rate(source, A, B, C, x, value_dot):
        for i in range(len(value_dot)):
            value_dot[i] = rate_of(i, source, A, B, C, x)

    @cosim.kernel(when="feeds_through")
    def output_rate_at_once(source, source_dot, A, B, C, D, x, value_dot):
        for i in range(len(value_dot)):
            value_dot[i] = rate_of(i, source, A, B, C, x) + product(D, i, source_dot)
