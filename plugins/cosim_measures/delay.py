"""A signal as it was some time ago."""

from __future__ import annotations

import math

import cosim
from cosim_measures.histories import delayed_value, extrapolation_error, refine_history
from cosim_measures.histories.lookup import interpolation_kind, time_beyond

ITERATE, LIMIT = 0.0, 1.0  # of long_steps


def append_source(s):
    """Remember the present value of the source."""
    s.past.append(s.t, s.side, s.smoothness, s.source, s.source_dot)


def remember_source(s):
    """Remember the source at the end of a step, and how far the step has extrapolated."""
    s.largest_extrapolation_next = max(s.largest_extrapolation, s.extrapolation)
    append_source(s)
    s.past.mark_start(s.history, s.history_dot / s.delayed_time_dot)


def advance_piece(s):
    """Choose the piece for the next step, and remove entries that no later step can need."""
    s.past.enter_piece(s.t, s.delayed_time)
    if s.side == 0.0:
        # the delayed time of the step that has ended may be read once more
        s.past.trim(s.t, min(s.last_delayed_time, s.t - s.longest_delay, s.delayed_time))
    s.last_delayed_time_next = s.delayed_time


class Delay(cosim.Measure):
    """The value that a source had at the time t - delay.

    Law: value(t) = source(t - delay), value_dot(t) = source'(t - delay) d(t - delay)/dt. Before the start
    the source counts as constant at its initial value, or is what `history` says.

    The source is remembered at the end of every step. Between two such times:

    - the cubic Hermite polynomial, of fourth order, where the source has a time derivative;
    - with ``interpolation="dense_output"`` the polynomial through points inside the step too: it is the
      dense output of the integrator, with its order;
    - without a derivative the cubic through these and the two values before, as far as there are two;
    - with `use_linear_interpolation_only`, or where there are too few values, a line.

    Breaks (jumps of the source or of one of its derivatives, at events, at the start of the history, and
    where a delayed break comes in again) stay breaks: nothing is interpolated across them, steps end where
    they arrive, and they are followed until they are smoother than the order of the integrator.

    Limits: when the delay is shorter than the step, t - delay lies in the step that is being taken.
    `long_steps` says what then: "iterate" takes the step again with its own dense output until nothing
    changes (explicit Runge–Kutta methods do; others extrapolate), "limit" takes no step longer than the
    delay, "extrapolate" goes on beyond the newest value, which is less accurate. In a Model Exchange FMU
    its importer takes the steps, so "iterate" is "limit" there: a time event after each delay. Error control
    sees the error of an extrapolation and of the cubic (`step_error`), but not that of lines. No step is
    longer than the delay of a source without a derivative.

    What is remembered of a source that is not a state is compared with it inside each step, and points are
    added until it is right within the accuracy. A source that jumps where no event announces it, or is not
    a number inside steps, is a finding.

    Parameters
    ----------
    source : measure or path of a signal
        What is delayed; a vector is delayed element by element.
    delay : float, s, >= 0
        With 0 the measure is its source, at the source's stage, whatever the other options say. A part
        that was given a delay cannot be set to 0 later, unless `can_use_current_value`.
    longest_delay : float, s
        For how long the source is remembered at least: a State's delay can be raised so far.
    history : measure or path of a signal, optional
        The source before the start, as a function of the delayed time, ``<name>.delayed_time``.
    default_value : float, in the unit of the source
        The value while nothing is remembered, before a simulation is initialized.
    use_linear_interpolation_only : bool
        Lines only, also for extrapolation: less accurate, never unstable.
    can_use_current_value : bool
        Take the present value of the source as the newest one. The measure is then known no earlier
        than its source, and the source must not depend on it at the same instant.
    interpolation : "hermite" or "dense_output"
    long_steps : "iterate", "limit" or "extrapolate"

    Returns
    -------
    value : in the unit of the source
    value_dot : per second
    delayed_time : s
        t - delay.
    largest_extrapolation : s
        How far beyond the newest value a step has looked, at most, since the start.
    smooth_until : s
        When the delayed signal will begin, jump or have a kink; steps end there.
    step_error : 1
        Estimated relative error of the values that this step extrapolates or leaves to later ones.

    Raises
    ------
    ModelError
        When the delay is negative or not a number.

    References
    ----------
    Simbody API documentation, class ``SimTK::Measure_<T>::Delay``. A. Bellen, M. Zennaro, *Numerical Methods
    for Delay Differential Equations*, is the field's book on orders and breaks (not opened here).

    Examples
    --------
    >>> Delay(source="speed", delay="5 ms").delay
    0.005
    """

    known_as = ("transport_delay", "dead_time", "lag")
    unit_from = "source"
    conditions = {
        "sees_present": lambda self: self.can_use_current_value or self.values.numbers["delay"][0] == 0.0,
        "is_source": lambda self: self.values.numbers["delay"][0] == 0.0,
        "keeps_interior": lambda self: self.interpolation == "dense_output",
        "iterates": lambda self: self.long_steps == "iterate",
        "follows": lambda self: not self.use_linear_interpolation_only,
    }

    source = cosim.source(description="what is delayed")
    delay = cosim.parameter(unit="s", minimum=0.0, description="how much later than its source")
    longest_delay = cosim.parameter(unit="s", default=0.0, minimum=0.0, description="can be asked for later")
    history = cosim.source(optional=True, description="the source before the start")
    default_value = cosim.parameter(default=0.0, each=True, description="value while nothing is remembered")
    use_linear_interpolation_only = cosim.option(False)
    can_use_current_value = cosim.option(False)
    interpolation = cosim.option("hermite", choices=("hermite", "dense_output"))
    long_steps = cosim.option(
        "iterate", choices=("iterate", "limit", "extrapolate"), in_model_exchange={"iterate": "limit"}
    )
    past = cosim.history(of="source", keep="delay")
    delayed_time = cosim.cache_slot(unit="s", description="the time whose value is read")
    delayed_time_dot = cosim.cache_slot(description="how fast it goes on")
    slope = cosim.cache_slot(unit="1/s", description="derivative of the source at that time")
    last_delayed_time = cosim.discrete(
        unit="s", invalidates=cosim.Stage.REPORT, internal=True, description="when the last step ended"
    )
    last_delay = cosim.discrete(unit="s", start=-1.0, internal=True, description="when the last step ended")
    largest_extrapolation = cosim.discrete(
        unit="s",
        invalidates=cosim.Stage.REPORT,
        description="farthest look beyond the newest value",
        diagnostic=True,
    )
    smooth_until = cosim.cache_slot(unit="s", description="when the delayed signal is not smooth next")
    break_order = cosim.cache_slot(description="order of the break that has arrived just now")
    settled = cosim.cache_slot(description="whether the delay is the one of the step before")
    extrapolation = cosim.cache_slot(unit="s", description="how far beyond the newest value is looked")
    overlap = cosim.cache_slot(unit="s", description="how far this step looks into itself")
    step_error = cosim.cache_slot(description="estimated relative error of the remembered signal")

    @cosim.kernel(
        unless="sees_present",
        refuses=["a delay cannot become 0 later; add the part with 0, or can_use_current_value"],
    )
    def stays_in_the_past(s):
        return 1.0 if s.delay <= 0.0 else 0.0

    @cosim.kernel
    def calc_delayed_time(s):
        s.delayed_time = s.t - s.delay

    @cosim.kernel
    def delayed_rate(s):
        s.delayed_time_dot = 1.0

    @cosim.kernel
    def settle_piece(s):
        if s.delay == 0.0 and s.last_delay > 0.0 and s.can_use_current_value == 0.0:
            raise ValueError("a delay cannot become 0 later; add the part with 0, or can_use_current_value")
        s.settled = 1.0 if s.delay == s.last_delay else 0.0

    @cosim.kernel(unless="sees_present")
    def from_the_past(s):
        s.value, s.slope = delayed_value(
            s.past, s.settled != 0.0, s.delayed_time, s.t, False, 0.0, 0.0, interpolation_kind(s),
            s.default_value, s.history,
        )  # fmt: skip

    @cosim.kernel(when="sees_present")
    def up_to_the_present(s):
        s.value, s.slope = delayed_value(
            s.past, s.settled != 0.0, s.delayed_time, s.t, True, s.source, math.nan, interpolation_kind(s),
            s.source, s.history,
        )  # fmt: skip
        if s.delay == 0.0:
            s.value = s.source

    @cosim.kernel(unless="sees_present")
    def change(s):
        # before the start the slope is not a number: `history` knows its own
        s.value_dot = s.slope * s.delayed_time_dot if s.slope == s.slope else s.history_dot

    @cosim.kernel(when="sees_present")
    def change_up_to_the_present(s):
        s.value_dot = s.slope * s.delayed_time_dot if s.slope == s.slope else s.history_dot
        if s.delay == 0.0:
            s.value_dot = s.source_dot

    @cosim.kernel(when="is_source")
    def second_derivative(s):
        s.value_dot2 = s.source_dot2 if s.delay == 0.0 else math.nan

    @cosim.kernel(when="is_source")
    def third_derivative(s):
        s.value_dot3 = s.source_dot3 if s.delay == 0.0 else math.nan

    @cosim.kernel
    def estimate_error(s):
        s.step_error = 0.0
        if s.delay > 0.0 or s.longest_delay > 0.0:  # else nothing that is remembered is ever asked for
            s.step_error = extrapolation_error(
                s.past, s.delayed_time, s.t, s.can_use_current_value != 0.0, s.source, s.source_dot,
                interpolation_kind(s),
            )  # fmt: skip

    @cosim.kernel
    def next_break(s):
        s.smooth_until = s.past.break_time + s.delay
        # the error of an extrapolation without derivatives is not known
        if (s.long_steps == LIMIT or s.source_dot != s.source_dot) and s.delay > 0.0:
            s.smooth_until = min(s.smooth_until, s.t + s.delay)

    @cosim.kernel
    def arriving_break(s):
        s.break_order = math.inf
        if s.delayed_time >= s.past.break_time - 1e-14 * max(1.0, abs(s.t)):
            s.break_order = s.past.next_break_order
        s.extrapolation = 0.0
        if s.can_use_current_value == 0.0 and s.delayed_time < s.t:
            s.extrapolation = time_beyond(s.past, s.delayed_time)
        s.overlap = s.extrapolation if s.long_steps == ITERATE else 0.0

    @cosim.update(at="inside", when="keeps_interior")
    def remember_inside(s):
        append_source(s)

    @cosim.update(at="between", when="follows", unless="source_state")
    def remember_between(s):
        kind = interpolation_kind(s)
        refine_history(s.past, s.t, s.side, s.smoothness, s.source, s.source_dot, kind)

    @cosim.update(at="ahead", when="iterates")
    def remember_ahead(s):
        append_source(s)

    @cosim.update
    def remember(s):
        remember_source(s)
        if s.delay != s.last_delay:
            s.past.restart_piece()
        advance_piece(s)
        s.last_delay_next = s.delay
