"""Derivatives of runs whose events meet, or nearly so: never a number that is that of one side, unsaid."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim

EC = cosim.EventCause


class Meets(cosim.Component):
    """Law: x' = rate, y' = k y; where x reaches the level y is doubled, at the time of a timer it grows."""

    rate = cosim.parameter(default=1.0)
    level = cosim.parameter(default=1.0)
    pause = cosim.parameter(unit="s", default=1.0)
    k = cosim.parameter(default=0.1)
    x = cosim.auxiliary_state()
    y = cosim.auxiliary_state(start=1.0)
    alarm = cosim.timer()

    @cosim.kernel
    def derivatives(rate, k, y, x_dot, y_dot):
        x_dot[0] = rate
        y_dot[0] = k * y

    @cosim.on(EC.INITIALIZATION, does="discrete")
    @cosim.kernel
    def begin(pause, alarm_next):
        alarm_next[0] = pause

    @cosim.witness(direction="rising")
    def reaches(x, level):
        return x - level

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def double(y, y_next):
        y_next[0] = 2.0 * y

    @cosim.on(alarm, does="unrestricted")
    @cosim.kernel
    def add(y, y_next):
        y_next[0] = y + 1.0


BY = ["m.rate", "m.level", "m.pause", "m.k"]


def law(rate, level, pause, k, until):
    """y at the end."""
    first, second = level / rate, pause
    y = 1.0
    if first.real <= second.real:
        y = 2.0 * math.e ** (k * first) * y
        y = math.e ** (k * (second - first)) * y + 1.0
        return y * math.e ** (k * (until - second))
    y = math.e ** (k * second) * y + 1.0
    return 2.0 * y * math.e ** (k * (until - second))


def model_of(part: cosim.Component, name: str = "m") -> cosim.Model:
    model = cosim.Model("order")
    model.add(part, name)
    return model


@pytest.fixture(scope="module")
def system() -> cosim.System:
    return model_of(Meets()).build()


def run(system: cosim.System, until: float, by=BY, accuracy=1e-8, **values: float) -> cosim.Result:
    state = system.default_state()
    for name, value in values.items():
        state[f"m.{name}"] = value
    options = {"until": until, "accuracy": accuracy, "output_interval": until}
    return cosim.simulate(system, state=state, derivatives=by, **options)


def found_in(result: cosim.Result) -> list[str]:
    return [found.kind for found in result.findings if found.kind.endswith("derivative")]


def drawn(count: int):
    """Values of all magnitudes, with which both events fall on one instant, up to rounding."""
    draw = np.random.default_rng(7)
    for _ in range(count):
        size, time = 10.0 ** draw.uniform(-6, 6), 10.0 ** draw.uniform(-6, 3)
        pause, rate = time * draw.uniform(0.3, 1.0), size * draw.uniform(0.3, 1.0) / time
        yield {"rate": rate, "level": rate * pause, "pause": pause, "k": 0.3 / time}, 2.0 * time


def test_a_crossing_meets_a_timer(system: cosim.System) -> None:
    """Rounding puts one or the other first; both say so."""
    orders = set()
    for values, until in drawn(30):
        for path in BY[:3]:
            result = run(system, until, [path], **values)
            orders.add(tuple(event.name for event in result.events))
            assert found_in(result) == ["no derivative"]
            (found,) = [found for found in result.findings if found.kind == "no derivative"]
            assert found.time == pytest.approx(values["pause"], rel=1e-9)
            assert "order changes" in found.message
            assert math.isnan(result.derivative("m.y", path)[-1])
        result = run(system, until, ["m.k"], **values)
        assert not found_in(result)  # it moves neither
        assert math.isfinite(result.derivative("m.y", "m.k")[-1])
    assert len(orders) > 1


@pytest.mark.parametrize("distance", [1e-3, -1e-3])
def test_a_crossing_next_to_a_timer(system: cosim.System, distance: float) -> None:
    """A thousandth apart there are derivatives, those of the order."""
    for values, until in drawn(10):
        values["level"] *= 1.0 + distance
        result = run(system, until, accuracy=1e-11, **values)
        assert not found_in(result)
        for path in BY:
            name = path[2:]
            moved = {key: complex(value) for key, value in values.items()}
            moved[name] += 1e-30j * values[name]
            wanted = law(**moved, until=until).imag / 1e-30
            got = result.derivative("m.y", path)[-1] * values[name]
            assert got == pytest.approx(wanted, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("distance", [1e-8, -1e-8])
def test_what_the_run_cannot_tell_apart_is_told(system: cosim.System, distance: float) -> None:
    """Closer than the accuracy, and not by rounding: derivatives of this order, and a finding."""
    for values, until in drawn(20):
        if until < 1e-4:
            continue  # events are located to 1e-14 s
        values["level"] *= 1.0 + distance
        result = run(system, until, ["m.level"], accuracy=1e-6, **values)
        assert found_in(result) == ["one-sided derivative"]
        (found,) = [found for found in result.findings if found.kind == "one-sided derivative"]
        assert found.time == pytest.approx(values["pause"], rel=1e-7)
        assert found.witness == ("m.add" if distance < 0.0 else "m.double")
        moved = {key: complex(value) for key, value in values.items()}
        moved["level"] *= 1.0 + 1e-30j
        wanted = law(**moved, until=until).imag / 1e-30
        assert result.derivative("m.y", "m.level")[-1] * values["level"] == pytest.approx(wanted, abs=1e-4)


def test_a_crossing_at_the_very_start(system: cosim.System) -> None:
    """Before it x is on the other side, and nothing crosses."""
    for level in (0.0, 0.7, -3e4):
        result = run(system, 0.5, ["m.level"], level=level, x=level)
        assert [event.name for event in result.events][-1] == "reaches"
        assert found_in(result) == ["no derivative"]
        assert math.isnan(result.derivative("m.y", "m.level")[-1])
        assert not found_in(run(system, 0.5, ["m.k"], level=level, x=level))


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


@pytest.mark.parametrize("delay", [0.0, 0.3, 0.1, 0.023])
@pytest.mark.parametrize("start", [0.5, 0.37, 0.123])
def test_a_crossing_meets_a_jump_of_a_source_or_of_a_delay(start: float, delay: float) -> None:
    for distance in (0.0, 1e-2, -1e-2):
        model = model_of(Follows(level=start + delay + distance))
        model.add("signals.step", "s", start_time=start, height=2.0)
        if delay > 0.0:
            model.add("measures.delay", "late", source="s", delay=delay)
        model.connect("late.value" if delay > 0.0 else "s.value", "m.a")
        by = ["m.level", "s.start_time", *(["late.delay"] if delay > 0.0 else [])]
        result = model.simulate(until=1.0, derivatives=by, output_interval=1.0, accuracy=1e-10)
        values = [result.derivative("m.y", path)[-1] for path in by]
        assert [event.name for event in result.events].count("reaches") == 1
        if distance == 0.0:
            assert found_in(result) == ["no derivative"] and np.isnan(values).all()
        else:
            assert not found_in(result) and np.isfinite(values).all()


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

    @cosim.on(EC.INITIALIZATION, does="discrete")
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


def test_two_timers_meet() -> None:
    """0.1 + 0.2 is 0.3 on paper."""
    for two in (0.3, 0.1 + 0.2):
        result = model_of(Timers(two=two)).simulate(until=1.0, derivatives=["m.one", "m.two"])
        assert found_in(result) == ["no derivative"]
        assert math.isnan(result.derivative("m.y", "m.one")[-1])


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

    @cosim.on(EC.INITIALIZATION, does="discrete")
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


def test_a_parameter_with_a_large_number_moves_times_by_little() -> None:
    """By one pascal the crossing moves by 3e-16 s: it moves nevertheless."""
    quarter = 0.5 * math.pi / math.sqrt(2e8)
    result = model_of(Stiff(pause=quarter)).simulate(until=2.0 * quarter, derivatives=["m.E"], accuracy=1e-10)
    assert found_in(result) in (["no derivative"], ["one-sided derivative"])
    result = model_of(Stiff(pause=1.01 * quarter)).simulate(
        until=2.0 * quarter, derivatives=["m.E"], accuracy=1e-10
    )
    assert not found_in(result)
    # z = 2 (exp(T - t) + exp(T)) with T the end, t = quarter, dt/dE = -t / (2 E)
    wanted = 2.0 * math.exp(quarter) * 0.5 * quarter / 2e11
    assert result.derivative("m.z", "m.E")[-1] == pytest.approx(wanted, rel=1e-5)


class Sampled(cosim.Component):
    """Law: y' = k y; at each tick y grows by n + 1 and n by 1."""

    period = cosim.parameter(unit="s", default=0.3)
    offset = cosim.parameter(unit="s", default=0.1)
    k = cosim.parameter(default=1.0)
    y = cosim.auxiliary_state(start=1.0)
    n = cosim.discrete()

    @cosim.kernel
    def derivatives(k, y, y_dot):
        y_dot[0] = k * y

    @cosim.every("period", offset="offset", does="unrestricted")
    @cosim.kernel
    def add(y, n, y_next, n_next):
        y_next[0] = y + n + 1.0
        n_next[0] = n + 1.0


