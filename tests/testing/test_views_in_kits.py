"""The kits check elements and components whose functions have views as they check others."""

import toy_views as toys
from failing_checks import SLOW_CHECKS, failing_checks, fails, fails_exactly


def test_a_right_element_with_a_view_passes():
    assert failing_checks(toys.PullCase) == []


def test_a_force_without_its_reaction_is_found_in_a_helper_of_the_view():
    assert "test_internal" in failing_checks(toys.OneSidedCase, but=SLOW_CHECKS)


def test_numbers_that_differ_compiled_are_found():
    fails_exactly(toys.OverflowingCase, "test_compiled_is_plain_python")


def test_a_method_with_a_view_that_changes_the_state_is_found():
    assert fails(toys.WearingCase, "test_computing_changes_nothing")
