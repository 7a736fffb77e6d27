"""The kernel helpers behind delays, called with plain arrays."""

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
    ring = np.array(empty_ring(start))
    of(ring).capacity = capacity
    return np.zeros(start + ENTRY_WIDTH * capacity), ring


def of(ring):
    """The record that these integers are."""
    return rows_of(Ring, ring, 0, 1)[0]


def filled(rows, capacity=16):
    past, ring = empty(capacity)
    for row in rows:
        remember(past, ring, *row)
    return past, ring


def remember(past, ring, t, side, value, derivative):
    """Append as at an event that shows in the numbers or not at all."""
    append_to_history(past, ring, t, side, math.inf, value, derivative)


def entries(past, ring):
    known = [entry(past, ring, i) for i in range(of(ring).count)]
    return [(one.time, one.kind, one.value, one.derivative) for one in known]


def at(past, ring, t, now=None, linear_only=False):
    """Value and derivative from the past alone."""
    present = ring_newest(past, ring) if now is None else now
    return interpolate_history(past, ring, t, present, 0.0, 0.0, 0.0, linear_only, 0.0)


def ring_newest(past, ring):
    return entry(past, ring, of(ring).count - 1).time


def test_the_same_instant_and_side_replaces() -> None:
    past, ring = filled([(0.0, 0.0, 1.0, 2.0), (1.0, 0.0, 3.0, 4.0)])
    before = past.copy(), ring.copy()
    remember(past, ring, 1.0, 0.0, 3.0, 4.0)
    assert np.array_equal(past, before[0])
    assert np.array_equal(ring, before[1])
    remember(past, ring, 1.0, 0.0, 5.0, 6.0)
    assert entries(past, ring) == [(0.0, 0.0, 1.0, 2.0), (1.0, 0.0, 5.0, 6.0)]


def test_both_sides_of_a_jump_are_kept_and_repeated_without_effect() -> None:
    rows = [(0.0, 0.0, 1.0, 0.0), (1.0, 0.0, 1.0, 0.0), (1.0, 1.0, 9.0, 0.0)]
    past, ring = filled(rows)
    assert len(entries(past, ring)) == 3
    for row in rows[1:]:
        remember(past, ring, *row)
    assert entries(past, ring) == rows


@pytest.mark.parametrize("derivative", [2.0, NAN])
def test_two_equal_sides_are_no_jump(derivative) -> None:
    past, ring = filled([(0.0, 0.0, 1.0, derivative), (0.0, 1.0, 1.0, derivative)])
    assert of(ring).count == 1
    remember(past, ring, 0.0, 1.0, 1.0, 7.0)
    assert of(ring).count == (2 if derivative == 2.0 else 1)


def test_a_run_that_was_taken_back_is_forgotten() -> None:
    past, ring = filled([(float(i), 0.0, float(i), 1.0) for i in range(6)])
    remember(past, ring, 2.5, 0.0, 7.0, 1.0)
    assert [e[0] for e in entries(past, ring)] == [0.0, 1.0, 2.0, 2.5]


def test_a_full_history_writes_nothing() -> None:
    past, ring = filled([(float(i), 0.0, float(i), 1.0) for i in range(4)], capacity=4)
    before = past.copy()
    remember(past, ring, 9.0, 0.0, 9.0, 1.0)
    assert words_of(of(ring))[:5] == [0, 4, 0, 4, FULL]
    assert np.array_equal(past, before)


def test_growing_moves_the_others_and_keeps_the_order() -> None:
    # two histories one behind the other; the first one has wrapped around
    h = np.zeros(2 * 4 * ENTRY_WIDTH)
    k = np.array([99, *empty_ring(0), *empty_ring(4 * ENTRY_WIDTH)])
    places = 1, 1 + RING
    first, second = (k[place : place + RING] for place in places)
    of(first).capacity = of(second).capacity = 4
    for i in range(4):
        remember(h, first, float(i), 0.0, 10.0 + i, 1.0)
        remember(h, second, float(i), 0.0, 20.0 + i, NAN)
    trim_history(h, first, 3.0, 2.0)
    of(first).oldest, of(first).count = 2, 2
    remember(h, first, 4.0, 0.0, 14.0, 1.0)
    remember(h, first, 5.0, 0.0, 15.0, 1.0)
    remember(h, first, 6.0, 0.0, 16.0, 1.0)
    assert of(first).flags == FULL
    theirs = entries(h, second)
    h = np.concatenate([h, np.zeros(4 * ENTRY_WIDTH)])
    run = SimpleNamespace(rings=places, h=h, history=lambda number: history_at(h, k, places[number]))
    used = double_capacity(run, 0, 8 * ENTRY_WIDTH)
    of(first).flags = 0
    assert (of(first).start, of(first).capacity, of(first).count, used) == (0, 8, 4, 12 * ENTRY_WIDTH)
    assert of(second).start == 8 * ENTRY_WIDTH
    assert [e[2] for e in entries(h, first)] == [12.0, 13.0, 14.0, 15.0]
    assert np.array_equal(entries(h, second), theirs, equal_nan=True)
    remember(h, first, 6.0, 0.0, 16.0, 1.0)
    assert entries(h, first)[-1][0] == 6.0
    assert k[0] == 99


