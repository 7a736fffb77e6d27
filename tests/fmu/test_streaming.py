"""Results that are written in pieces while a co-simulation runs have the same rows as those in memory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box3_fmu import make_box3
from export_parts import Ball
from stored_pieces import StoredPieces

import cosim
from cosim import kit
from cosim.cli import main
from cosim_fmu import CoSimulation
from cosim_fmu.command import result_file

MakeFmu = Callable[..., Path]


def compare_in_pieces(loop: CoSimulation, until: float, **options: Any) -> StoredPieces:
    """The stream of a run, whose rows equal those of a run in memory."""
    in_memory = loop.simulate(until, **options)
    stream = StoredPieces()
    ends = loop.simulate(until, stream=stream, **options)
    assert stream.table().tolist() == np.column_stack([in_memory.time, *in_memory.signals.values()]).tolist()
    assert stream.end is ends
    assert ends.time.tolist() == [in_memory.time[0], in_memory.time[-1]]
    assert ends.names == in_memory.names and ends.units == in_memory.units
    return stream


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of a few rows."""
    monkeypatch.setattr("cosim_master.recording.recorder.NUMBERS_IN_PIECE", 8)


def test_rows_at_communication_points(make_fmu: MakeFmu) -> None:
    loop = CoSimulation({"m": make_fmu("mass")}, [], "jacobi", 0.01)
    assert len(compare_in_pieces(loop, 1.0).pieces) > 1


@pytest.mark.few(2)
@pytest.mark.parametrize("step", [0.013, 0.11, 0.4])
@pytest.mark.parametrize("inside", ["events", "steps"])
def test_rows_of_events_inside_the_steps(step: float, inside: str) -> None:
    def ball() -> cosim.Model:
        model = cosim.Model("ball")
        model.add(Ball, "ball")
        return model

    loop = CoSimulation({"a": ball(), "b": ball()}, [], "jacobi", step, steps={"b": 3 * step})
    stream = compare_in_pieces(loop, 12 * step if step > 0.3 else 3.0, inside=inside)
    assert len(stream.pieces) > (1 if step > 0.3 else 3)


def test_slopes_and_events_of_fmus(tmp_path: Path, compiled: Callable[..., Path], make_fmu: MakeFmu) -> None:
    box = make_box3(tmp_path, compiled)
    parts = {"box": box, "mass": make_fmu("mass")}
    wires = ["mass.x -> box.u", {"from": "box.x", "to": "mass.f", "convert": False}]
    for algorithm, options in (("gauss_seidel", {"extrapolation": 1}), ("jacobi", {})):
        loop = CoSimulation(parts, wires, algorithm, 0.05, options=options, starts={"box.ring_at": 0.125})
        compare_in_pieces(loop, 1.0, inside="steps")


def test_the_stream_of_a_failed_run_is_closed(make_fmu: MakeFmu) -> None:
    loop = CoSimulation(
        {"f": make_fmu("failing")}, [], "jacobi", 0.1, starts={"f.fail_at": 0.55, "f.fail_status": 3}
    )
    stream = StoredPieces()
    with pytest.raises(cosim.SimulationError):
        loop.simulate(1.0, stream=stream)
    assert stream.end is not None and stream.end.message
    assert stream.table()[-1, 0] == pytest.approx(0.5)


def test_the_command_writes_parquet(make_fmu: MakeFmu, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    make_fmu("mass")
    text = '[participants.m]\nfmu = "mass.fmu"\n[master]\nalgorithm = "jacobi"\nstep = 0.01\nuntil = 1.0\n'
    (tmp_path / "s.toml").write_text(text, "utf-8")
    path = tmp_path / "out.parquet"
    for _ in range(2):
        assert main(["cosimulate", str(tmp_path / "s.toml"), "-q", "-o", str(path)]) == 0
    assert main(["cosimulate", str(tmp_path / "s.toml"), "-q", "-o", str(tmp_path / "out.csv")]) == 0
    assert main(["compare", str(tmp_path / "out.csv"), str(path), "--tol", "0"]) == 0
    assert cosim.read_result(path).unit("m.x") == "m"
    assert len(list(path.glob("part-*"))) > 1


@pytest.mark.parametrize("long_run", [49, 50, 51, 100_000])
def test_csv_files_of_long_runs_are_streamed(
    long_run: int, make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_fmu("mass")
    (tmp_path / "one.toml").write_text(
        f'[participants.m]\nfmu = "{path.name}"\n[master]\nalgorithm = "jacobi"\nstep = 0.02\nuntil = 1.0',
        "utf-8",
    )
    monkeypatch.chdir(tmp_path)
    assert main(["cosimulate", "one.toml", "-q", "-o", "whole.csv"]) == 0
    streamed_files: list[Path] = []
    sink = type(kit.result_sink(tmp_path / "x.csv"))
    stream = sink.stream

    def record_and_stream(self: Any, target: Path, source: Any = None) -> kit.ResultStream:
        streamed_files.append(target)
        return stream(self, target, source)

    monkeypatch.setattr(sink, "stream", record_and_stream)
    monkeypatch.setattr(result_file, "LONG_RUN", long_run)
    assert main(["cosimulate", "one.toml", "-q", "--in-process", "-o", "long.csv"]) == 0
    assert len(streamed_files) == (long_run < 50)  # the run has 50 steps
    assert (tmp_path / "long.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
