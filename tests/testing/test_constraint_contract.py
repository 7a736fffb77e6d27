"""Each check of the kit for constraints finds its own deliberately wrong toy, and nothing else."""

import gated_joints as gated
import pytest
import toy_constraints as toys
from failing_checks import ELSEWHERE, checks, failing_checks, fails, fails_exactly

WRONG = {
    "test_has_a_docstring_with_its_law": toys.SilentCase,
    "test_refuses_parameters_out_of_bounds": toys.ClampingCase,
    "test_velocity_error_is_the_rate_of_the_position_error": toys.DriftingCase,
    "test_jacobian_is_that_of_the_velocity_error": toys.TurningCase,
    "test_bias_is_the_rate_of_the_velocity_error": toys.LateCase,
    "test_accelerations_meet_the_equation": toys.DecidingCase,
    "test_forces_do_no_work": toys.DrivingCase,
    "test_frame_indifferent": toys.SidewaysCase,
    "test_is_met_and_stays_met": toys.UnheldCase,
    "test_redundant_copies_are_found": toys.DoubledCase,
    "test_switched_off_it_lets_go": toys.ClingingCase,
    "test_follows_from_the_state_alone": toys.WearingCase,
    "test_compiled_is_plain_python": toys.OverflowingCase,
    "test_runs_in_an_fmu": toys.ShowingCase,
}


def test_each_check_has_a_toy():
    assert sorted(WRONG) == checks(toys.RightCase)


@pytest.mark.parametrize("check", WRONG)
def test_wrong_toy_fails_its_check(check):
    assert fails(WRONG[check], check)


@pytest.mark.thorough
@pytest.mark.parametrize("check", WRONG)
def test_wrong_toy_fails_exactly_its_check(check):
    fails_exactly(WRONG[check], check)


def test_right_constraint_passes():
    assert failing_checks(toys.RightCase) == []


ELSEWHERE_JUDGED = {
    "test_has_a_docstring_with_its_law",
    "test_refuses_parameters_out_of_bounds",
}
"""Declarations decide: no variable of its own makes a difference there."""


def test_each_check_of_values_has_a_toy_in_each_kind_of_variable():
    assert sorted({*gated.CONSTRAINTS, *gated.EQUATIONS, *ELSEWHERE_JUDGED}) == checks(toys.RightCase)


@pytest.mark.by_turns
@pytest.mark.parametrize("kind", ["InInput", "InState", "InDiscrete", "InParameter"])
@pytest.mark.parametrize("check", gated.CONSTRAINTS)
def test_a_fault_in_a_variable_of_its_own_is_found(check, kind):
    if (check, kind) == ("test_is_met_and_stays_met", "InParameter"):
        pytest.skip("parameters are those that are given: with others it may be out of reach")
    assert fails(gated.CONSTRAINTS[check][kind], check)


@pytest.mark.parametrize("but", [ELSEWHERE, pytest.param((), marks=pytest.mark.thorough)])
def test_the_right_one_between_bodies_passes(but):
    assert failing_checks(gated.TiedCase, but=but) == []


@pytest.mark.parametrize("check", gated.EQUATIONS)
def test_a_fault_in_a_parameter_of_the_equation_is_found(check):
    assert fails(gated.EQUATIONS[check], check)
