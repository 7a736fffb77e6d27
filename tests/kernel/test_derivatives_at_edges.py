"""Derivatives of runs with events at the start or the end, two events at one instant, and parameters of 0."""

from __future__ import annotations

import math

import pytest

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


PARAMETERS = ["d.k", "d.c", "d.gain", "d.kick", "d.level", "d.x"]
START = {"d.k": 0.7, "d.c": 0.2, "d.gain": 0.5, "d.kick": 0.4, "d.level": -5.0, "d.x": 1.0}


def result_of(
    part: cosim.Component, until: float = 1.0, by: list[str] = PARAMETERS, **starts: float
) -> cosim.Result:
    model = cosim.Model("edges")
    model.add(part, "d")
    system = model.build()
    state = system.default_state()
    for name, value in starts.items():
        state[f"d.{name}"] = value
    options = {"until": until, "accuracy": 1e-12, "output_interval": until}
    return cosim.simulate(system, state=state, derivatives=by, **options)


def decayed_value(k, c, x, time):
    """The law without events: the state after a time; near k = 0 by its first two terms in k."""
    if abs(k) < 1e-20:
        return x * (1.0 - k * time) + c * time * (1.0 - 0.5 * k * time)
    factor = math.e ** (-k * time)
    return x * factor + c / k * (1.0 - factor)


def check(
    result: cosim.Result, law, starts: dict[str, float], by: list[str] = PARAMETERS, row: int = -1
) -> None:
    """Compare with derivatives of a law, by steps along the imaginary axis.

    The law takes the values in the order of `START`.
    """
    for path in by:
        moved = {name: complex(value) for name, value in {**START, **starts}.items()}
        moved[path] += 1e-30j
        expected = law(*moved.values()).imag / 1e-30
        assert result.derivative("d.x", path)[row] == pytest.approx(expected, abs=1e-10), path
    assert not [finding for finding in result.findings if finding.kind == NO_DERIVATIVE]


class Kicked(Decay):
    """A reset every half second, the first one at the start."""

    @cosim.every(0.5, does="unrestricted")
    @cosim.kernel
    def push(gain, kick, x, x_next):
        x_next[0] = gain * x + kick


def state_after_resets(count: int):
    """The state after so many resets, half a second apart."""

    def law(k, c, gain, kick, level, x):
        for _ in range(count - 1):
            x = decayed_value(k, c, gain * x + kick, 0.5)
        return gain * x + kick

    return law


def state_before_next_reset(count: int):
    """The same just before the next reset."""
    return lambda k, c, *more: decayed_value(k, c, state_after_resets(count)(k, c, *more), 0.5)


def test_resets_at_the_start_and_at_the_end() -> None:
    """Resets are at 0, 0.5 and 1 s; the last row is the state before the reset at the end."""
    result = result_of(Kicked())
    assert result.time.tolist() == [0.0, 0.0, 0.5, 0.5, 1.0]
    check(result, lambda *values: values[-1], {}, row=0)
    check(result, state_after_resets(1), {}, row=1)
    check(result, state_before_next_reset(1), {}, row=2)
    check(result, state_after_resets(2), {}, row=3)
    check(result, state_before_next_reset(2), {})


@pytest.mark.parametrize("zero", ["k", "gain", "kick", "c"])
def test_a_parameter_of_value_0(zero: str) -> None:
    check(result_of(Kicked(), **{zero: 0.0}), state_before_next_reset(2), {f"d.{zero}": 0.0})


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
    without_handlers, with_handlers = result_of(Kicked(), 0.8), result_of(Idle(), 0.8)
    for path in PARAMETERS:
        expected = without_handlers.derivative("d.x", path)[-1]
        assert with_handlers.derivative("d.x", path)[-1] == pytest.approx(expected, abs=1e-11)


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


RAMP_PARAMETERS = ["d.rate", "d.level", "d.kick", "d.x"]


def test_a_crossing_next_to_the_end() -> None:
    """x = rate t + start reaches the level 1e-10 s before the end at 1 s; then x = kick + rate t - level."""
    result = result_of(Ramp(), 1.0, RAMP_PARAMETERS, level=1.0 - 1e-10)
    before = [result.derivative("d.x", path)[1] for path in RAMP_PARAMETERS]
    behind = [result.derivative("d.x", path)[-1] for path in RAMP_PARAMETERS]
    assert result["d.x"][[1, -1]] == pytest.approx([1.0, 0.25], abs=1e-9)
    assert before == pytest.approx([1.0, 0.0, 0.0, 1.0], abs=1e-10)
    assert behind == pytest.approx([1.0, -1.0, 1.0, 1.0], abs=1e-10)


def test_a_crossing_at_the_start() -> None:
    """A witness that begins at zero and leaves it in its direction has crossed there."""
    result = result_of(Ramp(), 0.5, ["d.rate", "d.kick"], x=1.0)
    assert [event.time for event in result.events] == pytest.approx([0.0], abs=1e-12)
    slopes = [result.derivative("d.x", path)[-1] for path in ("d.rate", "d.kick")]
    assert slopes == pytest.approx([0.5, 1.0], abs=1e-9)


class TwoLevels(Ramp):
    """Law: z' = 2 rate; z reaches its own level at the instant at which x reaches `level`."""

    z_level = cosim.parameter(default=2.0)
    z = cosim.auxiliary_state()

    @cosim.kernel
    def second(rate, z_dot):
        z_dot[0] = 2.0 * rate

    @cosim.witness(direction="rising")
    def reaches_too(z, z_level):
        return z - z_level

    @cosim.on(reaches_too, does="unrestricted")
    @cosim.kernel
    def reset_both(x, y, z_next, y_next):
        z_next[0] = 0.0
        y_next[0] = y + x


def test_two_crossings_at_one_instant_that_move_together() -> None:
    result = result_of(TwoLevels(), 1.5, ["d.rate"])
    assert not [finding for finding in result.findings if finding.kind == NO_DERIVATIVE]
    # x = 0.25 + rate (t - 1 / rate), z = 2 rate (t - 1 / rate)
    assert result.derivative("d.x", "d.rate")[-1] == pytest.approx(1.5, abs=1e-9)
    assert result.derivative("d.z", "d.rate")[-1] == pytest.approx(3.0, abs=1e-9)


@pytest.mark.parametrize("path", ["d.level", "d.z_level", "d.x"])
def test_two_crossings_at_one_instant_that_move_apart_have_no_derivative(path: str) -> None:
    result = result_of(TwoLevels(), 1.5, [path])
    (finding,) = [finding for finding in result.findings if finding.kind == NO_DERIVATIVE]
    assert finding.time == pytest.approx(1.0, abs=1e-9)
    assert "order changes" in finding.message
    assert math.isnan(result.derivative("d.x", path)[-1])
