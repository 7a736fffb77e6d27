"""The solution inside the last step.

All dense output is the straight line between both ends, and a bend beside it that is zero at both. So the
ends are met to the last bit, a constant is that constant to the last bit, and a straight line is off by no
more than one rounding of its larger end.
"""

from __future__ import annotations

from cosim.kit import DENSE_READY, END, START, WORK_HEADER
from cosim_integrators.kit.explicit_stages import (
    DEGREE,
    DENSE_AT,
    EXTRA,
    LINE_READY,
    STAGES,
    TABLEAU_HEADER,
)

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
    part, of_part = difference(end, t) if is_late(t, start, end) else difference(t, start)
    whole, of_whole = difference(end, start)
    share = part / whole
    product = share * whole
    a, b = halves(share)
    c, d = halves(whole)
    rest = (part - product) - (((a * c - product) + a * d + b * c) + b * d)
    return share, (rest + (of_part - share * of_whole)) * (1.0 / whole)


def on_line(near, other, share, rest):
    """How far the line to the other end has gone down from the near one, there."""
    fall = near - other
    back = fall - near
    rounding = (near - (fall - back)) - (other + back)
    return share * fall + (rest * fall + share * rounding)


def hermite(t, from_start, to_end, near, other, first, last, out):
    """``out`` = the cubic with these values and derivatives at both ends of a step, at `t` inside.

    `near` and `other` are the values at the nearer end and at the other one.
    """
    step = to_end - from_start
    share, rest = share_of_step(t, from_start, to_end)
    late = is_late(t, from_start, to_end)
    turn = 1.0 if late else -1.0
    s = 1.0 - share if late else share
    r = share if late else 1.0 - share
    e = s * r * r
    f = s * s * r
    for m in range(out.shape[0]):
        rise = turn * (near[m] - other[m])
        bend = e * (step * first[m] - rise) - f * (step * last[m] - rise)
        out[m] = near[m] - (on_line(near[m], other[m], share, rest) - bend)


def lift(s, r, node, step, start, end, first, last, inner, out):
    """Add to the cubic in ``out`` what gives it the derivative `inner` at `node`: a quartic, same ends."""
    rest = 1.0 - node
    e = rest * (rest - 2.0 * node)
    f = node * (node - 2.0 * rest)
    bump = s * r
    bump = bump * bump / (2.0 * node * rest * (1.0 - 2.0 * node))
    for m in range(out.shape[0]):
        rise = end[m] - start[m]
        change = step * inner[m] - rise
        if abs(change) > STRAIGHT * max(abs(start[m]), abs(end[m])):
            out[m] += bump * (change - e * (step * first[m] - rise) - f * (step * last[m] - rise))


def hermite_dense_output(t, coefficients, work, y, out):
    """``out`` = the cubic through both ends of the last step, whose derivatives follow the common vectors."""
    n = y.shape[0]
    late = is_late(t, work[START], work[END])
    near = work[WORK_HEADER + n * late : WORK_HEADER + n * late + n]
    other = work[WORK_HEADER + n - n * late : WORK_HEADER + 2 * n - n * late]
    if t == work[START] or t == work[END]:
        for m in range(n):
            out[m] = near[m]
        return
    first = work[WORK_HEADER + 3 * n : WORK_HEADER + 4 * n]
    last = work[WORK_HEADER + 4 * n : WORK_HEADER + 5 * n]
    hermite(t, work[START], work[END], near, other, first, last, out)


def keep_line(tableau, work, n):
    """Keep of the last step what dense output asks for at each call, see `LINE_READY`.

    That is what rounding has taken from its rise, and for a cubic how far the derivatives at both ends, over
    the step, are from that rise.
    """
    start = work[WORK_HEADER : WORK_HEADER + n]
    end = work[WORK_HEADER + n : WORK_HEADER + 2 * n]
    stages = int(tableau[STAGES])
    at = WORK_HEADER + (4 + stages + int(tableau[EXTRA])) * n
    lost = work[at : at + n]
    if tableau[DEGREE] != 0.0:
        for m in range(n):
            rise, rounding = difference(end[m], start[m])
            lost[m] = rounding
        return
    step = work[END] - work[START]
    first = work[WORK_HEADER + 3 * n : WORK_HEADER + 4 * n]
    last = work[WORK_HEADER + (3 + stages) * n : WORK_HEADER + (4 + stages) * n]
    above_first = work[at + n : at + 2 * n]
    above_last = work[at + 2 * n : at + 3 * n]
    for m in range(n):
        rise, rounding = difference(end[m], start[m])
        lost[m] = rounding
        above_first[m] = step * first[m] - rise
        above_last[m] = step * last[m] - rise


def explicit_dense_output(t, tableau, work, y, out):
    """``out`` = the solution at `t` inside the last step; `y` only lends its length.

    Beside the line the derivatives count relative to the first one, which a straight line leaves at zero.
    """
    n = y.shape[0]
    late = is_late(t, work[START], work[END])
    near = work[WORK_HEADER + n * late : WORK_HEADER + n * late + n]
    other = work[WORK_HEADER + n - n * late : WORK_HEADER + 2 * n - n * late]
    if t == work[END] or t == work[START]:
        for m in range(n):
            out[m] = near[m]
        return
    if work[LINE_READY] == 0.0:
        keep_line(tableau, work, n)
        work[LINE_READY] = 1.0
    step = work[END] - work[START]
    derivatives = work[WORK_HEADER + 3 * n :]
    first = derivatives[:n]
    stages = int(tableau[STAGES])
    extra = int(tableau[EXTRA])
    degree = int(tableau[DEGREE])
    at = WORK_HEADER + (4 + stages + extra) * n
    lost = work[at : at + n]
    share, rest = share_of_step(t, work[START], work[END])
    back = share if late else -share  # what was lost of the rise is lost of the fall with another sign
    s = 1.0 - share if late else share
    r = share if late else 1.0 - share
    if degree == 0:
        above_first = work[at + n : at + 2 * n]
        above_last = work[at + 2 * n : at + 3 * n]
        e = s * r * r
        f = s * s * r
        for m in range(n):
            fall = near[m] - other[m]
            bend = e * above_first[m] - f * above_last[m]
            out[m] = near[m] - ((share * fall + (rest * fall + back * lost[m])) - bend)
        if extra != 0 and work[DENSE_READY] != 0.0:
            start = work[WORK_HEADER : WORK_HEADER + n]
            end = work[WORK_HEADER + n : WORK_HEADER + 2 * n]
            last = derivatives[stages * n : stages * n + n]
            inner = derivatives[(stages + 1) * n : (stages + 2) * n]
            lift(s, r, tableau[TABLEAU_HEADER + stages], step, start, end, first, last, inner, out)
        return
    for m in range(n):
        out[m] = 0.0
    for i in range(1, stages + 1 + extra):
        at = int(tableau[DENSE_AT]) + i * degree
        weight = 0.0
        for j in range(degree):
            weight = weight * s + tableau[at + degree - 1 - j]
        weight *= step * (s * r)
        if weight != 0.0:
            stage = derivatives[i * n : i * n + n]
            for m in range(n):
                out[m] += weight * (stage[m] - first[m])
    for m in range(n):
        fall = near[m] - other[m]
        out[m] = near[m] - ((share * fall + (rest * fall + back * lost[m])) - out[m])
