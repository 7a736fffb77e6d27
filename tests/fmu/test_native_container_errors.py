"""Native FMUs of co-simulations estimate the coupling error as a run of the co-simulation does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fmpy
import pytest
from ball_and_clockwork import model_of
from controlled_spring import plant
from native_container_runs import (
    PassThrough,
    coupled_spring,
    export,
    record_all,
    running,
    spring_and_controller,
)
from native_tools import needs_compiler

from cosim_fmu import CoSimulation, SystemParticipant
from cosim_master.participants.timed_inputs import TimedInputs
from cosim_master.trust.assess_coupling import EXACT_INPUTS
from cosim_master.trust.verdict import VERDICTS

pytestmark = needs_compiler


def outputs_of(fmu: Path, step: float, until: float) -> Any:
    """All variables but parameters, in a run of fmpy."""
    names = [
        v.name for v in fmpy.read_model_description(str(fmu)).modelVariables if v.causality != "parameter"
    ]
    settings = {"stop_time": until, "output_interval": step, "output": names}
    return fmpy.simulate_fmu(str(fmu), fmi_type="CoSimulation", **settings)


def last_verdict(outputs: Any) -> str:
    return VERDICTS[int(outputs["coupling.verdict"][-1]) - 1]


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "adaptive"])
def test_errors_and_verdict_are_those_of_the_co_simulation(algorithm: str, tmp_path: Path) -> None:
    def loop() -> CoSimulation:
        return CoSimulation(*spring_and_controller(), algorithm, 0.02)

    report, outputs = loop().simulate(2.0).coupling, outputs_of(export(loop(), tmp_path), 0.02, 2.0)
    assert report.how == "estimated" and report.worst is not None
    assert outputs["coupling.error"][-1] == pytest.approx(report.worst.relative, rel=1e-6)
    assert last_verdict(outputs) == report.verdict
    assert len(report.signals) == 3
    for signal in report.signals:
        assert outputs[f"coupling.{signal.name}"][-1] == pytest.approx(signal.error, rel=1e-6)

    # at the start nothing is known
    assert outputs["coupling.error"][0] == -1.0
    assert VERDICTS[int(outputs["coupling.verdict"][0]) - 1] == "unknown"


def test_the_error_after_each_step_and_after_a_rollback(tmp_path: Path) -> None:
    fmu, run = export(coupled_spring(), tmp_path), coupled_spring().led_run()
    run.initialize()
    run.advance(3.13, 3.13)
    with running(fmu) as instance:
        instance.step(0.0, 3.13)
        report = run.assess()
        assert report.worst is not None
        assert instance["coupling.error"] == pytest.approx(report.worst.relative, rel=1e-6)

        # back to the state before a long step, and the step again
        saved, error_before = instance.slave.getFMUstate(), instance["coupling.error"]
        instance.step(3.13, 10.0)  # more than three times as many communication steps
        assert instance["coupling.error"] != error_before
        error_after = instance["coupling.error"]
        instance.slave.setFMUstate(saved)
        assert instance["coupling.error"] == error_before
        instance.step(3.13, 10.0)
        assert instance["coupling.error"] == error_after
    run.close()


def test_the_error_without_connections_is_zero(tmp_path: Path) -> None:
    loop = record_all(CoSimulation({"a": SystemParticipant(model_of(PassThrough))}, [], "jacobi", 0.1))
    with running(export(loop, tmp_path)) as instance:
        instance.step(0.0, 1.0)
        assert instance["coupling.error"] == 0.0


@pytest.mark.few(1)
@pytest.mark.parametrize(("time", "is_exact"), [(5.0, True), (0.3, False), (0.32, False)])
def test_a_series_is_exact_for_direct_feedthrough_if_it_jumps_after_the_run(
    time: float, is_exact: bool, tmp_path: Path
) -> None:
    """The reaction of the plant depends directly on its force: a jump reaches it a step late."""
    parts = {
        "timed": TimedInputs({"u": [[0.0, 1.0], [time, -2.0]]}, "held"),
        "plant": SystemParticipant(plant()),
    }
    loop = CoSimulation(parts, [("timed.u", "plant.body.force")], "jacobi", 0.05)
    report, outputs = loop.simulate(2.0).coupling, outputs_of(export(loop, tmp_path), 0.05, 2.0)
    assert (report.how == EXACT_INPUTS) == is_exact
    assert (outputs["coupling.error"][-1] == 0.0) == is_exact
    assert (last_verdict(outputs) == "fine") == is_exact


def test_an_unstable_coupling(tmp_path: Path) -> None:
    def loop() -> CoSimulation:
        parts, wires = spring_and_controller()
        return CoSimulation(parts, wires, "jacobi", 0.5, starts={"controller.law.gain": 1e4})

    report, outputs = loop().simulate(60.0).coupling, outputs_of(export(loop(), tmp_path), 0.5, 60.0)
    assert report.verdict == "unstable"
    assert last_verdict(outputs) == "unstable"
