"""How far runs agree, judged on courses and events that are known: zero, equal, one row, rounding, counts."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from kernel_parts import BouncingBall

import cosim
from cosim import EventCause
from cosim.simulation.event_record import Finding
from cosim_workbench.agreement import are_counted, difference_of, digits_of
from cosim_workbench.compared_runs import VerifiedRun
from cosim_workbench.event_agreement import Events, EventsOfRun, match_events
from cosim_workbench.moved_start import ROUNDING, moved_by_part, moved_by_rounding, reach_of_states
from cosim_workbench.second_opinion import SecondOpinion

TIMES = np.linspace(0.0, 1.0, 11)
NEVER = lambda event: False  # noqa: E731


def run_of(name, values, times=TIMES, events=(), moved=0.0, findings=(), **more):
    signals = {"x": values, **more}
    result = cosim.Result(times, signals, events=events, findings=findings)
    return VerifiedRun(name, "a method", result, start_moved_by=moved)


def compared(*runs, accuracy=1e-6, grid=TIMES, **options):
    return SecondOpinion(runs, accuracy, grid, **options)


def call(time, handler="ball.bounce", cause=EventCause.TRIGGERED, does="discrete", **changes):
    before = {path: values[0] for path, values in changes.items()}
    after = {path: values[1] for path, values in changes.items()}
    return SimpleNamespace(
        time=time,
        handler=handler,
        cause=cause,
        does=does,
        changed=tuple(changes),
        before=before,
        after=after,
    )


@pytest.mark.parametrize("value", [0.0, 5.0, -0.0, 1e300, 5e-324])
def test_what_is_equal_agrees_to_all_digits(value):
    found = compared(run_of("a", np.full(11, value)), run_of("b", np.full(11, value)))
    assert found.agreements[0].digits == 15.0
    assert found.verdict == "All signals agree to 15.0 digits at least."


def test_one_row_is_compared():
    at = np.array([0.0])
    one, other = (run_of(name, [value], at) for name, value in (("a", 1.5), ("b", 1.6)))
    assert compared(one, one, grid=at).is_confirmed
    found = compared(one, other, grid=at)
    assert not found.is_confirmed
    assert "1.2 digits at t = 0" in found.verdict


def test_no_time_in_common_is_no_confirmation():
    found = compared(run_of("a", TIMES), run_of("b", TIMES), grid=np.zeros(0))
    assert not found.is_confirmed
    assert "nothing to compare" in found.verdict


def test_a_signal_is_judged_by_its_own_size_whatever_stands_beside_it():
    """44 % of an amplitude of 1e-9, beside a signal of 1 with the same unit."""
    beside, small = np.cos(TIMES), 1e-9 * np.cos(TIMES)
    found = compared(run_of("a", small, y=beside), run_of("b", 1.44 * small, y=beside))
    assert not found.is_confirmed
    assert [a.signal for a in found.doubtful] == ["x"]
    assert found.doubtful[0].digits == pytest.approx(0.5, abs=0.05)


def test_ten_accuracies_are_the_border():
    x = 1.0 + TIMES
    for factor, is_confirmed in ((9.9, True), (10.1, False)):
        found = compared(run_of("a", x), run_of("b", x - factor * 1e-6 * 2.0))
        assert found.is_confirmed == is_confirmed
    assert found.expected == 5.0


def test_what_is_rounding_of_a_larger_signal_is_not_in_doubt():
    noise = np.where(TIMES > 0.5, 1e-17, 0.0)
    beside = np.cos(TIMES)
    found = compared(run_of("a", noise, y=beside), run_of("b", -3.0 * noise, y=beside))
    assert found.is_confirmed
    assert found.agreements[0].standing == "at rounding level"
    assert "rounding level: x" in found.verdict
    assert not compared(run_of("a", noise), run_of("b", -3.0 * noise)).is_confirmed  # there is no larger one


def test_a_small_signal_that_agrees_has_its_digits():
    """Rounding of the start moves it by 0.2 %, since the method takes other steps."""
    small = 1e-5 * TIMES
    runs = [run_of("a", small), run_of("b", 1.004 * small), run_of("up", 1.002 * small, moved=ROUNDING)]
    found = compared(*runs, accuracy=1e-2, rounding_grows_to=1e-3, largest_reach=1.0)
    assert found.agreements[0].standing == "agrees"
    assert found.verdict == "All signals agree to 2.4 digits at least."
    noise = [run_of("a", small), run_of("b", -3.0 * small), run_of("up", 2.0 * small, moved=ROUNDING)]
    found = compared(*noise, accuracy=1e-2, rounding_grows_to=1e-3, largest_reach=1.0)
    assert found.agreements[0].standing == "at rounding level"


def test_what_is_zero_from_its_own_start_and_rounding_from_another_is_not_in_doubt():
    zero, moved = np.zeros(11), np.full(11, 2e-16)
    runs = [run_of("a", zero), run_of("b", zero), run_of("up", moved, moved=ROUNDING)]
    assert compared(*runs, rounding_grows_to=2e-16, largest_reach=1.0).is_confirmed
    assert compared(*runs, rounding_grows_to=2e-16).outcome == "sensitive", "beside nothing it is large"
    mode = [run_of("a", zero), run_of("b", zero), run_of("up", zero + 0.5, moved=ROUNDING)]
    assert compared(*mode, rounding_grows_to=2e-16, largest_reach=1.0).outcome == "sensitive"
    fallen = [*runs[:2], run_of("up", np.sin(TIMES), moved=ROUNDING)]
    found = compared(*fallen, rounding_grows_to=1.0)
    assert found.outcome == "sensitive"
    assert "start (1e-16) to 1" in found.verdict


def test_a_value_that_has_fallen_is_judged_by_what_it_is_at_the_end():
    decayed = np.exp(-16.0 * TIMES)  # 1.1e-7 at the end
    for factor, is_confirmed in ((1.0, True), (1.005, True), (1.05, False)):
        found = compared(run_of("a", decayed), run_of("b", decayed * (1.0 + (factor - 1.0) * TIMES**8)))
        assert found.is_confirmed == is_confirmed, factor
    assert found.agreements[0].digits > 6.0
    assert found.agreements[0].digits_at_end == pytest.approx(1.3, abs=0.05)
    assert "agrees to 1.3 digits" in found.verdict


@pytest.mark.parametrize("level", [1e-9, 1e-12])
def test_a_value_that_has_come_to_rest_is_zero_as_far_as_the_accuracy_tells(level):
    settled = np.where(TIMES < 0.9, 1.0 - TIMES, level)
    found = compared(run_of("a", settled), run_of("b", np.where(TIMES < 0.9, settled, -level)))
    assert found.is_confirmed
    assert "small is known" in found.verdict


def test_counts_have_to_be_equal():
    count = np.floor(1e7 + 10.0 * TIMES)
    found = compared(run_of("a", count), run_of("b", np.where(TIMES < 0.5, count, count + 1.0)))
    assert not found.is_confirmed
    assert found.agreements[0].digits == 0.0
    assert found.agreements[0].time == 0.5
    assert compared(run_of("a", count), run_of("b", count)).is_confirmed
    assert not are_counted([count, count + 0.5])
    assert not are_counted([np.full(3, 1e17)]), "numbers without a place for a fraction count nothing"
    assert are_counted([np.array(["on", "off"], dtype=object)])


def test_text_and_truth_have_to_be_equal():
    words = np.array(["on"] * 11, dtype=object)
    other = words.copy()
    other[7:] = "off"
    assert compared(run_of("a", words), run_of("b", words)).is_confirmed
    found = compared(run_of("a", words), run_of("b", other))
    assert (found.agreements[0].digits, found.agreements[0].time) == (0.0, TIMES[7])
    assert found.outcome == "not confirmed"
    assert not compared(run_of("a", TIMES > 0.45), run_of("b", TIMES > 0.55)).is_confirmed


def test_infinite_values_are_equal_or_not():
    infinite = np.where(TIMES > 0.5, math.inf, 1.5)
    assert compared(run_of("a", infinite), run_of("b", infinite)).is_confirmed
    found = compared(run_of("a", infinite), run_of("b", np.where(TIMES > 0.5, 1e9, 1.5)))
    assert found.agreements[0].digits == 0.0


def test_digits():
    assert digits_of(0.0, 0.0) == digits_of(0.0, 1.0) == 15.0
    assert digits_of(1.0, 0.0) == digits_of(math.inf, 1.0) == digits_of(2.0, 1.0) == 0.0
    assert digits_of(1e-320, 1.0) == 15.0
    assert digits_of(1e-3, 1.0) == pytest.approx(3.0)


def test_where_counts_differ_first_is_told():
    found = difference_of(TIMES, np.zeros(11), np.where(TIMES > 0.25, 1.0, 0.0), counted=True)
    assert (found.largest, found.time, found.at_end) == (math.inf, TIMES[3], math.inf)


def matched(one, other, **options):
    given = {"end": 10.0, "tolerance": 1e-5, "is_negligible": NEVER, **options}
    return match_events(EventsOfRun("a", Events(one)), EventsOfRun("b", Events(other)), **given)


def test_the_first_event_that_differs_is_named():
    times = [1.0, 2.0, 3.0, 4.0]
    found = matched([call(t) for t in times], [call(t + 1e-7) for t in (1.0, 3.0, 4.0)])
    assert found.difference is not None
    assert (found.difference.time, found.difference.handler) == (2.0, "ball.bounce")
    assert str(found.difference) == (
        "ball.bounce happens 4 times in 'a' and 3 times in 'b'; the first that differs is at t = 2 s"
    )
    assert matched([], []).difference is None
    assert matched([call(t) for t in times], [call(t) for t in times]).difference is None
    never = matched([], [call(0.0)])
    assert "'b' and never in 'a'" in str(never.difference)


def test_an_event_at_the_very_end_may_fall_behind_it():
    assert matched([call(1.0), call(10.0 - 1e-6)], [call(1.0)]).difference is None
    assert matched([call(1.0), call(10.0 - 1e-3)], [call(1.0)]).difference is not None


def test_events_that_change_nothing_to_speak_of_may_be_missing():
    falls = np.array([5.0, -5.0] * 5 + [5.0])
    bounce = {"does": "unrestricted"}
    first = [call(0.5, x=(-5.0, 4.0), **bounce)]
    last = [*first, call(0.61, x=(-1e-8, 8e-9), **bounce)]
    assert compared(run_of("a", falls, events=last), run_of("b", falls, events=first)).is_confirmed
    more = [*first, call(0.61, x=(-1e-3, 8e-4), **bounce)]
    found = compared(run_of("a", falls, events=more), run_of("b", falls, events=first))
    assert found.outcome == "not confirmed"
    assert "at t = 0.61 s" in found.verdict
    counting = [*first, call(0.61, n=(3, 4))]
    assert not compared(run_of("a", falls, events=counting), run_of("b", falls, events=first)).is_confirmed


def test_between_the_times_of_one_event_values_are_not_compared():
    """A jump at 0.5 s that one run has a hair later than the other, with an output time at 0.5 s."""
    early, late = np.where(TIMES < 0.5, 1.5, 7.25), np.where(TIMES <= 0.5, 1.5, 7.25)
    one = run_of("a", early, events=[call(0.5 - 1e-9)])
    assert compared(one, run_of("b", late, events=[call(0.5 + 1e-9)])).is_confirmed
    assert not compared(one, run_of("b", late, events=[call(0.5 - 1e-9)])).is_confirmed
    found = compared(one, run_of("b", late, events=[call(0.5 + 1e-3)]))
    assert [a.signal for a in found.doubtful] == ["time of ball.bounce"]


def test_scheduled_events_whose_order_is_rounding_are_told():
    ticks = [
        call(0.9, "task.slow", EventCause.SCHEDULED),
        call(0.9 + math.ulp(0.9), "task.fast", EventCause.SCHEDULED),
    ]
    found = compared(run_of("a", TIMES, events=ticks), run_of("b", TIMES, events=ticks))
    assert found.outcome == "sensitive"
    assert "task.slow and task.fast are scheduled" in found.verdict
    same = [call(0.9, "task.slow", EventCause.SCHEDULED), call(0.9, "task.fast", EventCause.SCHEDULED)]
    assert compared(run_of("a", TIMES, events=same), run_of("b", TIMES, events=same)).is_confirmed
    apart = [*same[:1], call(0.9 + 1e-9, "task.fast", EventCause.SCHEDULED)]
    assert compared(run_of("a", TIMES, events=apart), run_of("b", TIMES, events=apart)).is_confirmed


def test_a_start_that_comes_to_lie_beyond_a_threshold_is_another_matter():
    rests, falls = np.zeros(11), -19.62 * TIMES
    beyond = Finding(0.0, "wrong side", "ball.floor", "is -4e-15 at the start")
    runs = [run_of("a", rests), run_of("b", rests), run_of("up", rests, moved=ROUNDING)]
    down = run_of("down", falls, moved=ROUNDING, findings=[beyond])
    found = compared(*runs, down)
    assert found.is_confirmed
    assert "threshold of ball.floor" in str(found)
    assert compared(*runs, run_of("down", falls, moved=ROUNDING)).outcome == "sensitive"


def test_errors_that_the_problem_multiplies_are_its_own():
    x = np.cos(TIMES)
    runs = [run_of("a", x), run_of("b", x + 3e-5 * TIMES)]
    higher = run_of("higher", x + 5e-5 * TIMES, moved=1e-6)
    found = compared(*runs, higher)
    assert found.is_confirmed
    assert "multiplies errors by 50" in found.verdict
    assert compared(*runs, run_of("higher", x + 1e-6, moved=1e-6)).outcome == "not confirmed"
    far = [run_of("a", x), run_of("b", x + 0.3 * TIMES), run_of("higher", x + 0.5 * TIMES, moved=1e-6)]
    found = compared(*far)
    assert found.outcome == "sensitive"
    assert "start by 4.8e+05" in found.verdict


def test_a_moved_start_outside_of_where_the_model_is_defined_counts_if_both_are():
    x = np.cos(TIMES)
    given = [run_of("a", x), run_of("b", x)]
    up = run_of("up", x, moved=ROUNDING)
    down = VerifiedRun("down", "a method", cosim.Result([], {}), "not a number", ROUNDING)
    assert compared(*given, up, down).is_confirmed
    assert compared(*given, down).verdict == "Not confirmed: down failed."


def test_what_rests_is_compared_with_how_far_it_would_go():
    model = cosim.Model("model")
    model.add(BouncingBall, "ball")
    model.set_start("ball.height", 0.0)
    system = model.build()
    found = reach_of_states(system, system.default_state(), 2.0)
    assert found == {"ball.height": pytest.approx(2.0 * 2.0 * 9.81), "ball.speed": pytest.approx(2.0 * 9.81)}


def test_zero_and_small_starts_are_moved_by_rounding_of_what_they_become():
    sizes = np.array([2.0, 2.0, 2.0, 1e-9])
    y = np.array([1.0, 0.0, 1e-12, 0.0])
    up, down = (moved_by_rounding(y, sizes, direction) - y for direction in (1.0, -1.0))
    assert np.array_equal(up, -down) or up[0] == -2.0 * down[0]  # below 1 units are half as large
    assert np.all(up > 0.0)
    assert up.tolist()[1:] == [2.0 * ROUNDING * 2.0, np.spacing(1e-12), 2.0 * ROUNDING * 1e-9]
    assert moved_by_part(y, sizes, 1e-6).tolist() == [1.0 + 1e-6, 2e-6, 1e-12 + 2e-6, 1e-6 * 1e-9]
