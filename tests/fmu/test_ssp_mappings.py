"""Values that an SSP maps or scales on their way, between variables of any two types."""

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


def typed(*names: str) -> str:
    """Connectors of the FMU ``types``."""
    made = ""
    for name in names:
        kind, _, way = name.partition("_")
        made += f'<ssd:Connector name="{name}" kind="{way}put"><ssc:{TYPES[kind]}/></ssd:Connector>'
    return f"<ssd:Connectors>{made}</ssd:Connectors>"


def table(kind: str, **entries: str) -> str:
    inner = "".join(f'<ssc:MapEntry source="{k.strip("_")}" target="{v}"/>' for k, v in entries.items())
    return f"<ssc:{kind}MappingTransformation>{inner}</ssc:{kind}MappingTransformation>"


def linear(factor: float, offset: float) -> str:
    return f'<ssc:LinearTransformation factor="{factor}" offset="{offset}"/>'


def start(name: str, value: Any) -> str:
    kind = "Boolean" if isinstance(value, bool) else "Integer" if isinstance(value, int) else "Real"
    text = str(value).lower() if kind == "Boolean" else str(value)
    return bindings((name, f'<ssv:{kind} value="{text}"/>'))


def written_anew(loop: CoSimulation, path: Path) -> CoSimulation:
    """Written as if the co-simulation had been made in Python, checked, and read again."""
    package = loop.ssp  # whose files are still needed
    vars(loop)["ssp"] = None
    again = CoSimulation.from_ssp(loop.to_ssp(path))
    vars(loop)["ssp"] = package
    check_valid(path)
    assert again.findings == ()
    return again


