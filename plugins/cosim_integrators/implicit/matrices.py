"""The matrices of Newton's method: made when the step or the Jacobian changes, and solved with."""

from __future__ import annotations

from cosim.kit import FACTORIZATIONS, call_block
from cosim_integrators.implicit.complex_lu import factor_complex, solve_complex
from cosim_integrators.implicit.layout import (
    FACTORED,
    OK,
    P_COLOUR,
    P_COMPLEX,
    P_ENTRIES,
    P_SIZE,
    P_SPARSE,
    SINGULAR,
    V_SHIFT,
    vector,
)
from cosim_integrators.kit.dense_lu import lu_factor, lu_solve

SAME_STEP = 1e-8  # a step that differs by less keeps its matrices: rounding of its end is no reason
MAKE, SOLVE_REAL, SOLVE_COMPLEX = 0, 1, 2  # what a sparse solver is asked for


def check_matrices(memory, lu, pattern):
    """Forget matrices that belong to another State or to another time of this one."""
    if lu[0] == 0.0:
        return
    entries = pattern[P_ENTRIES]
    jacobian = memory[memory.shape[0] - entries :]
    made_from = lu[lu.shape[0] - entries :]
    if lu[0] != memory[FACTORED]:
        lu[0] = 0.0
        return
    for e in range(entries):
        if jacobian[e] != made_from[e]:
            lu[0] = 0.0
            return


def make_matrices(step, shift, re, im, memory, work, lu, pattern):
    """Have the factors of ``shift / step S - J`` and, if the method has it, ``(re + i im) / step S - J``.

    S is diagonal: `V_SHIFT`.

    What decides is the memory in the State: a resumed run makes the same matrices again, also where
    they belong to a step that was a little different. Returns OK or SINGULAR.
    """
    wanted = memory[FACTORED]
    if not (wanted > 0.0 and abs(step - wanted) <= SAME_STEP * step):
        wanted = step
    if lu[0] == wanted:
        return OK
    n = pattern[P_SIZE]
    entries = pattern[P_ENTRIES]
    jacobian = memory[memory.shape[0] - entries :]
    made_from = lu[lu.shape[0] - entries :]
    lu[0] = 0.0
    memory[FACTORED] = 0.0
    work[FACTORIZATIONS] += 1.0
    for e in range(entries):
        made_from[e] = jacobian[e]
    if pattern[P_SPARSE] != 0:
        status = ask(MAKE, wanted, made_from, vector(work, V_SHIFT, n), pattern)
    else:
        real = lu[1 : 1 + n * n]
        _fill(real, 1, shift / wanted, 0.0, jacobian, pattern, vector(work, V_SHIFT, n))
        status = lu_factor(real, lu[1 + n * n : 1 + n * n + n], n)
        if status == 0 and pattern[P_COMPLEX] != 0:
            at = 1 + n * n + n
            matrix = lu[at : at + 2 * n * n]
            _fill(matrix, 2, re / wanted, im / wanted, jacobian, pattern, vector(work, V_SHIFT, n))
            status = factor_complex(matrix, lu[at + 2 * n * n : at + 2 * n * n + n], n)
    if status != 0:
        return SINGULAR
    lu[0] = wanted
    memory[FACTORED] = wanted
    return OK


def _fill(matrix, width, re, im, jacobian, pattern, diagonal):
    """``(re + i im) S - J``, dense, `width` numbers an entry."""
    n = pattern[P_SIZE]
    for i in range(width * n * n):
        matrix[i] = 0.0
    for j in range(n):
        for e in range(pattern[P_COLOUR + n + j], pattern[P_COLOUR + n + j + 1]):
            matrix[width * (pattern[P_COLOUR + 2 * n + 1 + e] * n + j)] = -jacobian[e]
    for j in range(n):
        matrix[width * (j * n + j)] += re * diagonal[j]
        if width == 2:
            matrix[2 * (j * n + j) + 1] += im * diagonal[j]


def solve_real(lu, pattern, b):
    """Replace `b` by the solution of the real system."""
    n = b.shape[0]
    if pattern[P_SPARSE] != 0:
        ask(SOLVE_REAL, 0.0, b, b, pattern)
    else:
        lu_solve(lu[1 : 1 + n * n], lu[1 + n * n : 1 + n * n + n], n, b)


def solve_pair(lu, pattern, b, c):
    """Replace b + i c by the solution of the complex system."""
    n = b.shape[0]
    if pattern[P_SPARSE] != 0:
        ask(SOLVE_COMPLEX, 0.0, b, c, pattern)
    else:
        at = 1 + n * n + n
        solve_complex(lu[at : at + 2 * n * n], lu[at + 2 * n * n : at + 2 * n * n + n], n, b, c)


def ask(what, step, b, c, pattern):
    """Have the sparse solver do something: it is called as a block, and so also from compiled code."""
    return call_block(pattern[P_SPARSE], step, b, b, b, pattern, b, c, pattern, what, 0)
