"""Each check of the kit for integrators finds its own deliberately wrong toy, and nothing else."""

import pytest
import toy_integrators as toys
from failing_checks import checks, failing_checks, fails_exactly

WRONG = {
    "test_has_a_docstring": toys.SilentCase,
    "test_observed_order_is_the_declared_one": toys.BoastingCase,
    "test_error_follows_the_accuracy": toys.CarelessCase,
    "test_steps_land_exactly_on_the_target": toys.OvershootingCase,
    "test_dense_output_is_accurate": toys.StraightCase,
    "test_redo_ends_at_the_event": toys.LateAgainCase,
    "test_failed_step_leaves_the_state": toys.LeavingCase,
    "test_continues_from_saved_bytes": toys.CountingCase,
}


def test_each_check_has_a_toy():
    assert sorted(WRONG) == checks(toys.RightCase)


@pytest.mark.parametrize("check", WRONG)
def test_wrong_toy_fails_exactly_its_check(check):
    fails_exactly(WRONG[check], check)


def test_right_integrator_passes():
    assert failing_checks(toys.RightCase) == []
