"""Histories of delays: entries, jumps, growth, trimming, interpolation and its error, with plain arrays."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosim.component.history import ENTRY_WIDTH, FULL, RING, Ring, empty_ring, history_at
from cosim.step.histories import double_capacity
from cosim.system.history_buffer import append_to_history, enter_piece, entry, find, trim_history
from cosim_compiler.record import rows_of, words_of
from cosim_measures.histories import extrapolation_error, interpolate_history

NAN = math.nan


def empty(capacity=16, start=0):
    """Return the numbers and the ring record (integers) of an empty history."""
    ring = np.array(empty_ring(start))
    ring_record(ring).capacity = capacity
    return np.zeros(start + ENTRY_WIDTH * capacity), ring


def ring_record(ring):
    """Return the integers of a ring as its record."""
    return rows_of(Ring, ring, 0, 1)[0]


def filled(rows, capacity=16):
    """Return a history with rows of time, side, value and derivative."""
    past, ring = empty(capacity)
    for row in rows:
        remember(past, ring, *row)
    return past, ring


def remember(past, ring, t, side, value, derivative):
    """Append an entry; side 1 is the value after a jump."""
    append_to_history(past, ring, t, side, math.inf, value, derivative)


def entries(past, ring):
    """Return time, side, value and derivative of all entries."""
    all_entries = [entry(past, ring, i) for i in range(ring_record(ring).count)]
    return [(e.time, e.kind, e.value, e.derivative) for e in all_entries]


def history_value(past, ring, t, now=None, linear_only=False):
    """Return value and derivative at t, without the present value of the source."""
    present = newest_time(past, ring) if now is None else now
    return interpolate_history(past, ring, t, present, 0.0, 0.0, 0.0, linear_only, 0.0)


def newest_time(past, ring):
    """Return the time of the newest entry."""
    return entry(past, ring, ring_record(ring).count - 1).time


def cubic(t):
    return 2.0 - t + 0.5 * t * t - 0.25 * t * t * t


def cubic_dot(t):
    return -1.0 + t - 0.75 * t * t


def test_an_entry_of_the_same_time_and_side_is_replaced() -> None:
    past, ring = filled([(0.0, 0.0, 1.0, 2.0), (1.0, 0.0, 3.0, 4.0)])
    before = past.copy(), ring.copy()
    remember(past, ring, 1.0, 0.0, 3.0, 4.0)
    assert np.array_equal(past, before[0])
    assert np.array_equal(ring, before[1])
    remember(past, ring, 1.0, 0.0, 5.0, 6.0)
    assert entries(past, ring) == [(0.0, 0.0, 1.0, 2.0), (1.0, 0.0, 5.0, 6.0)]


def test_both_sides_of_a_jump_are_stored_once() -> None:
    rows = [(0.0, 0.0, 1.0, 0.0), (1.0, 0.0, 1.0, 0.0), (1.0, 1.0, 9.0, 0.0)]
    past, ring = filled(rows)
    assert len(entries(past, ring)) == 3
    for row in rows[1:]:
        remember(past, ring, *row)
    assert entries(past, ring) == rows


@pytest.mark.parametrize("derivative", [2.0, NAN])
def test_two_equal_sides_are_no_jump(derivative) -> None:
    past, ring = filled([(0.0, 0.0, 1.0, derivative), (0.0, 1.0, 1.0, derivative)])
    assert ring_record(ring).count == 1
    remember(past, ring, 0.0, 1.0, 1.0, 7.0)
    assert ring_record(ring).count == (2 if derivative == 2.0 else 1)


def test_an_earlier_entry_removes_later_ones() -> None:
    past, ring = filled([(float(i), 0.0, float(i), 1.0) for i in range(6)])
    remember(past, ring, 2.5, 0.0, 7.0, 1.0)
    assert [e[0] for e in entries(past, ring)] == [0.0, 1.0, 2.0, 2.5]


def test_a_full_history_writes_nothing() -> None:
    past, ring = filled([(float(i), 0.0, float(i), 1.0) for i in range(4)], capacity=4)
    before = past.copy()
    remember(past, ring, 9.0, 0.0, 9.0, 1.0)
    assert words_of(ring_record(ring))[:5] == [0, 4, 0, 4, FULL]
    assert np.array_equal(past, before)


def test_a_history_that_grows_moves_the_others_and_keeps_their_order() -> None:
    # two histories after each other; the first one has wrapped around
    h = np.zeros(2 * 4 * ENTRY_WIDTH)
    k = np.array([99, *empty_ring(0), *empty_ring(4 * ENTRY_WIDTH)])
    places = 1, 1 + RING
    first, second = (k[place : place + RING] for place in places)
    ring_record(first).capacity = ring_record(second).capacity = 4
    for i in range(4):
        remember(h, first, float(i), 0.0, 10.0 + i, 1.0)
        remember(h, second, float(i), 0.0, 20.0 + i, NAN)
    trim_history(h, first, 3.0, 2.0)
    ring_record(first).oldest, ring_record(first).count = 2, 2
    remember(h, first, 4.0, 0.0, 14.0, 1.0)
    remember(h, first, 5.0, 0.0, 15.0, 1.0)
    remember(h, first, 6.0, 0.0, 16.0, 1.0)
    assert ring_record(first).flags == FULL
    entries_of_second = entries(h, second)
    h = np.concatenate([h, np.zeros(4 * ENTRY_WIDTH)])
    run = SimpleNamespace(rings=places, h=h, history=lambda number: history_at(h, k, places[number]))
    used = double_capacity(run, 0, 8 * ENTRY_WIDTH)
    ring_record(first).flags = 0
    assert (ring_record(first).start, ring_record(first).capacity, ring_record(first).count, used) == (
        0,
        8,
        4,
        12 * ENTRY_WIDTH,
    )
    assert ring_record(second).start == 8 * ENTRY_WIDTH
    assert [e[2] for e in entries(h, first)] == [12.0, 13.0, 14.0, 15.0]
    assert np.array_equal(entries(h, second), entries_of_second, equal_nan=True)
    remember(h, first, 6.0, 0.0, 16.0, 1.0)
    assert entries(h, first)[-1][0] == 6.0
    assert k[0] == 99


@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 2)), min_size=1, max_size=60),
    st.floats(0.0, 6.0),
)
def test_random_histories_are_sorted_and_searched(moves, delay) -> None:
    """For all sequences of appending and trimming, times rise and find agrees with a plain search."""
    past, ring = empty(capacity=64)
    t = 0.0
    for forward, after, value in moves:
        t += forward
        trim_history(past, ring, t, t - delay)
        remember(past, ring, t, float(after), float(value), NAN)
        assert not ring_record(ring).flags
        keys = [e[:2] for e in entries(past, ring)]
        assert keys == sorted(set(keys))
        assert keys[-1][0] == t
        for time in (t - delay, t, t - 1.0, -1.0):
            assert find(past, ring, time) == sum(key[0] <= time for key in keys) - 1


def test_trimming_keeps_all_entries_that_are_needed() -> None:
    rng = np.random.default_rng(1)
    times = np.cumsum(rng.uniform(0.01, 0.3, 300))
    full_past, full_ring = empty(512)  # never trimmed
    past, ring = empty(64)
    for t in times:
        trim_history(past, ring, t, t - 1.0)
        for store, descriptor in ((full_past, full_ring), (past, ring)):
            remember(store, descriptor, t, 0.0, math.sin(t), NAN)
        for later in (t, t + 0.1, t + 0.3):
            assert history_value(past, ring, later - 1.0, later) == history_value(
                full_past, full_ring, later - 1.0, later
            )
    assert ring_record(ring).count < 120


def test_a_history_is_constant_before_its_start() -> None:
    past, ring = filled([(2.0, 0.0, 5.0, 3.0), (3.0, 0.0, 8.0, 3.0)])
    assert history_value(past, ring, -7.0, 3.0) == (5.0, 0.0)
    assert history_value(past, ring, 2.0 - 1e-9, 3.0) == (5.0, 0.0)


def test_an_empty_history_has_the_default_value() -> None:
    assert interpolate_history(*empty(), 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 7.0) == (7.0, 0.0)


@pytest.mark.parametrize("with_derivative", [True, False])
def test_cubics_are_exact_inside_the_history_and_a_little_beyond(with_derivative) -> None:
    times = [0.0, 0.3, 0.5, 1.1, 1.4, 2.0]
    past, ring = filled([(t, 0.0, cubic(t), cubic_dot(t) if with_derivative else NAN) for t in times])
    # without derivatives the first two intervals are lines: interpolation only uses earlier points
    for t in np.linspace(0.0 if with_derivative else 0.5 + 1e-9, 2.5, 101):
        value, rate = history_value(past, ring, t, 2.5)
        assert value == pytest.approx(cubic(t), abs=1e-13)
        assert rate == pytest.approx(cubic_dot(t), abs=1e-12)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("with_derivative", "linear_only", "order"),
    [(True, False, 4), (False, False, 4), (True, True, 2), (False, True, 2)],
)
def test_order_of_the_interpolation(with_derivative, linear_only, order) -> None:
    errors, counts = [], np.array([10, 20, 40])
    for n in counts:
        times = np.linspace(0.0, 2.0, n + 1)
        rows = [
            (t, 0.0, math.sin(3.0 * t), 3.0 * math.cos(3.0 * t) if with_derivative else NAN) for t in times
        ]
        past, ring = filled(rows, capacity=64)
        sampled = np.linspace(0.0 if with_derivative else 0.5, 2.0, 997)
        errors.append(
            max(abs(history_value(past, ring, t, 2.0, linear_only)[0] - math.sin(3.0 * t)) for t in sampled)
        )
    slope = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert slope == pytest.approx(order, abs=0.3)


def test_the_derivative_is_that_of_the_interpolated_value() -> None:
    for derivative in (0.3, NAN):
        past, ring = filled([(0.4 * i, 0.0, math.sin(i), derivative) for i in range(6)])
        for t in np.linspace(0.05, 1.95, 20):
            h = 1e-6
            slope = (history_value(past, ring, t + h, 2.0)[0] - history_value(past, ring, t - h, 2.0)[0]) / (
                2.0 * h
            )
            assert history_value(past, ring, t, 2.0)[1] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("points", [1, 2, 3])
def test_three_points_or_fewer_give_lines(points) -> None:
    past, ring = filled([(float(i), 0.0, 10.0 * i * i, NAN) for i in range(points)])
    value, rate = history_value(past, ring, points - 0.5, float(points))
    last = 10.0 * (points - 1) ** 2
    slope = 0.0 if points == 1 else last - 10.0 * (points - 2) ** 2
    assert (value, rate) == (last + 0.5 * slope, slope)


@pytest.mark.few(2)
@pytest.mark.parametrize("derivative", [0.0, NAN])
@pytest.mark.parametrize("linear_only", [True, False])
def test_a_jump_is_never_smoothed(derivative, linear_only) -> None:
    rows = [(0.1 * i, 0.0, 0.0, derivative) for i in range(11)]
    rows += [(1.0, 1.0, 1.0, derivative)] + [(1.0 + 0.1 * i, 0.0, 1.0, derivative) for i in range(1, 8)]
    past, ring = filled(rows, capacity=32)
    for t in np.linspace(0.0, 1.7, 1701):
        value, rate = history_value(past, ring, t, 1.7, linear_only)
        assert value == (1.0 if t > 1.0 + 1e-12 else 0.0)
        assert rate == 0.0


def test_a_kink_keeps_both_derivatives() -> None:
    past, ring = filled(
        [(0.0, 0.0, 0.0, 1.0), (1.0, 0.0, 1.0, 1.0), (1.0, 1.0, 1.0, -2.0), (2.0, 0.0, -1.0, -2.0)]
    )
    for t in np.linspace(0.0, 2.0, 41):
        assert history_value(past, ring, t, 2.0)[0] == pytest.approx(
            t if t <= 1.0 else 3.0 - 2.0 * t, abs=1e-14
        )


def test_at_a_jump_the_value_is_the_one_before_it_until_a_step_starts_there() -> None:
    past, ring = filled(
        [(0.0, 0.0, 1.0, 0.0), (1.0, 0.0, 1.0, 0.0), (1.0, 1.0, 5.0, 0.0), (2.0, 0.0, 5.0, 0.0)]
    )
    delayed_time = 1.1 - 0.1  # not exactly 1.0
    for t in (delayed_time, 1.0, 1.0 - 1e-16, 1.0 + 1e-15):
        assert history_value(past, ring, t, 2.0)[0] == 1.0
    trim_history(past, ring, 1.1, delayed_time)
    for t in (delayed_time, 1.0, 1.0 + 1e-15):
        assert history_value(past, ring, t, 2.0)[0] == 5.0


def test_extrapolation_continues_the_line_of_the_last_entry() -> None:
    past, ring = filled([(0.0, 0.0, 1.0, 1.0), (1e-9, 0.0, 1.0 + 1e-9, 1.0)])
    assert history_value(past, ring, 0.5, 1.0) == (pytest.approx(1.5), 1.0)
    past, ring = filled([(0.0, 0.0, 4.0, 3.0)])
    assert history_value(past, ring, 0.5, 1.0) == (5.5, 3.0)
    assert history_value(past, ring, 0.5, 1.0, linear_only=True) == (4.0, 0.0)


def test_the_present_value_is_used_if_it_is_given() -> None:
    past, ring = filled([(0.0, 0.0, cubic(0.0), cubic_dot(0.0))])
    result = interpolate_history(past, ring, 0.4, 1.0, 1.0, cubic(1.0), cubic_dot(1.0), 0.0, 0.0)
    assert result == (pytest.approx(cubic(0.4)), pytest.approx(cubic_dot(0.4)))
    # without its derivative: a parabola
    result = interpolate_history(past, ring, 0.4, 1.0, 1.0, 7.0, NAN, 0.0, 0.0)
    assert result == (pytest.approx(2.0 - 0.4 + 6.0 * 0.16), pytest.approx(-1.0 + 12.0 * 0.4))


def test_the_error_of_an_extrapolation_is_estimated() -> None:
    past, ring = filled([(0.1 * i, 0.0, math.sin(0.1 * i), math.cos(0.1 * i)) for i in range(5)])
    now, t = 0.9, 0.8
    extrapolated = history_value(past, ring, t, now)[0]
    enter_piece(past, ring, 0.4, 0.3)
    error = extrapolation_error(past, ring, t, now, 0.0, math.sin(now), math.cos(now), 0.0)
    assert error == pytest.approx(abs(extrapolated - math.sin(t)) / math.sin(t), rel=0.2)
    # a cubic is extrapolated exactly
    past, ring = filled([(0.1 * i, 0.0, cubic(0.1 * i), cubic_dot(0.1 * i)) for i in range(5)])
    enter_piece(past, ring, 0.4, 0.3)
    assert extrapolation_error(past, ring, t, now, 0.0, cubic(now), cubic_dot(now), 0.0) < 1e-12


def test_the_error_of_interpolating_a_long_step_is_estimated() -> None:
    times = [0.0, 0.5, 1.0]
    past, ring = filled([(t, 0.0, math.sin(t), math.cos(t)) for t in times])
    error = extrapolation_error(past, ring, -1.0, 1.5, 1.0, math.sin(1.5), math.cos(1.5), 0.0)
    remember(past, ring, 1.5, 0.0, math.sin(1.5), math.cos(1.5))
    actual = abs(history_value(past, ring, 1.25)[0] - math.sin(1.25)) / math.sin(1.5)
    assert error == pytest.approx(actual, rel=0.5)