@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 2)), min_size=1, max_size=60),
    st.floats(0.0, 6.0),
)
def test_a_ring_is_a_list(moves, delay) -> None:
    """Whatever is appended and trimmed: times rise, and find agrees with a plain search."""
    past, ring = empty(capacity=64)
    t = 0.0
    for forward, after, value in moves:
        t += forward
        trim_history(past, ring, t, t - delay)
        remember(past, ring, t, float(after), float(value), NAN)
        assert not of(ring).flags
        keys = [e[:2] for e in entries(past, ring)]
        assert keys == sorted(set(keys))
        assert keys[-1][0] == t
        for wanted in (t - delay, t, t - 1.0, -1.0):
            assert find(past, ring, wanted) == sum(key[0] <= wanted for key in keys) - 1


def test_what_is_needed_is_kept() -> None:
    rng = np.random.default_rng(1)
    times = np.cumsum(rng.uniform(0.01, 0.3, 300))
    whole, all_of_it = empty(512)
    past, ring = empty(64)
    for t in times:
        trim_history(past, ring, t, t - 1.0)
        for store, descriptor in ((whole, all_of_it), (past, ring)):
            remember(store, descriptor, t, 0.0, math.sin(t), NAN)
        for later in (t, t + 0.1, t + 0.3):
            assert at(past, ring, later - 1.0, later) == at(whole, all_of_it, later - 1.0, later)
    assert of(ring).count < 120


def test_constant_before_the_start() -> None:
    past, ring = filled([(2.0, 0.0, 5.0, 3.0), (3.0, 0.0, 8.0, 3.0)])
    assert at(past, ring, -7.0, 3.0) == (5.0, 0.0)
    assert at(past, ring, 2.0 - 1e-9, 3.0) == (5.0, 0.0)


def test_nothing_remembered() -> None:
    assert interpolate_history(*empty(), 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 7.0) == (7.0, 0.0)


def cubic(t):
    return 2.0 - t + 0.5 * t * t - 0.25 * t * t * t


def cubic_dot(t):
    return -1.0 + t - 0.75 * t * t


@pytest.mark.parametrize("with_derivative", [True, False])
def test_cubics_are_exact_inside_and_a_little_beyond(with_derivative) -> None:
    times = [0.0, 0.3, 0.5, 1.1, 1.4, 2.0]
    past, ring = filled([(t, 0.0, cubic(t), cubic_dot(t) if with_derivative else NAN) for t in times])
    # without derivatives the first two intervals are lines: no later point is asked about an interval
    for t in np.linspace(0.0 if with_derivative else 0.5 + 1e-9, 2.5, 101):
        value, rate = at(past, ring, t, 2.5)
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
        errors.append(max(abs(at(past, ring, t, 2.0, linear_only)[0] - math.sin(3.0 * t)) for t in sampled))
    slope = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert slope == pytest.approx(order, abs=0.3)


def test_the_derivative_belongs_to_the_value() -> None:
    for derivative in (0.3, NAN):
        past, ring = filled([(0.4 * i, 0.0, math.sin(i), derivative) for i in range(6)])
        for t in np.linspace(0.05, 1.95, 20):
            h = 1e-6
            slope = (at(past, ring, t + h, 2.0)[0] - at(past, ring, t - h, 2.0)[0]) / (2.0 * h)
            assert at(past, ring, t, 2.0)[1] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("known", [1, 2, 3])
def test_too_few_points_give_lines(known) -> None:
    past, ring = filled([(float(i), 0.0, 10.0 * i * i, NAN) for i in range(known)])
    value, rate = at(past, ring, known - 0.5, float(known))
    last = 10.0 * (known - 1) ** 2
    slope = 0.0 if known == 1 else last - 10.0 * (known - 2) ** 2
    assert (value, rate) == (last + 0.5 * slope, slope)


