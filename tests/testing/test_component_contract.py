"""Each check of the kit for components finds its own deliberately wrong toy, and nothing else."""

import gated_measures as gated
import pytest
import toy_components as toys
from failing_checks import ELSEWHERE, checks, failing_checks, fails, fails_exactly

WRONG = {
    "test_has_a_docstring_with_its_law": toys.SilentCase,
    "test_refuses_parameters_out_of_bounds": toys.ClampingCase,
    "test_runs_with_finite_numbers": toys.NotForLongCase,
    "test_has_an_effect": toys.IdleCase,
    "test_two_runs_give_the_same": toys.CountingCase,
    "test_computing_changes_nothing": toys.WearingCase,
    "test_saved_and_restored_it_goes_on_the_same": toys.HoardingCase,
    "test_handlers_run_to_the_end": toys.BreakingCase,
    "test_compiled_is_plain_python": toys.OverflowingCase,
}


def test_each_check_has_a_toy():
    assert sorted(WRONG) == checks(toys.RightCase)


def test_a_state_that_computing_changes_is_not_restored_either():
    found = failing_checks(toys.WearingCase, but=ELSEWHERE)
    assert found == ["test_computing_changes_nothing", "test_saved_and_restored_it_goes_on_the_same"]


@pytest.mark.parametrize("check", WRONG)
def test_wrong_toy_fails_its_check(check):
    assert fails(WRONG[check], check)


@pytest.mark.thorough
@pytest.mark.parametrize("check", [check for check in WRONG if check != "test_computing_changes_nothing"])
def test_wrong_toy_fails_exactly_its_check(check):
    fails_exactly(WRONG[check], check)


def test_right_component_passes():
    assert failing_checks(toys.RightCase) == []


ELSEWHERE_JUDGED = {
    "test_has_a_docstring_with_its_law",
    "test_has_an_effect",
    "test_refuses_parameters_out_of_bounds",
}
"""Checks of declarations: no variable of its own makes a difference there."""


def test_each_check_of_values_has_a_toy_in_each_kind_of_variable():
    assert sorted({*gated.COMPONENTS, *ELSEWHERE_JUDGED}) == checks(toys.RightCase)


@pytest.mark.by_turns
@pytest.mark.parametrize("kind", ["InInput", "InState", "InDiscrete", "InParameter"])
@pytest.mark.parametrize("check", gated.COMPONENTS)
def test_a_fault_in_a_variable_of_its_own_is_found(check, kind):
    assert fails(gated.COMPONENTS[check][kind], check)
