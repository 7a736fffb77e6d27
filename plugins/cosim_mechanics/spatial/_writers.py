"""Writing a tuple into a slot: a kernel function has no slice assignment."""

from __future__ import annotations

from cosim_mechanics.spatial._types import Reals, Slot


def put3(slot: Slot, a: Reals) -> None:
    """Write three numbers into a slot."""
    for i in range(3):
        slot[i] = a[i]


def put6(slot: Slot, a: Reals, b: Reals) -> None:
    """Write a spatial vector, given as its angular and its linear part, into a slot."""
    for i in range(3):
        slot[i] = a[i]
        slot[3 + i] = b[i]


def put12(slot: Slot, X: Reals) -> None:
    """Write a pose into a slot."""
    for i in range(12):
        slot[i] = X[i]


def clear(slot: Slot, count: int) -> None:
    """Write zeros into the first elements of a slot."""
    for i in range(count):
        slot[i] = 0.0
