"""Verdicts that are required of a coupling, in Python and on the command line, and how they are printed."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from verdict_benchmarks import Integrator, Source, drawn_systems

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant
from cosim_master.recording.coupling_errors import CouplingError

SCENARIO = """
connections = ["left.force -> right.f", "right.x -> left.x_other", "right.v -> left.v_other"]
[participants.left]
fmu = "mass.fmu"
[participants.left.parameters]
kc = {stiffness}
[participants.right]
fmu = "mass.fmu"
[participants.right.parameters]
k = 5.0
[master]
algorithm = "jacobi"
step = {step}
until = {until}
"""
EXPLODES = {"stiffness": 1e6, "step": 0.1, "until": 3.0}


def exploding() -> CoSimulation:
    """An oscillating circuit whose inputs are held far too long: the step exceeds its period of 2π s."""
    matrices = [[[0.0]], [[1.0]], [[1.0]], [[0.0]]]
    parts = {
        "capacitor": LinearParticipant(matrices, ["i_in"], ["v"], [1.0]),
        "coil": LinearParticipant([[[0.0]], [[-1.0]], [[1.0]], [[0.0]]], ["v_in"], ["i"], [0.0]),
    }
    return CoSimulation(parts, [("coil.i", "capacitor.i_in"), ("capacitor.v", "coil.v_in")], step=10.0)


def test_a_verdict_worse_than_the_required_one_is_an_error() -> None:
    coarse = drawn_systems.DrawnCoupling(
        "chain", {"s": (Source, {"slope": 1.0}), "i": (Integrator, {})}, [("s.y", "i.u")], 2.0, 0.2
    )
    result = coarse.loop().simulate(2.0)
    result.require("known")
    with pytest.raises(CouplingError, match=r"smaller step.*required"):
        result.require("fine")
    coarse.loop(0.001).simulate(2.0).require("fine")
    with pytest.raises(CouplingError, match="unstable"):
        exploding().simulate(700.0).require("known")
    with pytest.raises(cosim.CosimError, match="'good'.*verdict, needs 'fine'.*'known'"):
        result.require("good")


@pytest.fixture
def run(
    make_fmu: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Write a scenario and run it: exit status, standard output, standard error."""
    (tmp_path / "mass.fmu").write_bytes(make_fmu("mass").read_bytes())

    def run(
        *options: str, stiffness: float = 2.0, step: float = 0.02, until: float = 1.0
    ) -> tuple[int, str, str]:
        text = SCENARIO.format(stiffness=stiffness, step=step, until=until)
        (tmp_path / "loop.toml").write_text(text)
        status = main(["cosimulate", str(tmp_path / "loop.toml"), "-o", str(tmp_path / "r.csv"), *options])
        return status, *capsys.readouterr()

    return run


def test_an_unstable_coupling_fails_and_keeps_its_results(run: Callable[..., Any], tmp_path: Path) -> None:
    status, output, _ = run(**EXPLODES)
    assert "coupling unstable: " in output
    assert status == 1
    assert len((tmp_path / "r.csv").read_text().splitlines()) == 32  # names, and 0 s to 3 s
    status, output, error_output = run("-q", **EXPLODES)
    assert (status, output) == (1, "")
    assert "coupling unstable: " in error_output


def test_the_option_require_fails_after_writing_the_results(run: Callable[..., Any], tmp_path: Path) -> None:
    coarse: dict[str, float] = {"step": 0.1, "until": 4.0}
    assert run("--require", "fine", step=0.0005)[0] == 0
    assert run(**coarse)[0] == 0
    status, _, error_output = run("--require", "fine", **coarse)
    assert status == 1
    assert re.match("the verdict on the coupling is '.*', and 'fine' is required: ", error_output)
    assert (tmp_path / "r.csv").exists()
    assert main(["cosimulate", "x.toml", "--require", "good"]) == 2


def test_require_takes_a_second_run_if_one_shows_too_little(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    few_steps: dict[str, float] = {"step": 0.1, "until": 1.0}
    assert "coupling error unknown" in run(**few_steps)[1]
    status, output, error_output = run("--require", "known", **few_steps)
    assert (status, error_output) == (0, "")
    assert "against half" in output

    def fail(*arguments: Any) -> None:
        raise cosim.CosimError("no shorter step")

    monkeypatch.setattr(CoSimulation, "verify", fail)
    status, output, error_output = run("--require", "known", **few_steps)
    assert status == 1
    assert error_output.startswith(
        "warning: a second run to find the coupling error fails: no shorter step\n"
    )
    assert run("--verify", **few_steps)[0] == 2


def test_quiet_prints_only_a_bad_verdict(run: Callable[..., Any]) -> None:
    assert run("-q", step=0.0005) == (0, "", "")
    status, output, error_output = run("-q", step=0.1, until=4.0)
    assert (status, output) == (0, "")
    assert error_output.startswith("coupling error")
    for required, expected_status in (("fine", 1), ("known", 0)):
        status, output, error_output = run("-q", "--require", required, step=0.1, until=4.0)
        assert (status, output, error_output.count("coupling error")) == (expected_status, "", 1)


def test_the_verdict_stands_at_the_top_of_json(run: Callable[..., Any]) -> None:
    _, output, _ = run("--json", step=0.0005)
    document = json.loads(output)
    assert list(document)[:4] == ["cosim", "command", "status", "verdict"]
    assert document["verdict"] == "fine"
    assert document["result"]["coupling"]["signals"]
