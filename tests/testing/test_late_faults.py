"""The kits draw the time as well: faults that come with it are found."""

import late_toys as late
import pytest
from failing_checks import fails


@pytest.mark.parametrize(
    ("case", "check"),
    [
        (late.LateDrivingCase, "test_passive"),
        (late.HardeningCase, "test_passive"),
        (late.HardeningCase, "test_power_is_the_loss_of_energy"),
        (late.TurningCase, "test_velocity_is_that_of_the_pose"),
        (late.LaggingCase, "test_velocity_terms_are_those_of_the_map"),
        (late.SwellingCase, "test_depth_changes_at_its_rate"),
        (late.LateStickyCase, "test_surfaces_only_push"),
    ],
)
def test_a_fault_that_comes_with_time_is_found(case, check):
    assert fails(case, check)
