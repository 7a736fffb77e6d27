"""Each check of the kit for constraints finds its own deliberately wrong toy, and nothing else."""

import gated_joints as gated
import pytest
import toy_constraints as toys
from failing_checks import SLOW_CHECKS, failing_checks, fails
from toys_of_a_kit import GatedToysOfAKit


class TestToys(GatedToysOfAKit):
    right = toys.RightCase
    wrong = {
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
    in_variables = gated.CONSTRAINTS
    in_equations = gated.EQUATIONS
    out_of_reach = {("test_is_met_and_stays_met", "InParameter")}
    of_declarations = {
        "test_has_a_docstring_with_its_law",
        "test_refuses_parameters_out_of_bounds",
    }


@pytest.mark.parametrize("but", [SLOW_CHECKS, pytest.param((), marks=pytest.mark.thorough)])
def test_a_right_constraint_between_bodies_passes(but):
    assert failing_checks(gated.TiedCase, but=but) == []


@pytest.mark.parametrize("check", gated.EQUATIONS)
def test_a_fault_in_a_parameter_of_the_equation_is_found(check):
    assert fails(gated.EQUATIONS[check], check)


def test_a_fault_that_comes_with_time_is_found():
    assert fails(toys.AgingCase, "test_velocity_error_is_the_rate_of_the_position_error")
