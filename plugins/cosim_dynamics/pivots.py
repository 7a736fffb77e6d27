"""The pivots of an elimination."""

from __future__ import annotations

#: Less than this part of what there was before elimination is left by rounding.
ROUNDING = 1e-15


def check_pivot(pivot: float, before: float) -> None:
    """Refuse a singular mass matrix.

    Parameters
    ----------
    pivot : float
        What is left of a diagonal entry.
    before : float
        What it was before others were eliminated.

    Raises
    ------
    ValueError
        Only rounding is left.
    """
    if pivot <= ROUNDING * before:
        raise ValueError("the mass matrix is singular: some joint moves nothing that has mass or inertia")