def sampled(period, offset, k):
    """y at 1 s, and its derivatives by steps along the imaginary axis."""
    y, time, n = 1.0, 0.0, 0
    while (offset + n * period).real < 1.0:
        y = y * math.e ** (k * (offset + n * period - time)) + n + 1.0
        time, n = offset + n * period, n + 1
    return y * math.e ** (k * (1.0 - time))


@pytest.mark.parametrize(("period", "offset"), [(0.31, 0.1), (0.07, 0.0), (0.211, 0.003)])
def test_a_period_and_an_offset_that_are_parameters(period: float, offset: float) -> None:
    values = {"period": period, "offset": offset, "k": 0.8}
    by = ["m.period", "m.k"] if offset == 0.0 else ["m.period", "m.offset", "m.k"]
    model = model_of(Sampled(period=period, offset=offset, k=0.8))
    result = model.simulate(until=1.0, derivatives=by, accuracy=1e-10)
    gradient = model.gradient("m.y", by, until=1.0, accuracy=1e-10)
    assert not found_in(result)
    for path in by:
        moved = {name: complex(value) for name, value in values.items()}
        moved[path[2:]] += 1e-30j
        wanted = sampled(**moved).imag / 1e-30
        assert result.derivative("m.y", path)[-1] == pytest.approx(wanted, rel=1e-7)
        assert gradient[path].item() == pytest.approx(wanted, rel=1e-7)
    moved_start = model.simulate(until=1.0, derivatives=["m.offset"])
    assert found_in(moved_start) == (["no derivative"] if offset == 0.0 else [])
