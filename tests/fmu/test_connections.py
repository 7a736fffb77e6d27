"""Connections: transformations, buses, types, arrays, maps of values, and the messages for wrong ones."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from box3_fmu import make_box3
from python_block import Block

import cosim
from cosim_fmu import CoSimulation, CoSimulationError
from cosim_master.coupling.connection import Connection
from cosim_master.coupling.wiring import check_connections

MakeFmu = Callable[..., Path]
TYPES = ["real", "integer", "boolean", "string", "binary", "clock"]
WIDENED_TYPES = {("integer", "real"), ("boolean", "real"), ("boolean", "integer")}


def test_linear_transformation_comes_before_the_conversion_of_units() -> None:
    source = Block({"t": lambda time: 20.0}, units={"t": "degC"})
    target = Block({}, ["u"], units={"u": "K"})
    loop = CoSimulation(
        {"a": source, "b": target},
        [{"from": "a.t", "to": "b.u", "factor": 2.0, "offset": 5.0}],
        "jacobi",
        0.1,
    )
    loop.simulate(0.2)
    assert target.values["u"] == pytest.approx(2.0 * 20.0 + 5.0 + 273.15)


def test_transformation_runs_compiled(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("gain")
    link = Connection("a.y", "b.u", factor=-3.0, offset=1.0)
    loop = CoSimulation({"a": fmu, "b": fmu}, [link], "gauss_seidel", 0.1, starts={"a.bias": 2.0})
    result = loop.simulate(0.3)
    assert result.statistics["loop"] == "compiled"
    assert result["b.u"].tolist() == [-5.0] * 4
    assert result["b.y"].tolist() == [-5.0] * 4


def test_bus_connects_all_that_match(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    box = make_box3(tmp_path, compiled)
    parts = {"a": box, "b": box}
    loop = CoSimulation(
        parts, [("a.doubled[*]", "b.matrix[*]")], "gauss_seidel", 0.1, starts={"a.matrix[2,1]": 4.0}
    )
    assert [str(link) for link in loop.links] == [
        f"a.doubled[{i},{j}] → b.matrix[{i},{j}]" for i in (1, 2) for j in (1, 2)
    ]
    assert loop.simulate(0.2)["b.doubled[2,1]"].tolist() == [16.0] * 3


@pytest.mark.parametrize(
    ("connection", "sentence"),
    [
        (("a.y*", "b.u"), "a bus needs one \\* in each of its names"),
        (("a.z*", "b.u*"), "no output matches a.z\\*"),
        (("a.*", "b.in_*"), "a.y would go to b.in_y, but there is no such input"),
        ({"from": "a.y", "to": "b.u", "gain": 2.0}, "no key 'gain'"),
        ({"from": "a.y", "to": "b.u", "factor": "2"}, "factor is '2', needs a finite number"),
        ({"from": "a.y", "to": "b.u", "offset": float("nan")}, "offset is nan, needs a finite number"),
        (("a.y",), "needs two names"),
    ],
)
def test_wrong_connections_are_refused(make_fmu: MakeFmu, connection: Any, sentence: str) -> None:
    fmu = make_fmu("gain")
    with pytest.raises(cosim.ModelError, match=sentence):
        CoSimulation({"a": fmu, "b": fmu}, [connection], "jacobi", 0.1)


def test_a_type_is_connected_to_itself_and_to_wider_types() -> None:
    """All pairs are checked; the faults of all are reported at once."""
    types = {f"{kind}_{end}": kind for kind in TYPES for end in ("out", "in")}
    part = Block(
        dict.fromkeys([name for name in types if name.endswith("out")], lambda t, **u: 0),
        [name for name in types if name.endswith("in")],
        types=types,
    )
    for kind in TYPES:
        links = [(f"m.{source}_out", f"m.{kind}_in") for source in TYPES]
        refused = [s for s in TYPES if s != kind and (s, kind) not in WIDENED_TYPES]
        connections, faults = check_connections({"m": part.describe()}, [], links)
        assert [c.output for c in connections if c.input == f"{kind}_in"] == [
            f"{s}_out" for s in TYPES if s not in refused
        ]
        for source in refused:
            text = f"m.{source}_out is {source}, m.{kind}_in is {kind}: the types have to agree"
            assert any(fault.text.startswith(text) for fault in faults)


def test_connected_enumerations_need_the_same_items(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    box = make_box3(tmp_path, compiled)
    other_box = tmp_path / "other.fmu"
    with zipfile.ZipFile(box) as source, zipfile.ZipFile(other_box, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name).replace(b'name="on" value="1"', b'name="open" value="2"'))
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation({"a": box, "b": other_box}, [("a.mode_out", "b.mode_in")])
    text = "a.mode_out is an enumeration of off = 0, on = 1; b.mode_in of off = 0, open = 2"
    assert text in str(caught.value)
    CoSimulation({"a": box, "b": box}, [("a.mode_out", "b.mode_in")])


def test_arrays_are_connected_as_a_whole_if_their_shapes_agree(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    box = make_box3(tmp_path, compiled)
    starts = {"a.matrix": [[1.0, 2.0], [3.0, 4.0]]}
    result = CoSimulation(
        {"a": box, "b": box}, [("a.doubled", "b.matrix")], "jacobi", 0.1, starts=starts
    ).simulate(0.1)
    assert [result[f"b.doubled[{i},{j}]"][-1] for i in (1, 2) for j in (1, 2)] == [4.0, 8.0, 12.0, 16.0]
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation({"a": box}, [("a.doubled", "a.u"), ("a.x", "a.matrix")], starts={"a.matrix": [1.0, 2.0]})
    text = str(caught.value)
    assert "a.doubled is 2×2, a.u" in text
    assert "scalar, a.matrix is 2×2" in text
    assert "shape 2, needs 2×2" in text


@pytest.mark.parametrize(("value", "fits"), [(-128, True), (127, True), (128, False), (-129, False)])
def test_values_beyond_a_sized_type_are_an_error(
    tmp_path: Path, compiled: Callable[..., Path], value: int, fits: bool
) -> None:
    source = Block({"y": lambda t: value}, types={"y": "integer"})
    loop = CoSimulation(
        {"s": source, "m": make_box3(tmp_path, compiled)}, [("s.y", "m.byte_in")], "jacobi", 0.1
    )
    if fits:
        assert loop.simulate(0.1)["m.byte_out"][-1] == value
    else:
        with pytest.raises(CoSimulationError, match=f"m: .*byte_in is {value}, needs a value of type Int8"):
            loop.simulate(0.1)


def test_only_real_inputs_are_transformed(make_fmu: MakeFmu) -> None:
    link = {"from": "k.integer_out", "to": "k.integer_in", "factor": 2.0}
    with pytest.raises(cosim.ModelError, match="k.integer_in.*integer: only real"):
        CoSimulation({"k": make_fmu("types")}, [link], "jacobi", 0.1)


def test_values_are_mapped_and_booleans_widened(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("types")
    wires = [
        {"from": "a.integer_out", "to": "b.integer_in", "map": {"1": 10, 2: "20"}},
        {"from": "a.boolean_out", "to": "b.boolean_in", "map": {"true": False, "false": True}},
        {"from": "a.boolean_out", "to": "b.real_in"},
    ]
    result = CoSimulation({"a": fmu, "b": fmu}, wires, "jacobi", 0.1).simulate(0.3, record=["*"])
    assert result["a.integer_out"][-1] == 1.0 and result["b.integer_in"][-1] == 10.0
    assert result["b.boolean_in"].tolist() == (1.0 - result["b.real_in"]).tolist()


@pytest.mark.parametrize(
    ("connection", "sentence"),
    [
        (
            {"from": "a.real_out", "to": "b.real_in", "map": {1: 2}},
            "only booleans, integers and enumerations",
        ),
        (
            {"from": "a.integer_out", "to": "b.integer_in", "map": {"x": 2}},
            "'x' is not a value of a.integer_out",
        ),
        ({"from": "a.integer_out", "to": "b.integer_in", "map": 3}, "map is 3, needs a table of values"),
        ({"from": "a.real_out", "to": "b.real_in", "convert": 1}, "convert is 1, needs true or false"),
        (("a.real_out", "b.integer_in"), "the types have to agree"),
    ],
)
def test_wrong_maps_are_refused(make_fmu: MakeFmu, connection: Any, sentence: str) -> None:
    fmu = make_fmu("types")
    with pytest.raises(cosim.ModelError, match=sentence):
        CoSimulation({"a": fmu, "b": fmu}, [connection], "jacobi", 0.1)
