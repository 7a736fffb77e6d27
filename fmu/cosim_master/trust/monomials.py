"""Products of variables, and their slopes."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Monomials:
    """Products of the states, of the inputs, and of both, up to some degree; and their slopes.

    Parameters
    ----------
    states, inputs : int
    degree : int
        The degree of the products of states.
    mixed : int
        The degree of products with one input; 1: inputs alone.
    """

    def __init__(self, states: int, inputs: int, degree: int, mixed: int) -> None:
        degrees = range(degree + 1)
        self.terms: list[tuple[int, ...]] = [
            term for d in degrees for term in combinations_with_replacement(range(states), d)
        ]
        self.terms += [
            (*term, states + i)
            for i in range(inputs)
            for d in range(mixed)
            for term in combinations_with_replacement(range(states), d)
        ]

    def values(self, z: Vector) -> Vector:
        """The monomials of variables: from shape (..., variables) to (..., monomials)."""
        return np.stack([_product(z, term) for term in self.terms], axis=-1)

    def slopes(self, z: Vector) -> Vector:
        """Derivatives of the monomials by the variables: shape (..., monomials, variables)."""
        by_variable = np.zeros((*z.shape[:-1], len(self.terms), z.shape[-1]))
        for j, term in enumerate(self.terms):
            for place, variable in enumerate(term):
                by_variable[..., j, variable] += _product(z, (*term[:place], *term[place + 1 :]))
        return by_variable


def _product(z: Vector, term: tuple[int, ...]) -> Vector:
    product = np.ones(z.shape[:-1])
    for variable in term:
        product = product * z[..., variable]
    return product
