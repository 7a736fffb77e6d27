"""Derivatives of runs by parameters and start values, through events: closed forms, and what has none."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import cosim
from cosim_mechanics import Multibody

EXACT = 1e-12


def differentiated(part: cosim.Component, until: float, by: list[str], **options) -> cosim.Result:
    model = cosim.Model("m")
    model.add(part, "x")
    return model.simulate(until=until, derivatives=by, output_interval=until / 4, **options)


def ends(result: cosim.Result, of: str, by: list[str]) -> list[float]:
    return [float(result.derivative(of, path)[-1]) for path in by]


class Ball(cosim.Component):
    """Law: height' = speed, speed' = -g; at the floor speed becomes -e speed."""

    g = cosim.parameter(unit="m/s2", default=9.81)
    e = cosim.parameter(default=0.8)
    h0 = cosim.parameter(unit="m", default=1.0)
    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    bounces = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(g, speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -g

    @cosim.on(cosim.EventCause.INITIALIZATION, does="unrestricted")
    @cosim.kernel
    def begin(h0, height_next):
        height_next[0] = h0

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    @cosim.kernel
    def bounce(e, speed, bounces, speed_next, bounces_next):
        speed_next[0] = -e * speed
        bounces_next[0] = bounces + 1


def height_of_ball(h0: float, e: float, g: float, bounces: int, until: float) -> float:
    """Behind so many bounces."""
    if bounces == 0:
        return h0 - 0.5 * g * until * until
    root, speed = math.sqrt(2.0 * h0 / g), math.sqrt(2.0 * h0 * g) * e**bounces
    rest = until - root * (1.0 + 2.0 * sum(e**k for k in range(1, bounces)))
    return speed * rest - 0.5 * g * rest * rest


def slopes_of_ball(bounces: int, until: float) -> list[float]:
    """Its derivatives by h0, e and g at 1, 0.8 and 9.81."""
    h0, e, g = 1.0, 0.8, 9.81
    if bounces == 0:
        return [1.0, 0.0, -0.5 * until * until]
    root, speed = math.sqrt(2.0 * h0 / g), math.sqrt(2.0 * h0 * g) * e**bounces
    flights = 1.0 + 2.0 * sum(e**k for k in range(1, bounces))
    by_flights = 2.0 * sum(k * e ** (k - 1) for k in range(1, bounces))
    rest = until - root * flights
    slope = speed - g * rest  # of the height by the time since the last bounce
    by_h0 = speed / (2.0 * h0) * rest - slope * flights * root / (2.0 * h0)
    by_e = bounces * speed / e * rest - slope * root * by_flights
    by_g = speed / (2.0 * g) * rest - 0.5 * rest * rest + slope * flights * root / (2.0 * g)
    return [by_h0, by_e, by_g]


@pytest.mark.parametrize(("until", "bounces"), [(0.3, 0), (1.0, 1), (2.0, 3)])
def test_a_bouncing_ball_against_its_closed_form(until: float, bounces: int) -> None:
    by = ["x.h0", "x.e", "x.g"]
    result = differentiated(Ball(), until, by)
    assert result["x.bounces"][-1] == bounces
    assert result["x.height"][-1] == pytest.approx(height_of_ball(1.0, 0.8, 9.81, bounces, until), rel=1e-7)
    assert ends(result, "x.height", by) == pytest.approx(slopes_of_ball(bounces, until), rel=EXACT, abs=EXACT)
    assert result.derivative("x.bounces", "x.g")[-1] == 0.0
    assert not result.findings


def test_impacts_are_located_to_the_last_digits() -> None:
    errors = []
    for draw in range(20):
        e, h0, g = 0.5 + 0.02 * draw, 0.4 + 0.17 * draw, 9.81
        root, flights = math.sqrt(2.0 * h0 / g), 1.0 + 2.0 * (e + e**2 + e**3 + e**4)
        ball = Ball(e=e, h0=h0, height=h0, g=g)
        result = differentiated(ball, root * (flights + e**5), ["x.e"], accuracy=1e-10)
        times = result.time
        impacts = times[1:][times[1:] == times[:-1]]
        assert len(impacts) == 5
        errors.append((impacts[-1] - root * flights) / np.spacing(impacts[-1]))
    assert np.sqrt(np.mean(np.square(errors))) < 12.0  # one spacing an impact grows to some seven


def test_both_sides_of_an_event_are_derivatives_at_a_fixed_time() -> None:
    result = differentiated(Ball(), 1.0, ["x.h0", "x.height"])
    at = result.events[-1].time
    before, after = np.flatnonzero(result.time == at)
    rates = result.derivative("x.height", "x.h0")
    assert (rates[before], rates[after]) == pytest.approx((1.0, -0.8), rel=1e-9)
    assert not result.derivative("x.height", "x.height").any()  # its first update writes over it


class Relay(cosim.Component):
    """Law: y' = a until y = c, then b; at fixed times y grows by j y."""

    a = cosim.parameter(default=1.0)
    b = cosim.parameter(default=3.0)
    c = cosim.parameter(default=0.7)
    j = cosim.parameter(default=0.25)
    y = cosim.auxiliary_state(start=0.0)
    on = cosim.discrete(start=0.0)

    @cosim.kernel
    def derivatives(a, b, on, y_dot):
        y_dot[0] = a + (b - a) * on

    @cosim.witness(direction="rising")
    def cross(y, c):
        return y - c

    @cosim.on(cross, does="discrete")
    @cosim.kernel
    def turn(on_next):
        on_next[0] = 1.0

    @cosim.every(1.0, offset=1.0, does="unrestricted")
    @cosim.kernel
    def kick(j, y, y_next):
        y_next[0] = y + j * y


