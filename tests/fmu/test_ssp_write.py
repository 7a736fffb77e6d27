"""SSPs that are written: valid by the schemas of the standard, and the same run when they are read again."""

import copy
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box3_fmu import make_box3
from export_tools import oscillator
from lxml import etree
from native_tools import needs_compiler
from ssp_files import bindings, check_valid, component, connectors, pack, ssd, system, wire

import cosim
from cosim_export.native.platforms import own_platform
from cosim_fmu import CoSimulation
from cosim_master.participants.system_participant import SystemParticipant
from cosim_master.participants.timed_inputs import TimedInputs

MakeFmu = Callable[..., Path]
METRES = '<Unit name="m"><BaseUnit m="1"/></Unit><Unit name="mm"><BaseUnit m="1" factor="0.001"/></Unit>'
GEOMETRY = (
    '<ssd:ElementGeometry x1="1" y1="2" x2="3" y2="4" iconSource="extra/icon.png"/>',
    '<ssd:Annotations><ssc:Annotation type="org.acme"><colour xmlns="urn:acme">red &amp; <b/></colour>'
    "</ssc:Annotation></ssd:Annotations>",
    '<ssd:ConnectionGeometry pointsX="1 2" pointsY="3 4"/>',
)


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def same(first: CoSimulation, second: CoSimulation, until: float) -> None:
    one, two = first.simulate(until), second.simulate(until)
    assert one.names == two.names
    assert (one.time.tolist(), [one[n].tolist() for n in one.names]) == (
        two.time.tolist(),
        [two[n].tolist() for n in two.names],
    )


