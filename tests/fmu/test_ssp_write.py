"""Written SSPs are valid by the schemas of the standard, and run the same when they are read again."""

from collections.abc import Callable
from pathlib import Path

import pytest
from box3_fmu import make_box3
from lxml import etree
from ssp_files import bindings, check_valid, component, connectors, pack, ssd, system, wire
from written_ssps import compare_runs, contents

import cosim
from cosim_fmu import CoSimulation

MakeFmu = Callable[..., Path]
UNITS_OF_LENGTH = (
    '<Unit name="m"><BaseUnit m="1"/></Unit><Unit name="mm"><BaseUnit m="1" factor="0.001"/></Unit>'
)
# geometry of an element, annotations, geometry of a connection
GEOMETRY = (
    '<ssd:ElementGeometry x1="1" y1="2" x2="3" y2="4" iconSource="extra/icon.png"/>',
    '<ssd:Annotations><ssc:Annotation type="org.acme"><colour xmlns="urn:acme">red &amp; <b/></colour>'
    "</ssc:Annotation></ssd:Annotations>",
    '<ssd:ConnectionGeometry pointsX="1 2" pointsY="3 4"/>',
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
    for text in ('baseStepSize="0.01"', 'oms:FixedStepMaster description="oms-ma" stepSize="0.01"'):
        assert text in document
    copy = CoSimulation.from_ssp(path)
    assert (copy.step, copy.until, copy.options) == (0.01, 1.0, {"extrapolation": 1})
    assert copy.findings == ()
    assert copy.start_values == loop.start_values
    compare_runs(loop, copy, 1.0)


def test_units_factors_and_maps_are_written(tmp_path: Path, make_fmu: MakeFmu) -> None:
    def unit(name: str) -> Path:
        def change(variable: str, attributes: dict[str, str]) -> dict[str, str]:
            return {**attributes, "unit": name} if variable in ("y", "u") else attributes

        return make_fmu("gain", name=name, units=UNITS_OF_LENGTH, change=change)

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

    # from m to mm the unit is converted; the connection with a factor is written without a conversion
    loop = CoSimulation(parts, wires, "jacobi", 0.1, starts=starts)
    path = loop.to_ssp(tmp_path / "units.ssp", until=0.5)
    document = check_valid(path)["SystemStructure.ssd"].decode()
    assert document.count("LinearTransformation") == document.count("suppressUnitConversion") == 1
    copy = CoSimulation.from_ssp(path)
    assert [(link.factor, link.offset, link.table) for link in copy.links] == [
        (link.factor, link.offset, link.table) for link in loop.links
    ]
    assert copy.start_values == loop.start_values
    compare_runs(loop, copy, 0.5)


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
    copy = CoSimulation.from_ssp(path)
    assert copy.step_multiple == {"b": 2}
    assert copy.start_values["a"] == loop.start_values["a"]
    assert copy.start_values["b"]["matrix[2,1]"] == 7.0
    compare_runs(loop, copy, 0.6)


def test_an_ssp_that_was_read_is_written_unchanged(tmp_path: Path, make_fmu: MakeFmu) -> None:
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


def test_settings_that_python_adds_to_an_ssp_are_written(tmp_path: Path, make_fmu: MakeFmu) -> None:
    inner = system(component("a.1"), name="s")
    files = {"SystemStructure.ssd": ssd(system(inner)), "resources/gain.fmu": make_fmu("gain")}
    starts = {"s/a_1.bias": 4.0}
    loop = CoSimulation.from_ssp(
        pack(tmp_path / "1.ssp", files), starts=starts, step="0.1 s", algorithm="gauss_seidel"
    )
    path = loop.to_ssp(tmp_path / "2.ssp", until=0.2)
    check_valid(path)
    copy = CoSimulation.from_ssp(path)
    assert (copy.step, copy.until) == (0.1, 0.2)
    assert type(copy.algorithm).__name__ == "GaussSeidel"
    assert copy.simulate()["s/a_1.y"].tolist() == [4.0] * 3


def test_a_single_ssd_file_is_written_with_the_files_that_it_names(tmp_path: Path, make_fmu: MakeFmu) -> None:
    make_fmu("gain").rename(tmp_path / "g.fmu")
    (tmp_path / "unrelated.txt").write_text("", "utf-8")
    (tmp_path / "system.ssd").write_text(ssd(system(component("a", "g.fmu"))), "utf-8")
    path = CoSimulation.from_ssp(tmp_path / "system.ssd").to_ssp(tmp_path / "out.ssp")
    assert sorted(contents(path)) == ["SystemStructure.ssd", "g.fmu"]


def test_a_run_without_an_end_is_refused(make_fmu: MakeFmu) -> None:
    with pytest.raises(cosim.ModelError, match="master.until: is missing"):
        CoSimulation({"a": make_fmu("gain")}, [], "jacobi", 0.1).simulate()


def test_a_single_ssd_file_may_name_files_outside_of_its_folder(tmp_path: Path, make_fmu: MakeFmu) -> None:
    """They are copied into the archive; of two with the same name one is renamed."""
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
    compare_runs(loop, CoSimulation.from_ssp(path), 0.3)

    # a folder or an archive must not name such files
    for package in (folder, pack(tmp_path / "bad.ssp", {"SystemStructure.ssd": text})):
        with pytest.raises(cosim.ModelError, match="package: refused"):
            CoSimulation.from_ssp(package)
