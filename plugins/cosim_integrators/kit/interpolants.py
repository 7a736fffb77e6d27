"""The solution inside the last step.

All dense output is the straight line between both ends, and a bend beside it that is zero at both. So the
ends are met to the last bit, a constant is that constant to the last bit, and a straight line is off by no
more than one rounding of its larger end.

Dense output reads `work` and the coefficients alone: `work` stands in the places of the other arrays.
"""

from __future__ import annotations

from cosim.kit import MethodArrays, tangent_of
from cosim_integrators.kit.explicit_method import STAGES_AT, ExplicitMethod
from cosim_integrators.kit.start_of_step import copy_values

SPLITTER = 134217729.0  # 2^27 + 1
STRAIGHT = 64.0 * 2.220446049250313e-16  # of a state: a bend that small is what a step leaves of rounding


def difference(a, b):
    """``a - b``, rounded, and what rounding has taken from it."""
    result = a - b
    back = result - a
    return result, (a - (result - back)) - (b + back)


def halves(a):
    """Two numbers of half as many digits whose sum is `a`."""
    shifted = SPLITTER * a
    upper = shifted - (shifted - a)
    return upper, a - upper


def is_late(t, start, end):
    """Whether `t` is nearer to the end of a step than to its start."""
    return t - start > end - t


def share_of_step(t, start, end):
    """How far `t` is from the nearer end of a step, over the whole step, and what rounding has taken from it.

    References
    ----------
    T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik
    18 (1971).
    """
    distance, lost_of_distance = difference(end, t) if is_late(t, start, end) else difference(t, start)
    length, lost_of_length = difference(end, start)
    share = distance / length
    product = share * length
    a, b = halves(share)
    c, d = halves(length)
    remainder = (distance - product) - (((a * c - product) + a * d + b * c) + b * d)
    return share, (remainder + (lost_of_distance - share * lost_of_length)) * (1.0 / length)


def on_line(near, other, share, lost_of_share):
    """How far the line to the other end has gone down from the near one, there."""
    fall = near - other
    back = fall - near
    rounding = (near - (fall - back)) - (other + back)
    return share * fall + (lost_of_share * fall + share * rounding)


def hermite(t, from_start, to_end, near, other, first, last, out):
    """``out`` = the cubic with these values and derivatives at both ends of a step, at `t` inside.

    `near` and `other` are the values at the nearer end and at the other one.
    """
    step = to_end - from_start
    share, lost_of_share = share_of_step(t, from_start, to_end)
    late = is_late(t, from_start, to_end)
    turn = 1.0 if late else -1.0
    s = 1.0 - share if late else share
    r = share if late else 1.0 - share
    e = s * r * r
    f = s * s * r
    for m in range(out.shape[0]):
        rise = turn * (near[m] - other[m])
        bend = e * (step * first[m] - rise) - f * (step * last[m] - rise)
        out[m] = near[m] - (on_line(near[m], other[m], share, lost_of_share) - bend)


def added(size, part):
    """A size, and that of another part."""
    return size + abs(part)


@tangent_of(added)
def added_tangents(size, part, size_dot, part_dot):
    """The size of tangents in place of the tangent of a size, for `is_straight`."""
    return size_dot + abs(part_dot)


def is_straight(size, start, end):
    """Whether a bend of this size is what a step between these states leaves of rounding."""
    return size <= STRAIGHT * max(abs(start), abs(end))


@tangent_of(is_straight, with_values=True)
def is_straight_with_tangents(size, start, end, size_dot, start_dot, end_dot):
    """Whether that is so of the tangents, too."""
    return is_straight(size, start, end) and is_straight(size_dot, start_dot, end_dot)


