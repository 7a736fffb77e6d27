"""What an exported FMU says about itself."""

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from export_parts import Oscillator
from export_tools import ball, export, fuse, oscillator, running

import cosim
from cosim_export.interface.archive import read_archive, write_archive


def described(path: Path) -> Any:
    from fmpy import read_model_description

    return read_model_description(
        str(path), validate=True, validate_variable_names=True, validate_model_structure=True
    )


def variables(path: Path) -> dict[str, Any]:
    return {v.name: v for v in described(path).modelVariables}


@pytest.fixture(scope="module")
def oscillator_fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = oscillator("my oscillator")
    model.simulation = {"until": 2.0, "accuracy": 1e-5}
    return export(model, tmp_path_factory.mktemp("fmu") / "oscillator.fmu", step_size=0.01)


@pytest.mark.few(2)
@pytest.mark.parametrize("make", [oscillator, ball, fuse])
@pytest.mark.parametrize("expose", [None, ["*"], []])
def test_fmpy_finds_no_fault(make: Any, expose: Any, tmp_path: Path) -> None:
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(export(make(), tmp_path / "x.fmu", expose=expose))) == []


def test_variables_by_default(oscillator_fmu: Path) -> None:
    kinds: dict[str, list[str]] = {}
    for variable in described(oscillator_fmu).modelVariables:
        kinds.setdefault(variable.causality, []).append(variable.name)
    assert kinds["input"] == ["osc.force", "osc.wind[1]", "osc.wind[2]"]
    assert kinds["output"] == ["osc.position", "osc.acceleration", "felt"]
    states = ["osc.x", "osc.v", "osc.dissipated_energy"]
    assert kinds["local"] == [*states, "felt.largest_extrapolation", *(f"der({state})" for state in states)]
    assert kinds["parameter"] == [
        "osc.mass", "osc.stiffness", "osc.damping", "osc.places[1]", "osc.places[2]", "osc.places[3]",
        "osc.turn[1,1]", "osc.turn[1,2]", "osc.turn[2,1]", "osc.turn[2,2]",
        "felt.delay", "felt.longest_delay", "felt.default_value",
    ]  # fmt: skip


def test_attributes(oscillator_fmu: Path) -> None:
    found = variables(oscillator_fmu)
    mass, place, x = found["osc.mass"], found["osc.places[3]"], found["osc.x"]
    assert (mass.unit, float(mass.min), float(mass.max), float(mass.start)) == ("kg", 0.1, 1e3, 2.0)
    assert mass.description == 'of the <body> & its "hook"'
    assert (mass.variability, mass.initial) == ("tunable", "exact")
    assert float(place.start) == 0.1 + 0.2  # the last bit too
    assert float(found["osc.turn[2,1]"].start) == 3.0
    assert (x.initial, x.variability, float(x.start), x.unit) == ("exact", "continuous", 0.1, "m")
    assert float(x.nominal) == 0.5 and found["osc.v"].nominal is None
    assert (found["osc.position"].initial, found["osc.position"].start) == ("calculated", None)
    assert (found["osc.force"].unit, float(found["osc.force"].start)) == ("N", 0.0)
    assert found["felt"].unit == "m"
    assert all(v.variability for v in found.values())


def test_a_start_value_of_the_model(tmp_path: Path) -> None:
    model = oscillator(mass="3000 g")
    model.set_start("osc.force", 4.5)
    model.set_start("osc.x", 0.7)
    found = variables(export(model, tmp_path / "x.fmu"))
    assert [float(found[n].start) for n in ("osc.mass", "osc.force", "osc.x")] == [3.0, 4.5, 0.7]


def test_integers_are_discrete(tmp_path: Path) -> None:
    found = variables(export(ball(), tmp_path / "ball.fmu"))
    bounces, samples = found["ball.bounces"], found["ball.samples"]
    assert (bounces.type, bounces.variability, bounces.start) == ("Integer", "discrete", "0")
    assert (samples.type, samples.variability) == ("Real", "discrete")


def test_units(oscillator_fmu: Path) -> None:
    units = {u.name: u.baseUnit for u in described(oscillator_fmu).unitDefinitions}
    newton, damping = units["N"], units["N.s/m"]
    assert (newton.kg, newton.m, newton.s, newton.A, newton.rad) == (1, 1, -2, 0, 0)
    assert (damping.kg, damping.m, damping.s, damping.factor) == (1, 0, -1, 1.0)


