"""Times that are rational numbers: what meets on paper is one instant, and order is as on paper."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from agenda_order import SIGNATURE, go_through

import cosim
from cosim.rational import compare_fractions, nearest_time, tick_time
from cosim.rational_doubles import periodic_time, rational_time
from cosim.run_data.records.handlers import Grid
from cosim.run_data.run import AGENDA_WIDTH
from cosim.simulation.output_interval import counted_grid, output_times
from cosim.simulation.simulate import simulate
from cosim_compiler.record import layout_of, width_of

LARGEST = (1 << 63) - 1


def exact(number: float) -> Fraction:
    whole, rest, resolution = rational_time(number)
    assert 0 <= rest < resolution <= LARGEST
    return whole + Fraction(rest, resolution)


# numbers


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0.0, Fraction(0)),
        (-0.0, Fraction(0)),
        (1.0, Fraction(1)),
        (0.1, Fraction(1, 10)),
        (0.3, Fraction(3, 10)),
        (-0.3, Fraction(-3, 10)),
        (-2.5, Fraction(-5, 2)),
        (1e-3, Fraction(1, 1000)),
        (1e-18, Fraction(1, 10**18)),
        (123456.789, Fraction(123456789, 1000)),
        (0.123456789012345, Fraction(123456789012345, 10**15)),
        (1 / 3, Fraction(1, 3)),
        (-2 / 3, Fraction(-2, 3)),
        (10 / 3, Fraction(10, 3)),
        (1 / 30, Fraction(1, 30)),
        (1 / 44100, Fraction(1, 44100)),
        (2.0**-40, Fraction(1, 2**40)),
        (0.1234567890123456, Fraction(1234567890123456, 10**16)),
        (191174149046838.12, Fraction("191174149046838.12")),
        (2.0**61, Fraction(2**61)),
    ],
)
def test_a_double_is_its_shortest_decimal_or_a_fraction(number: float, expected: Fraction) -> None:
    assert exact(number) == expected and float(expected) == number


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e300, 1e-300, 5e-324])
def test_what_cannot_be_counted_has_no_resolution(number: float) -> None:
    assert rational_time(number) == (0, 0, 0)


def test_decimals_are_those_of_repr() -> None:
    draw = random.Random(3)
    for _ in range(3000):
        digits = draw.randint(1, 10 ** draw.randint(1, 15) - 1)
        number = digits / 10 ** draw.randint(0, 15)
        if -Decimal(repr(number)).normalize().as_tuple().exponent <= 18:
            assert exact(number) == Fraction(repr(number))
        number = draw.uniform(0.0, 10.0 ** draw.randint(-6, 6))
        assert float(exact(number)) == number  # whatever it is, it is no other double


def test_fractions_are_found_again() -> None:
    draw = random.Random(4)
    for _ in range(3000):
        given = Fraction(draw.randint(1, 3000), draw.randint(1, 100_000))
        is_decimal = len(Decimal(repr(float(given))).as_tuple().digits) <= 15
        assert exact(float(given)) == (Fraction(repr(float(given))) if is_decimal else given)


def draw_resolution(draw: random.Random) -> int:
    return draw.choice([draw.randint(1, 2 ** draw.randint(1, 63) - 1), 10 ** draw.randint(0, 18), 1])


def test_times_are_rounded_once() -> None:
    draw = random.Random(5)
    for _ in range(5000):
        resolution = draw_resolution(draw)
        whole = draw.randint(-(2 ** draw.randint(0, 52)), 2 ** draw.randint(0, 52))
        rest = draw.randrange(resolution)
        assert nearest_time(whole, rest, resolution) == float(whole + Fraction(rest, resolution))
    for bits in range(1, 63):  # half way between two doubles
        for odd in (2**53 + 1, 2**53 + 3, 2**54 - 1):
            whole, rest = divmod(odd, 1 << bits)
            if whole < 2**53:
                assert nearest_time(whole, rest, 1 << bits) == float(Fraction(odd, 1 << bits))


def test_ticks_are_rounded_once_up_to_a_million_million() -> None:
    draw = random.Random(6)
    for _ in range(5000):
        resolution, index = draw_resolution(draw), draw.randint(0, 10 ** draw.randint(0, 12))
        given = [draw.randint(-99, 99), draw.randrange(resolution), draw.randint(0, 999), 0]
        given[3] = draw.randrange(resolution)
        offset, period = (given[i] + Fraction(given[i + 1], resolution) for i in (0, 2))
        assert tick_time(index, *given, resolution) == float(offset + index * period)


def test_compiled_times_are_those_of_plain_python() -> None:
    """Rational numbers of doubles, and the double of a time counted in them."""
    compiled = cosim.kit.compile_function(periodic_time, "iiff>f")
    draw = random.Random(9)
    for _ in range(5000):
        numbers = [
            draw.choice([draw.uniform(-9.0, 9.0), draw.randint(-999, 999) / draw.randint(1, 999), 0.3, 1e-20])
            for _ in range(2)
        ]
        given = draw.randint(0, 10 ** draw.randint(0, 12)), draw.randint(1, 99), *numbers
        given = (*given[:3], abs(given[3]))
        assert compiled(*given) == periodic_time(*given)


def test_fractions_are_compared_exactly() -> None:
    draw = random.Random(7)
    for _ in range(5000):
        below, other = draw_resolution(draw), draw_resolution(draw)
        above = draw.randrange(below)
        same = above * other // below
        near = draw.choice([same, draw.randrange(other), min(other - 1, same + 1)])
        one, two = Fraction(above, below), Fraction(near, other)
        assert compare_fractions(above, below, near, other) == (one > two) - (one < two)


# systems


def ticking(**periods: Any) -> type[cosim.Component]:
    """A part with a handler for each period (with its offset, if it is a pair) that notes when it ran."""
    body: dict[str, Any] = {"notes": [], "x": cosim.auxiliary_state()}

    def derivatives(x_dot: Any) -> None:
        x_dot[0] = 1.0

    body["derivatives"] = cosim.kernel(derivatives)
    for name, given in periods.items():
        period, offset = given if isinstance(given, tuple) else (given, 0.0)
        if isinstance(period, float) and name.startswith("p_"):
            body[f"of_{name}"] = cosim.parameter(unit="s", default=period)
            period = f"of_{name}"

        def note(self: Any, state: Any, next_state: Any, own: str = name) -> None:
            self.notes.append((state.time, own))

        note.__name__ = name
        body[name] = cosim.every(period, offset=offset, does="discrete")(note)
    body["__doc__"] = "Notes its ticks."
    return type("Ticking", (cosim.Component,), body)


def simulator_of(part: type[cosim.Component], start: float = 0.0, **options: Any) -> cosim.Simulator:
    model = cosim.Model("ticks")
    model.add(part, "part")
    state = (system := model.build()).default_state()
    state.set_time(start)
    return cosim.Simulator(system, state, **{"accuracy": 1e-6, **options})


def on_paper(periods: dict[str, tuple[Fraction, Fraction]], start: Fraction, end: Fraction) -> list[Any]:
    """All ticks from `start` up to before `end`, in order; those of one instant in order of declaration."""
    found = []
    for place, (name, (period, offset)) in enumerate(periods.items()):
        i = max(0, math.ceil((start - offset) / period))
        while offset + i * period < end:
            found.append((offset + i * period, place, name))
            i += 1
    return [(float(time), name) for time, _, name in sorted(found)]


SYSTEMS: list[tuple[dict[str, Any], float]] = [
    ({"a": "900 ms", "b": "300 ms"}, 0.0),
    ({"a": 0.9, "b": 0.3, "c": "1/3 s"}, 0.0),
    ({"a": ("1/3 s", "1/7 s"), "b": ("1/7 s", "1/3 s"), "c": "1/21 s"}, 0.0),
    ({"a": ("0.1 s", -0.25), "b": ("0.2 s", "-50 ms")}, -3.3),
    ({"a": 0.1, "b": 0.7}, 12.6),
    ({"a": 0.1, "b": 0.7}, -0.7),
    ({"a": "1/30 s", "b": 1 / 30, "p_c": 1 / 30, "d": 0.1}, 0.0),
    ({"p_a": 0.3, "b": "900 ms", "p_c": 0.1}, 0.3),
    ({"a": "1 min", "b": "1/60 h", "c": 20}, 0.0),
    ({"a": Fraction(1, 1001), "b": Fraction(1, 999)}, 0.0),
]


@pytest.mark.few(4)
@pytest.mark.parametrize(("given", "start"), SYSTEMS)
@pytest.mark.parametrize("how", ["at once", "ticks", "resumed"])
def test_ticks_are_those_on_paper(given: dict[str, Any], start: float, how: str) -> None:
    """Advanced at once, from tick to tick, and saved and resumed at each tick."""
    pairs = {n: g if isinstance(g, tuple) else (g, 0.0) for n, g in given.items()}
    periods = {n: tuple(cosim.kit.exact_quantity(v, "s") for v in pair) for n, pair in pairs.items()}
    part = ticking(**given)
    part.notes = []
    simulator = simulator_of(part, start)
    longest = max(period for period, _ in periods.values())
    begin = cosim.kit.exact_quantity(start, "s")
    end = begin + min(40 * longest, 500 * min(p for p, _ in periods.values()))
    expected = on_paper(periods, begin, end)
    if how == "at once":
        simulator.advance_to(float(end))
    for time, _ in dict.fromkeys(expected) if how != "at once" else []:
        if time <= simulator.state.time:
            continue
        simulator.advance_to(time)
        assert simulator.has_pending_updates and simulator.state.time == time
        if how == "resumed":
            state = simulator.system.state_from_bytes(simulator.state.to_bytes())
            simulator = cosim.Simulator(simulator.system, state, accuracy=1e-6)
    if how != "at once":
        simulator.advance_to(float(end))
    assert part.notes == expected


@pytest.mark.parametrize("period", [0.3, "300 ms", "1/3 s", "1/7 s"])
def test_a_million_million_ticks(period: float | str) -> None:
    exactly = cosim.kit.exact_quantity(period, "s")
    count = 10**12
    part = ticking(a=period, b=exactly * 3)
    part.notes = []
    start = float(exactly * count)
    simulator = simulator_of(part, start)
    simulator.advance_to(float(exactly * (count + 10)))
    first = next(i for i in range(count - 1000, count + 2) if float(exactly * i) >= start)
    assert part.notes == on_paper(
        {"a": (exactly, Fraction(0)), "b": (exactly * 3, Fraction(0))},
        first * exactly,
        exactly * (count + 10),
    )


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_ticks_that_a_double_cannot_tell_apart_keep_their_order(order: str) -> None:
    """1 s and 1 s + 1e-17 s are one double: the later one is handled behind the other, at the same time."""
    given = {"a": Fraction(1), "b": 1 + Fraction(1, 10**17)}
    part = ticking(**{name: given[name] for name in order})
    part.notes = []
    simulator = simulator_of(part)
    simulator.advance_to(4.5)
    at_start = [(0.0, order[0]), (0.0, order[1])]
    assert part.notes == at_start + [(float(i), name) for i in range(1, 5) for name in "ab"]


@pytest.mark.parametrize("until", [0.9, 2.7, 27.0])
def test_the_final_time_at_a_tick(until: float) -> None:
    """What is pending at the final time runs, once."""
    part = ticking(a="900 ms", b="300 ms")
    part.notes = []
    simulator = simulator_of(part, final_time=until)
    simulator.advance_to(until)
    count = round(until / 0.3)
    assert [t for t, name in part.notes if name == "b"] == [3 * i / 10 for i in range(count + 1)]
    assert [t for t, name in part.notes if name == "a"] == [9 * i / 10 for i in range(count // 3 + 1)]


class Moved(cosim.Component):
    """The period and the offset of the first task are parameters; the second one reads its counter."""

    period = cosim.parameter(unit="s", default=0.25)
    offset = cosim.parameter(unit="s", default=0.0)
    x = cosim.auxiliary_state()
    first = cosim.discrete(dtype=int)
    second = cosim.discrete(dtype=int)
    together = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(x_dot):  # type: ignore[no-untyped-def]  # noqa: N805
        x_dot[0] = 1.0

    @cosim.every("period", offset="offset", does="discrete")
    def tick(first, first_next):  # type: ignore[no-untyped-def]  # noqa: N805
        first_next[0] = first + 1

    @cosim.every("900 ms", does="discrete")
    def tock(t, first, second, together, second_next, together_next):  # type: ignore[no-untyped-def]  # noqa: N805
        second_next[0] = second + 1
        together_next[0] = together + (1 if first == 3 * second else 0)


@pytest.mark.parametrize("offset", [0.0, -0.3, -30.0])
def test_a_parameter_meets_a_constant(offset: float) -> None:
    """Set before the run or in it, at a tick, with an offset that is replaced."""
    model = cosim.Model("moved")
    model.add(Moved, "m")
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.state["m.period"], simulator.state["m.offset"] = 0.3, offset
    simulator.advance_to(90.0)
    assert simulator.state["m.second"] == simulator.state["m.together"] == 100
    assert simulator.state["m.first"] == 300
    simulator.state["m.offset"] = 90.1
    simulator.advance_to(100.0)  # at 90 as it was due, then at 90.1, 90.4 … 99.7 and 100 (pending)
    assert simulator.state["m.first"] == 301 + 33


def test_text_of_a_parameter_is_exact() -> None:
    """1/1000003 s is given as text: the double alone would not tell."""
    period = Fraction(123457, 1000003)

    class Named(cosim.Component):
        """Two tasks."""

        period = cosim.parameter(unit="s")
        same = cosim.discrete(dtype=int)
        x = cosim.auxiliary_state()

        @cosim.kernel
        def derivatives(x_dot):  # type: ignore[no-untyped-def]  # noqa: N805
            x_dot[0] = 1.0

        @cosim.every("period", does="publish")
        def tick(self, state):  # type: ignore[no-untyped-def]
            ticks.append(state.time)

    ticks: list[float] = []
    model = cosim.Model("named")
    model.add(Named, "n", period=f"{period} s")
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.advance_to(123.0)
    assert ticks == [float(period * i) for i in range(len(ticks))] and len(ticks) > 900


def test_times_without_a_common_resolution_are_refused_by_name() -> None:
    model = cosim.Model("many")
    for name, prime in (("a", 1000003), ("b", 1000033), ("c", 1000037), ("d", 1000039)):
        model.add(ticking(tick=f"1/{prime} s"), name)
    with pytest.raises(cosim.ModelError) as caught:
        model.build()
    text = str(caught.value)
    assert all(f"{name}.tick (1/" in text for name in "abcd")
    assert "common resolution of 64" in text and "write periods" in text


def test_a_time_that_does_not_fit_is_refused_by_name() -> None:
    model = cosim.Model("fine")
    model.add(ticking(tick=f"1/{LARGEST + 2} s"), "part")
    with pytest.raises(cosim.ModelError, match=r"part\.tick.*times, 1/9223372036854775809"):
        model.build()
    fits = cosim.Model("fine")
    fits.add(ticking(tick=(f"{LARGEST - 1}/{LARGEST} s", 1)), "part")
    fits.build()


def test_a_parameter_that_cannot_be_counted_is_an_error_of_the_run() -> None:
    model = cosim.Model("moved")
    model.add(Moved, "m")
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.state["m.offset"] = 1e300
    with pytest.raises(cosim.SimulationError, match=r"m\.tick.*period 0\.25.*1e\+300"):
        simulator.advance_to(1.0)


def test_damaged_grids_are_refused() -> None:
    simulator = simulator_of(ticking(a=0.3))
    simulator.advance_to(1.0)
    data = simulator.state.to_bytes()
    grid = AGENDA_WIDTH + 1
    column = {name: offset // 8 for name, offset, _ in layout_of(Grid)}
    for place, value in [
        (grid + column["resolution"], 0),
        (grid + column["resolution"], -10),
        (grid + column["period_rest"], 10),
        (grid + column["offset_rest"], -1),
        (grid + column["period_whole"], LARGEST),
        (grid + column["offset_whole"], LARGEST),
        (AGENDA_WIDTH, LARGEST),
        (AGENDA_WIDTH, 3),
    ]:
        state = simulator.system.state_from_bytes(data)
        state.arrays["indices"][place] = value
        damaged = simulator.system.state_from_bytes(state.to_bytes())
        with pytest.raises(cosim.StateError, match="damaged"):
            cosim.Simulator(simulator.system, damaged, accuracy=1e-6)
    assert simulator.state.arrays["indices"].size == grid + width_of(Grid)


# order, over many ticks


def count_right_ticks(periods: list[Fraction], offsets: list[Fraction], ticks: int) -> int:
    """`agenda_order.go_through` for handlers with these times."""
    common = math.lcm(*(time.denominator for time in (*periods, *offsets)))
    numbers = [int(time * common) for pair in zip(offsets, periods, strict=True) for time in pair]
    exact_numbers = np.array(numbers, dtype=np.int64)
    part = ticking(**{f"t{i}": pair for i, pair in enumerate(zip(periods, offsets, strict=True))})
    part.notes = []
    simulator = simulator_of(part, float(math.floor(min(offsets)) - 1))
    simulator.initialize()
    head, at = int(simulator.compiled_step.head.ctypes.data), int(exact_numbers.ctypes.data)
    function = cosim.kit.compile_function(go_through, SIGNATURE)
    return int(function(head, at, len(periods), ticks))


def draw_times(draw: random.Random) -> tuple[list[Fraction], list[Fraction]]:
    """Of a pair or a triple: periods up to 10 s, and offsets."""
    periods = []
    for _ in range(draw.choice([2, 3])):
        below = draw.choice([draw.randint(1, 200), 10, 1000, 60])
        periods.append(Fraction(draw.randint(1, 10 * below), below))
    below = draw.choice([1, 7, 10, 1000])
    is_in_phase = draw.random() < 0.5
    offsets = [Fraction(0 if is_in_phase else draw.randint(-5 * below, 5 * below), below) for _ in periods]
    return periods, offsets


@pytest.mark.parametrize("ticks", [2000, pytest.param(1_000_000, marks=pytest.mark.thorough)])
def test_order_is_as_on_paper(ticks: int) -> None:
    """1,000 pairs and triples over a million ticks, and a share of them."""
    draw = random.Random(8)
    for _ in range(1000 if ticks > 2000 else 20):
        periods, offsets = draw_times(draw)
        assert count_right_ticks(periods, offsets, ticks) == 0, (periods, offsets)


@pytest.mark.parametrize("decimals", [12, 15])
def test_order_where_doubles_are_too_coarse(decimals: int) -> None:
    """Periods that differ by 1e-12 s and less: most of their ticks are one double, and none of them meet."""
    fine = Fraction(1, 10**decimals)
    assert count_right_ticks([Fraction(7), 7 + fine, 7 + 2 * fine], [Fraction(0)] * 3, 3000) == 0


def counting(periods: list[Fraction], offsets: list[Fraction]) -> type[cosim.Component]:
    """A part with three tasks, whose handlers are kernel functions."""
    body: dict[str, Any] = {"__doc__": "Three tasks."}
    for name in "abc":
        body[f"count_{name}"], body[f"seen_{name}"] = cosim.discrete(), cosim.discrete()
    for name, tick, period, offset in zip("abc", (tick_a, tick_b, tick_c), periods, offsets, strict=True):
        body[f"tick_{name}"] = cosim.every(period, offset=offset, does="discrete")(tick)
    return type("Counting", (cosim.Component,), body)


def mixed(seen, own, one, other):  # type: ignore[no-untyped-def]
    """A number that tells in which order ticks have come."""
    return (31.0 * seen + 7.0 * own + 3.0 * one + other) % 1048573.0


def tick_a(count_a, count_b, count_c, seen_a, count_a_next, seen_a_next):  # type: ignore[no-untyped-def]
    count_a_next[0] = count_a + 1.0
    seen_a_next[0] = mixed(seen_a, count_a, count_b, count_c)


def tick_b(count_a, count_b, count_c, seen_b, count_b_next, seen_b_next):  # type: ignore[no-untyped-def]
    count_b_next[0] = count_b + 1.0
    seen_b_next[0] = mixed(seen_b, count_b, count_c, count_a)


def tick_c(count_a, count_b, count_c, seen_c, count_c_next, seen_c_next):  # type: ignore[no-untyped-def]
    count_c_next[0] = count_c + 1.0
    seen_c_next[0] = mixed(seen_c, count_c, count_a, count_b)


@pytest.mark.parametrize("ticks", [1000, pytest.param(1_000_000, marks=pytest.mark.thorough)])
def test_whole_runs_are_those_on_paper(ticks: int) -> None:
    """Handlers of one instant read what was before it, later ones what earlier ones have written."""
    draw = random.Random(10)
    for _ in range(3):
        periods = [Fraction(draw.randint(1, 90), draw.choice([7, 10, 30, 100])) for _ in range(3)]
        offsets = [Fraction(0), Fraction(draw.randint(0, 20), 10), Fraction(draw.randint(0, 20), 7)]
        model = cosim.Model("counting")
        model.add(counting(periods, offsets), "m")
        simulator = cosim.Simulator(model.build(), event_limit=0)
        common = math.lcm(*(time.denominator for time in (*periods, *offsets)))
        due, steps = [int(o * common) for o in offsets], [int(p * common) for p in periods]
        counts, seen, done = [0.0] * 3, [0.0] * 3, 0
        while done < ticks:
            now = min(due)
            at_once = [i for i in range(3) if due[i] == now]
            before = list(counts)
            for i in at_once:
                seen[i] = mixed(seen[i], before[i], before[(i + 1) % 3], before[(i + 2) % 3])
                counts[i] += 1.0
                due[i] += steps[i]
            done += len(at_once)
        simulator.advance_to(float(Fraction(min(due), common)))
        found = simulator.state
        assert [found[f"m.count_{name}"] for name in "abc"] == counts
        assert [found[f"m.seen_{name}"] for name in "abc"] == seen


class Counting(cosim.Component):
    """A timer that counts its periods, beside ticks of the same length and of three of them."""

    wake = cosim.timer(start=0.3)
    rings = cosim.discrete(dtype=int)
    ticks = cosim.discrete(dtype=int)
    slow_ticks = cosim.discrete(dtype=int)

    @cosim.on(wake, does="discrete")
    def ring(rings, wake_next, rings_next):  # noqa: N805
        wake_next[0] = periodic_time(rings + 2, 1, 0.0, 0.3)
        rings_next[0] = rings + 1

    @cosim.every(0.3, offset=0.3, does="discrete")
    def tick(ticks, ticks_next):  # noqa: N805
        ticks_next[0] = ticks + 1

    @cosim.every(0.9, offset=0.9, does="discrete")
    def tick_slowly(slow_ticks, slow_ticks_next):  # noqa: N805
        slow_ticks_next[0] = slow_ticks + 1


class Adding(Counting):
    """The same, and the timer adds to itself."""

    @cosim.on(Counting.wake, does="discrete")
    def ring(rings, wake, wake_next, rings_next):  # noqa: N805
        wake_next[0] = wake + 0.3
        rings_next[0] = rings + 1


@pytest.mark.parametrize(("kind", "rings"), [(Counting, 1000), (Adding, 999)])
def test_a_timer_that_counts_meets_ticks_and_one_that_adds_does_not(
    kind: type[cosim.Component], rings: int
) -> None:
    model = cosim.Model("timers")
    model.add(kind, "part")
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.advance_to(300.0)
    simulator.advance_pending_events()
    state = simulator.state
    assert (state["part.rings"], state["part.ticks"], state["part.slow_ticks"]) == (rings, 1000, 333)
    rung = [event.time for event in simulator.events if event.handler == "part.ring"]
    ticked = [event.time for event in simulator.events if event.handler == "part.tick"]
    assert (rung == ticked) == (kind is Counting)
    assert rung == pytest.approx(ticked[:rings], rel=1e-13)


# output times


class Counter(cosim.Component):
    """Counts its ticks."""

    x = cosim.auxiliary_state()
    ticks = cosim.discrete(dtype=int)
    period = cosim.parameter(unit="s", default=1000.0)

    @cosim.kernel
    def derivatives(x_dot):
        x_dot[0] = 1.0

    @cosim.every("period", does="discrete")
    def tick(ticks, ticks_next):
        ticks_next[0] = ticks + 1


def model_of_a_counter(**values: Any) -> cosim.Model:
    model = cosim.Model("m")
    model.add(Counter, "p", **values)
    return model


@pytest.mark.parametrize(
    ("period", "interval", "until"),
    [
        (0.3, 0.1, 30.0),
        ("900 ms", "300 ms", 90.0),
        ("1/3 s", "1/9 s", 20.0),
        ("1/7 s", "1/7 s", 10.0),
        (0.7, 0.7, 70.0),
    ],
)
def test_output_times_and_ticks_that_meet_are_one_instant(period: Any, interval: Any, until: float) -> None:
    """Each output time is the double nearest to the one on paper, and its last row is that after the tick."""
    result = model_of_a_counter(period=period).simulate(until=until, output_interval=interval)
    spacing, tick = (cosim.kit.exact_quantity(given, "s") for given in (interval, period))
    times = np.asarray(result["time"])
    for i in range(int(Fraction(until) / spacing)):
        rows = np.flatnonzero(times == float(i * spacing))
        assert rows.size == (2 if (i * spacing) % tick == 0 else 1)
        assert np.asarray(result["p.ticks"])[rows[-1]] == i * spacing // tick + 1
    close = np.diff(times)
    assert not np.any((close > 0.0) & (close < 1e-9))


@pytest.mark.parametrize("start", [0.3, 0.7, 1.2])
def test_a_run_that_goes_on_from_an_output_time_has_it_once(start: float) -> None:
    system = model_of_a_counter().build()
    simulator = cosim.Simulator(system, accuracy=1e-6)
    simulator.advance_to(start)
    result = simulate(system, until=2.0, output_interval=0.1, accuracy=1e-6, state=simulator.state)
    first = round(start * 10)
    assert np.asarray(result["time"]).tolist() == [i / 10 for i in range(first, 21)]


def test_runs_of_an_ensemble_have_the_same_output_times() -> None:
    how = {"until": 3.0, "output_interval": 0.1}
    times = cosim.Ensemble(model_of_a_counter().build(), **how).run({"p.x": [0.0, 1.0]}).time
    assert times.tolist() == [i / 10 for i in range(31)]
    one = model_of_a_counter().simulate(**how)
    assert np.unique(np.asarray(one["time"])).tolist() == times.tolist()


def test_output_times_that_cannot_be_counted_are_products() -> None:
    assert counted_grid(0.0, 1e-300)["resolution"] == 0.0
    assert counted_grid(2.0**-50, 0.1)["resolution"] == 5 * 2.0**50
    assert counted_grid(2.0**-52, 0.1)["resolution"] == 0.0
    assert counted_grid(0.0, math.inf)["resolution"] == 0.0
    assert output_times(0.0, 1e-300, np.arange(3)).tolist() == [0.0, 1e-300, 2e-300]
    assert output_times(-0.5, 0.1, np.array([0, 3, 7])).tolist() == [-0.5, -0.2, 0.2]
    last = 2**53 // 3 + 1  # here the count leaves the integers that are doubles
    assert output_times(0.0, 0.3, np.array([last - 2, last])).tolist() == [(last - 2) * 3 / 10, last * 0.3]