def test_a_loop_of_masses_runs_the_same_from_its_ssp(tmp_path: Path, make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass")
    wires = [
        {"from": "a.x", "to": "b.x_other", "factor": 0.5, "offset": 0.1},
        ("a.v", "b.v_other"),
        ("b.force", "a.f"),
    ]
    starts = {"a.m": 2.0, "b.kc": 3.0, "b.k": 0.1 + 0.2}
    loop = CoSimulation(
        {"a": fmu, "b": fmu}, wires, "gauss_seidel", "10 ms", options={"extrapolation": 1}, starts=starts
    )
    path = loop.to_ssp(tmp_path / "loop.ssp", until=1.0)
    document = check_valid(path)["SystemStructure.ssd"].decode()
    assert [name for name in contents(path) if name.endswith(".fmu")] == ["resources/mass.fmu"]
    for words in ('baseStepSize="0.01"', 'oms:FixedStepMaster description="oms-ma" stepSize="0.01"'):
        assert words in document
    again = CoSimulation.from_ssp(path)
    assert (again.step, again.until, again.options) == (0.01, 1.0, {"extrapolation": 1})
    assert again.findings == ()
    assert again.start_values == loop.start_values
    same(loop, again, 1.0)


def test_units_stay_units_and_mappings_stay_mappings(tmp_path: Path, make_fmu: MakeFmu) -> None:
    def unit(name: str) -> Path:
        def change(variable: str, attributes: dict[str, str]) -> dict[str, str]:
            return {**attributes, "unit": name} if variable in ("y", "u") else attributes

        return make_fmu("gain", name=name, units=METRES, change=change)

    kinds = make_fmu("types")
    wires = [
        ("a.y", "b.u"),
        {"from": "b.y", "to": "a.u", "factor": 2.0},
        {"from": "t.integer_out", "to": "s.integer_in", "map": {1: 10, 2: 20}},
        {"from": "t.boolean_out", "to": "s.boolean_in", "map": {True: False, False: True}},
        ("t.string_out", "s.string_in"),
    ]
    parts = {"a": unit("m"), "b": unit("mm"), "t": kinds, "s": kinds}
    starts = {
        "a.bias": 3.0,
        "b.gain": 1e-4,
        "t.integer_in": 1,
        "t.string_in": 'a "text" <&>',
        "t.boolean_in": True,
    }
    loop = CoSimulation(parts, wires, "jacobi", 0.1, starts=starts)
    path = loop.to_ssp(tmp_path / "units.ssp", until=0.5)
    document = check_valid(path)["SystemStructure.ssd"].decode()
    assert document.count("LinearTransformation") == document.count("suppressUnitConversion") == 1
    again = CoSimulation.from_ssp(path)
    assert [(link.factor, link.offset, link.table) for link in again.links] == [
        (link.factor, link.offset, link.table) for link in loop.links
    ]
    assert again.start_values == loop.start_values
    same(loop, again, 0.5)


def test_arrays_and_the_types_of_fmi_3(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    box = make_box3(tmp_path, compiled)
    wires = [("a.doubled", "b.matrix"), ("a.mode_out", "b.mode_in"), ("a.blob_out", "b.blob_in")]
    starts = {
        "a.matrix": [[1.0, 2.0], [3.0, 4.0]],
        "b.matrix[2,1]": 7.0,
        "a.mode_in": 1,
        "a.blob_in": b"\x01\xff",
    }
    loop = CoSimulation({"a": box, "b": box}, wires, "jacobi", 0.1, starts=starts, steps={"b": 0.2})
    path = loop.to_ssp(tmp_path / "box.ssp", until=0.6)
    root = etree.fromstring(check_valid(path)["SystemStructure.ssd"])
    assert root.get("version") == "2.0"
    again = CoSimulation.from_ssp(path)
    assert again.step_multiple == {"b": 2}
    assert again.start_values["a"] == loop.start_values["a"]
    assert again.start_values["b"]["matrix[2,1]"] == 7.0
    same(loop, again, 0.6)


def test_what_was_read_is_written_with_all_that_it_had(tmp_path: Path, make_fmu: MakeFmu) -> None:
    inner = connectors(u="input", y="output") + GEOMETRY[0] + bindings(("bias", 3.0)) + GEOMETRY[1]
    wires = wire("a.y", "b.u", GEOMETRY[2])
    text = ssd(system(component("a", inner=inner) + component("b"), f"<!-- why -->{wires}"))
    files = {
        "SystemStructure.ssd": text,
        "Other.ssd": ssd(system()),
        "resources/gain.fmu": make_fmu("gain"),
        "extra/org.acme/notes.bin": b"\x00\x01",
        "documentation/index.html": "<p>",
    }
    first = pack(tmp_path / "first.ssp", files)
    second = CoSimulation.from_ssp(first).to_ssp(tmp_path / "second.ssp")
    check_valid(second)
    assert contents(second) == contents(first)


def test_what_readers_forgive_is_written_as_the_schemas_want_it(tmp_path: Path, make_fmu: MakeFmu) -> None:
    note = (
        '<ssd:Annotations><ssc:Annotation type="com.opensimulationplatform"><osp:StepSizeHint value="0.1"/>'
        "</ssc:Annotation></ssd:Annotations>"
    )
    old = '<ssd:Connectors><ssd:Connector name="y" kind="output" type="Real" colour="red"/></ssd:Connectors>'
    binding = bindings(("bias", 3.0))
    text = ssd(
        "<ssd:Units/>"
        + system(component("a", inner=binding + note + binding + old) + component("b"), wire("a.y", "b.u"))
        + "<!-- last -->"
    ).replace('version="1.0" name="test"', 'version="Draft" name="test"')
    text = text.replace("<ssd:Connections>", "<ssd:Connections/><ssd:Connections>")
    files = {"SystemStructure.ssd": text, "resources/gain.fmu": make_fmu("gain")}
    loop = CoSimulation.from_ssp(pack(tmp_path / "first.ssp", files), step=0.1)
    path = loop.to_ssp(tmp_path / "second.ssp", until=0.3)
    document = check_valid(path)["SystemStructure.ssd"].decode()
    assert 'colour="red"' in document and "<!-- last -->" in document
    assert any("written otherwise" in f.text for f in loop.findings)
    again = CoSimulation.from_ssp(path)
    assert [f.text for f in again.findings] == []
    same(loop, again, 0.3)


def test_what_came_with_version_2_makes_the_version_2(tmp_path: Path, make_fmu: MakeFmu) -> None:
    local = (
        '<ssd:Connectors><ssd:Connector name="y" kind="local"><ssc:Float64/></ssd:Connector></ssd:Connectors>'
    )
    files = {
        "SystemStructure.ssd": ssd(system(component("a", inner=local))),
        "resources/gain.fmu": make_fmu("gain"),
    }
    path = CoSimulation.from_ssp(pack(tmp_path / "1.ssp", files)).to_ssp(tmp_path / "2.ssp")
    assert etree.fromstring(check_valid(path)["SystemStructure.ssd"]).get("version") == "2.0"


def test_what_has_no_place_is_kept_in_an_annotation(tmp_path: Path, make_fmu: MakeFmu) -> None:
    odd = "<ssd:ElementGeometry x1='1' y1='1' x2='2' y2='2'/>"
    inner = connectors(u="input").replace("</ssd:Connectors>", f"{odd}</ssd:Connectors>")
    text = ssd(system(component("a", inner=inner), f"{wire('a.y', 'a.u')}{odd}")).replace(
        "<ssd:Elements>", '<ssd:Elements colour="red">'
    )
    files = {"SystemStructure.ssd": text, "resources/gain.fmu": make_fmu("gain")}
    path = CoSimulation.from_ssp(pack(tmp_path / "1.ssp", files)).to_ssp(tmp_path / "2.ssp")
    document = check_valid(path)["SystemStructure.ssd"].decode()
    assert document.count("ElementGeometry") == 2 and 'colour="red"' in document


WORDS = (
    "",
    "x",
    "-1",
    "nan",
    "a.y",
    "b",
    "../x.fmu",
    "#",
    "0",
    "1e999",
    "1 2",
    "http://a/b",
    "ü",
    "output",
    "input",
)


def mutate(root: etree._Element, rng: random.Random) -> None:
    elements = [e for e in root.iter() if isinstance(e.tag, str)]
    one, other = rng.choice(elements), rng.choice(elements)
    kind = rng.randrange(6)
    if kind == 0 and one.getparent() is not None:
        one.getparent().remove(one)
    elif kind == 1 and one.attrib:
        one.attrib.pop(rng.choice(sorted(one.attrib)))
    elif kind == 2 and one.attrib:
        one.set(rng.choice(sorted(one.attrib)), rng.choice(WORDS))
    elif kind == 3 and one.getparent() is not None:
        one.getparent().append(copy.deepcopy(one))
    elif kind == 4:
        other.append(copy.deepcopy(one))
    else:
        one.set(
            rng.choice(["unit", "startIndices", "source", "prefix", "name", "type", "version"]),
            rng.choice(WORDS),
        )


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=[pytest.mark.thorough] * (n >= 15)) for n in range(60)]
)
def test_damaged_documents_run_the_same_again_or_are_refused(
    seed: int, tmp_path: Path, make_fmu: MakeFmu
) -> None:
    rng = random.Random(seed)
    part = system(
        component("b"),
        wire("in", "b.u") + wire("b.y", "out"),
        connectors(**{"in": "input m", "out": "output"}),
        "s",
    )
    wires = wire("a.y", "s.in", '<ssc:LinearTransformation factor="2"/>') + wire("s.out", "c.u")
    parts = component("a", inner=connectors(y="output mm") + bindings(("bias", 3.0))) + part + component("c")
    units = (
        '<ssd:Units><ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit>'
        '<ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit></ssd:Units>'
    )
    root = etree.fromstring(ssd(system(parts, wires, bindings(("c.gain", 4.0))), units).encode())
    for _ in range(rng.randint(1, 4)):
        mutate(root, rng)
    files = {"SystemStructure.ssd": etree.tostring(root), "resources/gain.fmu": make_fmu("gain")}
    try:
        loop = CoSimulation.from_ssp(pack(tmp_path / "1.ssp", files))
    except cosim.CosimError:
        return
    again = CoSimulation.from_ssp(loop.to_ssp(tmp_path / "2.ssp"))
    assert again.start_values == loop.start_values
    assert sorted(map(str, again.links)) == sorted(map(str, loop.links))


