"""Runs from a start that is moved by rounding, or by an error: how sensitive the problem is to it."""

import numpy as np
import pytest
from compared_courses import TIMES, compared, run_of
from kernel_parts import BouncingBall

import cosim
from cosim.simulation.event_record import Finding
from cosim_workbench.compared_runs import VerifiedRun
from cosim_workbench.moved_start import ROUNDING, moved_by_part, moved_by_rounding, reach_of_states


def test_a_small_signal_that_agrees_has_its_digits():
    """Rounding of the start moves it by 0.2 %, since the method takes other steps."""
    small = 1e-5 * TIMES
    runs = [run_of("a", small), run_of("b", 1.004 * small), run_of("up", 1.002 * small, moved=ROUNDING)]
    opinion = compared(*runs, accuracy=1e-2, rounding_grows_to=1e-3, largest_reach=1.0)
    assert opinion.agreements[0].standing == "agrees"
    assert opinion.verdict == "All signals agree to 2.4 digits at least."
    noise = [run_of("a", small), run_of("b", -3.0 * small), run_of("up", 2.0 * small, moved=ROUNDING)]
    opinion = compared(*noise, accuracy=1e-2, rounding_grows_to=1e-3, largest_reach=1.0)
    assert opinion.agreements[0].standing == "at rounding level"


def test_a_signal_that_is_zero_or_from_a_moved_start_rounding_is_not_in_doubt():
    zero, moved = np.zeros(11), np.full(11, 2e-16)
    runs = [run_of("a", zero), run_of("b", zero), run_of("up", moved, moved=ROUNDING)]
    assert compared(*runs, rounding_grows_to=2e-16, largest_reach=1.0).is_confirmed
    assert compared(*runs, rounding_grows_to=2e-16).outcome == "sensitive", "beside nothing it is large"
    mode = [run_of("a", zero), run_of("b", zero), run_of("up", zero + 0.5, moved=ROUNDING)]
    assert compared(*mode, rounding_grows_to=2e-16, largest_reach=1.0).outcome == "sensitive"
    fallen = [*runs[:2], run_of("up", np.sin(TIMES), moved=ROUNDING)]
    opinion = compared(*fallen, rounding_grows_to=1.0)
    assert opinion.outcome == "sensitive"
    assert "start (1e-16) to 1" in opinion.verdict


def test_a_start_that_rounding_moves_beyond_a_threshold_is_left_out():
    rests, falls = np.zeros(11), -19.62 * TIMES
    beyond = Finding(0.0, "wrong side", "ball.floor", "is -4e-15 at the start")
    runs = [run_of("a", rests), run_of("b", rests), run_of("up", rests, moved=ROUNDING)]
    down = run_of("down", falls, moved=ROUNDING, findings=[beyond])
    opinion = compared(*runs, down)
    assert opinion.is_confirmed
    assert "threshold of ball.floor" in str(opinion)
    assert compared(*runs, run_of("down", falls, moved=ROUNDING)).outcome == "sensitive"


def test_errors_that_the_problem_multiplies_are_no_doubt_about_the_method():
    x = np.cos(TIMES)
    runs = [run_of("a", x), run_of("b", x + 3e-5 * TIMES)]
    higher = run_of("higher", x + 5e-5 * TIMES, moved=1e-6)
    opinion = compared(*runs, higher)
    assert opinion.is_confirmed
    assert "multiplies errors by 50" in opinion.verdict
    assert compared(*runs, run_of("higher", x + 1e-6, moved=1e-6)).outcome == "not confirmed"
    distant_runs = [
        run_of("a", x),
        run_of("b", x + 0.3 * TIMES),
        run_of("higher", x + 0.5 * TIMES, moved=1e-6),
    ]
    opinion = compared(*distant_runs)
    assert opinion.outcome == "sensitive"
    assert "start by 4.8e+05" in opinion.verdict


def test_a_failed_run_counts_if_the_runs_of_both_moved_starts_fail():
    x = np.cos(TIMES)
    runs = [run_of("a", x), run_of("b", x)]
    up = run_of("up", x, moved=ROUNDING)
    down = VerifiedRun("down", "a method", cosim.Result([], {}), "not a number", ROUNDING)
    assert compared(*runs, up, down).is_confirmed
    assert compared(*runs, down).verdict == "Not confirmed: down failed."


def test_a_state_at_rest_is_compared_with_how_far_it_would_go():
    model = cosim.Model("model")
    model.add(BouncingBall, "ball")
    model.set_start("ball.height", 0.0)
    system = model.build()
    reach = reach_of_states(system, system.default_state(), 2.0)
    assert reach == {"ball.height": pytest.approx(2.0 * 2.0 * 9.81), "ball.speed": pytest.approx(2.0 * 9.81)}


def test_zero_and_small_starts_are_moved_by_the_rounding_of_later_values():
    sizes = np.array([2.0, 2.0, 2.0, 1e-9])
    y = np.array([1.0, 0.0, 1e-12, 0.0])
    up, down = (moved_by_rounding(y, sizes, direction) - y for direction in (1.0, -1.0))
    assert np.array_equal(up, -down) or up[0] == -2.0 * down[0]  # below 1 units are half as large
    assert np.all(up > 0.0)
    assert up.tolist()[1:] == [2.0 * ROUNDING * 2.0, np.spacing(1e-12), 2.0 * ROUNDING * 1e-9]
    assert moved_by_part(y, sizes, 1e-6).tolist() == [1.0 + 1e-6, 2e-6, 1e-12 + 2e-6, 1e-6 * 1e-9]
