"""Native FMUs for FMI 2.0: machine code alone, with the results of the run in Python to the last bit."""

from __future__ import annotations

import ctypes
import math
import struct
import subprocess
import sys
from collections.abc import Iterator
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


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_native(oscillator(), tmp_path_factory.mktemp("native") / "oscillator.fmu", **OPTIONS)


@pytest.fixture
def fmu(path: Path) -> Iterator[Fmu]:
    with running(path) as found:
        yield found


def test_every_variable_equals_the_run_in_python_to_the_last_bit(fmu: Fmu) -> None:
    values = {"osc.mass": 1.7, "osc.x": 0.25, "osc.force": 1.0}
    fmu.start(**values)
    here = InProcess(oscillator(), MERSON, 1e-6).start(**values)
    for i in range(60):
        force = math.sin(0.3 * i)
        if i == 30:
            fmu["osc.stiffness"] = here["osc.stiffness"] = 80.0
        fmu["osc.force"] = here["osc.force"] = force
        fmu.steps(i, i + 1)
        here.advance(i * 0.01 + 0.01)
        assert fmu.all() == here.all()
    assert not fmu.messages


def test_names_references_units_and_the_rest_are_those_of_the_fmu_that_runs_python(
    path: Path, tmp_path: Path
) -> None:
    from fmpy import read_model_description
    from fmpy.validation import validate_fmu

    other = oscillator().export_fmu(tmp_path / "python.fmu", all=True, native=False)
    mine, theirs = read_model_description(str(path)), read_model_description(str(other))
    assert validate_fmu(str(path)) == []
    attributes = (
        "name",
        "valueReference",
        "causality",
        "variability",
        "initial",
        "unit",
        "start",
        "min",
        "max",
    )
    rows = [[tuple(getattr(v, a) for a in attributes) for v in d.modelVariables] for d in (mine, theirs)]
    assert rows[0] == rows[1]
    assert mine.modelExchange is not None and mine.coSimulation.providesDirectionalDerivative


def test_the_library_needs_the_c_library_alone(fmu: Fmu) -> None:
    library = next(fmu.folder.rglob("*.so"))
    shown = subprocess.run(["nm", "-D", str(library)], capture_output=True, text=True, check=True).stdout
    defined = {line.split()[-1] for line in shown.splitlines() if " T " in line}
    assert defined and all(name.startswith("fmi2") for name in defined)
    needed = {line.split()[-1] for line in shown.splitlines() if " U " in line}
    assert all("@GLIBC" in name for name in needed) and not any("Py" in name for name in needed)


def test_states_are_saved_restored_and_carried_to_another_process(fmu: Fmu, path: Path) -> None:
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
    good = bytes(fmu.slave.serializeFMUState(state))
    before = fmu.all()
    bad = [b"", b"x" * 8, good[:-8], good + bytes(8), bytes(8) + good[8:]]
    bad += [good[:i] + bytes([good[i] ^ 1]) + good[i + 1 :] for i in range(0, len(good), 7)]
    bad.append(good[:24] + struct.pack("<Q", 2**63) + good[32:])
    for data in bad:
        with pytest.raises(FMICallException):
            fmu.slave.deserializeFMUState(data)
    assert fmu.all() == before and len(fmu.messages) == len(bad)
    assert "another FMU" in " ".join(fmu.messages) and "damaged" in " ".join(fmu.messages)
    fmu.steps(3, 4)


