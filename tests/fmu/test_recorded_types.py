"""Text and booleans are recorded from all kinds of participants, in memory, in pieces and in files."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box3_fmu import make_box3
from fmi1_fmu import make_fmi1
from python_block import Block
from stored_pieces import StoredPieces
from talker import TYPES, talker

import cosim
from cosim import kit
from cosim.cli import main
from cosim_fmu import CoSimulation
from cosim_master.participants.process_participant import ProcessParticipant
from cosim_master.recording import recorder

MakeFmu = Callable[..., Path]
Compiled = Callable[..., Path]


def test_text_and_booleans_of_python_participants() -> None:
    listener = Block({}, ["heard"], types={"heard": "string"})
    result = CoSimulation({"a": talker(), "b": listener}, ["a.said -> b.heard"], "jacobi", 0.1).simulate(0.5)
    assert result.names == ["a.said", "a.on", "a.gear", "b.heard"]
    assert result["a.said"].tolist() == ["number 0"] * 3 + ["number 1"] * 3
    assert result["a.on"].tolist() == [True, False] * 3 and result["a.on"].dtype == np.bool_
    assert result["a.gear"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    # a connected input is recorded with its value in the step that has ended
    assert result["b.heard"].tolist() == ["number 0"] * 4 + ["number 1"] * 2


@pytest.mark.few(1)
@pytest.mark.parametrize("process", [False, True])
def test_text_and_booleans_of_fmi_2(make_fmu: MakeFmu, process: bool) -> None:
    path = make_fmu("types")
    parts = {"a": ProcessParticipant(path) if process else path}
    starts = {"a.string_in": 'grün, "1"', "a.boolean_in": False}
    result = CoSimulation(parts, [], "jacobi", 0.1, starts=starts).simulate(0.2)
    assert result.names == ["a.real_out", "a.integer_out", "a.boolean_out", "a.string_out"]
    assert result["a.string_out"].tolist() == ["start", *['grün, "1"'] * 2]
    assert result["a.boolean_out"].tolist() == [False, True, True]
    inputs = CoSimulation(parts, [], "jacobi", 0.1, starts=starts).simulate(0.2, record=["a.string*"])
    assert inputs["a.string_in"].tolist() == ['grün, "1"'] * 3


def test_text_booleans_and_binaries_of_fmi_1_and_3(tmp_path: Path, compiled: Compiled) -> None:
    fmus = {"one": make_fmi1(tmp_path, compiled), "three": make_box3(tmp_path, compiled)}
    starts: dict[str, Any] = {
        "one.text": "tschüs",
        "one.flag": True,
        "three.text_in": "grüße",
        "three.flag_in": True,
    }
    loop = CoSimulation(fmus, [], "jacobi", 0.1, starts=starts)
    outputs = ["one.text", "one.flag", "three.text_out", "three.flag_out"]
    result = loop.simulate(0.2, record=outputs)
    assert result["one.text"].tolist() == ["tschüs"] * 3
    assert result["three.text_out"].tolist() == ["grüße"] * 3
    assert result["one.flag"].tolist() == [True, False, True]  # it turns at every step
    assert result["three.flag_out"].tolist() == [True] * 3
    starts["three.blob_in"] = b"\x01\xab"
    loop = CoSimulation(fmus, [], "jacobi", 0.1, starts=starts)
    assert set(loop.simulate(0.2, record=["three.blob_out"])["three.blob_out"]) == {"01ab"}


def test_text_is_constant_between_communication_points(tmp_path: Path, compiled: Compiled) -> None:
    """At an event inside a step other signals are interpolated; text keeps its last value."""
    box = make_box3(tmp_path, compiled)
    starts = {"box.ring_at": 0.125, "box.text_in": "kept"}
    loop = CoSimulation({"box": box, "a": talker()}, [], "jacobi", 0.1, starts=starts)
    result = loop.simulate(0.3, record=["box.x", "box.text_out", "a.said"], inside="events")
    assert 0.125 in result.time.tolist()
    assert set(result["box.text_out"]) == {"kept"}
    row = result.time.tolist().index(0.125)
    assert result["a.said"][row] == "number 0"


@pytest.mark.parametrize("characters", [1, 100])
def test_rows_in_pieces_have_the_same_text(monkeypatch: pytest.MonkeyPatch, characters: int) -> None:
    monkeypatch.setattr(recorder, "CHARACTERS_IN_PIECE", characters)
    listener = Block({}, ["heard"], types={"heard": "string"})
    loop = CoSimulation({"a": talker(), "b": listener}, ["a.said -> b.heard"], "jacobi", 0.1)
    result, stream = loop.simulate(5.0), StoredPieces()
    ends = loop.simulate(5.0, stream=stream)
    assert len(stream.pieces) > 1
    for name in result.names:
        assert np.concatenate([piece[name] for piece in stream.pieces]).tolist() == result[name].tolist()
        assert ends[name].tolist() == [result[name][0], result[name][-1]]


@pytest.mark.thorough
def test_memory_does_not_grow_with_the_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "CHARACTERS_IN_PIECE", 100_000)

    class DiscardedPieces(StoredPieces):
        def append(self, piece: cosim.Result) -> None:
            """A file would have them."""

    part = talker(story=lambda time: f"{time!r:>10000}")
    part.types = {**TYPES, "story": "string"}
    loop = CoSimulation({"a": part}, [], "jacobi", 0.01)
    tracemalloc.start()
    try:
        loop.simulate(10.0, stream=DiscardedPieces())
        assert tracemalloc.get_traced_memory()[1] < 2_000_000  # of 10 MB of text
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_of_results_with_text(make_fmu: MakeFmu, tmp_path: Path, ending: str, capsys: Any) -> None:
    make_fmu("types")
    (tmp_path / "s.toml").write_text(
        '[participants.t]\nfmu = "types.fmu"\n'
        'parameters = { string_in = "a \\"b\\",\\nc", boolean_in = false }\n'
        '[master]\nalgorithm = "jacobi"\nstep = 0.1\nuntil = 0.2\n[output]\nsignals = ["t.*_out"]\n',
        "utf-8",
    )
    path = tmp_path / f"out.{ending}"
    assert main(["cosimulate", str(tmp_path / "s.toml"), "-q", "-o", str(path)]) == 0
    result = cosim.read_result(path)
    assert result["t.string_out"].tolist() == ["start", *['a "b",\nc'] * 2]
    assert result["t.boolean_out"].tolist() == [0, 1, 1]
    assert main(["info", str(path)]) == 0
    assert "2 different texts" in capsys.readouterr().out
    assert main(["info", str(path), "--json"]) == 0
    signals = json.loads(capsys.readouterr().out)["result"]["signals"]
    assert signals["t.string_out"]["last"] == 'a "b",\nc' and signals["t.boolean_out"]["last"] in (True, 1.0)


@pytest.mark.parametrize(
    ("signals", "status"), [("m.string_out", 2), ("m.*_out", 0), ("m.boolean_out", 0), ("m.real_out", 0)]
)
def test_a_plot_of_text_only_is_refused_before_the_run(
    signals: str,
    status: int,
    make_fmu: MakeFmu,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("matplotlib")
    fmu, scenario = make_fmu("types"), tmp_path / "s.toml"
    text = f'[participants.m]\nfmu = "{fmu.name}"\n[master]\nstep = 0.1\nuntil = 0.3\n'
    scenario.write_text(f'{text}[output]\nsignals = ["{signals}"]\n')
    monkeypatch.chdir(tmp_path)
    assert main(["cosimulate", "s.toml", "-q", "-o", "a.csv", "--plot", "a.svg"]) == status
    files_exist = [(tmp_path / name).exists() for name in ("a.csv", "a.svg")]
    assert files_exist == [status == 0] * 2
    message = capsys.readouterr().err
    assert (
        status == 0 or "a.svg: a picture shows numbers, and the recorded signals are text: m.str" in message
    )


def test_a_file_format_without_text_refuses_text_before_the_run(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fmu, scenario = make_fmu("types"), tmp_path / "s.toml"
    text = f'[participants.m]\nfmu = "{fmu.name}"\n[master]\nstep = 0.1\nuntil = 0.3\n'
    scenario.write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(type(kit.result_sink(Path("a.csv"))), "holds_texts", False)
    assert main(["cosimulate", "s.toml", "-o", "a.csv"]) == 2
    message = capsys.readouterr().err
    assert "a.csv: holds numbers alone" in message
    assert not (tmp_path / "a.csv").exists()
    scenario.write_text(text + '[output]\nsignals = ["m.real_out"]\n')
    assert main(["cosimulate", "s.toml", "-o", "a.csv"]) == 0
    assert cosim.read_result(tmp_path / "a.csv").names == ["m.real_out"]