def test_what_was_given_beside_an_ssp_is_written_too(tmp_path: Path, make_fmu: MakeFmu) -> None:
    inner = system(component("a.1"), name="s")
    files = {"SystemStructure.ssd": ssd(system(inner)), "resources/gain.fmu": make_fmu("gain")}
    starts = {"s/a_1.bias": 4.0}
    loop = CoSimulation.from_ssp(
        pack(tmp_path / "1.ssp", files), starts=starts, step="0.1 s", algorithm="gauss_seidel"
    )
    path = loop.to_ssp(tmp_path / "2.ssp", until=0.2)
    check_valid(path)
    again = CoSimulation.from_ssp(path)
    assert (again.step, again.until) == (0.1, 0.2)
    assert type(again.algorithm).__name__ == "GaussSeidel"
    assert again.simulate()["s/a_1.y"].tolist() == [4.0] * 3


def test_a_single_description_takes_what_it_refers_to_along(tmp_path: Path, make_fmu: MakeFmu) -> None:
    make_fmu("gain").rename(tmp_path / "g.fmu")
    (tmp_path / "unrelated.txt").write_text("", "utf-8")
    (tmp_path / "mine.ssd").write_text(ssd(system(component("a", "g.fmu"))), "utf-8")
    path = CoSimulation.from_ssp(tmp_path / "mine.ssd").to_ssp(tmp_path / "out.ssp")
    assert sorted(contents(path)) == ["SystemStructure.ssd", "g.fmu"]


