"""Each check of the kit for joints finds its own deliberately wrong toy, and nothing else."""

import gated_joints as gated
import pytest
import toy_joints as toys
from failing_checks import checks, failing_checks, fails, fails_exactly

WRONG = {
    "test_has_a_docstring_with_its_law": toys.SilentCase,
    "test_refuses_parameters_out_of_bounds": toys.ClampingCase,
    "test_pose_is_a_rotation_and_a_position": toys.MirroredCase,
    "test_velocity_is_that_of_the_pose": toys.SlippingCase,
    "test_axes_are_those_of_the_map": toys.PromisingCase,
    "test_velocity_terms_are_those_of_the_map": toys.LaggingCase,
    "test_follows_from_the_state_alone": toys.WearingCase,
    "test_compiled_is_plain_python": toys.OverflowingCase,
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


def test_right_joint_passes():
    assert failing_checks(toys.RightCase) == []


ELSEWHERE_JUDGED = {
    "test_has_a_docstring_with_its_law",
    "test_refuses_parameters_out_of_bounds",
}
"""Checks of declarations: no variable of its own makes a difference there."""


def test_each_check_of_values_has_a_toy_in_each_kind_of_variable():
    assert sorted({*gated.JOINTS, *ELSEWHERE_JUDGED}) == checks(toys.RightCase)


@pytest.mark.by_turns
@pytest.mark.parametrize("kind", ["InInput", "InState", "InDiscrete", "InParameter"])
@pytest.mark.parametrize("check", gated.JOINTS)
def test_a_fault_in_a_variable_of_its_own_is_found(check, kind):
    assert fails(gated.JOINTS[check][kind], check)
