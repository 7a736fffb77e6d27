"""The cubic between both ends of the last step, as dense output.

All dense output here is the straight line between both ends plus a bend that is zero at both. So it meets the
ends to the last bit, it reproduces a constant to the last bit, and its error on a straight line is at most
one rounding of the larger end.
"""

from __future__ import annotations

from cosim.kit import MethodArrays
from cosim_integrators.kit.explicit_method import STAGES_AT
from cosim_integrators.kit.place_in_step import is_late, place_in_step
from cosim_integrators.kit.start_of_step import copy_values


def hermite(t, start, end, near, other, first, last, out):
    """Write into `out` the cubic at `t` whose values and derivatives at both ends of a step are known.

    Parameters
    ----------
    t, start, end : float
        s; the step goes from `start` to `end`.
    near, other : view
        Values at the end that is nearer to `t`, and at the other one; see `PlaceInStep`.
    first, last : view
        Derivatives at the start and at the end, 1/s.
    """
    step = end - start
    place = place_in_step(t, start, end)
    turn = 1.0 if place.is_late else -1.0
    s = place.from_start
    r = place.to_end
    e = s * r * r
    f = s * s * r
    for m in range(out.shape[0]):
        rise = turn * (near[m] - other[m])
        bend = e * (step * first[m] - rise) - f * (step * last[m] - rise)
        out[m] = near[m] - (place.fall(near[m], other[m]) - bend)


def hermite_dense_output(t, coefficients, work, y, out):
    """Write into `out` the cubic through both ends of the last step.

    The derivatives at both ends follow the vectors that all methods have in ``work``. Only ``work`` and the
    coefficients are read: ``work`` is passed in place of the other arrays.
    """
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