NATIVE = pytest.param({"native": True, "fmi": 3, "platforms": [own_platform()]}, marks=needs_compiler)


@pytest.mark.parametrize("export", [{}, NATIVE])
def test_systems_are_exported(tmp_path: Path, make_fmu: MakeFmu, export: dict[str, Any]) -> None:
    """Elements of arrays have other names in an FMU, and a state that is connected is an output there."""
    wires = [
        ("osc.osc.x", "gain.u"),
        ("osc.felt", "other.u"),
        ("gain.y", "osc.osc.wind[1]"),
        {"from": "other.y", "to": "osc.osc.force", "factor": -2.0, "offset": 0.3},
    ]
    starts = {"osc.osc.x": 0.4, "osc.osc.places[2]": 0.7, "osc.osc.wind[0]": 0.2, "osc.osc.turn[1]": 5.0}
    participants = {
        "osc": SystemParticipant(oscillator(mass=3.0), "integrators.dormand_prince", 1e-9),
        "gain": make_fmu("gain"),
        "other": make_fmu("gain"),
    }
    loop = CoSimulation(
        participants, wires, "jacobi", 0.05, starts={**starts, "gain.gain": 9.0}, steps={"osc": 0.1}
    )
    path = loop.to_ssp(tmp_path / "loop.ssp", until=2.0, **export)
    check_valid(path)
    assert sorted(contents(path)) == ["SystemStructure.ssd", "resources/gain.fmu", "resources/osc.fmu"]
    again = CoSimulation.from_ssp(path)
    assert (again.step, again.step_multiple, again.findings) == (loop.step, loop.step_multiple, ())
    same_names = {"osc.osc.places[2]": "osc.osc.places[3]", "osc.osc.turn[1]": "osc.osc.turn[1,2]"}
    for old, new in {"osc.osc.x": "osc.osc.x", **same_names}.items():
        name, _, variable = new.partition(".")
        assert again.start_values[name][variable] == starts[old]
    first, second = loop.simulate(2.0), again.simulate()
    assert np.ptp(first["osc.osc.position"]) > 0.1
    for name in ("osc.osc.position", "osc.osc.acceleration", "osc.felt", "gain.y", "other.y"):
        # A factor and a unit are applied in another order: a last bit, on which lengths of steps depend.
        np.testing.assert_allclose(second[name], first[name], rtol=1e-9, atol=1e-11, err_msg=name)


def test_what_cannot_be_exported_is_told_with_its_name(tmp_path: Path) -> None:
    loop = CoSimulation({"a": oscillator(), "b": oscillator()}, [], "jacobi", 0.1)
    with pytest.raises(cosim.ModelError) as caught:
        loop.to_ssp(tmp_path / "x.ssp", integrator="integrators.nonsense")
    assert [p.where for p in caught.value.problems] == ["participants.a", "participants.b"]
    loop = CoSimulation({"c": TimedInputs({"u": [[0.0, 1.0]]})}, [], "jacobi", 0.1)
    with pytest.raises(cosim.ModelError, match="participants.c.*SSP holds FMUs"):
        loop.to_ssp(tmp_path / "x.ssp")
    assert not (tmp_path / "x.ssp").exists()


