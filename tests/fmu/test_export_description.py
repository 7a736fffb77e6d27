"""The model description of an exported FMU: variables, attributes, units, dependencies, selections."""

import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from export_parts import Oscillator
from export_tools import ball, export, fuse, oscillator, running

import cosim


def read_description(path: Path) -> Any:
    """The model description as fmpy reads it, validated."""
    from fmpy import read_model_description

    return read_model_description(
        str(path), validate=True, validate_variable_names=True, validate_model_structure=True
    )


def variables_of(path: Path) -> dict[str, Any]:
    return {v.name: v for v in read_description(path).modelVariables}


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


def test_variables_that_are_shown_by_default(oscillator_fmu: Path) -> None:
    kinds: dict[str, list[str]] = {}
    for variable in read_description(oscillator_fmu).modelVariables:
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


def test_attributes_of_variables(oscillator_fmu: Path) -> None:
    variables = variables_of(oscillator_fmu)
    mass, place, x = variables["osc.mass"], variables["osc.places[3]"], variables["osc.x"]
    assert (mass.unit, float(mass.min), float(mass.max), float(mass.start)) == ("kg", 0.1, 1e3, 2.0)
    assert mass.description == 'of the <body> & its "hook"'
    assert (mass.variability, mass.initial) == ("tunable", "exact")
    assert float(place.start) == 0.1 + 0.2  # to the last bit
    assert float(variables["osc.turn[2,1]"].start) == 3.0
    assert (x.initial, x.variability, float(x.start), x.unit) == ("exact", "continuous", 0.1, "m")
    assert float(x.nominal) == 0.5 and variables["osc.v"].nominal is None
    assert (variables["osc.position"].initial, variables["osc.position"].start) == ("calculated", None)
    assert (variables["osc.force"].unit, float(variables["osc.force"].start)) == ("N", 0.0)
    assert variables["felt"].unit == "m"
    assert all(v.variability for v in variables.values())


def test_start_values_of_the_model_are_those_of_the_fmu(tmp_path: Path) -> None:
    model = oscillator(mass="3000 g")
    model.set_start("osc.force", 4.5)
    model.set_start("osc.x", 0.7)
    variables = variables_of(export(model, tmp_path / "x.fmu"))
    assert [float(variables[n].start) for n in ("osc.mass", "osc.force", "osc.x")] == [3.0, 4.5, 0.7]


def test_integers_are_discrete(tmp_path: Path) -> None:
    variables = variables_of(export(ball(), tmp_path / "ball.fmu"))
    bounces, samples = variables["ball.bounces"], variables["ball.samples"]
    assert (bounces.type, bounces.variability, bounces.start) == ("Integer", "discrete", "0")
    assert (samples.type, samples.variability) == ("Real", "discrete")


def test_definitions_of_units(oscillator_fmu: Path) -> None:
    units = {u.name: u.baseUnit for u in read_description(oscillator_fmu).unitDefinitions}
    newton, damping = units["N"], units["N.s/m"]
    assert (newton.kg, newton.m, newton.s, newton.A, newton.rad) == (1, 1, -2, 0, 0)
    assert (damping.kg, damping.m, damping.s, damping.factor) == (1, 0, -1, 1.0)


def test_dependencies_of_outputs_and_of_initial_unknowns(oscillator_fmu: Path) -> None:
    description = read_description(oscillator_fmu)
    outputs = {u.variable.name: [v.name for v in u.dependencies] for u in description.outputs}
    inputs = ["osc.force", "osc.wind[1]", "osc.wind[2]"]
    assert outputs == {
        "osc.position": ["osc.x"], "osc.acceleration": [*inputs, "osc.x", "osc.v"], "felt": [],
    }  # fmt: skip
    initial = {u.variable.name: [v.name for v in u.dependencies] for u in description.initialUnknowns}
    assert initial["osc.position"] == ["osc.places[3]", "osc.x"]
    assert set(initial["felt"]) == {
        "osc.x",
        "osc.places[3]",
        "felt.delay",
        "felt.longest_delay",
        "felt.largest_extrapolation",
        "felt.default_value",
    }  # a delay without a history
    physics = {"osc.x", "osc.v", "osc.mass", "osc.stiffness", "osc.damping"}
    assert set(initial["osc.acceleration"]) == {*inputs, *physics}


def test_states_have_derivatives_with_their_own_dependencies(oscillator_fmu: Path) -> None:
    description = read_description(oscillator_fmu)
    derivatives = {u.variable.name: [v.name for v in u.dependencies] for u in description.derivatives}
    inputs = ["osc.force", "osc.wind[1]", "osc.wind[2]"]
    # one kernel function computes all three; each depends on the variables of its own assignment
    assert derivatives == {
        "der(osc.x)": ["osc.v"],
        "der(osc.v)": [*inputs, "osc.x", "osc.v"],
        "der(osc.dissipated_energy)": ["osc.v"],
    }
    variables = {v.name: v for v in description.modelVariables}
    rate = variables["der(osc.v)"]
    assert (rate.derivative.name, rate.unit, rate.causality, rate.initial) == (
        "osc.v", "m/s2", "local", "calculated",
    )  # fmt: skip
    assert set(derivatives) <= {u.variable.name for u in description.initialUnknowns}
    with running(oscillator_fmu) as fmu:
        fmu.start(**{"osc.v": 0.5})
        assert fmu["der(osc.x)"] == 0.5 and fmu["der(osc.v)"] == fmu["osc.acceleration"]