def test_state_events_and_scheduled_ones() -> None:
    """y(T) = (c + b (1 - c / a)) (1 + j) + b (T - 1)."""
    by = ["x.a", "x.b", "x.c", "x.j", "x.y"]
    result = differentiated(Relay(), 1.5, by)
    assert result["x.y"][-1] == pytest.approx((0.7 + 3.0 * 0.3) * 1.25 + 1.5)
    expected = [3.0 * 0.7 * 1.25, 0.3 * 1.25 + 0.5, (1.0 - 3.0) * 1.25, 1.6, 3.0 * 1.25]
    assert ends(result, "x.y", by) == pytest.approx(expected, rel=EXACT)


class Alarm(cosim.Component):
    """Law: y' = 1, and 1 + r behind the time d, which a timer is set to."""

    d = cosim.parameter(unit="s", default=0.6)
    r = cosim.parameter(default=2.0)
    y = cosim.auxiliary_state(start=0.0)
    on = cosim.discrete(start=0.0)
    alarm = cosim.timer()

    @cosim.kernel
    def derivatives(r, on, y_dot):
        y_dot[0] = 1.0 + r * on

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    @cosim.kernel
    def begin(d, alarm_next):
        alarm_next[0] = d

    @cosim.on(alarm, does="discrete")
    @cosim.kernel
    def turn(on_next):
        on_next[0] = 1.0


def test_a_timer_that_a_parameter_sets() -> None:
    result = differentiated(Alarm(), 2.0, ["x.d", "x.r"])
    assert ends(result, "x.y", ["x.d", "x.r"]) == pytest.approx([-2.0, 1.4], rel=EXACT)


def test_a_source_that_jumps_at_a_time_of_its_own() -> None:
    model = cosim.Model("m")
    model.add("signals.step", "s", start_time=0.4, height=2.0)
    model.add("measures.integrate", "z", source="s")
    result = model.simulate(until=1.0, derivatives=["s.start_time", "s.height"], output_interval=0.25)
    assert [result.derivative("z", by)[-1] for by in ("s.start_time", "s.height")] == pytest.approx(
        [-2.0, 0.6], rel=EXACT
    )


class Branch(cosim.Component):
    """Law: y' = a until y = c, then b, by a branch that no event announces."""

    a = cosim.parameter(default=1.0)
    b = cosim.parameter(default=3.0)
    c = cosim.parameter(default=0.7)
    y = cosim.auxiliary_state(start=0.0)

    @cosim.kernel
    def derivatives(a, b, c, y, y_dot):
        y_dot[0] = a if y < c else b


