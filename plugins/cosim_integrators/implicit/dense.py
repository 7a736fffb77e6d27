"""Dense output of all implicit methods: a polynomial of the last step."""

from __future__ import annotations

from cosim_integrators.implicit.implicit_method import ImplicitMethod
from cosim_integrators.kit.interpolants import added, is_late, is_straight, on_line, share_of_step
from cosim_integrators.kit.start_of_step import copy_values


def store_bend(method):
    """Change the polynomial of the step, y_start + a_1 s + a_2 s^2 …, to what it is beside a line.

    That is s (1 - s) (b_0 + b_1 s + …) with b_i = -(a_(i + 2) + a_(i + 3) + …).
    """
    count = max(int(method.attempt.degree) - 1, 0)
    n = method.n
    start = method.start
    end = method.end
    for i in range(count):
        bend = method.dense(i)
        for m in range(n):
            bend[m] = 0.0
        for j in range(i + 1, count + 1):
            part = method.dense(j)
            for m in range(n):
                bend[m] -= part[m]
    for m in range(n):
        size = 0.0
        for i in range(count):
            size = added(size, method.dense(i)[m])
        if is_straight(size, start[m], end[m]):
            for i in range(count):
                method.dense(i)[m] = 0.0
    method.attempt.degree = float(count)


def polynomial_output(t, coefficients, work, y, out):
    """``out`` = the line between both ends of the last step, and the bend beside it; `y` lends its length."""
    method = ImplicitMethod(out.shape[0], coefficients, work, work, work, work)
    step = method.work
    late = is_late(t, step.start, step.end)
    near = method.near_end(late)
    other = method.near_end(not late)
    if t == step.end or t == step.start:
        copy_values(out, near)
        return
    if step.dense_ready == 0.0:
        store_bend(method)
        step.dense_ready = 1.0
    share, rest = share_of_step(t, step.start, step.end)
    s = 1.0 - share if late else share
    r = share if late else 1.0 - share
    count = int(method.attempt.degree)
    for m in range(method.n):
        out[m] = 0.0
    for i in range(count):
        part = method.dense(count - 1 - i)
        for m in range(method.n):
            out[m] = s * out[m] + part[m]
    for m in range(method.n):
        out[m] = near[m] - (on_line(near[m], other[m], share, rest) - s * r * out[m])