def test_a_run_needs_an_end(make_fmu: MakeFmu) -> None:
    with pytest.raises(cosim.ModelError, match="master.until: is missing"):
        CoSimulation({"a": make_fmu("gain")}, [], "jacobi", 0.1).simulate()


def test_namespaces_of_drafts_are_written_as_those_of_the_standard(tmp_path: Path, make_fmu: MakeFmu) -> None:
    values = (
        '<ssv:ParameterSet xmlns:ssv="http://ssp-standard.org/SSP1/ParameterValues" version="1.0" name="v">\n'
        '<ssv:Parameters><ssv:Parameter name="bias"><ssv:Real value="3"/></ssv:Parameter></ssv:Parameters>'
        "</ssv:ParameterSet>"
    )
    binding = '<ssd:ParameterBindings><ssd:ParameterBinding source="v.ssv"/></ssd:ParameterBindings>'
    other = (
        '<t:G xmlns:t="http://ssp-standard.org/SSPTraceability1/SSPTraceabilityCommon"/>'  # its own standard
    )
    note = f'<ssd:Annotations><ssc:Annotation type="x">{other}</ssc:Annotation></ssd:Annotations>'
    text = ssd(system(component("a", "g.fmu", inner=binding + note)))
    files = {"SystemStructure.ssd": text, "v.ssv": values, "g.fmu": make_fmu("gain")}
    loop = CoSimulation.from_ssp(pack(tmp_path / "1.ssp", files))
    said = "v.ssv:1: the namespace http://ssp-standard.org/SSP1/ParameterValues is not one of the standard"
    assert [str(f).startswith(said) for f in loop.findings[:1]] == [True]
    path = loop.to_ssp(tmp_path / "2.ssp")
    documents = check_valid(path)
    assert documents["SystemStructure.ssd"].decode() == text
    assert b'<ssv:Real value="3"/>' in documents["v.ssv"]
    assert CoSimulation.from_ssp(path).start_values == {"a": {"bias": 3.0}}


def test_an_empty_source_is_none(tmp_path: Path) -> None:
    """Two tools in use write it for a component without an implementation."""
    text = ssd(system('<ssd:Component name="a" source=""/>'))
    loop = CoSimulation.from_ssp(pack(tmp_path / "1.ssp", {"SystemStructure.ssd": text}))
    assert any("SystemStructure.ssd:3: has an empty" in str(found) for found in loop.findings)
    document = check_valid(loop.to_ssp(tmp_path / "2.ssp"))["SystemStructure.ssd"].decode()
    assert 'version="2.0"' in document and "source=" not in document


def test_a_description_by_itself_may_name_files_beside_its_folder(tmp_path: Path, make_fmu: MakeFmu) -> None:
    """They are moved into the archive, two of the same name under different ones."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        make_fmu("gain").rename(tmp_path / name / "gain.fmu")
    folder = tmp_path / "system" / "deep"
    folder.mkdir(parents=True)
    parts = component("a", "../../one/gain.fmu") + component("b", (tmp_path / "two" / "gain.fmu").as_posix())
    text = ssd(system(parts, wire("a.y", "b.u")))
    (folder / "SystemStructure.ssd").write_text(text, "utf-8")
    loop = CoSimulation.from_ssp(folder / "SystemStructure.ssd", step=0.1, starts={"a.bias": 2.0})
    path = loop.to_ssp(tmp_path / "out.ssp", until=0.3)
    check_valid(path)
    assert sorted(contents(path)) == ["SystemStructure.ssd", "resources/gain.fmu", "resources/gain_2.fmu"]
    assert any("../../one/gain.fmu is resources/gain" in f.text for f in loop.findings)
    same(loop, CoSimulation.from_ssp(path), 0.3)
    for stranger in (folder, pack(tmp_path / "bad.ssp", {"SystemStructure.ssd": text})):
        with pytest.raises(cosim.ModelError, match="package: refused"):
            CoSimulation.from_ssp(stranger)