def test_dependencies(oscillator_fmu: Path) -> None:
    read = described(oscillator_fmu)
    outputs = {u.variable.name: [v.name for v in u.dependencies] for u in read.outputs}
    inputs = ["osc.force", "osc.wind[1]", "osc.wind[2]"]
    assert outputs == {
        "osc.position": ["osc.x"], "osc.acceleration": [*inputs, "osc.x", "osc.v"], "felt": [],
    }  # fmt: skip
    initial = {u.variable.name: [v.name for v in u.dependencies] for u in read.initialUnknowns}
    assert initial["osc.position"] == ["osc.places[3]", "osc.x"]
    assert set(initial["felt"]) == {
        "osc.x",
        "osc.places[3]",
        "felt.delay",
        "felt.longest_delay",
        "felt.largest_extrapolation",
        "felt.default_value",
    }  # nothing is remembered yet
    physics = {"osc.x", "osc.v", "osc.mass", "osc.stiffness", "osc.damping"}
    assert set(initial["osc.acceleration"]) == {*inputs, *physics}


def test_derivatives_of_the_states(oscillator_fmu: Path) -> None:
    read = described(oscillator_fmu)
    derivatives = {u.variable.name: [v.name for v in u.dependencies] for u in read.derivatives}
    inputs = ["osc.force", "osc.wind[1]", "osc.wind[2]"]
    # one kernel function computes all three, each from what stands in its own assignment
    assert derivatives == {
        "der(osc.x)": ["osc.v"],
        "der(osc.v)": [*inputs, "osc.x", "osc.v"],
        "der(osc.dissipated_energy)": ["osc.v"],
    }
    found = {v.name: v for v in read.modelVariables}
    rate = found["der(osc.v)"]
    assert (rate.derivative.name, rate.unit, rate.causality, rate.initial) == (
        "osc.v", "m/s2", "local", "calculated",
    )  # fmt: skip
    assert set(derivatives) <= {u.variable.name for u in read.initialUnknowns}
    with running(oscillator_fmu) as fmu:
        fmu.start(**{"osc.v": 0.5})
        assert fmu["der(osc.x)"] == 0.5 and fmu["der(osc.v)"] == fmu["osc.acceleration"]


@pytest.mark.thorough
def test_display_units(tmp_path: Path) -> None:
    from cosim_mechanics import Multibody

    model = Multibody("pendulum")
    bob = model.body("bob", mass=1.0, center_of_mass=(0, 0, -1), inertia=(0.1, 0.1, 0.1))
    model.joint("pin", child=bob)
    read = described(export(model, tmp_path / "x.fmu"))
    units = {u.name: u for u in read.unitDefinitions}
    assert [(d.name, d.factor) for d in units["rad"].displayUnits] == [
        ("deg", pytest.approx(57.29577951308232))
    ]
    assert {v.displayUnit for v in read.modelVariables if v.unit == "rad"} == {"deg"}


def test_an_fmu_without_variables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cosim.ModelError, match="no variables"):
        export(cosim.Model("empty"), tmp_path / "x.fmu")


def test_the_documentation(tmp_path: Path) -> None:
    model = oscillator("spring & <mass>")
    model.settings |= {
        "description": 'A "mass" & a spring',
        "author": "A. Mason",
        "license": "MIT",
        "version": "3",
    }
    model.measure("measures.delay", "later", source="felt", delay=0.1)
    path = export(model, tmp_path / "x.fmu")
    read = described(path)
    assert (read.description, read.author, read.version) == ('A "mass" & a spring', "A. Mason", "3")
    with zipfile.ZipFile(path) as archive:
        page = archive.read("documentation/index.html").decode()
        assert "documentation/licenses/pythonfmu/LICENSE" in archive.namelist()
    body = page[page.index("<body>") : page.index("</html>")]
    assert ElementTree.fromstring(body).find("h1") is not None  # well-formed
    for text in (
        "spring &amp; &lt;mass&gt;",
        "osc.places[3]",
        "of the &lt;body&gt;",
        "MIT",
        "<svg",
        "pluggy",
    ):
        assert text in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_capabilities_and_experiment(oscillator_fmu: Path) -> None:
    read = described(oscillator_fmu)
    able, experiment = read.coSimulation, read.defaultExperiment
    assert (
        able.canGetAndSetFMUstate
        and able.canSerializeFMUstate
        and able.canHandleVariableCommunicationStepSize
    )
    assert not able.needsExecutionTool and not able.canBeInstantiatedOnlyOncePerProcess
    assert (read.modelName, able.modelIdentifier) == ("my oscillator", "my_oscillator")
    values = (experiment.startTime, experiment.stopTime, experiment.tolerance, experiment.stepSize)
    assert tuple(map(float, values)) == (0.0, 2.0, 1e-5, 0.01)
    assert read.variableNamingConvention == "structured"


