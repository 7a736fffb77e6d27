"""Parts of a step that need no search: the dense output is a cubic and all witnesses are straight.

A straight witness is a sum of states and the time, each times a constant. Along a cubic it is a cubic as
well, so its values at the quarters of a step show all that it does there: between two of them it changes its
sign at most as often as the coefficients of its Bernstein form. Where these leave no doubt, a search would
only confirm that nothing crosses.

References
----------
G. Farin, "Curves and Surfaces for Computer-Aided Geometric Design", 1988: the convex hull of Bernstein's
form, and that a polynomial changes its sign at most as often as its coefficients.
"""

from __future__ import annotations

from cosim.run_data.run import Run
from cosim.step.crossing import PARTS, evaluate_at, is_crossing
from cosim.step.integration import method_arrays
from cosim.step.search_points import QUARTERS, Points, points_of, values_at

UNCLEAR = -1
"""What `first_part` finds where a search has to."""
NOISE = 1e-9  # of the values: four differences of a cubic are zero but for rounding
CLEAR = 1e-6  # of the values: coefficients that are nearer to zero leave a doubt


def first_part(run: Run, start: float, stop: float) -> int:
    """The quarter of a step in which a witness crosses first, once; PARTS where none does, or UNCLEAR.

    `start_values` and `stop_values` are those at its ends, above their levels.
    """
    if not are_straight(run):
        return UNCLEAR
    points = points_of(run)
    for number in range(1, PARTS):
        evaluate_at(run, start + (stop - start) * (number / PARTS), QUARTERS + number - 1)
    part = 0
    while part < PARTS and not some_witness_crosses(run, points, part):
        part += 1
    for i in range(points.witnesses):
        if not is_clear(run, points, i, part):
            return UNCLEAR
    return part


def are_straight(run: Run) -> bool:
    """Whether all witnesses are straight, none is held, and dense output is a cubic that meets both ends."""
    if run.course.ends_known == 0 or run.method_settings.is_cubic == 0.0:
        return False
    straight = method_arrays(run).work.dense_ready == 0.0
    for kind in run.witness_kinds:
        straight = straight and kind.is_straight != 0
    return straight


def value_at(run: Run, points: Points, i: int, number: int) -> float:
    """Witness `i` above its level at a quarter of the step: 0 its start … 4 its end."""
    if number == 0:
        return run.start_values[i]
    if number == PARTS:
        return run.stop_values[i]
    return values_at(points, QUARTERS + number - 1)[i]


def witness_crosses(run: Run, points: Points, i: int, part: int) -> bool:
    """Whether going from one end of a part to the other is an event of witness `i`."""
    return is_crossing(run, i, value_at(run, points, i, part), value_at(run, points, i, part + 1))


def some_witness_crosses(run: Run, points: Points, part: int) -> bool:
    """Whether going from one end of a part to the other is an event of any witness."""
    some = False
    for i in range(points.witnesses):
        some = some or witness_crosses(run, points, i, part)
    return some


def is_clear(run: Run, points: Points, i: int, crossed: int) -> bool:
    """Whether witness `i` keeps its sign up to the part `crossed`, and changes it there once if it crosses.

    NaN is never clear.
    """
    w0 = run.start_values[i]
    w1 = value_at(run, points, i, 1)
    w2 = value_at(run, points, i, 2)
    w3 = value_at(run, points, i, 3)
    w4 = run.stop_values[i]
    largest = max(max(abs(w0), abs(w1)), max(max(abs(w2), abs(w3)), abs(w4)))
    second = (w2 - w1) - (w1 - w0)
    third = ((w3 - w2) - (w2 - w1)) - second
    fourth = (((w4 - w3) - (w3 - w2)) - ((w3 - w2) - (w2 - w1))) - third
    if not (largest > 0.0 and abs(fourth) <= NOISE * largest):
        return False
    least = CLEAR * largest
    rate = third_of_rate(w1 - w0, second, third, 0.0)
    for part in range(min(crossed + 1, PARTS)):
        before = value_at(run, points, i, part)
        after = value_at(run, points, i, part + 1)
        rate_after = third_of_rate(w1 - w0, second, third, part + 1.0)
        # the sign that it has or leaves zero for, and both inner coefficients on that side
        sign = 1.0 if before > 0.0 or (before == 0.0 and rate > 0.0) else -1.0
        first = sign * (before + rate)
        other = sign * (after - rate_after)
        if before == 0.0 and (part > 0 or not first > least):
            return False
        if part == crossed and witness_crosses(run, points, i, part):
            if not (sign * after <= 0.0 and (first > least or other < -least)):
                return False
        elif not (first > least and other > least and sign * after > 0.0):
            return False
        rate = rate_after
    return True


def third_of_rate(first: float, second: float, third: float, x: float) -> float:
    """A third of the rate of a cubic with these differences, `x` steps behind their first value."""
    return (first + (x - 0.5) * second + (0.5 * x * x - x + 1.0 / 3.0) * third) / 3.0
