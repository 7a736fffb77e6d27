"""Connections of an SSP map booleans, integers and enumerations, and connect parts of arrays."""

from collections.abc import Callable
from pathlib import Path

from box3_fmu import make_box3
from gain_ssp import EXPERIMENT
from ssp_files import bindings, component, pack, ssd, system, wire

from cosim_fmu import CoSimulation


def test_mapping_tables_of_booleans_integers_and_enumerations(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    box = make_box3(tmp_path, compiled)

    def typed(name: str, kind: str, type: str) -> str:
        return f'<ssd:Connector name="{name}" kind="{kind}"><ssc:{type}/></ssd:Connector>'

    def table(kind: str, **entries: str) -> str:
        inner = "".join(f'<ssc:MapEntry source="{k.strip("_")}" target="{v}"/>' for k, v in entries.items())
        return f"<ssc:{kind}MappingTransformation>{inner}</ssc:{kind}MappingTransformation>"

    kinds = {"flag": "Boolean", "byte": "Int8", "mode": 'Enumeration name="Mode"'}
    ports = "".join(
        typed(f"{name}_in", "input", type) + typed(f"{name}_out", "output", type)
        for name, type in kinds.items()
    )
    inner = f"<ssd:Connectors>{ports}</ssd:Connectors>"
    start_values = bindings(
        ("byte_in", '<ssv:Int8 value="3"/>'), ("mode_in", '<ssv:Enumeration value="on" name="Mode"/>')
    ).replace('version="1.0"', 'version="2.0"')

    # the connections negate, replace 3 by 40, and exchange the items
    parts = component("a", "box.fmu", inner + start_values) + component("b", "box.fmu", inner)
    wires = (
        wire("a.flag_out", "b.flag_in", table("Boolean", true="false", false="true"))
        + wire("a.byte_out", "b.byte_in", table("Integer", _3="40"))
        + wire("a.mode_out", "b.mode_in", table("Enumeration", on="off", off="on"))
    )
    items = '<ssc:Item name="off" value="0"/><ssc:Item name="on" value="1"/>'
    tables = f'<ssd:Enumerations><ssc:Enumeration name="Mode">{items}</ssc:Enumeration></ssd:Enumerations>'
    path = pack(
        tmp_path / "t.ssp",
        {"SystemStructure.ssd": ssd(system(parts, wires), tables + EXPERIMENT, "2.0"), "box.fmu": box},
    )
    result = CoSimulation.from_ssp(path, step=0.1).simulate(record=["*"])
    last = {name: result[name][-1] for name in result.names}
    assert last["b.flag_in"] == 1.0 - last["a.flag_out"]
    assert last["b.byte_in"] == (40.0 if last["a.byte_out"] == 3.0 else last["a.byte_out"])
    assert last["b.mode_in"] == 1.0 - last["a.mode_out"]


def test_connections_of_whole_arrays_and_of_elements(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    box = make_box3(tmp_path, compiled)
    size = '<ssc:Dimension size="2"/>'
    kinds = {"matrix": "input", "doubled": "output"}
    typed = f"<ssc:Float64/>{size * 2}"
    ports = (f'<ssd:Connector name="{n}" kind="{kind}">{typed}</ssd:Connector>' for n, kind in kinds.items())
    inner = f"<ssd:Connectors>{''.join(ports)}</ssd:Connectors>"
    values = f'<ssv:Float64 value="1 2 3 4"/>{size * 2}'
    parts = component("a", "box.fmu", inner + bindings(("matrix", values)).replace('"1.0"', '"2.0"'))
    parts += component("b", "box.fmu", inner) + component("c", "box.fmu", inner)
    wires = (
        wire("a.doubled", "b.matrix")
        + wire("a.doubled", "c.matrix", more='startIndices="2" endIndices="1"')
        + wire("a.doubled", "c.matrix", more='startIndices="1 2" endIndices="2 1"')
    )
    files = {"SystemStructure.ssd": ssd(system(parts, wires), EXPERIMENT, "2.0"), "box.fmu": box}
    loop = CoSimulation.from_ssp(pack(tmp_path / "t.ssp", files), step=0.1)
    result = loop.simulate(record=["*"])
    elements = [f"[{i},{j}]" for i in (1, 2) for j in (1, 2)]
    assert [result[f"b.matrix{element}"][-1] for element in elements] == [2.0, 4.0, 6.0, 8.0]
    assert [result[f"c.matrix{element}"][-1] for element in elements] == [6.0, 8.0, 4.0, 0.0]
