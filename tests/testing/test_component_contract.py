"""Each check of the kit for components finds its own deliberately wrong toy, and nothing else."""

import gated_measures as gated
import toy_components as toys
from failing_checks import SLOW_CHECKS, failing_checks
from toys_of_a_kit import GatedToysOfAKit


class TestToys(GatedToysOfAKit):
    right = toys.RightCase
    wrong = {
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
    fails_others = {"test_computing_changes_nothing"}
    in_variables = gated.COMPONENTS
    of_declarations = {
        "test_has_a_docstring_with_its_law",
        "test_has_an_effect",
        "test_refuses_parameters_out_of_bounds",
    }


def test_a_state_that_computing_changes_is_not_restored_either():
    failing = failing_checks(toys.WearingCase, but=SLOW_CHECKS)
    assert failing == ["test_computing_changes_nothing", "test_saved_and_restored_it_goes_on_the_same"]