def test_selections(tmp_path: Path) -> None:
    path = export(
        oscillator(), tmp_path / "x.fmu", inputs=["osc.wind[1]"], outputs=["felt", "osc.d*", "osc.acc*"],
        parameters=["osc.places[0]", "*.delay"], expose=[],
    )  # fmt: skip
    read = described(path)
    assert [(v.causality, v.name) for v in read.modelVariables] == [
        ("input", "osc.wind[2]"),
        ("output", "felt"),
        ("output", "osc.dissipated_energy"),
        ("output", "osc.acceleration"),
        ("parameter", "osc.places[1]"),
        ("parameter", "felt.delay"),
        ("local", "der(osc.dissipated_energy)"),
    ]
    outputs = {u.variable.name: [v.name for v in u.dependencies] for u in read.outputs}
    energy = "osc.dissipated_energy"
    assert outputs == {"felt": [], "osc.acceleration": ["osc.wind[2]"], energy: [energy]}


def test_brackets_in_patterns_are_brackets(tmp_path: Path) -> None:
    path = export(
        oscillator(), tmp_path / "x.fmu", inputs=["osc.wind[*]"], outputs=["felt"], expose=[],
        parameters=["osc.turn[?]", "osc.pl*[2]", "osc.damping"],
    )  # fmt: skip
    names = [v.name for v in described(path).modelVariables]
    turn = [f"osc.turn[{i},{j}]" for i in (1, 2) for j in (1, 2)]
    assert names == ["osc.wind[1]", "osc.wind[2]", "felt", *turn, "osc.places[3]", "osc.damping"]
    with pytest.raises(cosim.ModelError, match="no parameter"):
        export(oscillator(), tmp_path / "y.fmu", parameters=["osc.[d]amping"])


def test_names_that_match_nothing_are_reported_together(tmp_path: Path) -> None:
    with pytest.raises(cosim.ModelError) as caught:
        export(
            oscillator(),
            tmp_path / "x.fmu",
            inputs=["osc.forc"],
            outputs=["flet"],
            parameters=["osc.x"],
            expose=["z*"],
        )
    text = str(caught.value)
    assert "input 'osc.forc'. Nearest: osc.force" in text
    assert "output 'flet'. Nearest: felt" in text
    assert "parameters: no parameter 'osc.x'" in text
    assert "expose: no" in text and "'z*'" in text
    assert len(caught.value.problems) == 4
    assert not (tmp_path / "x.fmu").exists()


@pytest.mark.parametrize("name", ["step_size", "stop_time", "accuracy"])
def test_settings_that_are_not_positive(name: str, tmp_path: Path) -> None:
    with pytest.raises(cosim.ModelError, match=f"{name}: is -1.0, needs a positive number"):
        export(oscillator(), tmp_path / "x.fmu", **{name: -1.0})


def test_an_integrator_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(cosim.LookUpError, match="Nearest: integrators.runge_kutta_merson"):
        export(oscillator(), tmp_path / "x.fmu", integrator="integrators.runge_kutta_mersen")


def test_a_class_that_no_other_process_can_import(tmp_path: Path) -> None:
    class Local(Oscillator):
        """Defined in a function."""

    model = cosim.Model("local")
    model.add(Local, "part")
    with pytest.raises(cosim.ModelError, match="define it at the top of a module"):
        export(model, tmp_path / "x.fmu")


def test_what_is_there_stays_when_it_goes_wrong(tmp_path: Path) -> None:
    path = tmp_path / "x.fmu"
    path.write_bytes(b"old")
    with pytest.raises(cosim.ModelError):
        export(oscillator(), path, outputs=["nothing"])
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