class Touch(cosim.Component):
    """Law: y' = 3 (t - 1)^2; where y = 0 it stands still for a moment."""

    c = cosim.parameter(default=1.0)
    y = cosim.auxiliary_state(start=-1.0)

    @cosim.kernel
    def derivatives(t, y_dot):
        y_dot[0] = 3.0 * (t - 1.0) * (t - 1.0)

    @cosim.witness(direction="rising")
    def cross(y):
        return y

    @cosim.on(cross, does="unrestricted")
    @cosim.kernel
    def turn(y, c, y_next):
        y_next[0] = y + c


class Slide(cosim.Component):
    """Law: y' = m - s, x' = s^2, where s becomes low and high in turn as y passes zero."""

    m = cosim.parameter(default=0.3)
    high = cosim.parameter(default=1.0)
    low = cosim.parameter(default=-1.0)
    y = cosim.auxiliary_state(start=1.0)
    x = cosim.auxiliary_state()
    s = cosim.discrete(start=1.0)

    @cosim.kernel
    def derivatives(m, s, y_dot, x_dot):
        y_dot[0] = m - s
        x_dot[0] = s * s

    @cosim.witness
    def zero(y):
        return y

    @cosim.on(zero, does="discrete")
    @cosim.kernel
    def turn(s, low, high, s_next):
        s_next[0] = low if s > 0.0 else high


def test_a_sliding_mode() -> None:
    """From t = y / (1 - m) on s slides so that its mean is m; s^2 is share high^2 + (1 - share) low^2."""
    by = ["x.m", "x.high", "x.low", "x.y"]
    result = differentiated(Slide(), 3.0, by)
    slid, share = 3.0 - 1.0 / 0.7, 0.65
    assert ends(result, "x.y", by) == pytest.approx([0.0] * 4, abs=1e-9)
    expected = [0.0, 2.0 * share * slid, -2.0 * (1.0 - share) * slid, 0.0]
    assert ends(result, "x.x", by) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert [finding.kind for finding in result.findings] == ["chattering", "held"]


class Clutch(cosim.Component):
    """Law: j1 w1' = torque - s cap, j2 w2' = s cap, where s is the sign of w1 - w2."""

    j1 = cosim.parameter(default=1.0)
    j2 = cosim.parameter(default=2.0)
    cap = cosim.parameter(default=1.5)
    torque = cosim.parameter(default=0.5)
    w1 = cosim.auxiliary_state(start=2.0)
    w2 = cosim.auxiliary_state()
    s = cosim.discrete(start=1.0)

    @cosim.kernel
    def derivatives(j1, j2, cap, torque, s, w1_dot, w2_dot):
        w1_dot[0] = (torque - s * cap) / j1
        w2_dot[0] = s * cap / j2

    @cosim.witness
    def slip(w1, w2):
        return w1 - w2

    @cosim.on(slip, does="discrete")
    @cosim.kernel
    def turn(s, s_next):
        s_next[0] = -s


def test_a_clutch_that_locks() -> None:
    """Then both turn with (j1 w1 + j2 w2 + torque t) / (j1 + j2), whatever the friction was."""
    by = ["x.j1", "x.j2", "x.cap", "x.torque", "x.w1", "x.w2"]
    result = differentiated(Clutch(), 3.0, by, accuracy=1e-9)
    locked = (2.0 + 0.5 * 3.0) / 3.0
    expected = [(2.0 - locked) / 3.0, -locked / 3.0, 0.0, 1.0, 1.0 / 3.0, 2.0 / 3.0]
    assert ends(result, "x.w1", by) == pytest.approx(expected, abs=1e-8)
    assert ends(result, "x.w2", by) == pytest.approx(expected, abs=1e-8)
    assert [finding.kind for finding in result.findings] == ["chattering", "held"]


