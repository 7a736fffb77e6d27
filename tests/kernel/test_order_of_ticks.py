"""Ticks of random periods and offsets come in their order on paper, over up to a million ticks."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from agenda_order import SIGNATURE, go_through
from ticking_parts import simulator_of, ticking

import cosim


def draw_times(draw: random.Random) -> tuple[list[Fraction], list[Fraction]]:
    """Periods of up to 10 s of two or three handlers, and their offsets."""
    periods = []
    for _ in range(draw.choice([2, 3])):
        denominator = draw.choice([draw.randint(1, 200), 10, 1000, 60])
        periods.append(Fraction(draw.randint(1, 10 * denominator), denominator))
    denominator = draw.choice([1, 7, 10, 1000])
    is_in_phase = draw.random() < 0.5
    offsets = [
        Fraction(0 if is_in_phase else draw.randint(-5 * denominator, 5 * denominator), denominator)
        for _ in periods
    ]
    return periods, offsets


def first_wrong_tick(periods: list[Fraction], offsets: list[Fraction], ticks: int) -> int:
    """`agenda_order.go_through` for handlers with these times: 0 if all ticks come as on paper."""
    common = math.lcm(*(time.denominator for time in (*periods, *offsets)))
    numbers = [int(time * common) for pair in zip(offsets, periods, strict=True) for time in pair]
    next_ticks_and_periods = np.array(numbers, dtype=np.int64)
    part = ticking(**{f"t{i}": pair for i, pair in enumerate(zip(periods, offsets, strict=True))})
    simulator = simulator_of(part, float(math.floor(min(offsets)) - 1))
    simulator.initialize()
    function = cosim.kit.compile_function(go_through, SIGNATURE)
    addresses = simulator.compiled_step.head.ctypes.data, next_ticks_and_periods.ctypes.data
    return int(function(*map(int, addresses), len(periods), ticks))


@pytest.mark.parametrize("ticks", [2000, pytest.param(1_000_000, marks=pytest.mark.thorough)])
def test_order_is_as_on_paper(ticks: int) -> None:
    """Of 1,000 pairs and triples over a million ticks in the thorough test, of 20 over 2,000 ticks else."""
    draw = random.Random(8)
    for _ in range(1000 if ticks > 2000 else 20):
        periods, offsets = draw_times(draw)
        assert first_wrong_tick(periods, offsets, ticks) == 0, (periods, offsets)


@pytest.mark.parametrize("decimals", [12, 15])
def test_order_where_doubles_are_too_coarse(decimals: int) -> None:
    """Periods that differ by 1e-12 s and less: most of their ticks are one double, and none of them meet."""
    fine = Fraction(1, 10**decimals)
    assert first_wrong_tick([Fraction(7), 7 + fine, 7 + 2 * fine], [Fraction(0)] * 3, 3000) == 0


def mixed(seen, count, next_count, last_count):  # type: ignore[no-untyped-def]
    """A number that depends on the order of all ticks so far, below the prime 1048573."""
    return (31.0 * seen + 7.0 * count + 3.0 * next_count + last_count) % 1048573.0


def tick_a(count_a, count_b, count_c, seen_a, count_a_next, seen_a_next):  # type: ignore[no-untyped-def]
    count_a_next[0] = count_a + 1.0
    seen_a_next[0] = mixed(seen_a, count_a, count_b, count_c)


def tick_b(count_a, count_b, count_c, seen_b, count_b_next, seen_b_next):  # type: ignore[no-untyped-def]
    count_b_next[0] = count_b + 1.0
    seen_b_next[0] = mixed(seen_b, count_b, count_c, count_a)


def tick_c(count_a, count_b, count_c, seen_c, count_c_next, seen_c_next):  # type: ignore[no-untyped-def]
    count_c_next[0] = count_c + 1.0
    seen_c_next[0] = mixed(seen_c, count_c, count_a, count_b)


def counting(periods: list[Fraction], offsets: list[Fraction]) -> type[cosim.Component]:
    """A part with three tasks, whose handlers are kernel functions."""
    body: dict[str, Any] = {"__doc__": "Three tasks."}
    for name in "abc":
        body[f"count_{name}"], body[f"seen_{name}"] = cosim.discrete(), cosim.discrete()
    for name, tick, period, offset in zip("abc", (tick_a, tick_b, tick_c), periods, offsets, strict=True):
        body[f"tick_{name}"] = cosim.every(period, offset=offset, does="discrete")(tick)
    return type("Counting", (cosim.Component,), body)


@pytest.mark.parametrize("ticks", [1000, pytest.param(1_000_000, marks=pytest.mark.thorough)])
def test_handlers_read_and_write_in_the_order_on_paper(ticks: int) -> None:
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
        # the run on paper, in integers of the common resolution
        counts, seen, done = [0.0] * 3, [0.0] * 3, 0
        while done < ticks:
            instant = min(due)
            due_now = [i for i in range(3) if due[i] == instant]
            before = list(counts)
            for i in due_now:
                seen[i] = mixed(seen[i], before[i], before[(i + 1) % 3], before[(i + 2) % 3])
                counts[i] += 1.0
                due[i] += steps[i]
            done += len(due_now)
        simulator.advance_to(float(Fraction(min(due), common)))
        state = simulator.state
        assert [state[f"m.count_{name}"] for name in "abc"] == counts
        assert [state[f"m.seen_{name}"] for name in "abc"] == seen
