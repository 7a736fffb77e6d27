"""Reading and writing the cache at offsets, as compiled code does it fastest.

A view `c[at : at + 6]` costs compiled code a comparison with both ends of the array, and an index that might
be negative one more. So the blocks of the solvers index the cache itself, at offsets that `offset` has made
visibly not negative.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.inertias import Six, Ten, Three

#: More than any offset.
BITS = 0x7FFFFFFF


def offset(number: int) -> int:
    """The number itself, which is 0 or more: masked so that the compiler knows it."""
    return number & BITS


def three(c: Any, at: int) -> Three:
    """Three reals."""
    return (c[at], c[at + 1], c[at + 2])


def six(c: Any, at: int) -> Six:
    """Six reals."""
    return (c[at], c[at + 1], c[at + 2], c[at + 3], c[at + 4], c[at + 5])


def nine(c: Any, at: int) -> Any:
    """Nine reals."""
    return (
        c[at], c[at + 1], c[at + 2], c[at + 3], c[at + 4], c[at + 5], c[at + 6], c[at + 7], c[at + 8],
    )  # fmt: skip


def ten(c: Any, at: int) -> Ten:
    """Ten reals: a spatial inertia."""
    return (
        c[at], c[at + 1], c[at + 2], c[at + 3], c[at + 4],
        c[at + 5], c[at + 6], c[at + 7], c[at + 8], c[at + 9],
    )  # fmt: skip


def twelve(c: Any, at: int) -> Any:
    """Twelve reals: a pose."""
    return (
        c[at], c[at + 1], c[at + 2], c[at + 3], c[at + 4], c[at + 5],
        c[at + 6], c[at + 7], c[at + 8], c[at + 9], c[at + 10], c[at + 11],
    )  # fmt: skip


def write3(c: Any, at: int, v: Any) -> None:
    """Write three reals."""
    for i in range(3):
        c[at + i] = v[i]


def write6(c: Any, at: int, w: Any, v: Any) -> None:
    """Write a spatial vector."""
    for i in range(3):
        c[at + i] = w[i]
        c[at + 3 + i] = v[i]


def put_six(c: Any, at: int, V: Any) -> None:
    """Write a spatial vector that is one tuple."""
    for i in range(6):
        c[at + i] = V[i]


def put_ten(c: Any, at: int, I: Any) -> None:
    """Write a spatial inertia."""
    for i in range(10):
        c[at + i] = I[i]


def write9(c: Any, at: int, R: Any) -> None:
    """Write a rotation."""
    for i in range(9):
        c[at + i] = R[i]


def write12(c: Any, at: int, X: Any) -> None:
    """Write a pose."""
    for i in range(12):
        c[at + i] = X[i]