class Resting(cosim.Component):
    """Law: height'' = -9.81 above a floor at a sin(t), from which it bounces until it rests on it."""

    e = cosim.parameter(default=0.5)
    a = cosim.parameter(default=0.05)
    height = cosim.position(start=1.0)
    speed = cosim.speed()
    drift = cosim.speed()

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot, drift_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81
        drift_dot[0] = 0.0

    @cosim.witness(direction="falling")
    def floor(t, height, a):
        return height - a * math.sin(t)

    @cosim.on(floor, does="unrestricted")
    @cosim.kernel
    def bounce(t, e, a, speed, drift, speed_next, drift_next):
        own = a * math.cos(t)
        speed_next[0] = own - e * (speed - own)
        drift_next[0] = drift + (0.0 if a > 0.0 else 0.5 * speed)


def test_a_ball_that_comes_to_rest_on_a_floor_that_moves() -> None:
    by = ["x.a", "x.e", "x.height"]
    result = differentiated(Resting(), 4.0, by)
    assert ends(result, "x.height", by) == pytest.approx([math.sin(4.0), 0.0, 0.0], abs=1e-8)
    assert ends(result, "x.speed", by) == pytest.approx([math.cos(4.0), 0.0, 0.0], abs=1e-7)
    assert [finding.kind for finding in result.findings] == ["zeno", "held"]


def test_what_holds_in_a_direction_that_may_vary_has_no_derivative() -> None:
    class Aslant(Resting):
        """Its bounces change two speeds."""

        a = cosim.parameter(default=-0.05)

    result = differentiated(Aslant(), 1.5, ["x.e"])
    assert math.isnan(ends(result, "x.height", ["x.e"])[0])
    assert "way that varies" in result.findings[-1].message


class Two(cosim.Component):
    """Law: y' = 1; at y = c it doubles, at y = d it loses a half: which is first depends on c - d."""

    c = cosim.parameter(default=0.5)
    d = cosim.parameter(default=0.5)
    y = cosim.auxiliary_state(start=0.0)
    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(y_dot, x_dot):
        y_dot[0] = 1.0
        x_dot[0] = 0.0

    @cosim.witness(direction="rising")
    def first(y, c):
        return y - c

    @cosim.witness(direction="rising")
    def second(y, d):
        return y - d

    @cosim.on(first, does="unrestricted")
    @cosim.kernel
    def double(x, x_next):
        x_next[0] = 2.0 * x

    @cosim.on(second, does="unrestricted")
    @cosim.kernel
    def lose(y, y_next):
        y_next[0] = y - 0.5


@pytest.mark.parametrize(
    ("part", "by", "words"),
    [
        (Branch(), "x.c", "jumps where no event is"),
        (Touch(), "x.y", "grazing"),
        (Two(), "x.c", "order changes"),
    ],
)
def test_where_there_is_no_derivative_it_says_so(part: cosim.Component, by: str, words: str) -> None:
    result = differentiated(part, 2.0, [by])
    assert math.isnan(result.derivative("x.y", by)[-1])
    assert not math.isnan(result.derivative("x.y", by)[0])
    found = [f for f in result.findings if f.kind == "no derivative"]
    assert words in found[0].message
    assert 0.0 < found[0].time < 2.0


class Kinked(cosim.Component):
    """Law: y' = 1 + max(y - c, 0)."""

    c = cosim.parameter(default=0.7)
    y = cosim.auxiliary_state(start=0.0)

    @cosim.kernel
    def derivatives(c, y, y_dot):
        y_dot[0] = 1.0 + max(y - c, 0.0)


def test_a_kink_is_no_jump() -> None:
    """y' = 1 + max(y - c, 0): y(T) = c - 1 + exp(T - c)."""

    result = differentiated(Kinked(), 2.0, ["x.c", "x.y"], accuracy=1e-12)
    assert ends(result, "x.y", ["x.c", "x.y"]) == pytest.approx(
        [1.0 - math.exp(1.3), math.exp(1.3)], rel=1e-11
    )


