"""The largest or smallest value that a signal has had: what the four extremes have in common."""

from __future__ import annotations

import cosim
from cosim.kit import append_to_history, trim_history
from cosim_measures.extreme_of_step import (
    DENSE,
    OLD,
    best_of_step,
    better,
    changed,
    is_inside,
    newness,
    sized,
    start_of_step,
)
from cosim_measures.histories import refine_history


class Extreme(cosim.Measure):
    """Base of the extremes; a subclass says by `kind` what is looked for.

    Law: value = the best of all values that the source has had since the start, up to now; its derivatives
    are those of the source while it is at a new extreme, else 0. Known when the source is.

    Inside a step the extreme is looked for on the polynomial through the step's ends and a point or two
    on the integrator's dense output, with the derivatives where the source has them; a source without a
    derivative is taken as a parabola there.

    Parameters
    ----------
    source : measure or path of a signal
        Whose extreme; of a vector, each element has its own.
    located : bool
        Look inside of steps too, not only at their ends.

    Returns
    -------
    value : in the unit of the source
    time : s
        When the extreme was.
    """

    unit_from = "source"
    conditions = {"looks_inside": lambda self: bool(self.located)}

    source = cosim.source(description="whose extreme")
    located = cosim.option(True)
    kind = cosim.option(0, choices=(0,))
    past = cosim.history(of="source", keep="located")
    best = cosim.discrete(description="the extreme up to the last step; set it to begin anew from there")
    seen = cosim.discrete(dtype=int, description="whether there is one yet")
    best_time = cosim.discrete(unit="s", internal=True, description="when that was")
    time = cosim.output(unit="s", description="when the extreme was", diagnostic=True)
    is_new = cosim.cache_slot(description="whether the source is at the extreme")

    @cosim.kernel
    def choose(t, source, located, best, seen, best_time, kind, past, past_ring, value, time, is_new):
        found = best
        when = best_time
        if located != 0.0 and seen != 0 and is_inside(past, past_ring, t):
            found, when = best_of_step(past, past_ring, kind, best, best_time, t)
        is_new[0] = newness(t, source, found, seen, when, kind)
        value[0] = found if is_new[0] == OLD else sized(source, kind)
        time[0] = when if is_new[0] == OLD else t

    @cosim.kernel
    def derivative(source, source_dot, kind, is_new, value_dot):
        value_dot[0] = changed(source, source_dot, source_dot, kind, is_new)

    @cosim.kernel
    def second_derivative(source, source_dot, source_dot2, kind, is_new, value_dot2):
        value_dot2[0] = changed(source, source_dot, source_dot2, kind, is_new)

    @cosim.kernel
    def third_derivative(source, source_dot, source_dot3, kind, is_new, value_dot3):
        value_dot3[0] = changed(source, source_dot, source_dot3, kind, is_new)

    @cosim.update(at="inside", when="looks_inside")
    def note_inside(t, side, smoothness, source, source_dot, past, past_ring):
        append_to_history(past, past_ring, t, side, smoothness, source, source_dot)

    @cosim.update(at="between", when="looks_inside", unless="source_state")
    def note_between(t, side, smoothness, source, source_dot, past, past_ring):
        refine_history(past, past_ring, t, side, smoothness, source, source_dot, DENSE)

    @cosim.update
    def note(
        t,
        side,
        smoothness,
        source,
        source_dot,
        located,
        kind,
        best,
        best_next,
        seen,
        seen_next,
        best_time,
        best_time_next,
        past,
        past_ring,
    ):
        append_to_history(past, past_ring, t, side, smoothness, source, source_dot)
        found = best
        when = best_time
        if seen == 0 or better(source, best, kind):
            found = sized(source, kind)
            when = t
        if seen != 0 and located != 0.0 and side == 0.0:
            found, when = best_of_step(past, past_ring, kind, found, when, t)
        best_next[0] = found
        best_time_next[0] = when
        seen_next[0] = 1
        if side == 0.0:
            trim_history(past, past_ring, t, start_of_step(past, past_ring))
