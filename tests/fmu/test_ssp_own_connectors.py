"""The connectors of the top system of an SSP: outputs are recorded, series feed the inputs."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box3_fmu import make_box3
from ssp_files import bindings, component, connectors, pack, ssd, system, wire

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation
from cosim_master.participants.timed_inputs import TimedInputs

MakeFmu = Callable[..., Path]
UNITS = (
    '<ssd:Units><ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit>'
    '<ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit>'
    '<ssc:Unit name="s"><ssc:BaseUnit s="1"/></ssc:Unit></ssd:Units>'
)
EXPERIMENT = '<ssd:DefaultExperiment startTime="0" stopTime="0.5"/>'
DOUBLED = '<ssc:LinearTransformation factor="2" offset="1"/>'


@pytest.fixture
def path(tmp_path: Path, make_fmu: MakeFmu) -> Path:
    """``drive`` (mm) goes through a system to ``b.u`` (m); ``a.y`` and ``s/b.y`` come out."""
    inner = system(
        component("b", inner=connectors(u="input m", y="output m")),
        wire("in", "b.u", DOUBLED) + wire("b.y", "out"),
        connectors(**{"in": "input mm", "out": "output m"}),
        "s",
    )
    outer = connectors(drive="input mm", way="output mm", other="output", wrong="output s", unused="output")
    wires = (
        wire("drive", "s.in") + wire("s.out", "way") + wire("a.y", "other", DOUBLED) + wire("s.out", "wrong")
    )
    component_a = component("a", inner=connectors(y="output") + bindings(("bias", 3.0)))
    text = ssd(system(component_a + inner, wires, outer), UNITS + EXPERIMENT)
    return pack(tmp_path / "s.ssp", {"SystemStructure.ssd": text, "resources/gain.fmu": make_fmu("gain")})


def test_outputs_of_the_system_are_signals(path: Path) -> None:
    loop = CoSimulation.from_ssp(path, step=0.1, starts={"s/b.u": 0.25})
    result = loop.simulate()
    assert set(result.names) >= {"way", "other", "a.y", "s/b.y"}
    assert not {"wrong", "unused", "drive"} & set(result.names)
    assert result["other"].tolist() == [7.0] * 6 and result["a.y"].tolist() == [3.0] * 6
    assert result["s/b.y"].tolist() == [0.25] * 6 and result["way"].tolist() == [250.0] * 6
    assert result.units["way"] == "mm"
    assert any(
        str(f).startswith("SystemStructure.ssd:") and "'wrong' is not recorded: 'm'" in str(f)
        for f in loop.findings
    )


def test_patterns_select_outputs_of_the_system(path: Path) -> None:
    loop = CoSimulation.from_ssp(path, step=0.1)
    observed: list[dict[str, float]] = []
    result = loop.simulate(record=["way"], observe=lambda time, values: observed.append(dict(values)))
    assert result.names == ["way"]
    assert [set(values) for values in observed] == [{"way"}] * 6
    assert loop.simulate(record=["o*", "a.y"]).names == ["a.y", "other"]
    with pytest.raises(cosim.LookUpError, match="no signal 'wya'.*way"):
        loop.simulate(record=["wya"])


def test_outputs_of_the_system_are_in_parquet_files(path: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    target = tmp_path / "r.parquet"
    assert main(["cosimulate", str(path), "--step", "0.1", "-o", str(target), "-q"]) == 0
    assert cosim.read_result(target)["other"].tolist() == [7.0] * 6


def test_series_feed_the_inputs(path: Path) -> None:
    """In the unit of the series or of the connector, through all transformations: u = 2 drive + 1."""
    ramp = {"drive": [[0.0, 0.0], [0.5, 500.0]]}
    result = CoSimulation.from_ssp(path, step=0.1, inputs=ramp).simulate()
    assert (
        result["s/b.u"].tolist() == [1.0] * 6
    )  # a table is held; its last value applies from the next step on
    interpolated = TimedInputs(ramp, "linear")
    course = CoSimulation.from_ssp(path, step=0.1, inputs=interpolated).simulate()["s/b.u"]
    np.testing.assert_allclose(course[1:], 2.0 * 0.1 * np.arange(5) + 1.0)
    with_unit = TimedInputs(ramp, "linear", units={"drive": "m"})
    course = CoSimulation.from_ssp(path, step=0.1, inputs=with_unit).simulate()["s/b.u"]
    np.testing.assert_allclose(course[1:], 2.0 * 1e3 * 0.1 * np.arange(5) + 1.0)


def test_series_feed_inputs_of_components(path: Path) -> None:
    result = CoSimulation.from_ssp(path, step=0.1, inputs={"a.u": [[0.0, 4.0]]}).simulate()
    assert result["a.y"][-1] == 7.0


def test_an_input_connected_to_an_unknown_variable_is_named_with_its_line(
    tmp_path: Path, make_fmu: MakeFmu
) -> None:
    text = ssd(system(component("a"), wire("drive", "a.nothing"), connectors(drive="input")), EXPERIMENT)
    files = {"SystemStructure.ssd": text, "resources/gain.fmu": make_fmu("gain")}
    with pytest.raises(cosim.ModelError, match=r"^SystemStructure\.ssd:9: no variable 'nothing'"):
        CoSimulation.from_ssp(pack(tmp_path / "s.ssp", files), step=0.1, inputs={"drive": [[0.0, 1.0]]})


def test_the_command_option_inputs(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    series, target = tmp_path / "drive.csv", tmp_path / "out.csv"
    series.write_text("time [s],drive [m]\n0,0\n0.5,0.5\n", "utf-8")
    command = ["cosimulate", str(path), "--step", "0.1", "-o", str(target), "-q"]
    assert main([*command, "--inputs", str(series)]) == 0
    np.testing.assert_allclose(cosim.read_result(target)["s/b.u"][1:], 2.0 * 0.1 * np.arange(5) + 1.0)
    for text, message in (
        ("time [s],drvie\n0,0\n", "no connector of the system or input of a component 'drvie'"),
        ("time [s],drive [s]\n0,0\n", "'s' and 'mm' do not measure the same thing"),
        ("", "drive.csv"),
        ("time [s],s/b.u,drive\n0,0,0\n", "inputs.drive: s/b.u has a source already, in inputs.s/b.u"),
        ("time [s],unused\n0,0\n", "'unused' is a connector of the system, but leads to no component"),
    ):
        series.write_text(text, "utf-8")
        assert main([*command, "--inputs", str(series)]) != 0
        errors = capsys.readouterr().err
        assert message in errors and "Traceback" not in errors
    assert main(["cosimulate", str(tmp_path / "s.toml"), "--step", "0.1"]) != 0
    assert "--step: for an SSP" in capsys.readouterr().err


def test_info_lists_the_connectors_of_the_system(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(path)]) == 0
    output = capsys.readouterr().out
    assert "  inputs     drive [mm]\n" in output
    assert "  outputs    way [mm], other, wrong [s], unused\n" in output


def test_series_cannot_be_written_to_an_ssp(path: Path, tmp_path: Path) -> None:
    loop = CoSimulation.from_ssp(path, step=0.1, inputs={"drive": [[0.0, 1.0]]})
    with pytest.raises(cosim.ModelError, match="SSP.*hold values over"):
        loop.to_ssp(tmp_path / "out.ssp")


def test_booleans_texts_and_array_elements_as_outputs_of_the_system(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    box = make_box3(tmp_path, compiled)

    def typed(name: str, kind: str, inner: str) -> str:
        return f'<ssd:Connector name="{name}" kind="{kind}">{inner}</ssd:Connector>'

    sizes = '<ssc:Float64/><ssc:Dimension size="2"/><ssc:Dimension size="2"/>'
    negation = '<ssc:BooleanMappingTransformation><ssc:MapEntry source="true" target="false"/>'
    negation += '<ssc:MapEntry source="false" target="true"/></ssc:BooleanMappingTransformation>'
    system_connectors = typed("all", "output", sizes) + typed("one", "output", "<ssc:Float64/>")
    system_connectors += typed("said", "output", "<ssc:String/>")
    system_connectors += typed("not", "output", "<ssc:Boolean/>") + typed("on", "input", "<ssc:Boolean/>")
    ports = typed("doubled", "output", sizes) + typed("flag_out", "output", "<ssc:Boolean/>")
    ports += typed("flag_in", "input", "<ssc:Boolean/>") + typed("text_out", "output", "<ssc:String/>")
    inner = f"<ssd:Connectors>{ports}</ssd:Connectors>"
    wires = wire("a.doubled", "all") + wire("a.doubled", "one", more='startIndices="2 1"')
    wires += wire("a.text_out", "said") + wire("a.flag_out", "not", negation) + wire("on", "a.flag_in")
    top = system(
        component("a", "box.fmu", inner), wires, f"<ssd:Connectors>{system_connectors}</ssd:Connectors>"
    )
    files = {"SystemStructure.ssd": ssd(top, EXPERIMENT, "2.0"), "box.fmu": box}
    inputs: dict[str, Any] = {"on": [[0.0, 0], [0.25, 1]]}
    loop = CoSimulation.from_ssp(
        pack(tmp_path / "t.ssp", files), step=0.1, inputs=inputs, starts={"a.matrix": [[1, 2], [3, 4]]}
    )
    result = loop.simulate()
    for place in ("1,1", "1,2", "2,1", "2,2"):
        assert result[f"all[{place}]"].tolist() == result[f"a.doubled[{place}]"].tolist()
    assert result["one"].tolist() == result["a.doubled[2,1]"].tolist()
    assert result["not"].tolist() == [not on for on in result["a.flag_out"].tolist()]
    assert set(result["a.flag_out"].tolist()) == {False, True}
    assert result["said"].tolist() == result["a.text_out"].tolist()


def test_a_system_without_connectors_adds_no_signals(tmp_path: Path, make_fmu: MakeFmu) -> None:
    files = {"SystemStructure.ssd": ssd(system(component("a"))), "resources/gain.fmu": make_fmu("gain")}
    loop = CoSimulation.from_ssp(pack(tmp_path / "s.ssp", files), step=0.1)
    assert loop.derived == {} and zipfile.is_zipfile(tmp_path / "s.ssp")
