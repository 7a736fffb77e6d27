"""The solution inside the last step."""

from __future__ import annotations

from cosim.kit import DENSE_READY, END, START, WORK_HEADER
from cosim_integrators.kit.explicit_stages import DEGREE, DENSE_AT, EXTRA, STAGES, TABLEAU_HEADER


def hermite(s, step, start, end, first, last, out):
    """``out`` = the cubic with these values and derivatives at both ends, at the part `s` of the step."""
    r = 1.0 - s
    a = (1.0 + 2.0 * s) * r * r
    b = s * s * (3.0 - 2.0 * s)
    e = step * s * r * r
    f = -step * s * s * r
    for m in range(out.shape[0]):
        out[m] = a * start[m] + b * end[m] + e * first[m] + f * last[m]


def lift(s, node, step, start, end, first, last, inner, out):
    """Add to the cubic in ``out`` what gives it the derivative `inner` at `node`: a quartic, same ends."""
    r = 1.0 - node
    rise = 6.0 * node * r
    e = step * r * (1.0 - 3.0 * node)
    f = step * node * (3.0 * node - 2.0)
    bump = s * (1.0 - s)
    bump = bump * bump / (2.0 * node * r * (1.0 - 2.0 * node))
    for m in range(out.shape[0]):
        slope = rise * (end[m] - start[m]) + e * first[m] + f * last[m]
        out[m] += bump * (step * inner[m] - slope)


def hermite_dense_output(t, coefficients, work, y, out):
    """``out`` = the cubic through both ends of the last step, whose derivatives follow the common vectors."""
    n = y.shape[0]
    if t == work[START] or t == work[END]:
        at = WORK_HEADER if t == work[START] else WORK_HEADER + n
        for m in range(n):
            out[m] = work[at + m]
        return
    step = work[END] - work[START]
    start = work[WORK_HEADER : WORK_HEADER + n]
    end = work[WORK_HEADER + n : WORK_HEADER + 2 * n]
    first = work[WORK_HEADER + 3 * n : WORK_HEADER + 4 * n]
    last = work[WORK_HEADER + 4 * n : WORK_HEADER + 5 * n]
    hermite((t - work[START]) / step, step, start, end, first, last, out)


def explicit_dense_output(t, tableau, work, y, out):
    """``out`` = the solution at `t` inside the last step; `y` only lends its length."""
    n = y.shape[0]
    start = work[WORK_HEADER : WORK_HEADER + n]
    end = work[WORK_HEADER + n : WORK_HEADER + 2 * n]
    if t == work[END] or t == work[START]:
        for m in range(n):
            out[m] = end[m] if t == work[END] else start[m]
        return
    step = work[END] - work[START]
    derivatives = work[WORK_HEADER + 3 * n :]
    stages = int(tableau[STAGES])
    degree = int(tableau[DEGREE])
    s = (t - work[START]) / step
    if degree == 0:
        last = derivatives[stages * n : stages * n + n]
        hermite(s, step, start, end, derivatives[:n], last, out)
        if tableau[EXTRA] != 0.0 and work[DENSE_READY] != 0.0:
            inner = derivatives[(stages + 1) * n : (stages + 2) * n]
            lift(s, tableau[TABLEAU_HEADER + stages], step, start, end, derivatives[:n], last, inner, out)
        return
    for m in range(n):
        out[m] = 0.0
    for i in range(stages + 1 + int(tableau[EXTRA])):
        at = int(tableau[DENSE_AT]) + i * degree
        weight = 0.0
        for j in range(degree):
            weight = (weight + tableau[at + degree - 1 - j]) * s
        if weight != 0.0:
            for m in range(n):
                out[m] += weight * derivatives[i * n + m]
    for m in range(n):
        out[m] = start[m] + step * out[m]