class Oscillator(cosim.Component):
    """Law: x'' = -k x, and z' = x."""

    k = cosim.parameter(default=1.0)
    x = cosim.position(start=1.0)
    v = cosim.speed()
    z = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(k, x, v, x_dot, v_dot, z_dot):
        x_dot[0] = v
        v_dot[0] = -k * x
        z_dot[0] = x


METHODS = {
    **dict.fromkeys(("explicit_euler", "semi_implicit_euler", "implicit_euler"), (2e-3, 1e-2)),
    **dict.fromkeys(("heun", "velocity_verlet", "trapezoid", "generalized_alpha"), (2e-3, 1e-5)),
    **dict.fromkeys(("runge_kutta_4", "yoshida_4"), (1e-2, 1e-8)),
    **dict.fromkeys(("runge_kutta_merson", "bogacki_shampine", "dormand_prince"), (None, 1e-7)),
    **dict.fromkeys(("dormand_prince_853", "esdirk43", "radau3", "radau5", "bdf"), (None, 1e-7)),
}


SEEN_ELSEWHERE = (
    "semi_implicit_euler",
    "heun",
    "yoshida_4",
    "bogacki_shampine",
    "dormand_prince_853",
    "esdirk43",
)
"""Of one family with another one here, or in a test below."""
LONG = (*SEEN_ELSEWHERE, "implicit_euler", "trapezoid", "radau3", "bdf", "generalized_alpha")


@pytest.mark.parametrize(
    "method", [pytest.param(name, marks=[pytest.mark.thorough] * (name in LONG)) for name in METHODS]
)
def test_along_the_steps_of_every_method(method: str) -> None:
    """dx/dk = -t sin(t) / 2 and dx/dx0 = cos t, at ends of steps and inside; x is linear in x0.

    So dx/dx0 is x, to rounding: the derivative is that of what the method has computed.
    """
    step, close = METHODS[method]
    more = {"accuracy": 1e-9} if step is None else {"fixed_step": step}
    model = cosim.Model("m")
    model.add(Oscillator(), "x")
    by = ["x.k", "x.x", "x.v"]
    result = model.simulate(
        until=3.0, derivatives=by, output_interval=0.37, integrator=f"integrators.{method}", **more
    )
    t = result.time
    assert result.derivative("x.x", "x.k") == pytest.approx(-0.5 * t * np.sin(t), abs=close)
    assert result.derivative("x.z", "x.v") == pytest.approx(1.0 - np.cos(t), abs=close)
    is_exact = method != "generalized_alpha"  # its first acceleration counts as fixed
    assert result.derivative("x.x", "x.x") == pytest.approx(result["x.x"], abs=1e-12 if is_exact else close)
    assert not result.findings


@pytest.mark.parametrize(
    "method",
    ["dormand_prince", "radau5", *(pytest.param(n, marks=pytest.mark.thorough) for n in ("esdirk43", "bdf"))],
)
def test_a_bouncing_ball_with_other_methods(method: str) -> None:
    by = ["x.e", "x.g"]
    result = differentiated(Ball(), 2.0, by, integrator=f"integrators.{method}", accuracy=1e-10)
    assert ends(result, "x.height", by) == pytest.approx(slopes_of_ball(3, 2.0)[1:], rel=1e-8)


def test_a_run_with_derivatives_is_the_run_without() -> None:
    """But for the place of events, which is that of the isolation window."""
    plain, carried = (differentiated(Relay(), 1.5, by) for by in ([], ["x.a"]))
    assert [e.name for e in plain.events] == [e.name for e in carried.events]
    assert carried["x.y"] == pytest.approx(plain["x.y"], abs=1e-7)
    smooth, twin = (differentiated(Kinked(), 0.6, by) for by in ([], ["x.c"]))
    assert np.array_equal(smooth["x.y"], twin["x.y"])
    assert np.array_equal(smooth.time, twin.time)


def test_a_run_that_records_nothing_has_no_derivatives_either() -> None:
    """No signals are asked for, or a system has none: no states, no outputs."""
    model = cosim.Model("m")
    model.add(Ball, "x")
    assert model.simulate(until=0.1, derivatives=["x.g"], signals=[]).derivatives == {}

    class Bare(cosim.Component):
        """A number."""

        a = cosim.parameter(default=1.0)

    model = cosim.Model("m")
    model.add(Bare, "x")
    assert model.simulate(until=0.1, derivatives=["x.a"]).derivatives == {}