WRONG = {
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


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls_are_errors_with_a_message(fmu: Fmu, name: str) -> None:
    from fmpy.fmi1 import FMICallException

    call, said = WRONG[name]
    if name == "Model Exchange calls":
        function = fmu.slave.dll.fmi2SetTime
        function.argtypes = [ctypes.c_void_p, ctypes.c_double]
        fmu.start()
        assert function(fmu.slave.component, 0.1) == 3
    else:
        with pytest.raises(FMICallException):
            call(fmu)
    assert said in fmu.messages[-1]


def test_reset_and_several_instances(path: Path) -> None:
    with running(path) as one, running(path) as two:
        one.start(**{"osc.mass": 3.0})
        two.start()
        for i in range(10):
            one.steps(i, i + 1)
            two.steps(i, i + 1)
        alone = two.all()
        one.slave.terminate()
        one.slave.reset()
        assert one["osc.mass"] == 2.0
        one.start()
        one.steps(0, 10)
        assert one.all() == alone == two.all()


def test_directional_derivatives(fmu: Fmu) -> None:
    fmu.start(**{"osc.force": 0.5})
    fmu.steps(0, 7)
    before = fmu.all()
    r = fmu.references
    unknowns = [r["der(osc.v)"], r["osc.position"], r["der(osc.dissipated_energy)"]]
    knowns = [r["osc.x"], r["osc.v"], r["osc.force"]]
    found = fmu.slave.getDirectionalDerivative(unknowns, knowns, [1.0, 2.0, -3.0])
    v = fmu["osc.v"]
    expected = [(-50.0 * 1.0 - 0.4 * 2.0 - 3.0) / 2.0, 1.0, 2.0 * 0.4 * v * 2.0]
    assert found == pytest.approx(expected, rel=1e-14, abs=1e-15)
    assert fmu.all() == before


def test_model_exchange_in_a_host_that_integrates(path: Path) -> None:
    from fmpy import simulate_fmu

    found = simulate_fmu(
        str(path), fmi_type="ModelExchange", stop_time=1.0, relative_tolerance=1e-9, output=["osc.position"]
    )
    here = InProcess(oscillator(), MERSON, 1e-10).start()
    here.advance(1.0)
    assert found["osc.position"][-1] == pytest.approx(here["osc.position"], rel=1e-6)


def test_the_same_model_gives_the_same_bytes(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the C compiler runs again."""
    monkeypatch.setattr(compilers, "read_cached", lambda digest: None)
    again = export_native(oscillator(), tmp_path / "again.fmu", **OPTIONS)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.thorough
def test_a_library_is_made_once(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "_run", lambda *given: pytest.fail("the C compiler runs again"))
    again = export_native(oscillator(), tmp_path / "again.fmu", **OPTIONS)
    assert again.read_bytes() == path.read_bytes()
    with pytest.raises(BaseException, match="runs again"):
        export_native(oscillator(), tmp_path / "another.fmu", step_size=0.02)


def test_what_cannot_be_lowered_is_refused_all_at_once(tmp_path: Path) -> None:
    class Spoken(cosim.Component):
        """Python."""

        x = cosim.auxiliary_state()

        def derivatives(self, x, x_dot):
            x_dot[0] = -x

    model = cosim.Model("spoken")
    model.add(Spoken, "one")
    model.add(Spoken, "two")
    with pytest.raises(cosim.ModelError) as raised:
        export_native(model, tmp_path / "spoken.fmu", integrator="integrators.scipy_radau")
    text = str(raised.value)
    assert "one" in text and "two" in text and "kernel function" in text and "integrators.radau5" in text
    assert not (tmp_path / "spoken.fmu").exists()
    with pytest.raises(cosim.ModelError, match="'linux65'.*linux64"):
        model.export_fmu(tmp_path / "spoken.fmu", native=True, platforms=["linux65"])


@pytest.mark.thorough
@pytest.mark.parametrize("compiler", ["own", pytest.param("zig", marks=pytest.mark.thorough)])
def test_the_c_files_give_no_warnings(compiler: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ziglang", "cc"]
    if compiler == "zig":
        pytest.importorskip("ziglang")
    else:
        command = [c_compiler()]
    files = sorted(SHELL.glob("*.c"))
    assert files
    for file in files:
        last = ["-c", str(file), "-o", str(tmp_path / "file.o")]
        subprocess.run([*command, *WARNINGS, *last], check=True)


def test_a_host_that_is_no_python_program(path: Path, tmp_path: Path, fmu: Fmu) -> None:
    program = build(tmp_path / "host", ["-O1", "-ldl"], [SOURCES / "host.c"])
    names = ["osc.position", "osc.acceleration"]
    references = [str(fmu.references[name]) for name in names]
    library = next(fmu.folder.rglob("*.so"))
    command = [
        str(program),
        str(library),
        "file:///nowhere",
        fmu.description.guid,
        "20",
        "0.01",
        "3",
        *references,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={})
    fmu.start()
    expected = []
    for i in range(20):
        fmu.steps(i, i + 1)
        expected.append([fmu[name] for name in names])
    rows = [[float(x) for x in line.split()] for line in done.stdout.splitlines() if line]
    assert rows[:20] == expected and len(rows) >= 60 and rows[-1] == expected[-1]


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from cosim.cli import main

    model = tmp_path / "swing.toml"
    model.write_text('[model]\nname = "swing"\n[measures.wave]\ntype = "measures.sinusoid"\n', "utf-8")
    target = tmp_path / "swing.fmu"
    assert main(["export", str(model), "-o", str(target), "--python", "--kind", "cs"]) != 0
    assert "--kind is for native FMUs" in capsys.readouterr().err
    assert main(["export", str(model), "-o", str(target), "--native", "--platforms", "linux65"]) != 0
    assert "linux64" in capsys.readouterr().err and not target.exists()
    chosen = str(own_platform())
    assert (
        main(["export", str(model), "-o", str(target), "--native", "--platforms", chosen, "--kind", "cs"])
        == 0
    )
    with running(target) as fmu:
        assert fmu.description.modelExchange is None
        fmu.start().steps(0, 100)
        assert fmu["wave"] == pytest.approx(math.sin(1.0), abs=1e-12)