@pytest.mark.thorough
def test_angles_have_a_display_unit(tmp_path: Path) -> None:
    from cosim_mechanics import Multibody

    model = Multibody("pendulum")
    bob = model.body("bob", mass=1.0, center_of_mass=(0, 0, -1), inertia=(0.1, 0.1, 0.1))
    model.joint("pin", child=bob)
    description = read_description(export(model, tmp_path / "x.fmu"))
    units = {u.name: u for u in description.unitDefinitions}
    assert [(d.name, d.factor) for d in units["rad"].displayUnits] == [
        ("deg", pytest.approx(57.29577951308232))
    ]
    assert {v.displayUnit for v in description.modelVariables if v.unit == "rad"} == {"deg"}


def test_an_fmu_without_variables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cosim.ModelError, match="no variables"):
        export(cosim.Model("empty"), tmp_path / "x.fmu")


def test_the_documentation_is_a_page_without_links(tmp_path: Path) -> None:
    model = oscillator("spring & <mass>")
    model.settings |= {
        "description": 'A "mass" & a spring',
        "author": "A. Mason",
        "license": "MIT",
        "version": "3",
    }
    model.measure("measures.delay", "later", source="felt", delay=0.1)
    path = export(model, tmp_path / "x.fmu")
    description = read_description(path)
    assert (description.description, description.author, description.version) == (
        'A "mass" & a spring',
        "A. Mason",
        "3",
    )
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
    description = read_description(oscillator_fmu)
    capabilities, experiment = description.coSimulation, description.defaultExperiment
    assert (
        capabilities.canGetAndSetFMUstate
        and capabilities.canSerializeFMUstate
        and capabilities.canHandleVariableCommunicationStepSize
    )
    assert not capabilities.needsExecutionTool and not capabilities.canBeInstantiatedOnlyOncePerProcess
    assert (description.modelName, capabilities.modelIdentifier) == ("my oscillator", "my_oscillator")
    values = (experiment.startTime, experiment.stopTime, experiment.tolerance, experiment.stepSize)
    assert tuple(map(float, values)) == (0.0, 2.0, 1e-5, 0.01)
    assert description.variableNamingConvention == "structured"


def test_options_select_variables(tmp_path: Path) -> None:
    path = export(
        oscillator(), tmp_path / "x.fmu", inputs=["osc.wind[1]"], outputs=["felt", "osc.d*", "osc.acc*"],
        parameters=["osc.places[0]", "*.delay"], expose=[],
    )  # fmt: skip
    description = read_description(path)
    assert [(v.causality, v.name) for v in description.modelVariables] == [
        ("input", "osc.wind[2]"),
        ("output", "felt"),
        ("output", "osc.dissipated_energy"),
        ("output", "osc.acceleration"),
        ("parameter", "osc.places[1]"),
        ("parameter", "felt.delay"),
        ("local", "der(osc.dissipated_energy)"),
    ]
    outputs = {u.variable.name: [v.name for v in u.dependencies] for u in description.outputs}
    energy = "osc.dissipated_energy"
    assert outputs == {"felt": [], "osc.acceleration": ["osc.wind[2]"], energy: [energy]}


def test_brackets_in_patterns_are_those_of_indices(tmp_path: Path) -> None:
    path = export(
        oscillator(), tmp_path / "x.fmu", inputs=["osc.wind[*]"], outputs=["felt"], expose=[],
        parameters=["osc.turn[?]", "osc.pl*[2]", "osc.damping"],
    )  # fmt: skip
    names = [v.name for v in read_description(path).modelVariables]
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
def test_settings_that_are_not_positive_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(cosim.ModelError, match=f"{name}: is -1.0, needs a positive number"):
        export(oscillator(), tmp_path / "x.fmu", **{name: -1.0})


def test_for_an_unknown_integrator_the_nearest_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(cosim.LookUpError, match="Nearest: integrators.runge_kutta_merson"):
        export(oscillator(), tmp_path / "x.fmu", integrator="integrators.runge_kutta_mersen")


def test_a_class_that_no_other_process_can_import_is_refused(tmp_path: Path) -> None:
    class Local(Oscillator):
        """Defined in a function."""

    model = cosim.Model("local")
    model.add(Local, "part")
    with pytest.raises(cosim.ModelError, match="define it at the top of a module"):
        export(model, tmp_path / "x.fmu")


def test_names_with_letters_beyond_those_of_fmi_are_flat(tmp_path: Path) -> None:
    model = cosim.Model("größe")
    model.add(Oscillator, "größe")
    path = export(model, tmp_path / "x.fmu")
    description = read_description(path)
    assert description.variableNamingConvention == "flat"
    assert description.coSimulation.modelIdentifier == "gr__e"
    assert "größe.position" in {v.name for v in description.modelVariables}
