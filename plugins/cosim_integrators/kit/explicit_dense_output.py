"""Dense output of explicit Runge-Kutta methods: the straight line between both ends, plus a bend.

See `interpolants` for both. The bend of a method without coefficients of its own is that of the cubic Hermite
polynomial, or of the quartic to which an extra stage lifts it.
"""

from __future__ import annotations

from cosim_integrators.kit.explicit_method import LIFTED, LINE, ExplicitMethod
from cosim_integrators.kit.place_in_step import exact_difference, is_late, place_in_step
from cosim_integrators.kit.start_of_step import copy_values
from cosim_integrators.kit.straight_steps import add_size, is_straight


def explicit_dense_output(t, coefficients, work, y, out):
    """Write into `out` the solution at `t` inside the last step; `y` is read for its length alone.

    Only ``work`` and the coefficients are read: ``work`` is passed in place of the other arrays.
    """
    interpolate_explicit(ExplicitMethod(y.shape[0], coefficients, work, work, work, work), t, out)


def interpolate_explicit(method, t, out):
    """Write into `out` the solution at `t` inside the last step."""
    step = method.work
    if t == step.end or t == step.start:
        copy_values(out, method.near_end(is_late(t, step.start, step.end)))
        return
    if method.progress.line_ready == 0.0:
        store_line(method)
        method.progress.line_ready = LINE
    if method.tableau.degree == 0.0:
        interpolate_cubic(method, t, out)
    else:
        interpolate_stages(method, t, out)


def store_line(method):
    """Store what each evaluation of the dense output needs, see `ExplicitMethod.line`.

    That is the rounding error of the rise over the step, and for a cubic by how much the derivatives at both
    ends, times the step, exceed that rise.
    """
    start = method.start
    end = method.end
    lost = method.line(0)
    if method.tableau.degree != 0.0:
        for m in range(method.n):
            rise, rounding = exact_difference(end[m], start[m])
            lost[m] = rounding
        return
    step = method.work.end - method.work.start
    first = method.slope
    last = method.last_slope
    above_first = method.line(1)
    above_last = method.line(2)
    for m in range(method.n):
        rise, rounding = exact_difference(end[m], start[m])
        lost[m] = rounding
        above_first[m] = step * first[m] - rise
        above_last[m] = step * last[m] - rise


def interpolate_cubic(method, t, out):
    """Write into `out` the cubic at `t`, or the quartic if its extra stage is computed."""
    work = method.work
    place = place_in_step(t, work.start, work.end)
    near = method.near_end(place.is_late)
    other = method.near_end(not place.is_late)
    lost = method.line(0)
    # the rounding error of the rise is that of the fall with the opposite sign
    sign_of_lost = place.share if place.is_late else -place.share
    s = place.from_start
    r = place.to_end
    above_first = method.line(1)
    above_last = method.line(2)
    e = s * r * r
    f = s * s * r
    for m in range(method.n):
        fall = near[m] - other[m]
        bend = e * above_first[m] - f * above_last[m]
        out[m] = near[m] - ((place.share * fall + (place.lost * fall + sign_of_lost * lost[m])) - bend)
    if method.extra_stages != 0 and work.dense_ready != 0.0:
        lift(method, s, r, out)


def lift(method, s, r, out):
    """Raise the cubic in `out` to the quartic with the same ends and the derivative of the extra stage.

    `s` and `r` are the distances from the start and to the end, over the step.
    """
    if method.progress.line_ready != LIFTED:
        store_lift(method)
        method.progress.line_ready = LIFTED
    node = method.node(method.stages)
    bump = s * r
    bump = bump * bump / (2.0 * node * (1.0 - node) * (1.0 - 2.0 * node))
    lifted = method.line(3)
    for m in range(out.shape[0]):
        out[m] += bump * lifted[m]


def store_lift(method):
    """Store by how much the derivative of the extra stage, times the step, differs from that of the cubic.

    On a straight line the difference is rounding and left out: adding -0.0 leaves every number as it is.
    """
    node = method.node(method.stages)
    inner = method.stage(method.stages + 1)
    start = method.start
    end = method.end
    first = method.slope
    last = method.last_slope
    lifted = method.line(3)
    step = method.work.end - method.work.start
    beyond_node = 1.0 - node
    e = beyond_node * (beyond_node - 2.0 * node)
    f = node * (node - 2.0 * beyond_node)
    for m in range(method.n):
        rise = end[m] - start[m]
        change = step * inner[m] - rise
        if is_straight(add_size(0.0, change), start[m], end[m]):
            lifted[m] = -0.0
        else:
            lifted[m] = change - e * (step * first[m] - rise) - f * (step * last[m] - rise)


def interpolate_stages(method, t, out):
    """Write into `out` the method's own polynomial at `t`.

    Stages count relative to the first one: for a straight line the bend is then exactly zero.
    """
    work = method.work
    place = place_in_step(t, work.start, work.end)
    near = method.near_end(place.is_late)
    other = method.near_end(not place.is_late)
    lost = method.line(0)
    sign_of_lost = place.share if place.is_late else -place.share
    s = place.from_start
    r = place.to_end
    step = work.end - work.start
    n = method.n
    for m in range(n):
        out[m] = 0.0
    first = method.slope
    for i in range(1, method.stages + 1 + method.extra_stages):
        weight = dense_weight(method, i, s) * (step * (s * r))
        if weight != 0.0:
            stage = method.stage(i)
            for m in range(n):
                out[m] += weight * (stage[m] - first[m])
    for m in range(n):
        fall = near[m] - other[m]
        out[m] = near[m] - ((place.share * fall + (place.lost * fall + sign_of_lost * lost[m])) - out[m])


def dense_weight(method, i, s):
    """The weight polynomial of a stage at `s`, divided by s (1 - s)."""
    tableau = method.tableau
    degree = int(tableau.degree)
    first = int(tableau.dense_at) + i * degree
    weight = 0.0
    for j in range(degree):
        weight = weight * s + method.coefficients[first + degree - 1 - j]
    return weight
