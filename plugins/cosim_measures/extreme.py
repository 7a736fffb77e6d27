"""The largest or smallest value that a signal has had: the base of the four extremes."""

from __future__ import annotations

import cosim
from cosim_measures.extreme_of_step import (
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
from cosim_measures.histories.lookup import DENSE


class Extreme(cosim.Measure):
    """Base of the extremes; `kind` of a subclass selects the extreme.

    Law: value = the best of all values that the source has had since the start, up to now; its derivatives
    are those of the source while it is at a new extreme, else 0. Known when the source is.

    Inside a step the extreme is searched on the polynomial through the step's ends and one or two points of
    the integrator's dense output, with derivatives if the source has them; on a parabola if it has none.

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
    def choose(s):
        best, when = s.best, s.best_time
        if s.located != 0.0 and s.seen != 0 and is_inside(s.past, s.t):
            best, when = best_of_step(s.past, s.kind, s.best, s.best_time, s.t)
        s.is_new = newness(s.t, s.source, best, s.seen, when, s.kind)
        s.value = best if s.is_new == OLD else sized(s.source, s.kind)
        s.time = when if s.is_new == OLD else s.t

    @cosim.kernel
    def derivative(s):
        s.value_dot = changed(s.source, s.source_dot, s.source_dot, s.kind, s.is_new)

    @cosim.kernel
    def second_derivative(s):
        s.value_dot2 = changed(s.source, s.source_dot, s.source_dot2, s.kind, s.is_new)

    @cosim.kernel
    def third_derivative(s):
        s.value_dot3 = changed(s.source, s.source_dot, s.source_dot3, s.kind, s.is_new)

    @cosim.update(at="inside", when="looks_inside")
    def remember_inside(s):
        s.past.append(s.t, s.side, s.smoothness, s.source, s.source_dot)

    @cosim.update(at="between", when="looks_inside", unless="source_state")
    def remember_between(s):
        refine_history(s.past, s.t, s.side, s.smoothness, s.source, s.source_dot, DENSE)

    @cosim.update
    def remember(s):
        s.past.append(s.t, s.side, s.smoothness, s.source, s.source_dot)
        best, when = s.best, s.best_time
        if s.seen == 0 or better(s.source, best, s.kind):
            best, when = sized(s.source, s.kind), s.t
        if s.seen != 0 and s.located != 0.0 and s.side == 0.0:
            best, when = best_of_step(s.past, s.kind, best, when, s.t)
        s.best_next = best
        s.best_time_next = when
        s.seen_next = 1
        if s.side == 0.0:
            s.past.trim(s.t, start_of_step(s.past))
