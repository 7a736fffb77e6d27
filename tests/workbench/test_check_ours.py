"""`cosim check` on classes of ours whose defaults do nothing, or that do work."""

from typing import Any

import pytest

from cosim import registry
from cosim.cli import main
from cosim.simulation.interrupt import Terminated
from cosim.testing import MeasureContract
from cosim.testing.kit_run import KitRun
from cosim_workbench import check_command
from cosim_workbench.scaffold import registered_kits


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("id", "check"),
    [
        ("mechanics.coordinate_stop", "test_has_an_effect"),
        ("mechanics.energy", "test_has_an_effect"),
        ("mechanics.rigid_body", "test_has_an_effect"),
        ("measures.variable_delay", "test_value_is_finite"),
        ("mechanics.speed_coupler", "test_forces_do_no_work"),
        ("mechanics.constant_speed", "test_forces_do_no_work"),
        ("mechanics.lock", "test_forces_do_no_work"),
        ("mechanics.rolling_disc", "test_frame_indifferent"),
        ("measures.result", "test_has_an_effect"),
        ("animation.sphere", "test_has_an_effect"),
    ],
)
def test_it_passes_or_says_why_not(id: str, check: str) -> None:
    run = KitRun(registry().entry("component", id), "", {}, check)
    run.run(quiet=True)
    (outcome,) = {outcome for _, outcome, _ in run.outcomes}
    assert outcome == (
        "skipped"
        if id in ("mechanics.speed_coupler", "mechanics.constant_speed", "animation.sphere")
        else "passed"
    )


@pytest.mark.parametrize(
    ("kind", "id", "check", "outcome"),
    [
        ("integrator", "integrators.bdf", "test_polynomials_are_exact", "skipped"),
        ("integrator", "integrators.radau5", "test_observed_order_is_the_declared_one", "passed"),
        ("master_algorithm", "fmu.adaptive", "test_error_falls_with_the_step", "passed"),
    ],
)
def test_methods_say_how_their_kit_takes_them(kind: str, id: str, check: str, outcome: str) -> None:
    kit = registered_kits().get(kind, "")
    run = KitRun(registry().entry(kind, id), kit, {}, check)
    run.run(quiet=True)
    assert {found for _, found, _ in run.outcomes} == {outcome}


@pytest.mark.parametrize("id", ["integrators.cvode", "integrators.scipy_lsoda", "fmu.joint"])
def test_what_no_kit_is_for_is_left_out(id: str) -> None:
    assert id not in check_command._with_kit()


def test_a_value_that_is_given_counts_more_than_what_a_class_is_tried_with() -> None:
    run = KitRun(registry().entry("component", "mechanics.coordinate_stop"), "", {"lower": -0.1})
    assert (run.values["lower"], run.values["upper"]) == (-0.1, 0.2)


COMPONENTS = [
    entry.id
    for entry in registry().entries("component")
    if entry.cls.contract_kit and not entry.cls.takes_more
]


def test_each_component_can_be_made_as_it_is_tried() -> None:
    assert len(COMPONENTS) > 100
    for id in COMPONENTS:
        run = KitRun(registry().entry("component", id), "", {})
        run.entry.cls(**run.values)


@pytest.mark.thorough
@pytest.mark.parametrize("id", COMPONENTS)
def test_each_component_keeps_its_contract(id: str) -> None:
    run = KitRun(registry().entry("component", id), "", {})
    run.run(quiet=True)
    assert run.passed, [outcome for outcome in run.outcomes if outcome[1] == "failed"]


@pytest.mark.parametrize(("end", "status"), [(KeyboardInterrupt(), 130), (Terminated("terminated"), 143)])
def test_a_signal_in_a_check_ends_the_command_as_everywhere(
    end: BaseException, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pytest catches it, and returns as after a failed check."""

    def stop(self: Any) -> None:
        raise end

    monkeypatch.setattr(MeasureContract, "test_value_is_finite", stop)
    # one class for each: pytest imports a file of its name
    assert main(["check", {130: "measures.constant", 143: "measures.sinusoid"}[status]]) == status
    assert capsys.readouterr().err.endswith("interrupted\n" if status == 130 else "terminated\n")
