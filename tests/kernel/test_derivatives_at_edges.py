"""Derivatives of runs where something is exact: events at the ends of a run, two at one instant, zeros."""

from __future__ import annotations

import math

import numpy as np
import pytest
from how_many import many

import cosim

NO_DERIVATIVE = "no derivative"


class Decay(cosim.Component):
    """Law: x' = -k x + c; at a crossing of the level, and every period, x becomes gain x + kick."""

    k = cosim.parameter(default=0.7)
    c = cosim.parameter(default=0.2)
    gain = cosim.parameter(default=0.5)
    kick = cosim.parameter(default=0.4)
    level = cosim.parameter(default=-5.0)
    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(k, c, x, x_dot):
        x_dot[0] = -k * x + c

    @cosim.witness(direction="falling")
    def reaches(x, level):
        return x - level

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def fall(gain, kick, x, x_next):
        x_next[0] = gain * x + kick


BY = ["d.k", "d.c", "d.gain", "d.kick", "d.level", "d.x"]
START = {"d.k": 0.7, "d.c": 0.2, "d.gain": 0.5, "d.kick": 0.4, "d.level": -5.0, "d.x": 1.0}


def run(part: cosim.Component, until: float = 1.0, by: list[str] = BY, **starts: float) -> cosim.Result:
    model = cosim.Model("edges")
    model.add(part, "d")
    system = model.build()
    state = system.default_state()
    for name, value in starts.items():
        state[f"d.{name}"] = value
    options = {"until": until, "accuracy": 1e-12, "output_interval": until}
    return cosim.simulate(system, state=state, derivatives=by, **options)


def decayed(k, c, x, time):
    """The law without events; near k = 0 by its first two terms in k."""
    if abs(k) < 1e-20:
        return x * (1.0 - k * time) + c * time * (1.0 - 0.5 * k * time)
    e = math.e ** (-k * time)
    return x * e + c / k * (1.0 - e)


def check(result: cosim.Result, law, starts: dict[str, float], by: list[str] = BY, row: int = -1) -> None:
    """Derivatives of a law by steps along the imaginary axis; it takes the values in the order of START."""
    for path in by:
        moved = {name: complex(value) for name, value in {**START, **starts}.items()}
        moved[path] += 1e-30j
        wanted = law(*moved.values()).imag / 1e-30
        assert result.derivative("d.x", path)[row] == pytest.approx(wanted, abs=1e-10), path
    assert not [finding for finding in result.findings if finding.kind == NO_DERIVATIVE]


class Kicked(Decay):
    """A reset every half second, the first one at the start."""

    @cosim.every(0.5, does="unrestricted")
    @cosim.kernel
    def push(gain, kick, x, x_next):
        x_next[0] = gain * x + kick


def kicked(times: int):
    """The state after so many resets, half a second apart."""

    def law(k, c, gain, kick, level, x):
        for _ in range(times - 1):
            x = decayed(k, c, gain * x + kick, 0.5)
        return gain * x + kick

    return law


def before_the_next(times: int):
    """The same just before the next reset."""
    return lambda k, c, *more: decayed(k, c, kicked(times)(k, c, *more), 0.5)


def test_resets_at_the_start_and_at_the_end() -> None:
    """At 0, 0.5 and 1; the last row is the side before the reset at the end."""
    result = run(Kicked())
    assert result.time.tolist() == [0.0, 0.0, 0.5, 0.5, 1.0]
    check(result, lambda *values: values[-1], {}, row=0)
    check(result, kicked(1), {}, row=1)
    check(result, before_the_next(1), {}, row=2)
    check(result, kicked(2), {}, row=3)
    check(result, before_the_next(2), {})


@pytest.mark.parametrize("zero", ["k", "gain", "kick", "c"])
def test_a_parameter_of_value_0(zero: str) -> None:
    check(run(Kicked(), **{zero: 0.0}), before_the_next(2), {f"d.{zero}": 0.0})


class Idle(Kicked):
    """Handlers that change nothing: four times a second beside the resets, and at each crossing of 0.7."""

    @cosim.every(0.25, offset=0.125, does="unrestricted")
    @cosim.kernel
    def look(x, x_next):
        x_next[0] = x

    @cosim.witness(direction="both")
    def passes(x):
        return x - 0.7

    @cosim.on(passes, does="unrestricted")
    @cosim.kernel
    def see(x, x_next):
        x_next[0] = x


def test_handlers_that_change_nothing_change_no_derivative() -> None:
    one, other = run(Kicked(), 0.8), run(Idle(), 0.8)
    for path in BY:
        found, wanted = other.derivative("d.x", path)[-1], one.derivative("d.x", path)[-1]
        assert found == pytest.approx(wanted, abs=1e-11)


class Ramp(cosim.Component):
    """Law: x' = rate; at the level x becomes kick, y' = x."""

    rate = cosim.parameter(default=1.0)
    level = cosim.parameter(default=1.0)
    kick = cosim.parameter(default=0.25)
    x = cosim.auxiliary_state()
    y = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(rate, x, x_dot, y_dot):
        x_dot[0] = rate
        y_dot[0] = x

    @cosim.witness(direction="rising")
    def reaches(x, level):
        return x - level

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def reset(kick, x_next):
        x_next[0] = kick


