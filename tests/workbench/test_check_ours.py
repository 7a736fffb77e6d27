"""`cosim check` on registered classes, also those whose defaults have no effect, or that do work."""

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
    ("id", "check", "outcome"),
    [
        ("mechanics.coordinate_stop", "test_has_an_effect", "passed"),
        ("mechanics.energy", "test_has_an_effect", "passed"),
        ("mechanics.rigid_body", "test_has_an_effect", "passed"),
        ("measures.variable_delay", "test_value_is_finite", "passed"),
        ("mechanics.speed_coupler", "test_forces_do_no_work", "skipped"),
        ("mechanics.constant_speed", "test_forces_do_no_work", "skipped"),
        ("mechanics.lock", "test_forces_do_no_work", "passed"),
        ("mechanics.rolling_disc", "test_frame_indifferent", "passed"),
        ("measures.result", "test_has_an_effect", "passed"),
        ("animation.sphere", "test_has_an_effect", "skipped"),
    ],
)
def test_a_component_passes_or_skips_a_check(id: str, check: str, outcome: str) -> None:
    run = KitRun(registry().entry("component", id), "", {}, check)
    run.run(quiet=True)
    assert {result for _, result, _ in run.outcomes} == {outcome}


@pytest.mark.parametrize(
    ("kind", "id", "check", "outcome"),
    [
        ("integrator", "integrators.bdf", "test_polynomials_are_exact", "skipped"),
        ("integrator", "integrators.radau5", "test_observed_order_is_the_declared_one", "passed"),
        ("master_algorithm", "fmu.adaptive", "test_error_falls_with_the_step", "passed"),
    ],
)
def test_a_method_passes_or_skips_a_check(kind: str, id: str, check: str, outcome: str) -> None:
    kit = registered_kits().get(kind, "")
    run = KitRun(registry().entry(kind, id), kit, {}, check)
    run.run(quiet=True)
    assert {result for _, result, _ in run.outcomes} == {outcome}


@pytest.mark.parametrize("id", ["integrators.cvode", "integrators.scipy_lsoda", "fmu.joint"])
def test_classes_without_a_kit_are_not_checked(id: str) -> None:
    assert id not in check_command._with_kit()


def test_given_values_replace_those_that_a_class_is_tried_with() -> None:
    run = KitRun(registry().entry("component", "mechanics.coordinate_stop"), "", {"lower": -0.1})
    assert (run.values["lower"], run.values["upper"]) == (-0.1, 0.2)


COMPONENTS = [
    entry.id
    for entry in registry().entries("component")
    if entry.cls.contract_kit and not entry.cls.takes_more
]


def test_each_component_can_be_made_with_the_values_that_it_is_tried_with() -> None:
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


@pytest.mark.parametrize(
    ("exception", "id", "status", "last_word"),
    [  # one class each: pytest imports a file of its name
        (KeyboardInterrupt(), "measures.constant", 130, "interrupted"),
        (Terminated("terminated"), "measures.sinusoid", 143, "terminated"),
    ],
)
def test_a_signal_in_a_check_ends_the_command_with_its_status(
    exception: BaseException,
    id: str,
    status: int,
    last_word: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Pytest catches the exception, and returns as after a failed check."""

    def stop(self: Any) -> None:
        raise exception

    monkeypatch.setattr(MeasureContract, "test_value_is_finite", stop)
    assert main(["check", id]) == status
    assert capsys.readouterr().err.endswith(last_word + "\n")