def lift(s, r, node, step, start, end, first, last, inner, out):
    """Add to the cubic in ``out`` what gives it the derivative `inner` at `node`: a quartic, same ends."""
    beyond_node = 1.0 - node
    e = beyond_node * (beyond_node - 2.0 * node)
    f = node * (node - 2.0 * beyond_node)
    bump = s * r
    bump = bump * bump / (2.0 * node * beyond_node * (1.0 - 2.0 * node))
    for m in range(out.shape[0]):
        rise = end[m] - start[m]
        change = step * inner[m] - rise
        if not is_straight(added(0.0, change), start[m], end[m]):
            out[m] += bump * (change - e * (step * first[m] - rise) - f * (step * last[m] - rise))


def hermite_dense_output(t, coefficients, work, y, out):
    """``out`` = the cubic through both ends of the last step, whose derivatives follow the common vectors."""
    method = MethodArrays(y.shape[0], coefficients, work, work, work, work)
    step = method.work
    late = is_late(t, step.start, step.end)
    near = method.near_end(late)
    if t == step.start or t == step.end:
        copy_values(out, near)
        return
    first = method.work_vector(STAGES_AT)
    last = method.work_vector(STAGES_AT + 1)
    hermite(t, step.start, step.end, near, method.near_end(not late), first, last, out)


def store_line(method):
    """Store of the last step what dense output needs at each call, see `ExplicitMethod.line`.

    That is what rounding has taken from its rise, and for a cubic how far the derivatives at both ends, over
    the step, are from that rise.
    """
    start = method.start
    end = method.end
    lost = method.line(0)
    if method.tableau.degree != 0.0:
        for m in range(method.n):
            rise, rounding = difference(end[m], start[m])
            lost[m] = rounding
        return
    step = method.work.end - method.work.start
    first = method.slope
    last = method.last_slope
    above_first = method.line(1)
    above_last = method.line(2)
    for m in range(method.n):
        rise, rounding = difference(end[m], start[m])
        lost[m] = rounding
        above_first[m] = step * first[m] - rise
        above_last[m] = step * last[m] - rise


def explicit_dense_output(t, coefficients, work, y, out):
    """``out`` = the solution at `t` inside the last step; `y` only lends its length."""
    interpolate_explicit(ExplicitMethod(y.shape[0], coefficients, work, work, work, work), t, out)


def interpolate_explicit(method, t, out):
    """``out`` = the solution at `t` inside the last step.

    Beside the line the derivatives count relative to the first one, which a straight line leaves at zero.
    """
    work = method.work
    n = method.n
    late = is_late(t, work.start, work.end)
    near = method.near_end(late)
    other = method.near_end(not late)
    if t == work.end or t == work.start:
        copy_values(out, near)
        return
    if method.progress.line_ready == 0.0:
        store_line(method)
        method.progress.line_ready = 1.0
    step = work.end - work.start
    lost = method.line(0)
    share, lost_of_share = share_of_step(t, work.start, work.end)
    sign_of_lost = (
        share if late else -share
    )  # what was lost of the rise is lost of the fall with another sign
    s = 1.0 - share if late else share
    r = share if late else 1.0 - share
    if method.tableau.degree == 0.0:
        above_first = method.line(1)
        above_last = method.line(2)
        e = s * r * r
        f = s * s * r
        for m in range(n):
            fall = near[m] - other[m]
            bend = e * above_first[m] - f * above_last[m]
            out[m] = near[m] - ((share * fall + (lost_of_share * fall + sign_of_lost * lost[m])) - bend)
        if method.extra_stages != 0 and work.dense_ready != 0.0:
            node = method.node(method.stages)
            inner = method.stage(method.stages + 1)
            lift(s, r, node, step, method.start, method.end, method.slope, method.last_slope, inner, out)
        return
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
        out[m] = near[m] - ((share * fall + (lost_of_share * fall + sign_of_lost * lost[m])) - out[m])


def dense_weight(method, i, s):
    """The polynomial with which a stage counts beside the line, over s (1 - s)."""
    tableau = method.tableau
    degree = int(tableau.degree)
    at = int(tableau.dense_at) + i * degree
    weight = 0.0
    for j in range(degree):
        weight = weight * s + method.coefficients[at + degree - 1 - j]
    return weight