@pytest.mark.few(2)
@pytest.mark.parametrize("derivative", [0.0, NAN])
@pytest.mark.parametrize("linear_only", [True, False])
def test_a_jump_is_never_smeared(derivative, linear_only) -> None:
    rows = [(0.1 * i, 0.0, 0.0, derivative) for i in range(11)]
    rows += [(1.0, 1.0, 1.0, derivative)] + [(1.0 + 0.1 * i, 0.0, 1.0, derivative) for i in range(1, 8)]
    past, ring = filled(rows, capacity=32)
    for t in np.linspace(0.0, 1.7, 1701):
        value, rate = at(past, ring, t, 1.7, linear_only)
        assert value == (1.0 if t > 1.0 + 1e-12 else 0.0)
        assert rate == 0.0


def test_a_kink_keeps_both_derivatives() -> None:
    past, ring = filled(
        [(0.0, 0.0, 0.0, 1.0), (1.0, 0.0, 1.0, 1.0), (1.0, 1.0, 1.0, -2.0), (2.0, 0.0, -1.0, -2.0)]
    )
    for t in np.linspace(0.0, 2.0, 41):
        assert at(past, ring, t, 2.0)[0] == pytest.approx(t if t <= 1.0 else 3.0 - 2.0 * t, abs=1e-14)


def test_at_a_jump_the_value_before_it_until_the_step_begins() -> None:
    past, ring = filled(
        [(0.0, 0.0, 1.0, 0.0), (1.0, 0.0, 1.0, 0.0), (1.0, 1.0, 5.0, 0.0), (2.0, 0.0, 5.0, 0.0)]
    )
    reached = 1.1 - 0.1  # not exactly 1.0
    for t in (reached, 1.0, 1.0 - 1e-16, 1.0 + 1e-15):
        assert at(past, ring, t, 2.0)[0] == 1.0
    trim_history(past, ring, 1.1, reached)
    for t in (reached, 1.0, 1.0 + 1e-15):
        assert at(past, ring, t, 2.0)[0] == 5.0


def test_extrapolation_goes_on_but_not_for_ever() -> None:
    past, ring = filled([(0.0, 0.0, 1.0, 1.0), (1e-9, 0.0, 1.0 + 1e-9, 1.0)])
    assert at(past, ring, 0.5, 1.0) == (pytest.approx(1.5), 1.0)
    past, ring = filled([(0.0, 0.0, 4.0, 3.0)])
    assert at(past, ring, 0.5, 1.0) == (5.5, 3.0)
    assert at(past, ring, 0.5, 1.0, linear_only=True) == (4.0, 0.0)


def test_the_present_is_used_when_it_may_be() -> None:
    past, ring = filled([(0.0, 0.0, cubic(0.0), cubic_dot(0.0))])
    found = interpolate_history(past, ring, 0.4, 1.0, 1.0, cubic(1.0), cubic_dot(1.0), 0.0, 0.0)
    assert found == (pytest.approx(cubic(0.4)), pytest.approx(cubic_dot(0.4)))
    # without its derivative: the parabola
    found = interpolate_history(past, ring, 0.4, 1.0, 1.0, 7.0, NAN, 0.0, 0.0)
    assert found == (pytest.approx(2.0 - 0.4 + 6.0 * 0.16), pytest.approx(-1.0 + 12.0 * 0.4))


def test_the_error_of_a_guess_is_found() -> None:
    past, ring = filled([(0.1 * i, 0.0, math.sin(0.1 * i), math.cos(0.1 * i)) for i in range(5)])
    now, asked = 0.9, 0.8
    guess = at(past, ring, asked, now)[0]
    enter_piece(past, ring, 0.4, 0.3)
    found = extrapolation_error(past, ring, asked, now, 0.0, math.sin(now), math.cos(now), 0.0)
    assert found == pytest.approx(abs(guess - math.sin(asked)) / math.sin(asked), rel=0.2)
    # a cubic is what was assumed: nothing to report
    past, ring = filled([(0.1 * i, 0.0, cubic(0.1 * i), cubic_dot(0.1 * i)) for i in range(5)])
    enter_piece(past, ring, 0.4, 0.3)
    assert extrapolation_error(past, ring, asked, now, 0.0, cubic(now), cubic_dot(now), 0.0) < 1e-12


def test_the_bend_of_a_long_step_is_found() -> None:
    times = [0.0, 0.5, 1.0]
    past, ring = filled([(t, 0.0, math.sin(t), math.cos(t)) for t in times])
    found = extrapolation_error(past, ring, -1.0, 1.5, 1.0, math.sin(1.5), math.cos(1.5), 0.0)
    remember(past, ring, 1.5, 0.0, math.sin(1.5), math.cos(1.5))
    actual = abs(at(past, ring, 1.25)[0] - math.sin(1.25)) / math.sin(1.5)
    assert found == pytest.approx(actual, rel=0.5)
