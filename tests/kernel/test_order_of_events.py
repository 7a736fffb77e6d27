"""Derivatives of runs whose events meet, or nearly so: a run that has those of one order alone says so."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from order_parts import BY_OF_MEETS, Meets, derivative_findings, model_of

import cosim
from cosim import EventCause


class Follows(cosim.Component):
    """Law: x' = 1 + a, y' = y + a; where x reaches the level y is halved."""

    level = cosim.parameter(default=0.5)
    x = cosim.auxiliary_state()
    y = cosim.auxiliary_state(start=1.0)
    a = cosim.input()

    @cosim.kernel
    def derivatives(a, y, x_dot, y_dot):
        x_dot[0] = 1.0 + a
        y_dot[0] = y + a

    @cosim.witness(direction="rising")
    def reaches(x, level):
        return x - level

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def halve(y, y_next):
        y_next[0] = 0.5 * y


class Timers(cosim.Component):
    """Law: y' = y; one timer adds 1, the other one doubles."""

    one = cosim.parameter(unit="s", default=0.3)
    two = cosim.parameter(unit="s", default=0.3)
    y = cosim.auxiliary_state(start=1.0)
    a = cosim.timer()
    b = cosim.timer()

    @cosim.kernel
    def derivatives(y, y_dot):
        y_dot[0] = y

    @cosim.on(EventCause.INITIALIZATION, does="discrete")
    @cosim.kernel
    def begin(one, two, a_next, b_next):
        a_next[0] = one
        b_next[0] = two

    @cosim.on(a, does="unrestricted")
    @cosim.kernel
    def add(y, y_next):
        y_next[0] = y + 1.0

    @cosim.on(b, does="unrestricted")
    @cosim.kernel
    def double(y, y_next):
        y_next[0] = 2.0 * y


class Stiff(cosim.Component):
    """Law: m x'' = -E x from rest; where x is 0 z grows by 1; a timer doubles z."""

    E = cosim.parameter(unit="N/m", default=2e11)
    pause = cosim.parameter(unit="s", default=0.0)
    x = cosim.position(start=1.0)
    v = cosim.speed()
    z = cosim.auxiliary_state(start=1.0)
    alarm = cosim.timer()

    @cosim.kernel
    def derivatives(E, x, v, z, x_dot, v_dot, z_dot):
        x_dot[0] = v
        v_dot[0] = -1e-3 * E * x
        z_dot[0] = z

    @cosim.on(EventCause.INITIALIZATION, does="discrete")
    @cosim.kernel
    def begin(pause, alarm_next):
        alarm_next[0] = pause

    @cosim.witness(direction="falling")
    def passes(x):
        return x

    @cosim.on(passes, does="unrestricted")
    @cosim.kernel
    def add(z, z_next):
        z_next[0] = z + 1.0

    @cosim.on(alarm, does="unrestricted")
    @cosim.kernel
    def double(z, z_next):
        z_next[0] = 2.0 * z


class Small(cosim.Component):
    """Law: x' = rate; at one level x falls by drop, at the other one y grows: it is reached in one order."""

    rate = cosim.parameter(default=1.0)
    one = cosim.parameter(default=0.5)
    two = cosim.parameter(default=0.5)
    drop = cosim.parameter(default=0.2)
    x = cosim.auxiliary_state()
    y = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(rate, x_dot, y_dot):
        x_dot[0] = rate
        y_dot[0] = 0.0

    @cosim.witness(direction="rising")
    def first(x, one):
        return x - one

    @cosim.witness(direction="rising")
    def second(x, two):
        return x - two

    @cosim.on(first, does="unrestricted")
    @cosim.kernel
    def fall(x, drop, x_next):
        x_next[0] = x - drop

    @cosim.on(second, does="unrestricted")
    @cosim.kernel
    def grow(y, y_next):
        y_next[0] = 2.0 * y


TINY = 1e-30
"""A relative step along the imaginary axis, whose square is nothing beside 1."""


def law(rate, level, pause, k, until):
    """y of `Meets` at the end, for real and for complex numbers."""
    crossing, alarm = level / rate, pause
    if crossing.real <= alarm.real:
        y = 2.0 * math.e ** (k * crossing)
        y = math.e ** (k * (alarm - crossing)) * y + 1.0
        return y * math.e ** (k * (until - alarm))
    y = math.e ** (k * alarm) + 1.0
    return 2.0 * y * math.e ** (k * (until - alarm))


def slope(name, values, until):
    """The derivative of `law` by one of its values, times that value: along the imaginary axis."""
    complex_values = {key: complex(value) for key, value in values.items()}
    complex_values[name] *= 1.0 + TINY * 1j
    return law(**complex_values, until=until).imag / TINY