EXPORT = """
import sys
from pathlib import Path
from export_tools import export, oscillator
export(oscillator("my oscillator"), Path(sys.argv[1]))
"""


@pytest.mark.thorough
def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    here = export(oscillator("my oscillator"), tmp_path / "here.fmu")
    there = tmp_path / "sub" / "there.fmu"
    subprocess.run([sys.executable, "-c", EXPORT, str(there)], cwd=Path(__file__).parent, check=True)
    assert here.read_bytes() == there.read_bytes()
    other = export(oscillator("my oscillator", mass=2.5), tmp_path / "other.fmu")
    assert described(other).guid != described(here).guid


def test_the_process_is_left_as_it_was(tmp_path: Path) -> None:
    path, modules = list(sys.path), set(sys.modules)
    export(oscillator(), tmp_path / "x.fmu")
    assert sys.path == path
    assert {name for name in set(sys.modules) - modules if "slave_" in name} == set()


MODULES = """
import sys
from pathlib import Path
from cosim_mechanics import Multibody
model = Multibody("cart", gravity=(0.0, 0.0, 0.0))
model.joint("slider", name="rail", child=model.body("cart", mass=1.0, inertia=(1.0, 1.0, 1.0)))
for name in ("first", "second"):
    model.export_fmu(Path(sys.argv[1]) / f"{name}.fmu", outputs=["cart.x"], native=False)
files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
print([name for name, file in files.items() if file.endswith(".py") and not Path(file).is_file()])
print("cosim_signals" in files, "cosim_mechanics.forces.coupled_bushing" in files)
"""


@pytest.mark.thorough
def test_no_module_is_left_of_a_folder_that_is_gone(tmp_path: Path) -> None:
    """In a process that has imported no more than the model needs."""
    words = [sys.executable, "-c", MODULES, str(tmp_path)]
    done = subprocess.run(words, cwd=Path(__file__).parent, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[]", "True False"], done.stderr


def test_the_archive(oscillator_fmu: Path) -> None:
    with zipfile.ZipFile(oscillator_fmu) as archive:
        names = archive.namelist()
        module = archive.read("resources/slavemodule.txt").decode()
        root = ElementTree.fromstring(archive.read("modelDescription.xml"))
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    ours = ("resources/cosim/", "resources/cosim_compiler/", "resources/cosim_export/")  # in every FMU
    assert names == sorted(names, key=lambda name: (not name.startswith(ours), name))
    assert module.startswith("cosim_slave_") and f"resources/{module}.py" in names
    needed = ["cosim/__init__.py", "cosim_measures/delay.py", "cosim_integrators/runge_kutta_merson.py"]
    needed += ["export_parts.py", "manifest.json", "model.json", "interface.json", "registry.json"]
    assert {f"resources/{name}" for name in needed} <= set(names)
    assert {"binaries/linux64/my_oscillator.so", "binaries/win64/my_oscillator.dll"} <= set(names)
    strangers = ["__pycache__", "cosim/testing", "shipped/texts-", "cosim_workbench", "test_export"]
    for unwanted in [*strangers, "cosim_mechanics"]:
        assert [name for name in names if unwanted in name] == []
    assert root.attrib["generationDateAndTime"] == "2023-11-14T22:13:20Z"


def test_what_archives_share_is_what_each_was_given(tmp_path: Path) -> None:
    for content in (b"one", b"two", b"one"):
        files = {"b": content, "a": b"first", "d": b"", "c": content}
        write_archive(tmp_path / "x.zip", files, shared={"b", "a"})
        assert list(read_archive(tmp_path / "x.zip").items()) == sorted(files.items())


def test_a_record_with_an_empty_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "strange-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1.0\n")
    (info / "RECORD").write_text('strange/__init__.py,,\n\n"odd,one.py",,\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert export(oscillator(), tmp_path / "x.fmu").is_file()


def test_names_that_fmi_cannot_structure(tmp_path: Path) -> None:
    model = cosim.Model("größe")
    model.add(Oscillator, "größe")
    path = export(model, tmp_path / "x.fmu")
    read = described(path)
    assert read.variableNamingConvention == "flat"
    assert read.coSimulation.modelIdentifier == "gr__e"
    assert "größe.position" in {v.name for v in read.modelVariables}
