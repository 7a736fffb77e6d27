"""A check of stiffness and damping matrices: they give no energy; for kernel functions."""

from __future__ import annotations

from cosim_mechanics.spatial import Reals, Slot

ROUNDING = 1e-9


def is_semidefinite(matrix: Reals, work: Slot) -> bool:
    """Whether the symmetric part of a six by six matrix, by rows, has no negative eigenvalue.

    By Gaussian elimination of the symmetric part, in `work` (36 reals).

    Examples
    --------
    >>> is_semidefinite([1.0 if i % 7 == 0 else 0.0 for i in range(36)], [0.0] * 36)
    True
    >>> is_semidefinite([-1.0 if i == 7 else 0.0 for i in range(36)], [0.0] * 36)
    False
    """
    for i in range(6):
        for j in range(6):
            work[6 * i + j] = 0.5 * (matrix[6 * i + j] + matrix[6 * j + i])
    for k in range(6):
        pivot = work[7 * k]
        good = pivot >= -ROUNDING * abs(matrix[7 * k])
        vanishes = pivot <= ROUNDING * abs(matrix[7 * k])
        for i in range(k + 1, 6):
            if vanishes:
                # Then the whole column has to vanish with it, measured as |a_ik| <= sqrt(a_ii a_kk).
                limit = 1e-6 * abs(matrix[7 * i] * matrix[7 * k])
                good = good and work[6 * i + k] * work[6 * i + k] <= limit
            else:
                factor = work[6 * i + k] / pivot
                for j in range(k + 1, 6):
                    work[6 * i + j] -= factor * work[6 * k + j]
        if not good:
            return False
    return True