def test_long_runs_read_their_tape_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = differentiated(Relay(), 1.5, ["x.a", "x.j"])
    monkeypatch.setattr("cosim.simulation.carried_tangents.TAPE_LENGTH", 1)
    pieces = differentiated(Relay(), 1.5, ["x.a", "x.j"])
    for by in ("x.a", "x.j"):
        assert np.array_equal(pieces.derivative("x.y", by), whole.derivative("x.y", by))
    assert list(pieces.events) == list(whole.events)


def test_two_runs_of_one_model_one_after_the_other() -> None:
    model = cosim.Model("m")
    model.add(Ball(), "x")
    options = {"until": 2.0, "output_interval": 0.5}
    first = model.simulate(derivatives=["x.e", "x.g"], **options)
    plain = model.simulate(**options)
    again = model.simulate(derivatives=["x.g"], **options)
    assert not plain.derivatives
    assert np.array_equal(again.derivative("x.height", "x.g"), first.derivative("x.height", "x.g"))


class Counted(cosim.Component):
    """Law: y' = a; at t = 1 it signals, and each signal adds y to s, twice."""

    a = cosim.parameter(default=2.0)
    y = cosim.auxiliary_state(start=0.0)
    s = cosim.discrete(start=0.0)
    rounds = cosim.discrete(dtype=int)
    again = cosim.signal()

    @cosim.kernel
    def derivatives(a, y_dot):
        y_dot[0] = a

    @cosim.every(1.0, offset=1.0, does="discrete")
    @cosim.kernel
    def begin(rounds, again_next, rounds_next):
        again_next[0] = 1
        rounds_next[0] = 0

    @cosim.on(again, does="discrete")
    @cosim.kernel
    def add(y, s, rounds, s_next, again_next, rounds_next):
        s_next[0] = s + y
        rounds_next[0] = rounds + 1
        again_next[0] = 1 if rounds < 1 else 0


def test_several_rounds_of_signals_at_one_instant() -> None:
    result = differentiated(Counted(), 1.5, ["x.a"])
    assert result["x.s"][-1] == pytest.approx(4.0)
    assert result.derivative("x.s", "x.a")[-1] == pytest.approx(2.0, rel=EXACT)


class Held(cosim.Component):
    """Law: y' = a - m, where m is y at the end of the step before: Euler's steps for y' = a - y."""

    a = cosim.parameter(default=2.0)
    y = cosim.auxiliary_state(start=0.0)
    m = cosim.discrete(start=0.0)

    @cosim.kernel
    def derivatives(a, m, y_dot):
        y_dot[0] = a - m

    @cosim.update
    def follow(y, m_next):
        m_next[0] = y


def test_a_variable_that_is_updated_at_every_step() -> None:
    """y is linear in a: dy/da = y / a."""
    result = differentiated(Held(), 1.0, ["x.a"], integrator="integrators.runge_kutta_4", fixed_step=0.125)
    assert result["x.y"][-1] == pytest.approx(2.0 * (1.0 - 0.875**8), rel=1e-12)
    assert result.derivative("x.y", "x.a") == pytest.approx(0.5 * result["x.y"], rel=EXACT)
    assert result.derivative("x.m", "x.a")[-1] == pytest.approx(0.5 * result["x.m"][-1], rel=EXACT)


