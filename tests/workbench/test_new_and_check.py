"""``cosim new`` and ``cosim check``: a package of one class of each kind is found, checked and exported."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cosim.cli import main
from cosim_workbench import check_command

KINDS = (
    *("component", "constraint", "force_element", "integrator", "joint", "master_algorithm", "measure"),
    "participant",
)
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with one of each kind, not installed: its metadata lie beside it."""
    folder = tmp_path_factory.mktemp("new")
    for kind in KINDS:
        assert main(["new", kind, f"acme.my_{kind}", "-C", str(folder), "--no-install"]) == 0
    information = folder / "acme" / "cosim_acme-0.1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: cosim-acme\nVersion: 0.1.0\n")
    (information / "entry_points.txt").write_text("[cosim]\nacme = cosim_acme.plugin\n")
    return folder / "acme"


def cosim_with(package: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in plain Python in a process that finds the package."""
    paths = os.pathsep.join([str(package), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": paths, "COSIM_PLAIN": "1"}
    command = [sys.executable, "-m", "cosim", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)


def test_one_of_each_kind_is_listed(package: Path) -> None:
    plugins = json.loads(cosim_with(package, "plugins", "--json").stdout)["result"]["plugins"]
    (acme,) = [plugin for plugin in plugins if plugin["name"] == "acme"]
    assert acme["registers"] == {kind: [f"acme.my_{kind}"] for kind in KINDS}
    assert acme["status"] == "loaded"


@pytest.mark.parametrize(
    "kind",
    [
        "component",
        *(
            pytest.param(kind, marks=pytest.mark.thorough)
            for kind in ("master_algorithm", "measure", "joint", "participant")
        ),
    ],
)
def test_a_new_class_passes_its_checks(package: Path, kind: str) -> None:
    process = cosim_with(package, "check", f"acme.my_{kind}", "-k", "not compiled")
    assert process.returncode == 0, process.stdout + process.stderr
    assert "FAILED" not in process.stdout and "warning" not in process.stdout
    assert f"acme.my_{kind}: " in process.stdout and " passed" in process.stdout


def test_a_fault_and_a_missing_law_are_found(package: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    subprocess.run(["cp", "-r", str(package), str(broken)], check=True)
    file = broken / "cosim_acme" / "my_measure.py"
    file.write_text(file.read_text().replace("first_dot + factor", "first_dot - factor").replace("Law", "L"))
    process = cosim_with(broken, "check", "acme.my_measure", "--json", "-k", "derivative or docstring")
    assert process.returncode == 1
    (run,) = json.loads(process.stdout)["result"]["checked"]
    outcomes = {check["check"]: check for check in run["checks"]}
    assert outcomes["derivative is that of the value"]["outcome"] == "failed"
    assert "value_dot is" in outcomes["derivative is that of the value"]["message"]
    assert outcomes["docstring"]["outcome"] == "warning"
    assert "lacks its law" in outcomes["docstring"]["message"]


REPORT = ("-k", "docstring or power", "--report")


@pytest.mark.thorough
def test_a_report_shows_failed_checks(package: Path, tmp_path: Path) -> None:
    broken, page = tmp_path / "broken", tmp_path / "acme.html"
    subprocess.run(["cp", "-r", str(package), str(broken)], check=True)
    file = broken / "cosim_acme" / "my_force_element.py"
    text = file.read_text()
    file.write_text(text.replace("scaled(-1.0, pull)", "scaled(-0.5, pull)"))
    assert file.read_text() != text
    process = cosim_with(broken, "check", "acme.my_force_element", *REPORT, str(page))
    assert process.returncode == 1, process.stdout + process.stderr
    html = page.read_text("utf-8")
    assert '<td class="bad">does not balance</td>' in html and "1 class: 1 of 1 failed" in html
    assert re.search(r'<td class="bad">(1 failed, 1 passed|1 passed, 1 failed)</td>', html)
    assert "<b>failed</b> power" in html


@pytest.mark.thorough
def test_a_report_shows_passed_checks(package: Path, tmp_path: Path) -> None:
    page = tmp_path / "acme.html"
    process = cosim_with(package, "check", "acme.my_force_element", *REPORT, str(page))
    assert process.returncode == 0, process.stdout + process.stderr
    html = page.read_text("utf-8")
    assert '<td class="good">balances' in html and "1 class: all checks" in html
    assert re.search(r"\d+ ns</td><td[^>]*>\d+\.\d × mechanics\.linear_bushing<", html)
    assert "without Python (native FMU)" in html


def test_a_report_has_a_folder_before_the_checks_run(tmp_path: Path, capsys: Captured) -> None:
    assert main(["check", "signals.logic", "--report", str(tmp_path / "none" / "page.html")]) == 2
    assert "none" in capsys.readouterr().err


def test_a_model_and_a_scenario_run_and_their_tests_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "model", "mount"]) == 0
    assert main(["new", "scenario", "loop"]) == 0
    assert main(["run", "mount/mount.toml", "-q"]) == 0
    assert main(["cosimulate", "loop/loop.toml"]) == 0
    capsys.readouterr()
    status = pytest.main(["-q", "-p", "no:cacheprovider", "-c", os.devnull, "mount", "loop"])
    output = capsys.readouterr().out
    assert status == 0 and "2 passed" in output, output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["new", "force", "acme.x"], "Nearest: force_element"),
        (["new", "measure", "Acme.X"], "is not a name: use small letters"),
        (["new", "measure", "acme.class"], "is not a name: use small letters"),
        (["new", "measure"], "give a kind and a name"),
        (["check", "mechanics.two_point_sprung"], "Nearest: mechanics.two_point_spring"),
        (["check", "measures.delay", "delay"], "needs PARAMETER=VALUE"),
        (["check", "mechanics.two_point_spring", "stifness=3"], "Nearest: stiffness"),
    ],
)
def test_wrong_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_existing_folder_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "model", "mount"]) == 0
    assert main(["new", "model", "mount"]) == 2
    assert "there already" in capsys.readouterr().err


def test_an_installed_package_of_the_same_name_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    elsewhere, information = tmp_path / "elsewhere", tmp_path / "site" / "cosim_zzz-1.2.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: cosim-zzz\nVersion: 1.2\n")
    (information / "direct_url.json").write_text(json.dumps({"url": (elsewhere / "zzz").as_uri()}))
    monkeypatch.syspath_prepend(str(information.parent))
    assert main(["new", "measure", "zzz.mean", "-C", str(tmp_path / "new")]) == 2
    errors = capsys.readouterr().err
    assert f"cosim-zzz 1.2 is installed from {elsewhere / 'zzz'}" in errors and f"-C {elsewhere}" in errors
    assert not (tmp_path / "new").exists()
    assert main(["new", "measure", "zzz.mean", "-C", str(tmp_path / "new"), "--no-install"]) == 0


def test_the_command_in_the_readme_of_a_new_folder_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    for kind in ("model", "scenario"):
        assert main(["new", kind, kind, "-C", str(tmp_path)]) == 0
        monkeypatch.chdir(tmp_path / kind)
        lines = Path("README.md").read_text("utf-8").splitlines()
        (words,) = [line.split()[1:] for line in lines if line.startswith("    cosim ")]
        assert main(words) == 0
        assert Path(f"{kind}.svg").read_text("utf-8").startswith("<?xml")
        assert f"plot → {kind}.svg" in capsys.readouterr().out


USE = """
import cosim
from cosim_mechanics import Multibody

model = Multibody("foreign", gravity=(0, 0, -9.81))
block = model.body("block", mass=2.0, inertia=(0.1, 0.1, 0.1))
other = model.body("other", mass=1.0, inertia=(0.1, 0.1, 0.1))
third = model.body("third", mass=1.0, inertia=(0.1, 0.1, 0.1))
model.joint("acme.my_joint", child=block)
model.joint("slider", child=other)
model.joint("slider", child=third)
model.add("acme.my_force_element", "spring", body1="ground", body2=block, stiffness=100.0)
ends = {"coordinate1": "other_joint", "coordinate2": "third_joint"}
model.constraint("acme.my_constraint", "gear", ratio=2.0, **ends)
model.add("acme.my_component", "own", rate=1.0)
model.measure("acme.my_measure", "mean", first="block.x", second="other.x")
method = {"integrator": "integrators.runge_kutta_merson", "accuracy": 1e-9}
print(float(model.simulate(until=0.2, **method)["mean"][-1]))
model.export_fmu("foreign.fmu", native=True, outputs=["mean"], expose=["other_joint.q"], **method)

free = Multibody("free")
free.joint("acme.my_joint", child=free.body("block", mass=2.0, inertia=(0.1, 0.1, 0.1)))
free.export_fmu("own_method.fmu", native=True, integrator="acme.my_integrator", fixed_step=1e-3)
"""
HOST = """
import sys
import fmpy
assert not any(name.startswith("cosim") for name in sys.modules)
result = fmpy.simulate_fmu("foreign.fmu", stop_time=0.2, output_interval=0.01)
print(float(result["mean"][-1]))
fmpy.simulate_fmu("own_method.fmu", stop_time=0.1, output_interval=0.01)
"""


@pytest.mark.thorough
def test_classes_of_each_kind_are_exported_natively(package: Path, tmp_path: Path) -> None:
    """The native FMU runs where neither the package nor cosim is imported."""
    (tmp_path / "use.py").write_text(USE)
    (tmp_path / "host.py").write_text(HOST)
    paths = os.pathsep.join([str(package), *filter(None, sys.path)])
    environment = {name: value for name, value in os.environ.items() if name != "COSIM_PLAIN"}

    def run(script: str, paths: str) -> float:
        """The last number that a script prints."""
        process = subprocess.run(
            [sys.executable, script],
            cwd=tmp_path,
            env={**environment, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
        )
        assert process.returncode == 0, process.stderr
        return float(process.stdout.splitlines()[-1])

    simulated = run("use.py", paths)
    assert run("host.py", "") == pytest.approx(simulated, rel=1e-6)


@pytest.mark.thorough
def test_without_the_package_its_ids_are_explained_and_no_plugin_fails() -> None:
    process = cosim_with(Path("nowhere"), "describe", "acme.my_joint")
    assert process.returncode == 2 and "plugin 'acme' is installed" in process.stderr
    assert cosim_with(Path("nowhere"), "plugins", "--strict").returncode == 0


def test_classes_of_co_simulations_are_checked(capsys: Captured) -> None:
    assert main(["check", "fmu.jacobi", "-k", "explained or algorithm"]) == 0
    assert "fmu.jacobi: MasterAlgorithmContract" in capsys.readouterr().out
    assert main(["check", "fmu.co_simulation"]) == 2
    assert "required argument: 'path'" in capsys.readouterr().err
    assert main(["check", "fmu.validate"]) == 2
    assert "fmu.validate: this command checks components" in capsys.readouterr().err


def test_a_class_that_cannot_be_made_up_does_not_end_the_check(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    with_kit = check_command._with_kit()
    entries = [with_kit["fmu.model_exchange"][0], *with_kit["measures.minus"]]
    monkeypatch.setattr(check_command, "_entries", lambda name: entries)
    assert main(["check", "several", "-k", "no_check_has_this_name"]) == 1
    output = capsys.readouterr().out
    assert "fmu.model_exchange: nothing was checked" in output
    assert "cosim check fmu.model_exchange NAME=VALUE" in output
    assert "measures.minus: MeasureContract" in output


@pytest.mark.parametrize(
    "words", [["new", "force_element", "acme.soft"], ["new", "--list"], ["check", "fmu.jacobi"]]
)
def test_without_the_test_libraries_the_extra_to_install_is_named(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)  # as where it is not installed
    monkeypatch.chdir(tmp_path)
    assert main(words) != 0
    assert "pip install 'cosim-framework[testing]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
