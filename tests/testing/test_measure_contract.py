"""Each check of the kit for measures finds its own deliberately wrong toy, and nothing else."""

import math

import gated_measures as gated
import pytest
import toy_measures as toys
from failing_checks import SLOW_CHECKS, failing_checks, fails
from toys_of_a_kit import GatedToysOfAKit

import cosim
import cosim_mechanics
from cosim.testing.moving_signals import observed_system


class TestToys(GatedToysOfAKit):
    right = toys.RightCase
    wrong = {
        "test_has_a_docstring_with_its_law": toys.SilentCase,
        "test_refuses_parameters_out_of_bounds": toys.ClampingCase,
        "test_value_is_finite": toys.NotForLongCase,
        "test_two_runs_give_the_same": toys.CountingCase,
        "test_computing_changes_nothing": toys.WearingCase,
        "test_derivative_is_that_of_the_value": toys.SteepCase,
        "test_restored_state_gives_the_same_value": toys.RecognizingCase,
        "test_compiled_is_plain_python": toys.OverflowingCase,
        "test_is_known_at_the_stage_that_it_says": toys.LyingCase,
        "test_has_a_value_before_there_is_a_past": toys.NeedingCase,
        "test_going_back_and_on_again_gives_the_same": toys.HoardingCase,
        "test_can_be_an_output_of_an_fmu": toys.HiddenCase,
    }
    in_variables = gated.MEASURES
    of_declarations = {
        "test_can_be_an_output_of_an_fmu",
        "test_has_a_docstring_with_its_law",
        "test_is_known_at_the_stage_that_it_says",
        "test_refuses_parameters_out_of_bounds",
    }


@pytest.mark.parametrize("case", [toys.SteepBelowCase, toys.SteepFarOffCase])
def test_sources_are_moved_to_the_other_side_and_far_off(case):
    assert fails(case, "test_derivative_is_that_of_the_value")


def test_a_measure_that_is_not_defined_everywhere_is_judged_where_it_is():
    assert failing_checks(toys.RootCase, but=SLOW_CHECKS) == []


def test_measures_of_bodies_and_coordinates_are_observed():
    """They look at a class that is not a source: a body and a joint that move."""
    for cls in (cosim_mechanics.Position, cosim_mechanics.Velocity):
        state = observed_system(cls()).default_state().realize(cosim.Stage.ACCELERATION)
        assert math.isfinite(state["measure"])