@pytest.mark.parametrize("method", ["runge_kutta_merson", "dormand_prince", "radau5"])
def test_kinks_of_two_sources_at_one_instant(method: str) -> None:
    """a(t) = height ((t - start)^2 / 2 duration between both kinks, then t - start - duration / 2)."""
    model = cosim.Model("m")
    for name in ("a", "b"):
        model.add("signals.ramp", f"{name}s", start_time=0.4, duration=0.5, height=2.0)
        model.add("measures.integrate", name, source=f"{name}s")
    by = [f"{name}s.{moved}" for name in ("a", "b") for moved in ("start_time", "duration", "height")]
    result = model.simulate(
        until=2.0, derivatives=by, output_interval=0.125, integrator=f"integrators.{method}"
    )
    rest = result.time - 0.4
    share = np.clip(2.0 * rest, 0.0, 1.0)  # of the rise
    expected = [-2.0 * share, -share * share, np.where(rest < 0.5, share * share / 4.0, rest - 0.25)]
    for path, values in zip(by, [*expected, *[0.0 * rest] * 3], strict=True):
        assert result.derivative("a", path) == pytest.approx(values, abs=1e-11)


def test_rows_inside_a_step_show_what_the_step_had() -> None:
    result = differentiated(Held(), 1.0, ["x.a"])
    assert len(np.unique(result["x.m"])) > 2
    assert result.derivative("x.m", "x.a") == pytest.approx(0.5 * result["x.m"], rel=EXACT)


def test_rows_inside_a_step_have_what_a_delay_remembers_of_such_a_variable() -> None:
    """All are linear in a, also what is remembered within the step in which a row lies."""
    model = cosim.Model("m")
    model.add(Held(), "x")
    model.add("measures.delay", "late", source="x.m", delay=0.08)
    model.add("measures.delay", "later", source="x.y", delay=0.05)
    settings = {"integrator": "integrators.runge_kutta_4", "fixed_step": 0.04}
    result = model.simulate(until=1.0, derivatives=["x.a"], output_interval=0.01, **settings)
    assert result.statistics["steps"] < 60  # so rows lie inside steps
    for of in ("x.m", "x.y", "late", "later"):
        assert len(np.unique(result[of])) > 2
        assert result.derivative(of, "x.a") == pytest.approx(0.5 * result[of], rel=EXACT, abs=EXACT)


@pytest.mark.parametrize("asked", ["derivatives", "gradient"])
def test_runs_with_derivatives_count_their_steps_and_leave_those_of_others(asked: str) -> None:
    model = cosim.Model("m")
    model.add(Oscillator(), "x")
    counted = []
    for more in ({}, {asked: ["x.k"]}, {}):
        statistics = model.simulate(until=3.0, output_interval=0.5, **more).statistics
        counted.append([statistics["integrator_steps"], statistics["evaluations"]])
    assert counted[0] == counted[1] == counted[2]
    assert min(counted[0]) > 0


@pytest.mark.thorough
def test_a_closed_chain_against_differences_of_runs() -> None:
    """A bar on two rods; a mass changes its motion, a start value is made to meet the constraint first."""

    def chain() -> Multibody:
        model = Multibody("chain", gravity=(0, -9.81, 0))
        inertia = (1e-3, 1 / 12, 1 / 12)
        for i in range(2):
            model.body(f"rod{i}", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=inertia)
            model.joint(
                "pin", name=f"pin{i}", child=f"rod{i}", frame_on_parent=(2.0 * i, 0, 0), q=1.2, u=-1.0
            )
        model.body("bar", mass=1.0, center_of_mass=(1.0, 0, 0), inertia=(1e-3, 1 / 3, 1 / 3))
        model.joint("pin", name="tip", child="bar", parent="rod0", frame_on_parent=(1, 0, 0), q=-1.2, u=1.0)
        model.constraint(
            "ball_constraint", "closure", body1="bar", body2="rod1", point1=(2, 0, 0), point2=(1, 0, 0)
        )
        return model

    options = {"until": 0.4, "accuracy": 1e-10, "output_interval": 0.4, "signals": ["pin0.q", "pin0.u"]}
    by = ["rod0.mass", "pin0.u"]
    result = chain().simulate(derivatives=by, **options)
    system = chain().build()
    for path in by:
        runs = []
        for k in (-2.0, -1.0, 1.0, 2.0):
            state = system.default_state()
            state[path] = state[path] + k * 1e-3
            runs.append(cosim.simulate(system, state=state, **options))
        for signal in options["signals"]:
            values = [run[signal][-1] for run in runs]
            expected = (8.0 * (values[2] - values[1]) - (values[3] - values[0])) / 12e-3
            assert result.derivative(signal, path)[-1] == pytest.approx(expected, rel=1e-8)


