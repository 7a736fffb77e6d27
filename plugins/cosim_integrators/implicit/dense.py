"""Dense output of all implicit methods: a polynomial of the last step."""

from __future__ import annotations

from cosim.kit import END, START
from cosim_integrators.implicit.layout import DEGREE, V_DENSE, V_END, V_START, vector


def polynomial_output(t, coefficients, work, y, out):
    """``out`` = y_start + s (a_1 + s (a_2 + …)), s = 0 … 1 inside the last step; `y` lends its length."""
    n = out.shape[0]
    if t == work[END]:
        end = vector(work, V_END, n)
        for m in range(n):
            out[m] = end[m]
        return
    s = (t - work[START]) / (work[END] - work[START])
    degree = int(work[DEGREE])
    for m in range(n):
        out[m] = 0.0
    for i in range(degree):
        part = vector(work, V_DENSE + degree - 1 - i, n)
        for m in range(n):
            out[m] = s * (part[m] + out[m])
    start = vector(work, V_START, n)
    for m in range(n):
        out[m] += start[m]