@pytest.mark.parametrize(
    ("given", "taken", "sent", "change", "arrives"),
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
def test_values_between_types(
    tmp_path: Path, make_fmu: MakeFmu, given: str, taken: str, sent: Any, change: str, arrives: Any
) -> None:
    """Read, run, and the same again after they were written as a new SSP."""
    fed = (
        not sent if given == "boolean" else sent - 1
    )  # what the FMU makes of it is its opposite, or one more
    inner = typed(f"{given}_in", f"{given}_out") + start(f"{given}_in", fed)
    parts = component("a", "t.fmu", inner) + component("b", "t.fmu", typed(f"{taken}_in"))
    text = ssd(system(parts, wire(f"a.{given}_out", f"b.{taken}_in", change)), EXPERIMENT)
    path = pack(tmp_path / "t.ssp", {"SystemStructure.ssd": text, "t.fmu": make_fmu("types")})
    loop = CoSimulation.from_ssp(path, step=0.1)
    result = loop.simulate()
    assert result[f"a.{given}_out"][-1] == sent
    assert result[f"b.{taken}_in"][-1] == arrives
    again = written_anew(loop, tmp_path / "again.ssp")
    (one,), (other,) = loop.links, again.links
    for value in (False, True) if given == "boolean" else range(-1, 9):
        assert one.convert(value) == other.convert(value)
    assert again.simulate()[f"b.{taken}_in"].tolist() == result[f"b.{taken}_in"].tolist()


@pytest.mark.parametrize(
    ("ends", "given"),
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
    tmp_path: Path, make_fmu: MakeFmu, ends: tuple[str, str], given: dict[str, Any]
) -> None:
    fmu = make_fmu("types")
    wires = [{"from": f"a.{ends[0]}_out", "to": f"b.{ends[1]}_in", **given}]
    loop = CoSimulation({"a": fmu, "b": fmu}, wires, "jacobi", 0.1)
    path = loop.to_ssp(tmp_path / "t.ssp", until=0.3)
    check_valid(path)
    again = CoSimulation.from_ssp(path)
    values = [False, True] if ends[0] == "boolean" else [0, 1, 2, 5]
    expected = [loop.links[0].convert(value) for value in values]
    assert [again.links[0].convert(value) for value in values] == expected
    assert len(set(map(str, expected))) > 1


def test_numbers_that_are_not_whole_cannot_be_written_for_integers(tmp_path: Path, make_fmu: MakeFmu) -> None:
    fmu = make_fmu("types")
    wires = [{"from": "a.integer_out", "to": "b.real_in", "map": {1: 0.5}}]
    loop = CoSimulation({"a": fmu, "b": fmu}, wires, "jacobi", 0.1)
    with pytest.raises(cosim.ModelError, match="maps integer values"):
        loop.to_ssp(tmp_path / "t.ssp")


def test_an_integer_that_is_no_boolean_stops_the_run(tmp_path: Path, make_fmu: MakeFmu) -> None:
    fmu = make_fmu("types")
    wires = [{"from": "a.integer_out", "to": "b.boolean_in", "map": {7: True}}]
    loop = CoSimulation({"a": fmu, "b": fmu}, wires, "jacobi", 0.1, starts={"a.integer_in": 4})
    said = "integer_out becomes 5, but b.boolean_in is boolean: map it to false or true"
    with pytest.raises(cosim.CosimError, match=said):
        loop.simulate(0.3)


def with_items(path: Path, folder: Path, items: str) -> Path:
    """An FMU with other items of its enumeration."""
    made = folder / f"other_{path.name}"
    with zipfile.ZipFile(path) as given, zipfile.ZipFile(made, "w") as archive:
        for name in given.namelist():
            data = given.read(name)
            if name == "modelDescription.xml":
                head, _, rest = data.decode().partition('<Item name="off"')
                data = (head + items + rest[rest.index("</EnumerationType>") :]).encode()
            archive.writestr(name, data)
    return made


@pytest.mark.parametrize(
    ("change", "arrives"),
    [
        (table("Enumeration", on="on", off="off"), 5.0),
        (table("Integer", _1="3"), 3.0),
        (table("Enumeration", on="standby"), 3.0),
    ],
)
def test_items_are_those_of_the_end_that_they_stand_at(
    tmp_path: Path, compiled: Callable[..., Path], change: str, arrives: float
) -> None:
    """The same names have other numbers at the other end."""
    box = make_box3(tmp_path, compiled)
    items = '<Item name="on" value="5"/><Item name="off" value="2"/><Item name="standby" value="3"/>'
    other = with_items(box, tmp_path, items)
    mode = bindings(("mode_in", '<ssv:Enumeration value="on" name="Mode"/>')).replace("1.0", "2.0")

    def modes(more: str = "") -> str:
        made = ""
        for way in ("in", "out"):
            inner = '<ssc:Enumeration name="{}"/>'
            made += f'<ssd:Connector name="mode_{way}" kind="{way}put">{inner}</ssd:Connector>'
        return f"<ssd:Connectors>{made}</ssd:Connectors>{more}"

    tables = (
        '<ssd:Enumerations><ssc:Enumeration name="Mode"><ssc:Item name="off" value="0"/>'
        '<ssc:Item name="on" value="1"/></ssc:Enumeration>'
        f'<ssc:Enumeration name="Other">{items.replace("<Item", "<ssc:Item")}</ssc:Enumeration>'
        "</ssd:Enumerations>"
    )
    parts = component("a", "box.fmu", modes(mode).replace("{}", "Mode"))
    parts += component("b", "other.fmu", modes().replace("{}", "Other"))
    text = ssd(system(parts, wire("a.mode_out", "b.mode_in", change)), tables + EXPERIMENT, "2.0")
    files = {"SystemStructure.ssd": text, "box.fmu": box, "other.fmu": other}
    loop = CoSimulation.from_ssp(pack(tmp_path / "t.ssp", files), step=0.1)
    result = loop.simulate()
    assert (result["a.mode_out"][-1], result["b.mode_in"][-1]) == (1.0, arrives)
    again = written_anew(loop, tmp_path / "again.ssp")
    assert again.links[0].convert(1) == arrives


def test_a_target_that_is_no_item_is_refused(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    box = make_box3(tmp_path, compiled)
    wires = [{"from": "a.mode_out", "to": "b.mode_in", "map": {"on": 7}}]
    with pytest.raises(cosim.ModelError, match="7.*item.*b.mode_in.*0, 1"):
        CoSimulation({"a": box, "b": box}, wires, "jacobi", 0.1)


def test_mappings_add_up_on_the_way_through_systems(tmp_path: Path, make_fmu: MakeFmu) -> None:
    ports = '<ssd:Connector name="{}" kind="{}put"><ssc:Integer/></ssd:Connector>'
    before = f"<ssd:Connectors>{ports.format('in', 'in')}</ssd:Connectors>"
    inside = system(
        component("b", "t.fmu", typed("real_in")),
        wire("in", "b.real_in", table("Integer", _20="40") + "<!-- then -->"),
        before,
        "s",
    )
    sender = typed("boolean_in", "boolean_out") + start("boolean_in", False)
    wires = wire("a.boolean_out", "s.in", table("Integer", _1="20"))
    text = ssd(system(component("a", "t.fmu", sender) + inside, wires), EXPERIMENT)
    path = pack(tmp_path / "t.ssp", {"SystemStructure.ssd": text, "t.fmu": make_fmu("types")})
    assert CoSimulation.from_ssp(path, step=0.1).simulate()["s/b.real_in"][-1] == 40.0


@pytest.mark.parametrize(
    ("ends", "change", "said"),
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
def test_transformations_that_do_not_fit_are_refused_with_the_line(
    tmp_path: Path, make_fmu: MakeFmu, ends: str, change: str, said: str
) -> None:
    given, taken = ends.split()
    parts = component("a", "t.fmu", typed(given)) + component("b", "t.fmu", typed(taken))
    text = ssd(system(parts, wire(f"a.{given}", f"b.{taken}", change)), EXPERIMENT)
    path = pack(tmp_path / "t.ssp", {"SystemStructure.ssd": text, "t.fmu": make_fmu("types")})
    with pytest.raises(cosim.ModelError, match=said) as caught:
        CoSimulation.from_ssp(path, step=0.1)
    assert [problem.where for problem in caught.value.problems] == ["SystemStructure.ssd:7"]


def test_start_values_are_mapped_to_any_type(tmp_path: Path, make_fmu: MakeFmu) -> None:
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
        more = mapped(change).replace("{}", f"{kind}_in")
        inner = typed(f"{kind}_in") + bindings(("given", value), more=more)
        text = ssd(system(component("a", "t.fmu", inner)), EXPERIMENT)
        path = pack(tmp_path / "t.ssp", {"SystemStructure.ssd": text, "t.fmu": make_fmu("types")})
        assert CoSimulation.from_ssp(path, step=0.1).start_values["a"] == {f"{kind}_in": expected}


def test_components_of_fmi_1(tmp_path: Path, compiled: Callable[..., Path], make_fmu: MakeFmu) -> None:
    """A boolean of FMI 1.0 becomes an integer of FMI 2.0; units and parameters count as in later versions."""
    slave = make_fmi1(tmp_path, compiled)
    inner = (
        '<ssd:Connectors><ssd:Connector name="x" kind="output"><ssc:Real unit="m"/></ssd:Connector>'
        '<ssd:Connector name="u" kind="input"><ssc:Real/></ssd:Connector>'
        '<ssd:Connector name="k" kind="parameter"><ssc:Real/></ssd:Connector>'
        '<ssd:Connector name="flag" kind="output"><ssc:Boolean/></ssd:Connector></ssd:Connectors>'
    ) + bindings(("k", 2.0), ("u", 3.0))
    parts = component("one", "slave.fmu", inner, 'implementation="CoSimulation"')
    parts += component("gain", "gain.fmu") + component("kinds", "types.fmu", typed("integer_in"))
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
    loop = CoSimulation.from_ssp(pack(tmp_path / "one.ssp", files), step=0.1)
    assert loop.descriptions["one"].kind.startswith("FMI 1.0")
    result = loop.simulate()
    assert result["one.x"][-1] == pytest.approx(1.0 + 0.3 * 2.0 * 3.0)
    assert result["gain.u"][-1] == pytest.approx(10.0 * result["one.x"][-2])
    assert result["kinds.integer_in"][-1] == (20.0 if result["one.flag"][-2] else 10.0)
    again = written_anew(loop, tmp_path / "again.ssp")
    document = check_valid(tmp_path / "again.ssp")["SystemStructure.ssd"].decode()
    assert '<ssd:Connector name="k" kind="parameter">' in document
    other = again.simulate()
    assert other.names == result.names
    assert all(other[name].tolist() == result[name].tolist() for name in result.names)


def test_factors_do_not_scale_what_is_no_number(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("types")
    wires = [{"from": "a.boolean_out", "to": "b.integer_in", "map": {"true": 4}, "factor": 2.0}]
    with pytest.raises(cosim.ModelError, match="real inputs take"):
        CoSimulation({"a": fmu, "b": fmu}, wires, "jacobi", 0.1)


def test_connectors_of_ports(tmp_path: Path, make_fmu: MakeFmu) -> None:
    """A system's connector may be of another type than the component's: the component's counts."""
    part = system(
        component("b", "t.fmu", typed("integer_in")),
        wire("in", "b.integer_in"),
        connectors(**{"in": "input"}),
        "s",
    )
    sender = typed("integer_in", "integer_out") + start("integer_in", 6)
    text = ssd(system(component("a", "t.fmu", sender) + part, wire("a.integer_out", "s.in")), EXPERIMENT)
    path = pack(tmp_path / "t.ssp", {"SystemStructure.ssd": text, "t.fmu": make_fmu("types")})
    assert CoSimulation.from_ssp(path, step=0.1).simulate()["s/b.integer_in"][-1] == 7.0
