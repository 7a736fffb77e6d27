"""How far courses of signals agree, for known courses: zero, equal, one row, rounding, counts, text."""

import math

import numpy as np
import pytest
from compared_courses import TIMES, compared, run_of

from cosim_workbench.agreement import are_counted, difference_of, digits_of


@pytest.mark.parametrize("value", [0.0, 5.0, -0.0, 1e300, 5e-324])
def test_equal_courses_agree_to_15_digits(value):
    opinion = compared(run_of("a", np.full(11, value)), run_of("b", np.full(11, value)))
    assert opinion.agreements[0].digits == 15.0
    assert opinion.verdict == "All signals agree to 15.0 digits at least."


def test_one_row_is_compared():
    start = np.array([0.0])
    run, other_run = (run_of(name, [value], start) for name, value in (("a", 1.5), ("b", 1.6)))
    assert compared(run, run, grid=start).is_confirmed
    opinion = compared(run, other_run, grid=start)
    assert not opinion.is_confirmed
    assert "1.2 digits at t = 0" in opinion.verdict


def test_no_time_in_common_is_no_confirmation():
    opinion = compared(run_of("a", TIMES), run_of("b", TIMES), grid=np.zeros(0))
    assert not opinion.is_confirmed
    assert "nothing to compare" in opinion.verdict


def test_a_signal_is_judged_by_its_own_size_whatever_stands_beside_it():
    """44 % of an amplitude of 1e-9, beside a signal of 1 with the same unit."""
    beside, small = np.cos(TIMES), 1e-9 * np.cos(TIMES)
    opinion = compared(run_of("a", small, y=beside), run_of("b", 1.44 * small, y=beside))
    assert not opinion.is_confirmed
    assert [a.signal for a in opinion.doubtful] == ["x"]
    assert opinion.doubtful[0].digits == pytest.approx(0.5, abs=0.05)


def test_ten_accuracies_are_the_border():
    x = 1.0 + TIMES
    for factor, is_confirmed in ((9.9, True), (10.1, False)):
        opinion = compared(run_of("a", x), run_of("b", x - factor * 1e-6 * 2.0))
        assert opinion.is_confirmed == is_confirmed
    assert opinion.expected == 5.0


def test_a_signal_of_the_rounding_of_a_larger_one_is_not_in_doubt():
    noise = np.where(TIMES > 0.5, 1e-17, 0.0)
    beside = np.cos(TIMES)
    opinion = compared(run_of("a", noise, y=beside), run_of("b", -3.0 * noise, y=beside))
    assert opinion.is_confirmed
    assert opinion.agreements[0].standing == "at rounding level"
    assert "rounding level: x" in opinion.verdict
    assert not compared(run_of("a", noise), run_of("b", -3.0 * noise)).is_confirmed  # without a larger one


def test_a_value_that_has_fallen_is_judged_by_what_it_is_at_the_end():
    decayed = np.exp(-16.0 * TIMES)  # 1.1e-7 at the end
    for factor, is_confirmed in ((1.0, True), (1.005, True), (1.05, False)):
        opinion = compared(run_of("a", decayed), run_of("b", decayed * (1.0 + (factor - 1.0) * TIMES**8)))
        assert opinion.is_confirmed == is_confirmed, factor
    assert opinion.agreements[0].digits > 6.0
    assert opinion.agreements[0].digits_at_end == pytest.approx(1.3, abs=0.05)
    assert "agrees to 1.3 digits" in opinion.verdict


@pytest.mark.parametrize("level", [1e-9, 1e-12])
def test_a_value_that_has_come_to_rest_is_zero_as_far_as_the_accuracy_tells(level):
    settled = np.where(TIMES < 0.9, 1.0 - TIMES, level)
    opinion = compared(run_of("a", settled), run_of("b", np.where(TIMES < 0.9, settled, -level)))
    assert opinion.is_confirmed
    assert "small is known" in opinion.verdict


def test_counts_have_to_be_equal():
    count = np.floor(1e7 + 10.0 * TIMES)
    opinion = compared(run_of("a", count), run_of("b", np.where(TIMES < 0.5, count, count + 1.0)))
    assert not opinion.is_confirmed
    assert opinion.agreements[0].digits == 0.0
    assert opinion.agreements[0].time == 0.5
    assert compared(run_of("a", count), run_of("b", count)).is_confirmed
    assert not are_counted([count, count + 0.5])
    assert not are_counted([np.full(3, 1e17)]), "numbers without a place for a fraction count nothing"
    assert are_counted([np.array(["on", "off"], dtype=object)])


def test_text_and_truth_have_to_be_equal():
    texts = np.array(["on"] * 11, dtype=object)
    changed_texts = texts.copy()
    changed_texts[7:] = "off"
    assert compared(run_of("a", texts), run_of("b", texts)).is_confirmed
    opinion = compared(run_of("a", texts), run_of("b", changed_texts))
    assert (opinion.agreements[0].digits, opinion.agreements[0].time) == (0.0, TIMES[7])
    assert opinion.outcome == "not confirmed"
    assert not compared(run_of("a", TIMES > 0.45), run_of("b", TIMES > 0.55)).is_confirmed


def test_infinite_values_are_equal_or_not():
    infinite = np.where(TIMES > 0.5, math.inf, 1.5)
    assert compared(run_of("a", infinite), run_of("b", infinite)).is_confirmed
    opinion = compared(run_of("a", infinite), run_of("b", np.where(TIMES > 0.5, 1e9, 1.5)))
    assert opinion.agreements[0].digits == 0.0


def test_digits_of_a_difference_beside_a_size():
    assert digits_of(0.0, 0.0) == digits_of(0.0, 1.0) == 15.0
    assert digits_of(1.0, 0.0) == digits_of(math.inf, 1.0) == digits_of(2.0, 1.0) == 0.0
    assert digits_of(1e-320, 1.0) == 15.0
    assert digits_of(1e-3, 1.0) == pytest.approx(3.0)


def test_the_first_difference_of_counts_is_infinite():
    difference = difference_of(TIMES, np.zeros(11), np.where(TIMES > 0.25, 1.0, 0.0), counted=True)
    assert (difference.largest, difference.time, difference.at_end) == (math.inf, TIMES[3], math.inf)