@pytest.fixture(scope="module")
def system() -> cosim.System:
    return model_of(Meets()).build()


def run(system: cosim.System, until: float, by=BY_OF_MEETS, accuracy=1e-8, **values: float) -> cosim.Result:
    """A run of the part ``m`` with these values, and derivatives by some of its variables."""
    state = system.default_state()
    for name, value in values.items():
        state[f"m.{name}"] = value
    options = {"until": until, "accuracy": accuracy, "output_interval": until}
    return cosim.simulate(system, state=state, derivatives=by, **options)


def coinciding(count: int) -> Iterator[tuple[dict[str, float], float]]:
    """Values of `Meets` of all magnitudes whose events fall on one instant, up to rounding; and an end, s."""
    draw = np.random.default_rng(7)
    for _ in range(count):
        size, time = 10.0 ** draw.uniform(-6, 6), 10.0 ** draw.uniform(-6, 3)
        pause, rate = time * draw.uniform(0.3, 1.0), size * draw.uniform(0.3, 1.0) / time
        yield {"rate": rate, "level": rate * pause, "pause": pause, "k": 0.3 / time}, 2.0 * time


def test_a_crossing_meets_a_timer(system: cosim.System) -> None:
    """Rounding puts one or the other first: in either order there is no derivative."""
    orders = set()
    for values, until in coinciding(30):
        for path in BY_OF_MEETS[:3]:
            result = run(system, until, [path], **values)
            orders.add(tuple(event.name for event in result.events))
            assert derivative_findings(result) == ["no derivative"]
            (finding,) = [finding for finding in result.findings if finding.kind == "no derivative"]
            assert finding.time == pytest.approx(values["pause"], rel=1e-9)
            assert "order changes" in finding.message
            assert math.isnan(result.derivative("m.y", path)[-1])
        result = run(system, until, ["m.k"], **values)
        assert not derivative_findings(result)  # it moves neither event
        assert math.isfinite(result.derivative("m.y", "m.k")[-1])
    assert len(orders) > 1


