"""Model descriptions of native FMUs: states, both kinds and versions, arrays, dependencies, quantities."""

import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, fromstring

import pytest
from export_tools import ball, oscillator

import cosim
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.model_description import model_description, unknowns
from cosim_export.interface.select_variables import select_variables
from cosim_export.native.description import fmi3_description
from cosim_export.native.exchanged_variables import with_all_states, with_indicators
from cosim_export.native.fmu_array import arrays_of
from cosim_export.native.model_tables import _states
from cosim_lowering.program import Program


def interface_of(system: cosim.System, variables: Any) -> ExportedInterface:
    return ExportedInterface(
        "a <model> of cosim", "model", {"author": "A & B"}, tuple(variables), "x", {}, 1e-6, 0.1
    )


def categories() -> Element:
    root = Element("LogCategories")
    SubElement(root, "Category", {"name": "logStatusError", "description": "errors"})
    return root


def read(text: bytes, folder: Path) -> Any:
    from fmpy import read_model_description

    with zipfile.ZipFile(folder / "x.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", text)
    return read_model_description(str(folder / "x.fmu"), validate=True, validate_model_structure=True)


@pytest.fixture(params=[oscillator, ball])
def system(request: pytest.FixtureRequest) -> cosim.System:
    return request.param().build()


class Bouncing(cosim.Component):
    """A point that turns round at zero."""

    height = cosim.auxiliary_state(start=1.0)
    speed = cosim.auxiliary_state()

    @cosim.kernel
    def fall(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    def bounce(speed, speed_next):
        speed_next[0] = -speed


def scalar(name: str, **attributes: Any) -> FmuVariable:
    """A continuous output, unless the attributes say otherwise."""
    defaults: dict[str, Any] = {"array": "c", "offset": 0, "stage": 3, "type": "Real", "causality": "output"}
    defaults |= {"variability": "continuous", "initial": "calculated"}
    return FmuVariable(name=name, path=name, **(defaults | attributes))


def test_all_states_are_shown_once_in_the_order_of_the_state(system: cosim.System) -> None:
    selected = select_variables(system, expose=[], all=True)
    completed = with_all_states(system, selected)
    no_dependencies = {"dependencies": (), "initial_dependencies": ()}  # on more states after completion
    assert [replace(v, **no_dependencies) for v in completed[: len(selected)]] == [
        replace(v, **no_dependencies) for v in selected
    ]
    names = [v.name for v in completed]
    assert len(set(names)) == len(names)
    assert sorted(v.offset for v in completed if v.derivative_of) == list(range(system.ny))
    assert with_all_states(system, completed) == completed


@pytest.mark.parametrize("version", [2, 3])
def test_states_that_events_set_have_the_attribute_reinit(version: int, tmp_path: Path) -> None:
    model = cosim.Model("bouncing")
    model.add(Bouncing, "ball")
    program = Program(model.build(), "integrators.runge_kutta_merson", accuracy=1e-6)
    program.require()
    system = program.system
    variables = with_all_states(system, select_variables(system, all=True), program.reset_states)
    marked = {v.name for v in variables if v.reinit}
    assert marked == {"ball.speed"}
    kinds = [Element("ModelExchange", {"modelIdentifier": "model"})]
    write = model_description if version == 2 else fmi3_description
    text = write(kinds, categories(), interface_of(system, variables), "x", "y")
    read(text, tmp_path)  # valid
    elements = [v for v in fromstring(text).iter() if v.get("name")]
    holders = [(v.get("name"), v if version == 3 else v.find("Real")) for v in elements]
    assert {name for name, v in holders if v is not None and v.get("reinit") == "true"} == marked


def test_switches_are_booleans() -> None:
    linkage = cosim.Model.from_file(Path(__file__).parents[2] / "examples/four_bar/four_bar.toml")
    switches = [
        v
        for v in select_variables(linkage.build(), all=True)
        if v.name.endswith((".enabled", ".feels_gravity"))
    ]
    assert {v.name.partition(".")[2] for v in switches} == {"enabled", "feels_gravity"}
    assert {(v.type, v.start) for v in switches} == {("Boolean", True)}


def test_fmi2_with_both_kinds(system: cosim.System, tmp_path: Path) -> None:
    interface = interface_of(system, with_all_states(system, select_variables(system, all=True)))
    kinds = [Element(kind, {"modelIdentifier": "model"}) for kind in ("ModelExchange", "CoSimulation")]
    description = read(model_description(kinds, categories(), interface, "ours", "{1}", 1), tmp_path)
    assert description.modelExchange.modelIdentifier == description.coSimulation.modelIdentifier == "model"
    assert (description.guid, description.numberOfEventIndicators, description.author) == ("{1}", 1, "A & B")
    assert description.numberOfContinuousStates == system.ny
    states = [d.variable.derivative.name for d in description.derivatives]
    assert [
        interface.variables[i].offset for i in map([v.name for v in interface.variables].index, states)
    ] == [*range(system.ny)]


def test_fmi3_with_both_kinds(system: cosim.System, tmp_path: Path) -> None:
    variables = with_all_states(system, select_variables(system, all=True))
    variables, names = with_indicators(variables, {"somebody.watch": 3})
    interface = interface_of(system, variables)
    kinds = [Element(kind, {"modelIdentifier": "model"}) for kind in ("ModelExchange", "CoSimulation")]
    description = read(fmi3_description(kinds, categories(), interface, "ours", "{1}", names), tmp_path)
    assert (description.fmiVersion, description.guid) == ("3.0", "{1}")
    *variables_read, time = description.modelVariables
    arrays = arrays_of(interface.variables)
    assert [v.name for v in variables_read] == [array.name for array in arrays]
    assert [int(v.valueReference) for v in variables_read] == [array.reference for array in arrays]
    assert int(time.valueReference) == len(interface.variables)
    assert (time.name, time.causality) == ("time", "independent")
    assert [e.variable.name for e in description.eventIndicators] == ["somebody.watch"]
    assert len(description.derivatives) == system.ny
    by_name = {v.name: v for v in variables_read}
    for array in arrays:
        element, variable = array.elements[0], by_name[array.name]
        assert variable.type == {"Real": "Float64", "Integer": "Int64"}[element.type]
        assert (variable.causality, variable.variability) == (element.causality, element.variability)
        assert [int(d.start) for d in variable.dimensions] == list(array.dimensions)
        if element.start is not None:
            assert list(map(float, variable.start.split())) == [v.start for v in array.elements]


@pytest.mark.parametrize(
    ("scalars", "names"),
    [
        ([scalar("x[1]"), scalar("x[2]"), scalar("x[3]")], ["x[3]"]),
        ([scalar(f"m[{i},{j}]") for i in (1, 2) for j in (1, 2, 3)], ["m[2,3]"]),
        ([scalar("x[1]"), scalar("x[2]", unit="m")], ["x[1]", "x[2]"]),
        ([scalar("x[1]"), scalar("x[2]"), scalar("x[3]", unit="m")], ["x[1]", "x[2]", "x[3]"]),
        ([scalar("x[1]"), scalar("x[2]", causality="local")], ["x[1]", "x[2]"]),
        ([scalar("x[2]"), scalar("x[1]")], ["x[2]", "x[1]"]),
        ([scalar("x[1]"), scalar("y"), scalar("x[2]")], ["x[1]", "y", "x[2]"]),
        ([scalar("x[1]"), scalar("x[3]")], ["x[1]", "x[3]"]),
        ([scalar("x[1]")], ["x[1]"]),
        ([scalar("x"), scalar("x[1]"), scalar("x[2]")], ["x", "x[1]", "x[2]"]),
        ([scalar("a.x[1]"), scalar("a.x[2]"), scalar("b.x[1]"), scalar("b.x[2]")], ["a.x[2]", "b.x[2]"]),
    ],
)
def test_complete_and_consistent_elements_form_an_array(scalars: list[FmuVariable], names: list[str]) -> None:
    """``x[3]`` in `names` is an array of three; elements with different attributes form none."""
    arrays = [
        f"{a.name}[{','.join(map(str, a.dimensions))}]" if a.dimensions else a.name
        for a in arrays_of(scalars)
    ]
    assert arrays == names
    assert [v for a in arrays_of(scalars) for v in a.elements] == scalars


@pytest.mark.parametrize("is_local", [False, True])
def test_states_and_their_rates_are_arrays_or_neither_is(is_local: bool) -> None:
    """A rate refers to its state."""
    states = [
        scalar("x[1]", array="y", initial="exact", causality="local" if is_local else "output"),
        scalar("x[2]", array="y", offset=1, initial="exact"),
    ]
    rates = [
        scalar(f"der({v.name})", causality="local", offset=i, derivative_of=v.name)
        for i, v in enumerate(states)
    ]
    arrays = [(a.name, a.dimensions) for a in arrays_of([*states, *rates])]
    single = [("x[1]", ()), ("x[2]", ()), ("der(x[1])", ()), ("der(x[2])", ())]
    assert arrays == (single if is_local else [("x", (2,)), ("der(x)", (2,))])


def test_an_array_depends_on_all_that_its_elements_depend_on() -> None:
    inputs = [scalar(name, causality="input", initial="", start=0.0) for name in ("u[1]", "u[2]", "w")]
    outputs = [
        scalar("x[1]", dependencies=("u[2]",)),
        scalar("x[2]", dependencies=("w",), depends_on_time=True),
        scalar("z", dependencies=()),
    ]
    interface = ExportedInterface("model", "model", {}, (*inputs, *outputs), "x", {}, 1e-6)
    kinds = [Element("CoSimulation", {"modelIdentifier": "model"})]
    root = fromstring(fmi3_description(kinds, categories(), interface, "ours", "{1}"))
    dependencies_of_outputs = {v.get("valueReference"): v.get("dependencies") for v in root.iter("Output")}
    assert dependencies_of_outputs == {"3": "0 2 6", "5": ""}


@pytest.mark.parametrize("version", [2, 3])
def test_real_variables_say_which_quantity_they_are(version: int, tmp_path: Path) -> None:
    variables = (
        scalar("a", unit="rad", display_unit="deg"),
        scalar("b", unit="N"),
        scalar("c", unit="N2"),
        scalar("SI.Force", unit="m"),  # a type may not be called like a variable
    )
    interface = ExportedInterface("model", "model", {}, variables, "x", {}, 1e-6)
    kinds = [Element("CoSimulation", {"modelIdentifier": "model"})]
    write = model_description if version == 2 else fmi3_description
    description = read(write(kinds, categories(), interface, "ours", "{1}"), tmp_path)
    types = {v.name: v.declaredType and v.declaredType.name for v in description.modelVariables}
    types.pop("time", None)
    assert types == {"a": "SI.Angle", "b": None, "c": None, "SI.Force": "SI.Length"}
    (angle,) = (t for t in description.typeDefinitions if t.name == "SI.Angle")
    assert (angle.quantity, angle.unit, angle.displayUnit) == ("Angle", "rad", "deg")


def test_the_table_of_states_has_the_order_of_the_description() -> None:
    system = oscillator().build()
    selected = select_variables(system, inputs=[], outputs=["osc.v", "osc.x"], parameters=[], expose=[])
    variables = with_all_states(system, selected)
    text = _states(variables)
    table = [tuple(map(int, row)) for row in re.findall(r"\{(\d+), (\d+)\}", text)]
    derivatives = unknowns(variables)[1]
    assert [variables[rate].name for _, rate in table] == [v.name for v in derivatives]
    assert [variables[state].name for state, _ in table] == [v.derivative_of for v in derivatives]
    # the order differs from that of the state, x before v
    assert [v.derivative_of for v in variables if v.derivative_of][:2] == ["osc.v", "osc.x"]


def test_an_indicator_that_is_a_variable_already_is_not_declared_twice(system: cosim.System) -> None:
    variables = select_variables(system, expose=["*"], all=True)
    output = next(v for v in variables if v.array == "c")
    assert with_indicators(variables, {output.path: output.offset}) == (variables, (output.name,))
