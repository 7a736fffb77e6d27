"""`cosim check` on classes of ours whose defaults do nothing, or that do work."""

import pytest

from cosim import registry
from cosim.testing.kit_run import KitRun


@pytest.mark.parametrize(
    ("id", "check"),
    [
        ("mechanics.coordinate_stop", "test_has_an_effect"),
        ("mechanics.energy", "test_has_an_effect"),
        ("mechanics.rigid_body", "test_has_an_effect"),
        ("mechanics.speed_coupler", "test_forces_do_no_work"),
        ("mechanics.constant_speed", "test_forces_do_no_work"),
        ("mechanics.lock", "test_forces_do_no_work"),
        ("mechanics.rolling_disc", "test_frame_indifferent"),
    ],
)
def test_it_passes_or_says_why_not(id: str, check: str) -> None:
    run = KitRun(registry().entry("component", id), "", {}, check)
    run.run(quiet=True)
    (outcome,) = {outcome for _, outcome, _ in run.outcomes}
    assert outcome == (
        "skipped" if id in ("mechanics.speed_coupler", "mechanics.constant_speed") else "passed"
    )


def test_a_value_that_is_given_counts_more_than_what_a_class_is_tried_with() -> None:
    run = KitRun(registry().entry("component", "mechanics.coordinate_stop"), "", {"lower": -0.1})
    assert (run.values["lower"], run.values["upper"]) == (-0.1, 0.2)
