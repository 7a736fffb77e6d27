"""Order conditions of Runge–Kutta methods: one for each rooted tree."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

Tree = tuple["Tree", ...]
"""A rooted tree: the trees that hang from its root."""


@cache
def rooted_trees(order: int) -> tuple[Tree, ...]:
    """All rooted trees with `order` nodes: 1, 1, 2, 4, 9, 20, 48, 115 for orders 1 … 8.

    Examples
    --------
    >>> [len(rooted_trees(n)) for n in range(1, 7)]
    [1, 1, 2, 4, 9, 20]
    """
    if order == 1:
        return ((),)
    trees = set()
    for size in range(1, order):
        for branch in rooted_trees(size):
            # Hanging a branch on the root of every smaller tree gives each tree, some several times.
            for smaller in rooted_trees(order - size):
                trees.add(tuple(sorted((*smaller, branch))))
    return tuple(sorted(trees))


def size_of(tree: Tree) -> int:
    """Number of nodes."""
    return 1 + sum(size_of(branch) for branch in tree)


def density(tree: Tree) -> int:
    """The density gamma of a rooted tree: its size times the densities of its branches."""
    return size_of(tree) * math.prod(density(branch) for branch in tree)


def elementary_weights(a: NDArray[np.float64], tree: Tree) -> NDArray[np.float64]:
    """Phi_i of a rooted tree for every stage, shape (stages,)."""
    result = np.ones(len(a))
    for branch in tree:
        result = result * (a @ elementary_weights(a, branch))
    return result
