"""The solution inside the last step.

All dense output is the straight line between both ends, and a bend beside it that is zero at both. So the
ends are met to the last bit, a constant is that constant to the last bit, and a straight line is off by no
more than one rounding of its larger end.
"""

from __future__ import annotations

from cosim.kit import DENSE_READY, END, START, WORK_HEADER
from cosim_integrators.kit.explicit_stages import DEGREE, DENSE_AT, EXTRA, STAGES, TABLEAU_HEADER

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


def share_of_step(is_late, t, start, end):
    """How far `t` is from the nearer end of a step, over the whole step, and what rounding has taken from it.

    References
    ----------
    T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik
    18 (1971).
    """
    part, of_part = difference(end, t) if is_late else difference(t, start)
    whole, of_whole = difference(end, start)
    share = part / whole
    product = share * whole
    a, b = halves(share)
    c, d = halves(whole)
    rest = (part - product) - (((a * c - product) + a * d + b * c) + b * d)
    return share, (rest + (of_part - share * of_whole)) / whole


def on_line(near, other, share, rest):
    """How far the line to the other end has gone down from the near one, there."""
    fall, rounding = difference(near, other)
    return share * fall + (rest * fall + share * rounding)


def bend_of(way, rise, size):
    """By how much the way that a derivative leads differs from the line, unless that is rounding."""
    bend = way - rise
    return bend if abs(bend) > STRAIGHT * size else 0.0


def hermite(t, from_start, to_end, start, end, first, last, out):
    """``out`` = the cubic with these values and derivatives at the ends `from_start` and `to_end`, at `t`."""
    step = to_end - from_start
    s = (t - from_start) / step
    r = (to_end - t) / step
    is_late = s > r
    share, rest = share_of_step(is_late, t, from_start, to_end)
    e = s * r * r
    f = s * s * r
    for m in range(out.shape[0]):
        rise = end[m] - start[m]
        size = max(abs(start[m]), abs(end[m]))
        bend = e * bend_of(step * first[m], rise, size) - f * bend_of(step * last[m], rise, size)
        if is_late:
            out[m] = end[m] - (on_line(end[m], start[m], share, rest) - bend)
        else:
            out[m] = start[m] - (on_line(start[m], end[m], share, rest) - bend)


def lift(s, r, node, step, start, end, first, last, inner, out):
    """Add to the cubic in ``out`` what gives it the derivative `inner` at `node`: a quartic, same ends."""
    rest = 1.0 - node
    e = rest * (rest - 2.0 * node)
    f = node * (node - 2.0 * rest)
    bump = s * r
    bump = bump * bump / (2.0 * node * rest * (1.0 - 2.0 * node))
    for m in range(out.shape[0]):
        rise = end[m] - start[m]
        size = max(abs(start[m]), abs(end[m]))
        slope = e * bend_of(step * first[m], rise, size) + f * bend_of(step * last[m], rise, size)
        out[m] += bump * (bend_of(step * inner[m], rise, size) - slope)


def hermite_dense_output(t, coefficients, work, y, out):
    """``out`` = the cubic through both ends of the last step, whose derivatives follow the common vectors."""
    n = y.shape[0]
    if t == work[START] or t == work[END]:
        at = WORK_HEADER if t == work[START] else WORK_HEADER + n
        for m in range(n):
            out[m] = work[at + m]
        return
    start = work[WORK_HEADER : WORK_HEADER + n]
    end = work[WORK_HEADER + n : WORK_HEADER + 2 * n]
    first = work[WORK_HEADER + 3 * n : WORK_HEADER + 4 * n]
    last = work[WORK_HEADER + 4 * n : WORK_HEADER + 5 * n]
    hermite(t, work[START], work[END], start, end, first, last, out)


def explicit_dense_output(t, tableau, work, y, out):
    """``out`` = the solution at `t` inside the last step; `y` only lends its length.

    Beside the line the derivatives count relative to the first one, which a straight line leaves at zero.
    """
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
    r = (work[END] - t) / step
    if degree == 0:
        first = derivatives[:n]
        last = derivatives[stages * n : stages * n + n]
        hermite(t, work[START], work[END], start, end, first, last, out)
        if tableau[EXTRA] != 0.0 and work[DENSE_READY] != 0.0:
            inner = derivatives[(stages + 1) * n : (stages + 2) * n]
            lift(s, r, tableau[TABLEAU_HEADER + stages], step, start, end, first, last, inner, out)
        return
    for m in range(n):
        out[m] = 0.0
    for i in range(1, stages + 1 + int(tableau[EXTRA])):
        at = int(tableau[DENSE_AT]) + i * degree
        weight = 0.0
        for j in range(degree):
            weight = weight * s + tableau[at + degree - 1 - j]
        if weight != 0.0:
            for m in range(n):
                out[m] += weight * (derivatives[i * n + m] - derivatives[m])
    scale = step * (s * r)
    share, rest = share_of_step(s > r, t, work[START], work[END])
    for m in range(n):
        if s > r:
            out[m] = end[m] - (on_line(end[m], start[m], share, rest) - scale * out[m])
        else:
            out[m] = start[m] - (on_line(start[m], end[m], share, rest) - scale * out[m])
