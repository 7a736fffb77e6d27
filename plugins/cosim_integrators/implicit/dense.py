"""Dense output of all implicit methods: a polynomial over the last step."""

from __future__ import annotations

from cosim_integrators.implicit.implicit_method import ImplicitMethod
from cosim_integrators.kit.place_in_step import is_late, place_in_step
from cosim_integrators.kit.start_of_step import copy_values
from cosim_integrators.kit.straight_steps import add_size, is_straight


def store_bend(method):
    """Replace the coefficients of the polynomial by those of its bend away from the straight line.

    The bend of y_start + a_1 s + a_2 s^2 + … is s (1 - s) (b_0 + b_1 s + …) with
    b_i = -(a_(i + 2) + a_(i + 3) + …).
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
            size = add_size(size, method.dense(i)[m])
        if is_straight(size, start[m], end[m]):
            for i in range(count):
                method.dense(i)[m] = 0.0
    method.attempt.degree = float(count)


def polynomial_output(t, coefficients, work, y, out):
    """Write into `out` the solution at `t` inside the last step; `y` is not read.

    Only ``work`` and the coefficients are read: ``work`` is passed in place of the other arrays.
    """
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
    place = place_in_step(t, step.start, step.end)
    s = place.from_start
    r = place.to_end
    count = int(method.attempt.degree)
    for m in range(method.n):
        out[m] = 0.0
    for i in range(count):
        part = method.dense(count - 1 - i)
        for m in range(method.n):
            out[m] = s * out[m] + part[m]
    for m in range(method.n):
        out[m] = near[m] - (place.fall(near[m], other[m]) - s * r * out[m])
