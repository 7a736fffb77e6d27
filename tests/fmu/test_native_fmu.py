"""Native FMUs for FMI 2.0: the bits of the run in Python, states, derivatives, wrong calls, other hosts."""

from __future__ import annotations

import ctypes
import math
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from c_programs import SOURCES, build, c_compiler
from export_tools import Fmu, running
from native_tools import WARNINGS, InProcess, export_native, needs_compiler, oscillator, own_platform

import cosim
from cosim_export.native import compilers
from cosim_export.native.native_sources import SHELL

pytestmark = needs_compiler
MERSON = "integrators.runge_kutta_merson"
OPTIONS: dict[str, Any] = {"step_size": 0.01, "exact_derivatives": True}
# the call, and words of the message
WRONG_CALLS: dict[str, tuple[Callable[[Fmu], Any], str]] = {
    "a step before initialization": (lambda f: f.slave.doStep(0.0, 0.1), "instantiated"),
    "no number": (lambda f: f.start().__setitem__("osc.force", math.nan), "finite"),
    "infinite": (lambda f: f.start().__setitem__("osc.mass", math.inf), "finite"),
    "below the bound": (lambda f: f.start().__setitem__("osc.mass", 0.0), "needs at least 0.1"),
    "above the bound": (lambda f: f.start().__setitem__("osc.mass", 2e3), "needs at most 1000"),
    "an output": (lambda f: f.start().__setitem__("osc.position", 1.0), "cannot be set"),
    "a state while running": (lambda f: f.start().__setitem__("osc.x", 1.0), "before initialization ends"),
    "no variable": (lambda f: f.slave.getReal([99]), "no variable has the value reference 99"),
    "another type": (lambda f: f.slave.getInteger([0]), "is a real number"),
    "Boolean": (lambda f: f.slave.getBoolean([0]), "is a real number, not a Boolean"),
    "a step back": (lambda f: f.start().slave.doStep(0.0, -0.1), "more than 0"),
    "no step": (lambda f: f.start().slave.doStep(0.0, 0.0), "more than 0"),
    "an endless step": (lambda f: f.start().slave.doStep(0.0, math.inf), "finite"),
    "another time": (lambda f: f.start().slave.doStep(1.0, 0.1), "is at t = 0 s"),
    "past the end": (lambda f: f.start(stop=0.05).slave.doStep(0.0, 0.1), "stop time"),
    "a bad tolerance": (lambda f: f.start(tolerance=2.0), "between 0 and 1"),
    "initialized twice": (lambda f: f.start().slave.enterInitializationMode(), "not allowed here"),
    "a log category": (lambda f: f.slave.setDebugLogging(True, ["gossip"]), "no log category 'gossip'"),
    "Model Exchange calls": (lambda f: f.start().slave.setTime(0.1), "between steps"),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_native(oscillator(), tmp_path_factory.mktemp("native") / "oscillator.fmu", **OPTIONS)


@pytest.fixture
def fmu(path: Path) -> Iterator[Fmu]:
    with running(path) as instance:
        yield instance


def test_every_variable_equals_the_run_in_python_to_the_last_bit(fmu: Fmu) -> None:
    values = {"osc.mass": 1.7, "osc.x": 0.25, "osc.force": 1.0}
    fmu.start(**values)
    in_python = InProcess(oscillator(), MERSON, 1e-6).start(**values)
    for i in range(60):
        force = math.sin(0.3 * i)
        if i == 30:
            fmu["osc.stiffness"] = in_python["osc.stiffness"] = 80.0
        fmu["osc.force"] = in_python["osc.force"] = force
        fmu.steps(i, i + 1)
        in_python.advance(i * 0.01 + 0.01)
        assert fmu.all() == in_python.all()
    assert not fmu.messages


def test_variables_are_described_as_in_the_fmu_that_runs_python(path: Path, tmp_path: Path) -> None:
    from fmpy import read_model_description
    from fmpy.validation import validate_fmu

    python_path = oscillator().export_fmu(tmp_path / "python.fmu", all=True, native=False)
    native, python = read_model_description(str(path)), read_model_description(str(python_path))
    assert validate_fmu(str(path)) == []
    identity = ("name", "valueReference", "causality", "variability", "initial")
    attributes = (*identity, "unit", "start", "min", "max")
    rows = [[tuple(getattr(v, a) for a in attributes) for v in d.modelVariables] for d in (native, python)]
    assert rows[0] == rows[1]
    assert native.modelExchange is not None and native.coSimulation.providesDirectionalDerivative


def test_the_library_imports_only_from_the_c_library(fmu: Fmu) -> None:
    library = next(fmu.folder.rglob("*.so"))
    symbols = subprocess.run(["nm", "-D", str(library)], capture_output=True, text=True, check=True).stdout
    defined = {line.split()[-1] for line in symbols.splitlines() if " T " in line}
    assert defined and all(name.startswith("fmi2") for name in defined)
    imported = {line.split()[-1] for line in symbols.splitlines() if " U " in line}
    assert all("@GLIBC" in name for name in imported) and not any("Py" in name for name in imported)


def test_states_are_restored_in_this_and_in_another_process(fmu: Fmu, path: Path) -> None:
    fmu.start()
    fmu.steps(0, 10)
    state = fmu.slave.getFMUState()
    data = fmu.slave.serializeFMUState(state)
    fmu.steps(10, 20)
    expected = fmu.all()
    fmu.slave.setFMUState(state)
    fmu.steps(10, 20)
    assert fmu.all() == expected
    fmu.slave.freeFMUState(state)

    # another process continues from the bytes
    (fmu.folder / "state").write_bytes(data)
    code = (
        "import sys; from pathlib import Path; from export_tools import running\n"
        "with running(Path(sys.argv[1])) as fmu:\n"
        "    data = Path(sys.argv[2]).read_bytes()\n"
        "    fmu.slave.setFMUState(fmu.slave.deserializeFMUState(data))\n"
        "    fmu.steps(10, 20); print([x.hex() for x in fmu.all()])\n"
    )
    command = [sys.executable, "-c", code, str(path), str(fmu.folder / "state")]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([x.hex() for x in expected])


def test_hostile_bytes_are_refused_and_change_nothing(fmu: Fmu) -> None:
    from fmpy.fmi1 import FMICallException

    fmu.start()
    fmu.steps(0, 3)
    state = fmu.slave.getFMUState()
    valid = bytes(fmu.slave.serializeFMUState(state))
    values = fmu.all()
    # too short, too long, no mark; single bits; an impossible length
    damaged = [b"", b"x" * 8, valid[:-8], valid + bytes(8), bytes(8) + valid[8:]]
    damaged += [valid[:i] + bytes([valid[i] ^ 1]) + valid[i + 1 :] for i in range(0, len(valid), 7)]
    damaged.append(valid[:24] + struct.pack("<Q", 2**63) + valid[32:])
    for data in damaged:
        with pytest.raises(FMICallException):
            fmu.slave.deserializeFMUState(data)
    assert fmu.all() == values and len(fmu.messages) == len(damaged)
    assert "another FMU" in " ".join(fmu.messages) and "damaged" in " ".join(fmu.messages)
    fmu.steps(3, 4)


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_wrong_calls_are_errors_with_a_message(fmu: Fmu, name: str) -> None:
    from fmpy.fmi1 import FMICallException

    call, message = WRONG_CALLS[name]
    if name == "Model Exchange calls":  # fmpy's slave lacks them
        function = fmu.slave.dll.fmi2SetTime
        function.argtypes = [ctypes.c_void_p, ctypes.c_double]
        fmu.start()
        assert function(fmu.slave.component, 0.1) == 3
    else:
        with pytest.raises(FMICallException):
            call(fmu)
    assert message in fmu.messages[-1]


def test_instances_are_independent_and_reset_restores_the_start(path: Path) -> None:
    with running(path) as fmu_1, running(path) as fmu_2:
        fmu_1.start(**{"osc.mass": 3.0})
        fmu_2.start()
        for i in range(10):
            fmu_1.steps(i, i + 1)
            fmu_2.steps(i, i + 1)
        expected = fmu_2.all()
        fmu_1.slave.terminate()
        fmu_1.slave.reset()
        assert fmu_1["osc.mass"] == 2.0
        fmu_1.start()
        fmu_1.steps(0, 10)
        assert fmu_1.all() == expected == fmu_2.all()


def test_directional_derivatives(fmu: Fmu) -> None:
    fmu.start(**{"osc.force": 0.5})
    fmu.steps(0, 7)
    before = fmu.all()
    references = fmu.references
    unknowns = [
        references["der(osc.v)"],
        references["osc.position"],
        references["der(osc.dissipated_energy)"],
    ]
    knowns = [references["osc.x"], references["osc.v"], references["osc.force"]]
    derivatives = fmu.slave.getDirectionalDerivative(unknowns, knowns, [1.0, 2.0, -3.0])
    v = fmu["osc.v"]
    expected = [(-50.0 * 1.0 - 0.4 * 2.0 - 3.0) / 2.0, 1.0, 2.0 * 0.4 * v * 2.0]
    assert derivatives == pytest.approx(expected, rel=1e-14, abs=1e-15)
    assert fmu.all() == before


def test_model_exchange_in_fmpy(path: Path) -> None:
    from fmpy import simulate_fmu

    rows = simulate_fmu(
        str(path), fmi_type="ModelExchange", stop_time=1.0, relative_tolerance=1e-9, output=["osc.position"]
    )
    in_python = InProcess(oscillator(), MERSON, 1e-10).start()
    in_python.advance(1.0)
    assert rows["osc.position"][-1] == pytest.approx(in_python["osc.position"], rel=1e-6)


def test_the_same_model_gives_the_same_bytes(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the C compiler runs again."""
    monkeypatch.setattr(compilers, "read_cached", lambda digest: None)
    second_export = export_native(oscillator(), tmp_path / "again.fmu", **OPTIONS)
    assert second_export.read_bytes() == path.read_bytes()


@pytest.mark.thorough
def test_a_library_is_compiled_once(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "_run", lambda *arguments: pytest.fail("the C compiler runs again"))
    second_export = export_native(oscillator(), tmp_path / "again.fmu", **OPTIONS)
    assert second_export.read_bytes() == path.read_bytes()
    with pytest.raises(BaseException, match="runs again"):
        export_native(oscillator(), tmp_path / "another.fmu", step_size=0.02)


def test_all_parts_that_cannot_be_lowered_are_named(tmp_path: Path) -> None:
    class PythonOnly(cosim.Component):
        """A component whose law is a Python method."""

        x = cosim.auxiliary_state()

        def derivatives(self, x, x_dot):
            x_dot[0] = -x

    model = cosim.Model("spoken")
    model.add(PythonOnly, "one")
    model.add(PythonOnly, "two")
    with pytest.raises(cosim.ModelError) as caught:
        export_native(model, tmp_path / "spoken.fmu", integrator="integrators.scipy_radau")
    text = str(caught.value)
    assert "one" in text and "two" in text and "kernel function" in text and "integrators.radau5" in text
    assert not (tmp_path / "spoken.fmu").exists()
    with pytest.raises(cosim.ModelError, match="'linux65'.*linux64"):
        model.export_fmu(tmp_path / "spoken.fmu", native=True, platforms=["linux65"])


@pytest.mark.thorough
@pytest.mark.parametrize("compiler", ["own", "zig"])
def test_the_c_files_give_no_warnings(compiler: str, tmp_path: Path) -> None:
    if compiler == "zig":
        pytest.importorskip("ziglang")
        command = [sys.executable, "-m", "ziglang", "cc"]
    else:
        command = [c_compiler()]
    files = sorted(SHELL.glob("*.c"))
    assert files
    for file in files:
        arguments = ["-c", str(file), "-o", str(tmp_path / "file.o")]
        subprocess.run([*command, *WARNINGS, *arguments], check=True)


def test_a_host_in_c_gets_the_same_values(path: Path, tmp_path: Path, fmu: Fmu) -> None:
    program = build(tmp_path / "host", ["-O1", "-ldl"], [SOURCES / "host.c"])
    names = ["osc.position", "osc.acceleration"]
    references = [str(fmu.references[name]) for name in names]
    library = next(fmu.folder.rglob("*.so"))
    steps, step_size, runs = "20", "0.01", "3"
    command = [str(program), str(library), "file:///nowhere", fmu.description.guid]
    command += [steps, step_size, runs, *references]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={})
    fmu.start()
    expected = []
    for i in range(20):
        fmu.steps(i, i + 1)
        expected.append([fmu[name] for name in names])
    rows = [[float(x) for x in line.split()] for line in done.stdout.splitlines() if line]
    assert rows[:20] == expected and len(rows) >= 60 and rows[-1] == expected[-1]


def test_a_native_export_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from cosim.cli import main

    model = tmp_path / "swing.toml"
    model.write_text('[model]\nname = "swing"\n[measures.wave]\ntype = "measures.sinusoid"\n', "utf-8")
    target = tmp_path / "swing.fmu"
    assert main(["export", str(model), "-o", str(target), "--python", "--kind", "cs"]) != 0
    assert "--kind is for native FMUs" in capsys.readouterr().err
    assert main(["export", str(model), "-o", str(target), "--native", "--platforms", "linux65"]) != 0
    assert "linux64" in capsys.readouterr().err and not target.exists()
    platform = str(own_platform())
    options = ["--native", "--platforms", platform, "--kind", "cs"]
    assert main(["export", str(model), "-o", str(target), *options]) == 0
    with running(target) as fmu:
        assert fmu.description.modelExchange is None
        fmu.start().steps(0, 100)
        assert fmu["wave"] == pytest.approx(math.sin(1.0), abs=1e-12)
