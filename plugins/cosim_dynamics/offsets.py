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
    c[at] = v[0]
    c[at + 1] = v[1]
    c[at + 2] = v[2]


def write6(c: Any, at: int, w: Any, v: Any) -> None:
    """Write a spatial vector."""
    c[at] = w[0]
    c[at + 1] = w[1]
    c[at + 2] = w[2]
    c[at + 3] = v[0]
    c[at + 4] = v[1]
    c[at + 5] = v[2]


def put_six(c: Any, at: int, V: Any) -> None:
    """Write a spatial vector that is one tuple."""
    c[at] = V[0]
    c[at + 1] = V[1]
    c[at + 2] = V[2]
    c[at + 3] = V[3]
    c[at + 4] = V[4]
    c[at + 5] = V[5]


def put_ten(c: Any, at: int, I: Any) -> None:
    """Write a spatial inertia."""
    c[at] = I[0]
    c[at + 1] = I[1]
    c[at + 2] = I[2]
    c[at + 3] = I[3]
    c[at + 4] = I[4]
    c[at + 5] = I[5]
    c[at + 6] = I[6]
    c[at + 7] = I[7]
    c[at + 8] = I[8]
    c[at + 9] = I[9]


def write9(c: Any, at: int, R: Any) -> None:
    """Write a rotation."""
    c[at] = R[0]
    c[at + 1] = R[1]
    c[at + 2] = R[2]
    c[at + 3] = R[3]
    c[at + 4] = R[4]
    c[at + 5] = R[5]
    c[at + 6] = R[6]
    c[at + 7] = R[7]
    c[at + 8] = R[8]


def write12(c: Any, at: int, X: Any) -> None:
    """Write a pose."""
    c[at] = X[0]
    c[at + 1] = X[1]
    c[at + 2] = X[2]
    c[at + 3] = X[3]
    c[at + 4] = X[4]
    c[at + 5] = X[5]
    c[at + 6] = X[6]
    c[at + 7] = X[7]
    c[at + 8] = X[8]
    c[at + 9] = X[9]
    c[at + 10] = X[10]
    c[at + 11] = X[11]
