"""`cosim run` as it is typed: results, options, second opinions, and runs that are broken off."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import pytest
from workbench_tools import write_model

import cosim
from cosim.cli import main
from cosim_workbench.progress import NOTICE

Captured = pytest.CaptureFixture[str]


pytestmark = pytest.mark.usefixtures("folder")


ALPHA = 'integrator = "generalized_alpha"\nfixed_step = "1 ms"\nrho_infinity = {}\nuntil = "50 ms"'
"""Settings of a run with a value of an option of its integrator."""


def read(path: str) -> cosim.Result:
    """The result in a CSV file."""
    result: cosim.Result = cosim.registry().get("result_sink", "workbench.csv")().read(Path(path))
    return result


def test_a_run_prints_a_summary_and_writes_its_results(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    assert main(["run", "mount.toml"]) == 0
    output = capsys.readouterr()
    for word in ("engine_mount", "RungeKuttaMerson", "1e-06", "steps", "energy.total", "engine.z"):
        assert word in output.out
    assert output.out.endswith("results → mount.csv\n")
    assert output.err in ("", NOTICE + "\n")  # the first run on this machine compiles
    assert len(output.out.splitlines()) <= 24
    assert read("mount.csv").time[-1] == 0.05
    assert len(read("mount.csv")) == 51


def test_a_file_without_an_end_of_the_run_is_a_note(folder: Path, capsys: Captured) -> None:
    Path("fall.toml").write_text('[bodies.b]\nmass = 1\ninertia = [1, 1, 1]\njoint = "free"\n', "utf-8")
    assert main(["run", "fall.toml"]) == 0
    assert "fall.toml gives no end" in capsys.readouterr().err
    assert main(["run", "fall.toml", "--until", "2"]) == 0
    assert "gives no end" not in capsys.readouterr().err


def test_two_runs_are_byte_identical(folder: Path) -> None:
    write_model(folder)
    assert main(["run", "mount.toml", "-o", "a.csv", "--quiet"]) == 0
    assert main(["run", "mount.toml", "-o", "b.csv", "--quiet"]) == 0
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()


def test_a_model_file_has_the_bytes_of_the_model_in_python(folder: Path) -> None:
    from cosim_mechanics import Multibody

    write_model(folder)
    assert main(["run", "mount.toml", "--quiet"]) == 0
    model = Multibody("engine_mount")
    engine = model.body("engine", mass=120.0, center_of_mass=(0, 0, 0.1), inertia=(4.5, 6.0, 5.2))
    model.joint("free", child=engine)
    model.add(
        "mechanics.linear_bushing",
        "mount_left",
        body1="ground",
        body2=engine,
        stiffness=[0, 0, 0, 1.2e5, 1.2e5, 2.4e5],
        damping=[0, 0, 0, 300, 300, 600],
    )
    result = model.simulate(until=0.05, accuracy=1e-6, output_interval=1e-3, signals=["engine.z"])
    assert read("mount.csv")["engine.z"].tobytes() == result["engine.z"].tobytes()


def test_options_replace_settings_of_the_file(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    words = ["--until", "20 ms", "--accuracy", "1e-4", "--integrator", "dormand_prince"]
    assert main(["run", "mount.toml", *words]) == 0
    output = capsys.readouterr().out
    assert "DormandPrince (order 5), accuracy 0.0001" in output
    assert read("mount.csv").time[-1] == 0.02


def test_a_quiet_run_prints_nothing(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    assert main(["run", "mount.toml", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_run_with_a_plot(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    write_model(folder)
    assert main(["run", "mount.toml", "--quiet", "--plot", "mount.png"]) == 0
    assert (folder / "mount.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--until", "0"], "--until"),
        (["--until", "soon"], "--until"),
        (["--accuracy", "-1"], "--accuracy"),
        (["--integrator", "runge_kuta_merson"], "Nearest: integrators.runge_kutta_merson"),
        (["-o", "nowhere/r.csv"], "nowhere"),
        (["-o", "mount.toml"], "mount.toml"),
        (["--plot", "r.txt"], "r.txt"),
    ],
)
def test_wrong_options(folder: Path, capsys: Captured, words: list[str], message: str) -> None:
    before = write_model(folder).read_bytes()
    assert main(["run", "mount.toml", *words]) == 2
    output = capsys.readouterr()
    assert message in output.err and "Traceback" not in output.err
    assert output.out == ""
    assert [p.name for p in folder.iterdir()] == ["mount.toml"]
    assert (folder / "mount.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("error", "status"), [(cosim.SimulationError(0.02, "not finite"), 1), (KeyboardInterrupt(), 130)]
)
def test_a_run_that_breaks_off_keeps_its_results(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int
) -> None:
    """The error comes out of the simulator itself, in the middle of the run."""
    monkeypatch.setattr("cosim.simulation.stride.FIRST_STRIDE", 1)
    monkeypatch.setattr("cosim.simulation.stride.PATIENCE", 0.0)
    step = cosim.Simulator.advance_some

    def break_off(self: cosim.Simulator, *arguments: Any) -> Any:
        if self.state.time > 0.02:
            raise error
        return step(self, *arguments)

    monkeypatch.setattr(cosim.Simulator, "advance_some", break_off)
    write_model(folder)
    assert main(["run", "mount.toml"]) == status
    output = capsys.readouterr()
    assert "up to t = 0.02" in output.err and "mount.csv" in output.err
    assert "Traceback" not in output.err
    partial = read("mount.csv")
    assert 0.02 <= partial.time[-1] < 0.05
    assert partial["engine.z"].size == partial.time.size


@pytest.mark.by_turns
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("ctrl_c", [signal.default_int_handler, signal.SIG_IGN])  # as of `cosim … &`
def test_a_run_that_is_terminated_keeps_its_results(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, ctrl_c: Any, suffix: str
) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr("cosim.simulation.stride.FIRST_STRIDE", 1)
    monkeypatch.setattr("cosim.simulation.stride.PATIENCE", 0.0)
    advance = cosim.Simulator.advance_some
    interrupted_at = []

    def advance_and_terminate(self: cosim.Simulator, *arguments: Any) -> Any:
        if self.state.time > 0.02 and not interrupted_at:
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL  # which would end these tests
            signal.raise_signal(signal.SIGTERM)
            interrupted_at.append(self.state.time)
        return advance(self, *arguments)  # the call that has begun is finished

    monkeypatch.setattr(cosim.Simulator, "advance_some", advance_and_terminate)
    write_model(folder)
    before = signal.signal(signal.SIGINT, ctrl_c), signal.getsignal(signal.SIGTERM)
    try:
        assert main(["run", "mount.toml", "-o", f"mount.{suffix}"]) == 143
        assert signal.getsignal(signal.SIGINT) is ctrl_c
        assert signal.getsignal(signal.SIGTERM) is before[1]
    finally:
        signal.signal(signal.SIGINT, before[0])
    errors = capsys.readouterr().err
    assert errors.endswith("terminated\n") and f"s → mount.{suffix}" in errors and "Traceback" not in errors
    assert interrupted_at[0] <= cosim.read_result(f"mount.{suffix}").time[-1] < 0.05


def test_a_model_file_has_options_of_its_integrator(folder: Path) -> None:
    write_model(folder, ('until = "50 ms"', ALPHA.format("0.2")))
    assert main(["run", "mount.toml", "-q"]) == 0
    damped = read("mount.csv")["engine.z"][-1]
    write_model(folder, ('until = "50 ms"', ALPHA.format("1.0")))
    assert main(["run", "mount.toml", "-q"]) == 0
    assert read("mount.csv")["engine.z"][-1] != damped
    # the options of one method are left out for another one
    assert main(["run", "mount.toml", "-q", "--integrator", "radau5"]) == 0


@pytest.mark.parametrize(
    ("value", "message"),
    [('"much"', "simulation: rho_infinity is 'much', needs"), ("2.0", "rho_infinity is 2.0")],
)
def test_a_wrong_option_of_an_integrator_in_a_model_file(
    folder: Path, capsys: Captured, value: str, message: str
) -> None:
    write_model(folder, ('until = "50 ms"', ALPHA.format(value)))
    assert main(["run", "mount.toml"]) == 2
    assert message in capsys.readouterr().err


def test_a_second_opinion_that_agrees(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    assert main(["run", "mount.toml", "--verify"]) == 0
    output = capsys.readouterr().out
    assert re.search(
        r"^tenth of the tolerance +integrators\.runge_kutta_merson, accuracy 1e-07", output, re.M
    )
    assert "another method" in output
    assert re.search(r"^engine\.z +\d+\.\d", output, re.MULTILINE)
    assert output.splitlines()[-1].startswith("All signals agree to ")


def test_a_second_opinion_that_differs_has_status_1(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    options = ["--integrator", "runge_kutta_4", "--fixed-step", "12 ms", "--quiet", "--verify"]
    assert main(["run", "mount.toml", *options]) == 1
    assert capsys.readouterr().out.startswith("Not confirmed: ")
    assert read("mount.csv").time[-1] == 0.05  # the results are written all the same


def test_a_resumed_run_has_no_second_opinion(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    assert main(["run", "mount.toml", "--verify", "--resume", "there.state"]) != 0
    assert "leave --resume out" in capsys.readouterr().err
