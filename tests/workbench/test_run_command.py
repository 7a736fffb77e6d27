"""`cosim run`, `cosim info`, `cosim export` as they are typed."""

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


def read(path: str) -> cosim.Result:
    found: cosim.Result = cosim.registry().get("result_sink", "workbench.csv")().read(Path(path))
    return found


def test_run(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    assert main(["run", "mount.toml"]) == 0
    said = capsys.readouterr()
    for word in ("engine_mount", "RungeKuttaMerson", "1e-06", "steps", "energy.total", "engine.z"):
        assert word in said.out
    assert said.out.endswith("results → mount.csv\n")
    assert said.err in ("", NOTICE + "\n")  # the first run on this machine compiles
    assert len(said.out.splitlines()) <= 24
    assert read("mount.csv").time[-1] == 0.05
    assert len(read("mount.csv")) == 51


def test_the_end_of_a_run_that_nothing_gives_is_said(folder: Path, capsys: Captured) -> None:
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


def test_the_file_is_the_same_model_as_in_python(folder: Path) -> None:
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


def test_options_come_before_the_file(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    words = ["--until", "20 ms", "--accuracy", "1e-4", "--integrator", "dormand_prince"]
    assert main(["run", "mount.toml", *words]) == 0
    said = capsys.readouterr().out
    assert "DormandPrince (order 5), accuracy 0.0001" in said
    assert read("mount.csv").time[-1] == 0.02


def test_quiet_says_nothing(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    assert main(["run", "mount.toml", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_plot(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    write_model(folder)
    assert main(["run", "mount.toml", "--quiet", "--plot", "mount.png"]) == 0
    assert (folder / "mount.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "said"),
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
def test_bad_options(folder: Path, capsys: Captured, words: list[str], said: str) -> None:
    before = write_model(folder).read_bytes()
    assert main(["run", "mount.toml", *words]) == 2
    shown = capsys.readouterr()
    assert said in shown.err and "Traceback" not in shown.err
    assert shown.out == ""
    assert [p.name for p in folder.iterdir()] == ["mount.toml"]
    assert (folder / "mount.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("error", "status"), [(cosim.SimulationError(0.02, "not finite"), 1), (KeyboardInterrupt(), 130)]
)
def test_what_was_computed_is_kept(
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
    said = capsys.readouterr()
    assert "up to t = 0.02" in said.err and "mount.csv" in said.err
    assert "Traceback" not in said.err
    partial = read("mount.csv")
    assert 0.02 <= partial.time[-1] < 0.05
    assert partial["engine.z"].size == partial.time.size


@pytest.mark.by_turns
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("ctrl_c", [signal.default_int_handler, signal.SIG_IGN])  # as of `cosim … &`
def test_what_was_computed_is_kept_at_sigterm(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, ctrl_c: Any, suffix: str
) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr("cosim.simulation.stride.FIRST_STRIDE", 1)
    monkeypatch.setattr("cosim.simulation.stride.PATIENCE", 0.0)
    step = cosim.Simulator.advance_some
    interrupted_at = []

    def terminated(self: cosim.Simulator, *arguments: Any) -> Any:
        if self.state.time > 0.02 and not interrupted_at:
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL  # else it ended these tests
            signal.raise_signal(signal.SIGTERM)
            interrupted_at.append(self.state.time)
        return step(self, *arguments)  # the step that has begun is done

    monkeypatch.setattr(cosim.Simulator, "advance_some", terminated)
    write_model(folder)
    before = signal.signal(signal.SIGINT, ctrl_c), signal.getsignal(signal.SIGTERM)
    try:
        assert main(["run", "mount.toml", "-o", f"mount.{suffix}"]) == 143
        assert signal.getsignal(signal.SIGINT) is ctrl_c
        assert signal.getsignal(signal.SIGTERM) is before[1]
    finally:
        signal.signal(signal.SIGINT, before[0])
    said = capsys.readouterr().err
    assert said.endswith("terminated\n") and f"s → mount.{suffix}" in said and "Traceback" not in said
    assert interrupted_at[0] <= cosim.read_result(f"mount.{suffix}").time[-1] < 0.05


def test_info_of_each_kind(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    assert main(["info", "mount.toml"]) == 0
    said = capsys.readouterr().out
    for word in ("engine_mount", "mount_left", "mechanics.linear_bushing", "vertical_speed"):
        assert word in said
    schedule = said[said.index("schedule") :].splitlines()
    assert re.fullmatch(r"schedule   \d+ blocks", schedule[0])
    counts = {line.split()[0]: int(line.split()[-2]) for line in schedule[1:]}
    assert counts["DYNAMICS"] >= 1 and counts["ACCELERATION"] >= 1
    assert sum(counts.values()) == int(schedule[0].split()[1])
    assert main(["run", "mount.toml", "--quiet"]) == 0
    assert main(["info", "mount.csv"]) == 0
    said = capsys.readouterr().out
    assert "51 points" in said and "engine.z" in said


def test_export_and_info_of_the_fmu(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    words = ["-o", "mount.fmu", "--outputs", "engine.z,vertical_speed"]
    assert main(["export", "mount.toml", "--python", *words]) == 0
    assert (folder / "mount.fmu").is_file()
    capsys.readouterr()
    assert main(["info", "mount.fmu"]) == 0
    said = capsys.readouterr().out
    assert "FMI 2.0 Co-Simulation" in said and "engine.z" in said and "mount_left.stiffness[4]" in said


def test_export_of_a_model_with_faults_names_their_lines(folder: Path, capsys: Captured) -> None:
    write_model(folder, more='[[connections]]\nfrom = "engine.z"\nto = "mount_left.stiffness"\n')
    assert main(["export", "mount.toml"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("mount.toml:26: connections[0] ") and said.endswith(
        "1 problem, nothing was run.\n"
    )
    assert not (folder / "mount.fmu").exists()


def test_export_of_what_is_not_there(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    assert main(["export", "mount.toml", "--python", "-o", "mount.fmu", "--outputs", "engine.zz"]) == 2
    assert "engine.z" in capsys.readouterr().err
    assert not (folder / "mount.fmu").exists()


@pytest.mark.parametrize("name", ["missing.toml", "missing.csv", "missing.fmu", "mount.xyz"])
def test_info_of_nothing(folder: Path, capsys: Captured, name: str) -> None:
    (folder / "mount.xyz").write_text("?")
    assert main(["info", name]) == 2
    said = capsys.readouterr().err
    assert name in said and "Traceback" not in said


def test_a_model_file_gives_an_integrator_its_own_options(folder: Path, capsys: Captured) -> None:
    chosen = 'integrator = "generalized_alpha"\nfixed_step = "1 ms"\nrho_infinity = {}\nuntil = "50 ms"'
    write_model(folder, ('until = "50 ms"', chosen.format("0.2")))
    assert main(["run", "mount.toml", "-q"]) == 0
    damped = read("mount.csv")["engine.z"][-1]
    write_model(folder, ('until = "50 ms"', chosen.format("1.0")))
    assert main(["run", "mount.toml", "-q"]) == 0
    assert read("mount.csv")["engine.z"][-1] != damped
    assert main(["run", "mount.toml", "-q", "--integrator", "radau5"]) == 0
    capsys.readouterr()
    write_model(folder, ('until = "50 ms"', chosen.format('"much"')))
    assert main(["run", "mount.toml"]) == 2
    assert "simulation: rho_infinity is 'much', needs" in capsys.readouterr().err
    write_model(folder, ('until = "50 ms"', chosen.format("2.0")))
    assert main(["run", "mount.toml"]) == 2
    assert "rho_infinity is 2.0" in capsys.readouterr().err


def test_a_second_opinion(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    assert main(["run", "mount.toml", "--verify"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^tenth of the tolerance +integrators\.runge_kutta_merson, accuracy 1e-07", said, re.M)
    assert "another method" in said
    assert re.search(r"^engine\.z +\d+\.\d", said, re.MULTILINE)
    assert said.splitlines()[-1].startswith("All signals agree to ")


def test_a_second_opinion_that_differs_is_a_status(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    options = ["--integrator", "runge_kutta_4", "--fixed-step", "12 ms", "--quiet", "--verify"]
    assert main(["run", "mount.toml", *options]) == 1
    assert capsys.readouterr().out.startswith("Not confirmed: ")
    assert read("mount.csv").time[-1] == 0.05  # what was computed is there


def test_a_second_opinion_is_one_of_a_whole_run(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    assert main(["run", "mount.toml", "--verify", "--resume", "there.state"]) != 0
    assert "leave --resume out" in capsys.readouterr().err