def test_a_body_that_turns_freely() -> None:
    """Quaternions are normalized: w_x of a body whose axis is one of its own stays, and turns it by w_x t."""
    model = Multibody("free", gravity=(0, 0, 0))
    body = model.body("body", mass=1.0, inertia=(1.0, 2.0, 3.0))
    model.joint("free", name="joint", child=body, u=[0.5, 0, 0, 0, 0, 0])
    result = model.simulate(until=2.0, derivatives=["joint.u[0]", "joint.q[0]"], accuracy=1e-10)
    q, half = result.derivative("joint.q", "joint.u[0]"), 0.25 * result.time
    assert q[:, 1] == pytest.approx(0.5 * result.time * np.cos(half), abs=1e-8)
    assert abs(result.derivative("joint.q", "joint.q[0]")).max() < 1e-12  # its length means nothing


def test_a_mount_against_differences_of_runs() -> None:
    def mount(stiffness: float) -> cosim.Model:
        model = Multibody("mount", gravity=(0, 0, -9.81))
        body = model.body("engine", mass=120.0, center_of_mass=(0, 0, 0.1), inertia=(4.5, 6.0, 5.2))
        model.joint("free", child=body)
        rubber = {"stiffness": [2e3, 2e3, stiffness, 3e3, 3e3, 3e3], "damping": [20.0] * 6}
        model.add("mechanics.linear_bushing", "rubber", body1="ground", body2=body, **rubber)
        return model

    by = "rubber.stiffness[2]"
    options = {"until": 0.5, "accuracy": 1e-10, "output_interval": 0.25, "signals": ["engine.z"]}
    result = mount(2e3).simulate(derivatives=[by], **options)
    ends_at = [mount(2e3 + k).simulate(**options)["engine.z"][-1] for k in (-2.0, -1.0, 1.0, 2.0)]
    expected = (8.0 * (ends_at[2] - ends_at[1]) - (ends_at[3] - ends_at[0])) / 12.0
    assert result.derivative("engine.z", by)[-1] == pytest.approx(expected, rel=1e-6)


def test_what_cannot_be_asked_for_is_refused() -> None:
    model = cosim.Model("m")
    model.add(Relay(), "x")
    with pytest.raises(cosim.ModelError, match="integrator.*in Python"):
        differentiated(Relay(), 1.0, ["x.a"], integrator="integrators.scipy_radau")
    with pytest.raises(cosim.LookUpError, match=r"x\.a"):
        model.simulate(until=1.0, derivatives=["x.aa"])
    result = differentiated(Relay(), 0.5, ["x.a"])
    with pytest.raises(cosim.LookUpError, match=r"x\.a"):
        result.derivative("x.y", "x.b")
    with pytest.raises(cosim.LookUpError, match=r"x\.y"):
        result.derivative("x.yy", "x.a")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_derivatives_are_saved_with_a_result(tmp_path: Path, ending: str) -> None:
    result = differentiated(Ball(), 1.0, ["x.e", "x.g"])
    path = tmp_path / f"run.{ending}"
    getattr(result, f"to_{ending}")(path)
    again = cosim.read_result(path)
    units = {"x.height": "m/(m/s2)", "x.speed": "(m/s)/(m/s2)", "x.bounces": "1/(m/s2)"}
    for of, unit in units.items():
        name = f"d({of})/d(x.g)"
        assert np.array_equal(again.derivative(of, "x.g"), result.derivative(of, "x.g"), equal_nan=True)
        assert again.unit(name) == ("1" if ending == "csv" else unit)  # CSV has none
        assert result.with_derivatives().unit(f"d({of})/d(x.e)") == result.unit(of)
        assert name not in result.signals
    assert np.array_equal(again["x.height"], result["x.height"])
    with pytest.raises(cosim.LookUpError):
        again.derivative("x.height", "x.h0")