@pytest.mark.parametrize("distance", [1e-3, -1e-3])
def test_a_crossing_next_to_a_timer(system: cosim.System, distance: float) -> None:
    """Events a thousandth of their time apart have derivatives: those of their order."""
    for values, until in coinciding(10):
        values["level"] *= 1.0 + distance
        result = run(system, until, accuracy=1e-11, **values)
        assert not derivative_findings(result)
        for path in BY_OF_MEETS:
            name = path.removeprefix("m.")
            relative_slope = result.derivative("m.y", path)[-1] * values[name]
            assert relative_slope == pytest.approx(slope(name, values, until), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("size", [1e-9, 1e-15, 1e12])
def test_a_slow_crossing_in_a_large_unit(size: float) -> None:
    """A crossing is slow only beside its own numbers: this one does not graze."""
    values = {"rate": size, "level": 0.5 * size, "pause": 7.0, "k": 0.3}
    system = model_of(Meets()).build()
    result = run(system, 1.0, accuracy=1e-10, **values)
    assert not derivative_findings(result)
    assert [result.derivative("m.x", path)[-1] for path in BY_OF_MEETS] == pytest.approx([1.0, 0.0, 0.0, 0.0])
    assert result.derivative("m.y", "m.k")[-1] == pytest.approx(2.0 * math.exp(0.3), rel=1e-8)


@pytest.mark.parametrize("distance", [1e-8, -1e-8])
def test_events_closer_than_the_accuracy_have_derivatives_of_one_order_and_a_finding(
    system: cosim.System, distance: float
) -> None:
    """The events are 1e-8 of their time apart, which is more than rounding and less than the accuracy."""
    for values, until in coinciding(20):
        if until < 1e-4:
            continue  # events are located to 1e-14 s
        values["level"] *= 1.0 + distance
        result = run(system, until, ["m.level"], accuracy=1e-6, **values)
        assert derivative_findings(result) == ["one-sided derivative"]
        (finding,) = [finding for finding in result.findings if finding.kind == "one-sided derivative"]
        assert finding.time == pytest.approx(values["pause"], rel=1e-7)
        assert finding.witness == ("m.add" if distance < 0.0 else "m.double")
        relative_slope = result.derivative("m.y", "m.level")[-1] * values["level"]
        assert relative_slope == pytest.approx(slope("level", values, until), abs=1e-4)


def test_a_crossing_at_the_very_start(system: cosim.System) -> None:
    """If the level moved up, x would cross it later; if it moved down, never."""
    for level in (0.0, 0.7, -3e4):
        result = run(system, 0.5, ["m.level"], level=level, x=level)
        assert [event.name for event in result.events][-1] == "reaches"
        assert derivative_findings(result) == ["no derivative"]
        assert math.isnan(result.derivative("m.y", "m.level")[-1])
        assert not derivative_findings(run(system, 0.5, ["m.k"], level=level, x=level))


@pytest.mark.parametrize("delay", [0.0, 0.3, 0.1, 0.023])
@pytest.mark.parametrize("start", [0.5, 0.37, 0.123])
def test_a_crossing_meets_a_jump_of_a_source_or_of_a_delay(start: float, delay: float) -> None:
    for distance in (0.0, 1e-2, -1e-2):
        model = model_of(Follows(level=start + delay + distance))
        model.add("signals.step", "s", start_time=start, height=2.0)
        if delay > 0.0:
            model.add("measures.delay", "late", source="s", delay=delay)
        model.connect("late.value" if delay > 0.0 else "s.value", "m.a")
        by = ["m.level", "s.start_time"] + (["late.delay"] if delay > 0.0 else [])
        result = model.simulate(until=1.0, derivatives=by, output_interval=1.0, accuracy=1e-10)
        values = [result.derivative("m.y", path)[-1] for path in by]
        assert [event.name for event in result.events].count("reaches") == 1
        if distance == 0.0:
            assert derivative_findings(result) == ["no derivative"] and np.isnan(values).all()
        else:
            assert not derivative_findings(result) and np.isfinite(values).all()


def test_two_timers_meet() -> None:
    """Also at 0.1 + 0.2 s, which is 0.3 s on paper and another double."""
    for two in (0.3, 0.1 + 0.2):
        result = model_of(Timers(two=two)).simulate(until=1.0, derivatives=["m.one", "m.two"])
        assert derivative_findings(result) == ["no derivative"]
        assert math.isnan(result.derivative("m.y", "m.one")[-1])


def test_a_parameter_with_a_large_number_moves_times_by_little() -> None:
    """One unit of E moves the crossing by 3e-16 s: it moves nevertheless."""
    quarter = 0.5 * math.pi / math.sqrt(2e8)
    result = model_of(Stiff(pause=quarter)).simulate(until=2.0 * quarter, derivatives=["m.E"], accuracy=1e-10)
    # whether the doubles of both times are one is a matter of rounding
    assert derivative_findings(result) in (["no derivative"], ["one-sided derivative"])
    result = model_of(Stiff(pause=1.01 * quarter)).simulate(
        until=2.0 * quarter, derivatives=["m.E"], accuracy=1e-10
    )
    assert not derivative_findings(result)
    # z = 2 (exp(T - t) + exp(T)) with T the end, t = quarter, dt/dE = -t / (2 E)
    expected = 2.0 * math.exp(quarter) * 0.5 * quarter / 2e11
    assert result.derivative("m.z", "m.E")[-1] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("size", [1.0, 1e-9, 1e6])
def test_an_event_that_the_other_one_prevents(size: float) -> None:
    """The handlers commute; but x falls off before it has reached the other level."""
    part = Small(rate=size, one=0.5 * size, two=0.5 * size, drop=0.2 * size)
    result = model_of(part).simulate(until=0.6, derivatives=["m.one"], accuracy=1e-9)
    assert derivative_findings(result) == ["no derivative"]
    assert math.isnan(result.derivative("m.y", "m.one")[-1])


SCRIPT = """
import cosim, order_parts as parts
together = cosim.simulate(parts.cart(0.0), derivatives=parts.BY_OF_CART, until=0.6, output_interval=0.1)
ticks = parts.model_of(parts.Sampled()).simulate(until=1.2, derivatives=["m.period"], output_interval=0.3)
near = parts.model_of(parts.Meets(level=1.0 + 1e-8)).simulate(until=1.5, derivatives=parts.BY_OF_MEETS)
for result, of, by in (
    (together, "b.x", "one.floor"), (together, "two.v", "two.e"),
    (ticks, "m.y", "m.period"), (near, "m.y", "m.level"),
):
    print(result.derivative(of, by).tobytes().hex())
print(*parts.derivative_findings(near))
"""


@pytest.mark.thorough
def test_the_same_bytes_compiled_and_in_plain_python() -> None:
    printed = []
    for plain in ("0", "1"):
        variables = {**os.environ, "COSIM_PLAIN": plain, "PYTHONPATH": str(Path(__file__).parent)}
        command = [sys.executable, "-c", SCRIPT]
        printed.append(
            subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout
        )
    lines = printed[0].splitlines()
    assert printed[0] == printed[1] and lines[-1] == "one-sided derivative"
    assert all(np.isfinite(np.frombuffer(bytes.fromhex(line))).all() for line in lines[:-1])
