"""Dense output of all implicit methods: a polynomial of the last step."""

from __future__ import annotations

from cosim.kit import DENSE_READY, END, START, WORK_HEADER
from cosim_integrators.implicit.layout import DEGREE, V_DENSE, V_END, V_START, vector
from cosim_integrators.kit.dense_output import STRAIGHT, is_late, on_line, share_of_step


def keep_bend(work, n):
    """Change the polynomial of the step, y_start + a_1 s + a_2 s^2 …, to what it is beside a line.

    That is s (1 - s) (b_0 + b_1 s + …) with b_i = -(a_(i + 2) + a_(i + 3) + …).
    """
    count = max(int(work[DEGREE]) - 1, 0)
    start = vector(work, V_START, n)
    end = vector(work, V_END, n)
    for i in range(count):
        bend = vector(work, V_DENSE + i, n)
        for m in range(n):
            bend[m] = 0.0
        for j in range(i + 1, count + 1):
            part = vector(work, V_DENSE + j, n)
            for m in range(n):
                bend[m] -= part[m]
    bends = work[WORK_HEADER + V_DENSE * n : WORK_HEADER + (V_DENSE + count) * n]
    for m in range(n):
        size = 0.0
        for i in range(count):
            size += abs(bends[i * n + m])
        if size <= STRAIGHT * max(abs(start[m]), abs(end[m])):
            for i in range(count):
                bends[i * n + m] = 0.0
    work[DEGREE] = float(count)


def polynomial_output(t, coefficients, work, y, out):
    """``out`` = the line between both ends of the last step, and the bend beside it; `y` lends its length."""
    n = out.shape[0]
    late = is_late(t, work[START], work[END])
    near = vector(work, V_START + late * (V_END - V_START), n)
    other = vector(work, V_END - late * (V_END - V_START), n)
    if t == work[END] or t == work[START]:
        for m in range(n):
            out[m] = near[m]
        return
    if work[DENSE_READY] == 0.0:
        keep_bend(work, n)
        work[DENSE_READY] = 1.0
    share, rest = share_of_step(t, work[START], work[END])
    s = 1.0 - share if late else share
    r = share if late else 1.0 - share
    count = int(work[DEGREE])
    for m in range(n):
        out[m] = 0.0
    for i in range(count):
        part = vector(work, V_DENSE + count - 1 - i, n)
        for m in range(n):
            out[m] = s * out[m] + part[m]
    for m in range(n):
        out[m] = near[m] - (on_line(near[m], other[m], share, rest) - s * r * out[m])
