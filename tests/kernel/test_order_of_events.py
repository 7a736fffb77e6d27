"""Derivatives of runs whose events meet, or nearly so: never a number that is that of one side, unsaid."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

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


@pytest.mark.parametrize("size", [1e-9, 1e-15, 1e12])
def test_a_slow_crossing_in_a_large_unit(size: float) -> None:
    """Not slow beside its own numbers: it does not graze."""
    values = {"rate": size, "level": 0.5 * size, "pause": 7.0, "k": 0.3}
    system = model_of(Meets()).build()
    result = run(system, 1.0, accuracy=1e-10, **values)
    assert not found_in(result)
    assert [result.derivative("m.x", path)[-1] for path in BY] == pytest.approx([1.0, 0.0, 0.0, 0.0])
    assert result.derivative("m.y", "m.k")[-1] == pytest.approx(2.0 * math.exp(0.3), rel=1e-8)


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


class Wheel(cosim.Component):
    """Law: m x'' = k (body - x) + c (body' - x') - g, on a floor at its height; a stiff bounce."""

    floor = cosim.parameter(default=0.0)
    e = cosim.parameter(default=0.6)
    k = cosim.parameter(default=30.0)
    x = cosim.position(start=1.0)
    v = cosim.speed()
    body = cosim.input()
    body_speed = cosim.input()
    force = cosim.output()

    @cosim.kernel
    def derivatives(k, x, v, body, body_speed, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = k * (body - x) + 0.7 * (body_speed - v) - 9.81

    @cosim.kernel
    def outputs(k, x, v, body, body_speed, force):
        force[0] = -k * (body - x) - 0.7 * (body_speed - v)

    @cosim.witness(direction="falling")
    def reaches(x, floor):
        return x - floor

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def bounce(e, v, v_next):
        v_next[0] = -e * v


class Body(cosim.Component):
    """Law: 5 x'' = forces - 5 g (1 + mixed v1 v2)."""

    mixed = cosim.parameter(default=0.0)
    x = cosim.position(start=1.0)
    v = cosim.speed()
    one = cosim.input()
    two = cosim.input()
    v1 = cosim.input()
    v2 = cosim.input()

    @cosim.kernel
    def derivatives(mixed, v, one, two, v1, v2, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = 0.2 * (one + two) - 9.81 * (1.0 + mixed * v1 * v2)


def cart(mixed: float) -> cosim.System:
    """A body on two wheels that fall onto one floor."""
    model = cosim.Model("cart")
    model.add(Body(mixed=mixed), "b")
    for name in ("one", "two"):
        model.add(Wheel(), name)
        model.connect("b.x", f"{name}.body")
        model.connect("b.v", f"{name}.body_speed")
        model.connect(f"{name}.force", f"b.{name}")
        model.connect(f"{name}.v", f"b.v{1 if name == 'one' else 2}")
    return model.build()


CARTS = ["one.floor", "two.floor", "one.e", "two.e", "one.k", "b.x", "two.v"]


@pytest.mark.few(1)
@pytest.mark.parametrize("method", ["dormand_prince", "radau5"])
def test_wheels_that_meet_the_floor_together(method: str) -> None:
    """Both bounce at one instant, and do so in either order: what they do to the body adds up."""
    system = cart(0.0)
    options = {"until": 0.6, "output_interval": 0.6, "accuracy": 1e-11, "integrator": f"integrators.{method}"}
    options["maximum_step"] = 0.001  # a free fall is a polynomial: steps would be long
    result = cosim.simulate(system, derivatives=CARTS, **options)
    times = [event.time for event in result.events]
    assert len(times) == 2 and times[0] == times[1]
    assert not found_in(result)
    step = 1e-4
    for path in CARTS:
        ends = []
        for move in (step, 0.5 * step, -0.5 * step, -step):
            state = system.default_state()
            state[path] = float(state[path]) + move
            moved = cosim.simulate(system, state=state, derivatives=CARTS[:1], **options)
            ends.append(np.array([moved[name][-1] for name in ("b.x", "one.x", "two.v")]))
        # the second derivative jumps with the order: extrapolated on either side
        base = np.array([result[name][-1] for name in ("b.x", "one.x", "two.v")])
        ahead = (4.0 * ends[1] - ends[0] - 3.0 * base) / step
        behind = (3.0 * base + ends[3] - 4.0 * ends[2]) / step
        found = [result.derivative(name, path)[-1] for name in ("b.x", "one.x", "two.v")]
        assert found == pytest.approx(ahead, rel=1e-5, abs=1e-5)
        assert found == pytest.approx(behind, rel=1e-5, abs=1e-5)


def test_wheels_whose_order_matters_have_no_derivative() -> None:
    """Between the two bounces the body falls as neither before nor behind them."""
    for mixed in (0.3, -1e-3):
        result = cosim.simulate(cart(mixed), until=0.6, derivatives=["one.floor"], accuracy=1e-9)
        assert found_in(result) == ["no derivative"]
        assert math.isnan(result.derivative("b.x", "one.floor")[-1])
        together = cosim.simulate(cart(mixed), until=0.6, derivatives=["b.x"], accuracy=1e-9)
        assert not found_in(together)


@pytest.mark.parametrize("count", [2, 5])
def test_equal_parts_without_a_connection(count: int) -> None:
    """Each has the derivatives that it has alone, and none by the others; gradients have one order alone."""
    names = [f"w{i}" for i in range(count)]
    model = cosim.Model("wheels")
    for name in names:
        model.add(Wheel(), name)
    alone = model_of(Wheel(), "w0").simulate(until=1.4, derivatives=["w0.floor", "w0.e"], accuracy=1e-9)
    by = [*(f"{name}.floor" for name in names), "w1.e"]
    result = model.simulate(until=1.4, derivatives=by, accuracy=1e-9)
    assert not found_in(result) and len(result.events) == 6 * count
    for of in names:
        for path in by:
            found = result.derivative(f"{of}.x", path)[-1]
            is_own = path.startswith(of)
            wanted = alone.derivative("w0.x", path.replace(of, "w0"))[-1] if is_own else 0.0
            assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    gradient = model.gradient("w0.x", ["w0.floor"], until=1.4)
    assert np.isnan(gradient["w0.floor"]).all()


def test_equal_parts_that_come_to_rest_together() -> None:
    """Where they are held, the flow between both events is another one: there are no derivatives."""
    model = cosim.Model("wheels")
    for name, x in (("w0", 1.0), ("w1", 1.0), ("w2", 0.9)):
        model.add(Wheel(x=x), name)
    result = model.simulate(until=2.0, derivatives=["w1.floor"], accuracy=1e-9)
    (found,) = [found for found in result.findings if found.kind == "no derivative"]
    assert 1.4 < found.time < 1.6
    assert math.isnan(result.derivative("w0.x", "w1.floor")[-1])
    # where they come to rest one after the other there are
    result = model.simulate(until=2.0, derivatives=["w2.floor"], accuracy=1e-9)
    assert not found_in(result)
    assert result.derivative("w2.x", "w2.floor")[-1] == pytest.approx(1.0, abs=1e-6)


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


@pytest.mark.parametrize("size", [1.0, 1e-9, 1e6])
def test_an_event_that_the_other_one_prevents(size: float) -> None:
    """The handlers commute; but x falls off before it has reached the other level."""
    part = Small(rate=size, one=0.5 * size, two=0.5 * size, drop=0.2 * size)
    result = model_of(part).simulate(until=0.6, derivatives=["m.one"], accuracy=1e-9)
    assert found_in(result) == ["no derivative"]
    assert math.isnan(result.derivative("m.y", "m.one")[-1])


SCRIPT = """
import cosim, test_order_of_events as cases
together = cosim.simulate(cases.cart(0.0), derivatives=cases.CARTS, until=0.6, output_interval=0.1)
ticks = cases.model_of(cases.Sampled()).simulate(until=1.2, derivatives=["m.period"], output_interval=0.3)
near = cases.model_of(cases.Meets(level=1.0 + 1e-8)).simulate(until=1.5, derivatives=cases.BY)
for result, of, by in (
    (together, "b.x", "one.floor"), (together, "two.v", "two.e"),
    (ticks, "m.y", "m.period"), (near, "m.y", "m.level"),
):
    print(result.derivative(of, by).tobytes().hex())
print(*cases.found_in(near))
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