OF_RAMP = ["d.rate", "d.level", "d.kick", "d.x"]


def test_a_crossing_next_to_the_end() -> None:
    """x = t reaches the level 1e-10 before t = 1: before it x moves with rate and start, behind it
    x = kick + rate t - level."""
    result = run(Ramp(), 1.0, OF_RAMP, level=1.0 - 1e-10)
    before = [result.derivative("d.x", path)[1] for path in OF_RAMP]
    behind = [result.derivative("d.x", path)[-1] for path in OF_RAMP]
    assert result["d.x"][[1, -1]] == pytest.approx([1.0, 0.25], abs=1e-9)
    assert before == pytest.approx([1.0, 0.0, 0.0, 1.0], abs=1e-10)
    assert behind == pytest.approx([1.0, -1.0, 1.0, 1.0], abs=1e-10)


def test_a_crossing_at_the_start() -> None:
    """x leaves zero at the start: a witness that leaves zero toward its side has crossed there."""
    result = run(Ramp(), 0.5, ["d.rate", "d.kick"], x=1.0)
    assert [event.time for event in result.events] == pytest.approx([0.0], abs=1e-12)
    found = [result.derivative("d.x", path)[-1] for path in ("d.rate", "d.kick")]
    assert found == pytest.approx([0.5, 1.0], abs=1e-9)


class Pair(Ramp):
    """A second state reaches a level of its own at the same instant."""

    other = cosim.parameter(default=2.0)
    z = cosim.auxiliary_state()

    @cosim.kernel
    def second(rate, z_dot):
        z_dot[0] = 2.0 * rate

    @cosim.witness(direction="rising")
    def reaches_too(z, other):
        return z - other

    @cosim.on(reaches_too, does="unrestricted")
    @cosim.kernel
    def reset_both(x, y, z_next, y_next):
        z_next[0] = 0.0
        y_next[0] = y + x


def test_two_crossings_at_one_instant_that_move_together() -> None:
    result = run(Pair(), 1.5, ["d.rate"])
    assert not [finding for finding in result.findings if finding.kind == NO_DERIVATIVE]
    # x = 0.25 + rate (t - 1 / rate), z = 2 rate (t - 1 / rate)
    assert result.derivative("d.x", "d.rate")[-1] == pytest.approx(1.5, abs=1e-9)
    assert result.derivative("d.z", "d.rate")[-1] == pytest.approx(3.0, abs=1e-9)


@pytest.mark.parametrize("path", ["d.level", "d.other", "d.x"])
def test_two_crossings_at_one_instant_that_move_apart_have_no_derivative(path: str) -> None:
    result = run(Pair(), 1.5, [path])
    (finding,) = [finding for finding in result.findings if finding.kind == NO_DERIVATIVE]
    assert finding.time == pytest.approx(1.0, abs=1e-9)
    assert "order changes" in finding.message
    assert math.isnan(result.derivative("d.x", path)[-1])


