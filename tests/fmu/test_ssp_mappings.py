"""Connections of an SSP map and scale values between types; written and read again they are the same."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from box3_fmu import make_box3
from fmi1_fmu import make_fmi1
from ssp_files import bindings, check_valid, component, connectors, pack, ssd, system, wire

import cosim
from cosim_fmu import CoSimulation

MakeFmu = Callable[..., Path]
EXPERIMENT = '<ssd:DefaultExperiment startTime="0" stopTime="0.3"/>'
TYPES = {"boolean": "Boolean", "integer": "Integer", "real": "Real"}


def typed_connectors(*names: str) -> str:
    """Connectors of the FMU ``types``."""
    elements = ""
    for name in names:
        kind, _, way = name.partition("_")
        elements += f'<ssd:Connector name="{name}" kind="{way}put"><ssc:{TYPES[kind]}/></ssd:Connector>'
    return f"<ssd:Connectors>{elements}</ssd:Connectors>"


def table(kind: str, **entries: str) -> str:
    """A mapping of values; keys may start with an underscore, which is dropped."""
    inner = "".join(f'<ssc:MapEntry source="{k.strip("_")}" target="{v}"/>' for k, v in entries.items())
    return f"<ssc:{kind}MappingTransformation>{inner}</ssc:{kind}MappingTransformation>"


def linear(factor: float, offset: float) -> str:
    return f'<ssc:LinearTransformation factor="{factor}" offset="{offset}"/>'


def start_value(name: str, value: Any) -> str:
    kind = "Boolean" if isinstance(value, bool) else "Integer" if isinstance(value, int) else "Real"
    text = str(value).lower() if kind == "Boolean" else str(value)
    return bindings((name, f'<ssv:{kind} value="{text}"/>'))


def write_and_read(loop: CoSimulation, path: Path) -> CoSimulation:
    """The co-simulation that is read from a newly written SSP, not from a copy of the first one."""
    package = loop.ssp
    vars(loop)["ssp"] = None
    copy = CoSimulation.from_ssp(loop.to_ssp(path))
    vars(loop)["ssp"] = package
    check_valid(path)
    assert copy.findings == ()
    return copy


def with_items(path: Path, folder: Path, items: str) -> Path:
    """A copy of an FMU with other items of its enumeration."""
    copy = folder / f"other_{path.name}"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(copy, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name == "modelDescription.xml":
                head, _, tail = data.decode().partition('<Item name="off"')
                data = (head + items + tail[tail.index("</EnumerationType>") :]).encode()
            target.writestr(name, data)
    return copy


@pytest.mark.parametrize(
    ("source_type", "target_type", "sent", "change", "received"),
    [
        ("boolean", "integer", True, "", 1),
        ("boolean", "integer", True, table("Integer", _0="10", _1="20"), 20),
        ("boolean", "integer", False, table("Integer", _1="20", _7="30"), 0),
        ("boolean", "integer", True, table("Boolean", true="false"), 0),
        ("integer", "boolean", 7, table("Integer", _7="1", _1="0"), True),
        ("integer", "boolean", 1, table("Integer", _7="1"), True),
        ("integer", "boolean", 0, table("Boolean", true="false", false="true"), True),
        ("boolean", "real", True, table("Integer", _1="-4"), -4.0),
        ("boolean", "real", True, linear(3.0, 0.5), 3.5),
        ("boolean", "real", False, linear(3.0, 0.5), 0.5),
        ("integer", "real", 3, table("Integer", _3="-4"), -4.0),
        ("integer", "real", 3, linear(0.25, 1.0), 1.75),
    ],
)
def test_values_are_converted_between_types(
    tmp_path: Path,
    make_fmu: MakeFmu,
    source_type: str,
    target_type: str,
    sent: Any,
    change: str,
    received: Any,
) -> None:
    """The converted value in a run, and the same conversion after writing and reading."""
    # the FMU negates booleans and adds 1 to integers
    input_value = not sent if source_type == "boolean" else sent - 1
    inner = typed_connectors(f"{source_type}_in", f"{source_type}_out") + start_value(
        f"{source_type}_in", input_value
    )
    parts = component("a", "t.fmu", inner) + component("b", "t.fmu", typed_connectors(f"{target_type}_in"))
    text = ssd(system(parts, wire(f"a.{source_type}_out", f"b.{target_type}_in", change)), EXPERIMENT)
    path = pack(tmp_path / "t.ssp", {"SystemStructure.ssd": text, "t.fmu": make_fmu("types")})
    loop = CoSimulation.from_ssp(path, step=0.1)
    result = loop.simulate()
    assert result[f"a.{source_type}_out"][-1] == sent
    assert result[f"b.{target_type}_in"][-1] == received
    copy = write_and_read(loop, tmp_path / "copy.ssp")
    (link,), (link_of_copy,) = loop.links, copy.links
    for value in (False, True) if source_type == "boolean" else range(-1, 9):
        assert link.convert(value) == link_of_copy.convert(value)
    assert copy.simulate()[f"b.{target_type}_in"].tolist() == result[f"b.{target_type}_in"].tolist()


@pytest.mark.parametrize(
    ("types", "conversion"),
    [
        (("boolean", "integer"), {"map": {False: 10, True: 20}}),
        (("boolean", "integer"), {"map": {"true": 20}}),
        (("integer", "boolean"), {"map": {0: True, 1: False, 5: True}}),
        (("boolean", "real"), {"map": {False: 0.5, True: -1.5}}),
        (("boolean", "real"), {"map": {True: 4}, "factor": 0.25, "offset": 1.0}),
        (("integer", "real"), {"map": {1: 4}}),
        (("integer", "real"), {"factor": 0.25, "offset": 1.0}),
        (("boolean", "real"), {"factor": -1.0}),
    ],
)
def test_maps_and_factors_of_scenarios_are_written(
    tmp_path: Path, make_fmu: MakeFmu, types: tuple[str, str], conversion: dict[str, Any]
) -> None:
    fmu = make_fmu("types")
    wires = [{"from": f"a.{types[0]}_out", "to": f"b.{types[1]}_in", **conversion}]
    loop = CoSimulation({"a": fmu, "b": fmu}, wires, "jacobi", 0.1)
    path = loop.to_ssp(tmp_path / "t.ssp", until=0.3)
    check_valid(path)
    copy = CoSimulation.from_ssp(path)
    values = [False, True] if types[0] == "boolean" else [0, 1, 2, 5]
    expected = [loop.links[0].convert(value) for value in values]
    assert [copy.links[0].convert(value) for value in values] == expected
    assert len(set(map(str, expected))) > 1


def test_a_map_from_integers_to_fractions_cannot_be_written(tmp_path: Path, make_fmu: MakeFmu) -> None:
    fmu = make_fmu("types")
    wires = [{"from": "a.integer_out", "to": "b.real_in", "map": {1: 0.5}}]
    loop = CoSimulation({"a": fmu, "b": fmu}, wires, "jacobi", 0.1)
    with pytest.raises(cosim.ModelError, match="maps integer values"):
        loop.to_ssp(tmp_path / "t.ssp")


def test_an_integer_without_a_boolean_in_the_map_stops_the_run(tmp_path: Path, make_fmu: MakeFmu) -> None:
    fmu = make_fmu("types")
    wires = [{"from": "a.integer_out", "to": "b.boolean_in", "map": {7: True}}]
    loop = CoSimulation({"a": fmu, "b": fmu}, wires, "jacobi", 0.1, starts={"a.integer_in": 4})
    message = "integer_out becomes 5, but b.boolean_in is boolean: map it to false or true"
    with pytest.raises(cosim.CosimError, match=message):
        loop.simulate(0.3)


@pytest.mark.parametrize(
    ("change", "received"),
    [
        (table("Enumeration", on="on", off="off"), 5.0),
        (table("Integer", _1="3"), 3.0),
        (table("Enumeration", on="standby"), 3.0),
    ],
)
def test_items_of_an_enumeration_are_those_of_their_end_of_the_connection(
    tmp_path: Path, compiled: Callable[..., Path], change: str, received: float
) -> None:
    """The same names have other_box numbers at the other_box end."""
    box = make_box3(tmp_path, compiled)
    items = '<Item name="on" value="5"/><Item name="off" value="2"/><Item name="standby" value="3"/>'
    other_box = with_items(box, tmp_path, items)
    mode = bindings(("mode_in", '<ssv:Enumeration value="on" name="Mode"/>')).replace("1.0", "2.0")

    def modes(start_values: str = "") -> str:
        ports = ""
        for way in ("in", "out"):
            inner = '<ssc:Enumeration name="{}"/>'
            ports += f'<ssd:Connector name="mode_{way}" kind="{way}put">{inner}</ssd:Connector>'
        return f"<ssd:Connectors>{ports}</ssd:Connectors>{start_values}"

    tables = (
        '<ssd:Enumerations><ssc:Enumeration name="Mode"><ssc:Item name="off" value="0"/>'
        '<ssc:Item name="on" value="1"/></ssc:Enumeration>'
        f'<ssc:Enumeration name="Other">{items.replace("<Item", "<ssc:Item")}</ssc:Enumeration>'
        "</ssd:Enumerations>"
    )
    parts = component("a", "box.fmu", modes(mode).replace("{}", "Mode"))
    parts += component("b", "other.fmu", modes().replace("{}", "Other"))
    text = ssd(system(parts, wire("a.mode_out", "b.mode_in", change)), tables + EXPERIMENT, "2.0")
    files = {"SystemStructure.ssd": text, "box.fmu": box, "other.fmu": other_box}
    loop = CoSimulation.from_ssp(pack(tmp_path / "t.ssp", files), step=0.1)
    result = loop.simulate()
    assert (result["a.mode_out"][-1], result["b.mode_in"][-1]) == (1.0, received)
    copy = write_and_read(loop, tmp_path / "copy.ssp")
    assert copy.links[0].convert(1) == received


def test_a_target_that_is_no_item_is_refused(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    box = make_box3(tmp_path, compiled)
    wires = [{"from": "a.mode_out", "to": "b.mode_in", "map": {"on": 7}}]
    with pytest.raises(cosim.ModelError, match="7.*item.*b.mode_in.*0, 1"):
        CoSimulation({"a": box, "b": box}, wires, "jacobi", 0.1)


def test_mappings_of_several_connections_are_applied_in_turn(tmp_path: Path, make_fmu: MakeFmu) -> None:
    ports = '<ssd:Connector name="{}" kind="{}put"><ssc:Integer/></ssd:Connector>'
    before = f"<ssd:Connectors>{ports.format('in', 'in')}</ssd:Connectors>"
    inside = system(
        component("b", "t.fmu", typed_connectors("real_in")),
        wire("in", "b.real_in", table("Integer", _20="40") + "<!-- then -->"),
        before,
        "s",
    )
    sender = typed_connectors("boolean_in", "boolean_out") + start_value("boolean_in", False)
    wires = wire("a.boolean_out", "s.in", table("Integer", _1="20"))
    text = ssd(system(component("a", "t.fmu", sender) + inside, wires), EXPERIMENT)
    path = pack(tmp_path / "t.ssp", {"SystemStructure.ssd": text, "t.fmu": make_fmu("types")})
    assert CoSimulation.from_ssp(path, step=0.1).simulate()["s/b.real_in"][-1] == 40.0


@pytest.mark.parametrize(
    ("variables", "change", "message"),
    [
        ("real_out real_in", table("Integer", _1="2"), "real values cannot be mapped"),
        ("integer_out integer_in", linear(2.0, 0.0), "a linear transformation applies to real values only"),
        (
            "integer_out boolean_in",
            table("Integer", _1="5"),
            "5 is not a value of b.boolean_in, which is boolean",
        ),
        ("integer_out boolean_in", "", "the types have to agree, or a map says what each value becomes"),
        ("integer_out integer_in", table("Enumeration", on="off"), "no value to map 'on'"),
    ],
)
def test_transformations_of_the_wrong_type_are_refused_with_the_line(
    tmp_path: Path, make_fmu: MakeFmu, variables: str, change: str, message: str
) -> None:
    source, target = variables.split()
    parts = component("a", "t.fmu", typed_connectors(source)) + component(
        "b", "t.fmu", typed_connectors(target)
    )
    text = ssd(system(parts, wire(f"a.{source}", f"b.{target}", change)), EXPERIMENT)
    path = pack(tmp_path / "t.ssp", {"SystemStructure.ssd": text, "t.fmu": make_fmu("types")})
    with pytest.raises(cosim.ModelError, match=message) as caught:
        CoSimulation.from_ssp(path, step=0.1)
    assert [problem.where for problem in caught.value.problems] == ["SystemStructure.ssd:7"]


def test_parameter_mappings_convert_start_values(tmp_path: Path, make_fmu: MakeFmu) -> None:
    def mapped(change: str) -> str:
        entry = f'<ssm:MappingEntry source="given" target="{{}}">{change}</ssm:MappingEntry>'
        inner = f'<ssm:ParameterMapping version="1.0">{entry}</ssm:ParameterMapping>'
        return f"<ssd:ParameterMapping>{inner}</ssd:ParameterMapping>"

    cases = [
        ('<ssv:Integer value="7"/>', "boolean", table("Integer", _7="1"), True),
        ('<ssv:Boolean value="true"/>', "integer", table("Integer", _1="9"), 9),
        ('<ssv:Integer value="3"/>', "real", linear(0.5, 1.0), 2.5),
        ('<ssv:Boolean value="false"/>', "boolean", table("Boolean", false="true"), True),
    ]
    for value, kind, change, expected in cases:
        mapping_element = mapped(change).replace("{}", f"{kind}_in")
        inner = typed_connectors(f"{kind}_in") + bindings(("given", value), more=mapping_element)
        text = ssd(system(component("a", "t.fmu", inner)), EXPERIMENT)
        path = pack(tmp_path / "t.ssp", {"SystemStructure.ssd": text, "t.fmu": make_fmu("types")})
        assert CoSimulation.from_ssp(path, step=0.1).start_values["a"] == {f"{kind}_in": expected}


def test_components_of_fmi_1(tmp_path: Path, compiled: Callable[..., Path], make_fmu: MakeFmu) -> None:
    """A boolean of FMI 1.0 becomes an integer of FMI 2.0; units and parameters apply as in later versions."""
    slave = make_fmi1(tmp_path, compiled)
    inner = (
        '<ssd:Connectors><ssd:Connector name="x" kind="output"><ssc:Real unit="m"/></ssd:Connector>'
        '<ssd:Connector name="u" kind="input"><ssc:Real/></ssd:Connector>'
        '<ssd:Connector name="k" kind="parameter"><ssc:Real/></ssd:Connector>'
        '<ssd:Connector name="flag" kind="output"><ssc:Boolean/></ssd:Connector></ssd:Connectors>'
    ) + bindings(("k", 2.0), ("u", 3.0))
    parts = component("one", "slave.fmu", inner, 'implementation="CoSimulation"')
    parts += component("gain", "gain.fmu") + component("kinds", "types.fmu", typed_connectors("integer_in"))
    wires = wire("one.x", "gain.u", linear(10.0, 0.0)) + wire(
        "one.flag", "kinds.integer_in", table("Integer", _0="10", _1="20")
    )
    units = '<ssd:Units><ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit></ssd:Units>'
    files = {
        "SystemStructure.ssd": ssd(system(parts, wires), units + EXPERIMENT),
        "slave.fmu": slave,
        "gain.fmu": make_fmu("gain"),
        "types.fmu": make_fmu("types"),
    }

    # the run, and the run of what is written and read again
    loop = CoSimulation.from_ssp(pack(tmp_path / "one.ssp", files), step=0.1)
    assert loop.descriptions["one"].kind.startswith("FMI 1.0")
    result = loop.simulate()
    assert result["one.x"][-1] == pytest.approx(1.0 + 0.3 * 2.0 * 3.0)
    assert result["gain.u"][-1] == pytest.approx(10.0 * result["one.x"][-2])
    assert result["kinds.integer_in"][-1] == (20.0 if result["one.flag"][-2] else 10.0)
    copy = write_and_read(loop, tmp_path / "copy.ssp")
    document = check_valid(tmp_path / "copy.ssp")["SystemStructure.ssd"].decode()
    assert '<ssd:Connector name="k" kind="parameter">' in document
    result_of_copy = copy.simulate()
    assert result_of_copy.names == result.names
    assert all(result_of_copy[name].tolist() == result[name].tolist() for name in result.names)


def test_factors_are_for_real_inputs_only(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("types")
    wires = [{"from": "a.boolean_out", "to": "b.integer_in", "map": {"true": 4}, "factor": 2.0}]
    with pytest.raises(cosim.ModelError, match="real inputs take"):
        CoSimulation({"a": fmu, "b": fmu}, wires, "jacobi", 0.1)


def test_the_type_of_a_component_takes_precedence_over_that_of_its_system(
    tmp_path: Path, make_fmu: MakeFmu
) -> None:
    part = system(
        component("b", "t.fmu", typed_connectors("integer_in")),
        wire("in", "b.integer_in"),
        connectors(**{"in": "input"}),
        "s",
    )
    sender = typed_connectors("integer_in", "integer_out") + start_value("integer_in", 6)
    text = ssd(system(component("a", "t.fmu", sender) + part, wire("a.integer_out", "s.in")), EXPERIMENT)
    path = pack(tmp_path / "t.ssp", {"SystemStructure.ssd": text, "t.fmu": make_fmu("types")})
    assert CoSimulation.from_ssp(path, step=0.1).simulate()["s/b.integer_in"][-1] == 7.0
