"""Periods and offsets are rational numbers: ticks that meet on paper are one instant, and no time drifts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from ticking_parts import on_paper, simulator_of, ticking

import cosim
from cosim.rational_doubles import periodic_time
from cosim.run_data.records.handlers import Grid
from cosim.run_data.run import AGENDA_WIDTH
from cosim_compiler.record import layout_of, width_of

LARGEST = (1 << 63) - 1  # the largest integer of 64 bits


SYSTEMS: list[tuple[dict[str, Any], float]] = [  # timings of handlers, and the time of the start, s
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
@pytest.mark.parametrize(("timings", "start"), SYSTEMS)
@pytest.mark.parametrize("calls", ["one", "one for each tick", "resumed at each tick"])
def test_ticks_are_those_on_paper(timings: dict[str, Any], start: float, calls: str) -> None:
    """Over 40 of the longest periods, or 500 of the shortest one if these are less time."""
    pairs = {name: t if isinstance(t, tuple) else (t, 0.0) for name, t in timings.items()}
    periods = {name: tuple(cosim.kit.exact_quantity(v, "s") for v in pair) for name, pair in pairs.items()}
    lengths = [period for period, _ in periods.values()]
    begin = cosim.kit.exact_quantity(start, "s")
    end = begin + min(40 * max(lengths), 500 * min(lengths))
    expected = on_paper(periods, begin, end)

    part = ticking(**timings)
    simulator = simulator_of(part, start)
    stops = [] if calls == "one" else [time for time, _ in dict.fromkeys(expected)]
    for time in stops:
        if time <= simulator.state.time:
            continue
        simulator.advance_to(time)
        assert simulator.has_pending_updates and simulator.state.time == time
        if calls == "resumed at each tick":
            state = simulator.system.state_from_bytes(simulator.state.to_bytes())
            simulator = cosim.Simulator(simulator.system, state, accuracy=1e-6)
    simulator.advance_to(float(end))
    assert part.notes == expected


@pytest.mark.parametrize("period", [0.3, "300 ms", "1/3 s", "1/7 s"])
def test_a_million_million_ticks(period: float | str) -> None:
    exactly = cosim.kit.exact_quantity(period, "s")
    count = 10**12
    part = ticking(a=period, b=exactly * 3)
    start = float(exactly * count)
    simulator = simulator_of(part, start)
    simulator.advance_to(float(exactly * (count + 10)))
    # ticks whose doubles are the start itself are due there, too
    first_index = next(i for i in range(count - 1000, count + 2) if float(exactly * i) >= start)
    assert part.notes == on_paper(
        {"a": (exactly, Fraction(0)), "b": (exactly * 3, Fraction(0))},
        first_index * exactly,
        exactly * (count + 10),
    )


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_ticks_that_a_double_cannot_tell_apart_keep_their_order(order: str) -> None:
    """1 s and 1 s + 1e-17 s are one double: the later one is handled behind the other, at the same time."""
    periods = {"a": Fraction(1), "b": 1 + Fraction(1, 10**17)}
    part = ticking(**{name: periods[name] for name in order})
    simulator = simulator_of(part)
    simulator.advance_to(4.5)
    at_start = [(0.0, order[0]), (0.0, order[1])]
    assert part.notes == at_start + [(float(i), name) for i in range(1, 5) for name in "ab"]


@pytest.mark.parametrize("until", [0.9, 2.7, 27.0])
def test_ticks_at_the_final_time_run_once(until: float) -> None:
    part = ticking(a="900 ms", b="300 ms")
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
def test_ticks_of_a_parameter_meet_those_of_a_constant(offset: float) -> None:
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
    assert simulator.state["m.first"] == 300 + 1 + 33


def test_text_of_a_parameter_is_exact() -> None:
    """The nearest double of 123457/1000003 s is also that of other fractions."""
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
    grid = AGENDA_WIDTH + 1  # behind the agenda and the index of the one handler
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