class Thrown(cosim.Component):
    """Law: x'' = -2, with a witness at its highest point: 1, and a reset there."""

    top = cosim.parameter(default=1.0)
    idle = cosim.parameter(default=1.0)
    x = cosim.position()
    v = cosim.speed(start=2.0)

    @cosim.kernel
    def derivatives(v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -2.0

    @cosim.witness(direction="rising")
    def reaches(x, top):
        return x - top

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def turn(v, v_next):
        v_next[0] = -v


@pytest.mark.parametrize("top", [1.0 - 1e-3, 1.0 + 1e-3])
def test_a_witness_that_nearly_touches_its_level(top: float) -> None:
    """Just below and just above the highest point there are derivatives."""
    result = run(Thrown(), 1.5, ["d.v"], top=top)
    found = result.derivative("d.x", "d.v")[-1]
    assert not lost_of(result)

    def law(v):
        if top > 1.0:
            return v * 1.5 - 1.5**2
        speed = (v * v - 4.0 * top) ** 0.5
        time = 1.5 - (v - speed) / 2.0
        return top - speed * time - time * time

    assert found == pytest.approx(law(2.0 + 1e-30j).imag / 1e-30, rel=1e-9)


def lost_of(result: cosim.Result) -> list[cosim.Finding]:
    return [finding for finding in result.findings if finding.kind == NO_DERIVATIVE]


METHODS = ["runge_kutta_merson", "dormand_prince", "radau5", "bdf"]


def touched(part: cosim.Component, until: float, path: str, **options) -> cosim.Result:
    model = cosim.Model("touches")
    model.add(part, "d")
    return model.simulate(until=until, derivatives=[path], output_interval=until, **options)


@pytest.mark.few(2)
@pytest.mark.parametrize("accuracy", [1e-6, 1e-10])
@pytest.mark.parametrize("method", METHODS)
def test_a_witness_that_touches_its_level(method: str, accuracy: float) -> None:
    """It may cross or not, as rounding has it: in either case there is no derivative behind."""
    options = {"integrator": f"integrators.{method}", "accuracy": accuracy}
    draw = np.random.default_rng(5)
    speeds = [2.0, *draw.uniform(0.2, 5.0, many(1)).tolist()]
    for speed in speeds:
        top = speed * speed / 4.0
        result = touched(Thrown(v=speed, top=top), 1.2 * speed, "d.v", **options)
        (finding,) = lost_of(result)
        assert "grazing" in finding.message and finding.witness == "d.turn"
        assert finding.time == pytest.approx(0.5 * speed, abs=0.5 * math.sqrt(accuracy))
        assert math.isnan(result.derivative("d.x", "d.v")[-1])
        assert not lost_of(touched(Thrown(v=speed, top=top), 1.2 * speed, "d.idle", **options))
        (finding,) = lost_of(touched(Swing(x=speed, low=-speed), 4.0, "d.x", **options))
        assert finding.time == pytest.approx(math.pi, abs=20.0 * math.sqrt(accuracy))


def test_a_touch_has_no_gradient() -> None:
    model = cosim.Model("touches")
    model.add(Thrown(), "d")
    gradient = model.gradient("d.x", ["d.v"], until=1.5)
    assert np.isnan(gradient["d.v"]).all()


class Swing(cosim.Component):
    """Law: x'' = -x, with a witness at its lowest point."""

    low = cosim.parameter(default=-1.0)
    x = cosim.position(start=1.0)
    v = cosim.speed()

    @cosim.kernel
    def derivatives(x, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -x

    @cosim.witness(direction="falling")
    def reaches(x, low):
        return x - low

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def push(v, v_next):
        v_next[0] = v + 0.1


class Counts(cosim.Component):
    """Law: x' = rate, z' = n; each second n becomes a number that is made of x, in one of eight ways."""

    rate = cosim.parameter(default=1.0)
    limit = cosim.parameter(default=2.0)
    idle = cosim.parameter(default=1.0)
    x = cosim.auxiliary_state()
    z = cosim.auxiliary_state()
    n = cosim.discrete(start=0.0)
    way = cosim.discrete(start=0, dtype=int)

    @cosim.kernel
    def derivatives(rate, n, x_dot, z_dot):
        x_dot[0] = rate
        z_dot[0] = n

    @cosim.every(1.0, offset=1.0, does="unrestricted")
    @cosim.kernel
    def count(x, limit, way, n_next):
        if way == 0:
            n_next[0] = math.floor(x)
        elif way == 1:
            n_next[0] = int(x)
        elif way == 2:
            n_next[0] = round(x + 0.5)
        elif way == 3:
            n_next[0] = 1.0 if x >= limit else 0.5
        elif way == 4:
            n_next[0] = x // 0.5
        elif way == 5:
            n_next[0] = x % 0.5
        elif way == 6:
            n_next[0] = math.ceil(x)
        else:
            n_next[0] = math.fmod(x, limit)


def counted(path: str, way: int, rate: float) -> tuple[float, list[cosim.Finding]]:
    model = cosim.Model("counts")
    model.add(Counts(way=way, rate=rate), "d")
    result = model.simulate(until=3.5, derivatives=[path], output_interval=3.5)
    return float(result.derivative("d.z", path)[-1]), lost_of(result)


@pytest.mark.few(4)
@pytest.mark.parametrize("way", range(8))
def test_a_handler_that_rounds_or_decides_exactly_where_that_jumps(way: int) -> None:
    """x is whole at each count, unless the rate is another; what does not move x changes nothing."""
    for path in ("d.rate", "d.x"):
        found, (finding,) = counted(path, way, 1.0)
        assert math.isnan(found) and "one-sided" in finding.message and finding.witness == "d.count"
        assert finding.time == (2.0 if way in (3, 7) else 1.0)
        found, lost = counted(path, way, 1.03)
        assert not lost
        times = {"d.rate": 4.5, "d.x": 2.5}
        assert found == pytest.approx(times[path] if way in (5, 7) else 0.0, abs=1e-12)
    for path in ("d.idle", "d.z"):
        assert counted(path, way, 1.0) == (pytest.approx(0.0 if path == "d.idle" else 1.0), [])


class Decay(cosim.Component):
    """z' = -z, and 0.3 more at a half."""

    z = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(z, z_dot):
        z_dot[0] = -z

    @cosim.witness
    def reaches(z):
        return z - 0.5

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def kick(z, z_next):
        z_next[0] = z + 0.3


def test_a_crossing_in_a_last_step_of_rounding_is_no_touch() -> None:
    """A step may end 1e-11 s before its crossing: rates over the remainder are rounding."""
    for start in np.linspace(0.6, 3.0, 41).tolist():
        result = touched(Decay(z=start), 2.5, "d.z", accuracy=1e-10)
        assert len(result.events) == 1 + int((2.5 - math.log(2.0 * start)) / math.log(1.6))
        assert not lost_of(result)
        # a later start is the same course later: dz/dstart = -z' / start = z / start
        assert result.derivative("d.z", "d.z")[-1] == pytest.approx(result["d.z"][-1] / start, rel=1e-8)
