"""Each check of the kit for integrators finds its own deliberately wrong toy, and nothing else."""

import pytest
import toy_integrators as toys
from failing_checks import failing_checks
from toys_of_a_kit import ToysOfAKit


class TestToys(ToysOfAKit):
    right = toys.RightCase
    wrong = {
        "test_has_a_docstring": toys.SilentCase,
        "test_capabilities_are_true": toys.CoarseCase,
        "test_observed_order_is_the_declared_one": toys.ModestCase,
        "test_polynomials_are_exact": toys.DisturbedCase,
        "test_elsewhere_it_is_as_accurate": toys.WrongLateCase,
        "test_error_follows_the_accuracy": toys.CarelessCase,
        "test_steps_land_exactly_on_the_target": toys.OvershootingCase,
        "test_fixed_steps_end_on_the_target": toys.ShorteningCase,
        "test_limits_are_kept": toys.UnlimitedCase,
        "test_minimum_step_is_reported": toys.AcceptingCase,
        "test_interpolation_keeps_to_the_last_step": toys.ExtrapolatingCase,
        "test_dense_output_has_its_order": toys.StraightCase,
        "test_redo_ends_at_the_event": toys.EarlyRepetitionCase,
        "test_failed_step_leaves_the_state": toys.LeavingCase,
        "test_restart_changes_nothing_that_matters": toys.RoundingCase,
        "test_continues_from_saved_bytes": toys.CountingCase,
        "test_constraints_are_kept": toys.DriftingCase,
        "test_symmetric_methods_go_back": toys.OneWayCase,
        "test_symplectic_methods_keep_the_energy": toys.LeakingCase,
    }


def test_too_high_an_order_fails_three_checks():
    assert failing_checks(toys.BoastingCase) == [
        "test_capabilities_are_true",
        "test_observed_order_is_the_declared_one",
        "test_polynomials_are_exact",
    ]


@pytest.mark.parametrize("name", toys.WRONG_ELSEWHERE)
def test_errors_at_other_times_and_sizes_are_found(name):
    assert failing_checks(toys.WRONG_ELSEWHERE[name]) == ["test_elsewhere_it_is_as_accurate"]


@pytest.mark.parametrize("name", toys.WRONG_REPETITIONS)
def test_errors_of_repeated_steps_are_found(name):
    assert failing_checks(toys.WRONG_REPETITIONS[name]) == ["test_redo_ends_at_the_event"]
