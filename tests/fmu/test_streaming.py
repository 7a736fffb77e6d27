"""Co-simulations that are written while they run: the same rows, in pieces."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box3_fmu import make_box3
from export_parts import Ball

import cosim
from cosim import kit
from cosim_fmu import CoSimulation

MakeFmu = Callable[..., Path]


class Pieces(kit.ResultStream):
    """Keeps what it gets."""

    def __init__(self) -> None:
        self.pieces: list[cosim.Result] = []
        self.end: cosim.Result | None = None

    def append(self, piece: cosim.Result) -> None:
        self.pieces.append(piece)

    def close(self, result: cosim.Result) -> None:
        assert self.end is None
        self.end = result

    def table(self) -> Any:
        return np.concatenate([np.column_stack([p.time, *p.signals.values()]) for p in self.pieces])


def same_in_pieces(loop: CoSimulation, until: float, **options: Any) -> Pieces:
    whole = loop.simulate(until, **options)
    stream = Pieces()
    ends = loop.simulate(until, stream=stream, **options)
    assert stream.table().tolist() == np.column_stack([whole.time, *whole.signals.values()]).tolist()
    assert stream.end is ends
    assert ends.time.tolist() == [whole.time[0], whole.time[-1]]
    assert ends.names == whole.names and ends.units == whole.units
    return stream


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cosim_master.recording.recorder.NUMBERS_IN_PIECE", 8)


def test_plain_rows(make_fmu: MakeFmu) -> None:
    loop = CoSimulation({"m": make_fmu("mass")}, [], "jacobi", 0.01)
    assert len(same_in_pieces(loop, 1.0).pieces) > 1


@pytest.mark.few(2)
@pytest.mark.parametrize("step", [0.013, 0.11, 0.4])
@pytest.mark.parametrize("inside", ["events", "steps"])
def test_rows_of_events_inside_the_steps(step: float, inside: str) -> None:
    def ball() -> cosim.Model:
        model = cosim.Model("ball")
        model.add(Ball, "ball")
        return model

    loop = CoSimulation({"a": ball(), "b": ball()}, [], "jacobi", step, steps={"b": 3 * step})
    stream = same_in_pieces(loop, 12 * step if step > 0.3 else 3.0, inside=inside)
    assert len(stream.pieces) > (1 if step > 0.3 else 3)


def test_slopes_and_events_of_fmus(tmp_path: Path, compiled: Callable[..., Path], make_fmu: MakeFmu) -> None:
    box = make_box3(tmp_path, compiled)
    parts = {"box": box, "mass": make_fmu("mass")}
    wires = ["mass.x -> box.u", {"from": "box.x", "to": "mass.f", "convert": False}]
    for algorithm, options in (("gauss_seidel", {"extrapolation": 1}), ("jacobi", {})):
        loop = CoSimulation(parts, wires, algorithm, 0.05, options=options, starts={"box.ring_at": 0.125})
        same_in_pieces(loop, 1.0, inside="steps")


def test_a_run_that_fails_is_closed(make_fmu: MakeFmu) -> None:
    loop = CoSimulation(
        {"f": make_fmu("failing")}, [], "jacobi", 0.1, starts={"f.fail_at": 0.55, "f.fail_status": 3}
    )
    stream = Pieces()
    with pytest.raises(cosim.SimulationError):
        loop.simulate(1.0, stream=stream)
    assert stream.end is not None and stream.end.message
    assert stream.table()[-1, 0] == pytest.approx(0.5)


def test_the_command_writes_parquet(make_fmu: MakeFmu, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from cosim.cli import main

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


@pytest.mark.parametrize("longest", [49, 50, 51, 100_000])
def test_long_files_of_text_are_written_while_the_run_goes_on(
    longest: int, make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cosim.cli import main
    from cosim_fmu.command import result_file

    path = make_fmu("mass")
    (tmp_path / "one.toml").write_text(
        f'[participants.m]\nfmu = "{path.name}"\n[master]\nalgorithm = "jacobi"\nstep = 0.02\nuntil = 1.0',
        "utf-8",
    )
    monkeypatch.chdir(tmp_path)
    assert main(["cosimulate", "one.toml", "-q", "-o", "whole.csv"]) == 0
    asked: list[Path] = []
    sink = type(kit.result_sink(tmp_path / "x.csv"))
    stream = sink.stream

    def streamed(self: Any, target: Path, source: Any = None) -> kit.ResultStream:
        asked.append(target)
        return stream(self, target, source)

    monkeypatch.setattr(sink, "stream", streamed)
    monkeypatch.setattr(result_file, "LONG_RUN", longest)
    assert main(["cosimulate", "one.toml", "-q", "--in-process", "-o", "long.csv"]) == 0
    assert len(asked) == (longest < 50)
    assert (tmp_path / "long.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
