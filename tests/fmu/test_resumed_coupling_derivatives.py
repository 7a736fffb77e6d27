"""Resumed co-simulations and streams have the bytes of the derivatives of uninterrupted ones."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from coupled_oscillators import ALGORITHMS, STARTS, STEP, Ball, Oscillator, oscillators, system_of

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation
from cosim_master.derivatives.coupling_tangents import CouplingTangents
from cosim_master.recording import recorder
from cosim_master.run.saved_trees import from_bytes, to_bytes

MakeFmu = Callable[..., Path]
Make = Callable[[], CoSimulation]


class Runs(NamedTuple):
    """A run without interruption, one that was resumed from a saved state of it, and that state."""

    uninterrupted: cosim.Result
    resumed: cosim.Result
    saved: bytes


def run_and_resume(make: Make, when: float, until: float, by: list[str]) -> Runs:
    """Both runs; the state is saved at the first point from `when` on."""
    loop, saved = make(), list[bytes]()

    def observe(time: float, values: object) -> None:
        if time >= when and not saved:
            saved.append(loop.save())

    uninterrupted = loop.simulate(until, derivatives=by, observe=observe)
    later = make()
    assert later.restore(saved[0]) == pytest.approx(when)
    return Runs(uninterrupted, later.simulate(until, derivatives=by), saved[0])


def check_same(runs: Runs, by: list[str]) -> None:
    """Compare all bytes of values and of derivatives."""
    expected, result = runs.uninterrupted, runs.resumed
    assert expected.time.tobytes() == result.time.tobytes() and expected.names == result.names
    assert expected.derivatives.keys() == result.derivatives.keys() and expected.derivatives
    for name, derivatives in expected.derivatives.items():
        assert expected[name].tobytes() == result[name].tobytes()
        for path in by:
            assert derivatives[path].tobytes() == result.derivative(name, path).tobytes(), (name, path)
    assert [str(finding) for finding in expected.findings] == [str(finding) for finding in result.findings]


def ball_and_oscillator() -> CoSimulation:
    """The ball bounces at 0.44 s; its delay holds values from before that."""
    ball = system_of("ball", Ball(), late={"source": "m.speed", "delay": 0.13})
    return CoSimulation(
        {"ball": ball, "two": system_of("two", Oscillator())},
        [
            {"from": "ball.late", "to": "two.m.force", "convert": False},
            {"from": "two.m.x", "to": "ball.m.force", "convert": False},
        ],
        "jacobi",
        0.02,
        options={"extrapolation": 1},
        tolerance=1e-9,
    )


def two_masses(fmu: Path) -> CoSimulation:
    connections = ["one.x -> two.x_other", "two.x -> one.x_other"]
    return CoSimulation({"one": fmu, "two": fmu}, connections, "jacobi", STEP, starts={"two.kc": 0.5})


class RecorderCopy:
    """Receives the notes and rows of a recorder as another process does, by pickling."""

    def __init__(self) -> None:
        self.note: Any = None
        self.entries: list[Any] = []

    def send_note(self, kind: str, value: Any) -> None:
        self.note = pickle.loads(pickle.dumps(value))

    def write(self, entry: Any) -> None:
        self.entries.append(pickle.loads(pickle.dumps(entry)))


@pytest.mark.few(3)
@pytest.mark.parametrize("algorithm", [*ALGORITHMS, "adaptive"])
def test_resumed_oscillators_have_the_same_bytes(algorithm: str) -> None:
    def make() -> CoSimulation:
        if algorithm != "adaptive":
            return oscillators(algorithm, {})
        parts = {name: system_of(name, Oscillator()) for name in ("one", "two")}
        link = {"from": "one.m.x", "to": "two.m.force", "convert": False}
        return CoSimulation(parts, [link], "adaptive", STEP, tolerance=1e-9, starts=STARTS)

    by = list(STARTS)
    runs = run_and_resume(make, 0.2, 0.5, by)
    check_same(runs, by)
    assert np.abs(runs.resumed.derivative("two.m.force", "one.m.k")[-1]) > 0.0


@pytest.mark.few(2)
@pytest.mark.parametrize("when", [0.0, 0.44, 0.5, 0.8])
def test_resumed_events_and_delays_have_the_same_bytes(when: float) -> None:
    by = ["ball.m.e", "two.m.x", "ball.m.height"]
    runs = run_and_resume(ball_and_oscillator, when, 0.8, by)
    check_same(runs, by)
    assert runs.resumed.derivative("two.m.x", "ball.m.e")[-1] != 0.0


def test_resumed_differences_of_fmus_have_the_same_bytes(make_fmu: MakeFmu) -> None:
    fmu, by = make_fmu("mass"), ["one.k", "two.kc"]
    runs = run_and_resume(lambda: two_masses(fmu), 0.3, 0.6, by)
    check_same(runs, by)
    assert runs.resumed.derivative("two.x", "one.k")[-1] != 0.0


def test_a_saved_run_cannot_be_resumed_with_other_derivatives() -> None:
    by = ["one.m.k", "one.m.x"]
    saved = run_and_resume(lambda: oscillators("jacobi", {}), 0.1, 0.2, by).saved
    for other_variables in (by[:1], by[::-1], []):
        loop = oscillators("jacobi", {})
        loop.restore(saved)
        with pytest.raises(cosim.ModelError, match=r"derivatives differ: .*one\.m\.k"):
            loop.simulate(0.2, derivatives=other_variables)


@pytest.mark.thorough
def test_forged_saved_derivatives_are_refused(make_fmu: MakeFmu) -> None:
    """Each saved entry, replaced by another value under a correct checksum."""
    fmu = make_fmu("mass")
    of_systems = run_and_resume(
        lambda: oscillators("gauss_seidel along lines", {}), 0.1, 0.2, ["one.m.k"]
    ).saved
    of_fmus = run_and_resume(lambda: two_masses(fmu), 0.1, 0.2, ["one.k"]).saved
    makes: list[tuple[bytes, Make, str]] = [
        (of_systems, lambda: oscillators("gauss_seidel along lines", {}), "one.m.k"),
        (of_fmus, lambda: two_masses(fmu), "one.k"),
    ]
    for saved, make, by in makes:
        for key in ("participants", "board", "courses", "times", "rows"):
            for value in (None, "x", -1, [], {"x": 1}, np.zeros((3, 3, 3)), {"one": b"x", "two": b"x"}):
                tree = from_bytes(saved)
                tree["derivatives"][key] = value
                loop = make()
                loop.restore(to_bytes(tree))
                with pytest.raises(cosim.CosimError):
                    loop.simulate(0.2, derivatives=[by])


def test_a_stream_gets_the_derivatives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In pieces of a few rows; the file has the values of a result in memory."""
    monkeypatch.setattr(recorder, "NUMBERS_IN_PIECE", 20)
    target, by = tmp_path / "loop.csv", ["one.m.k", "two.m.x"]
    names = ["one.m.x", "two.m.force"]
    stream = cosim.registry().get("result_sink", "csv")().stream(target)
    ends = oscillators("jacobi", {}).simulate(1.0, record=names, derivatives=by, stream=stream)
    in_memory = oscillators("jacobi", {}).simulate(1.0, record=names, derivatives=by)
    from_file = cosim.read_result(target)
    assert from_file.time.tolist() == in_memory.time.tolist() and len(in_memory) == 21
    for name in names:
        for path in by:
            expected = in_memory.derivative(name, path)
            assert from_file.derivative(name, path).tolist() == expected.tolist()
            assert ends.derivative(name, path).tolist() == [expected[0], expected[-1]]
    assert in_memory.derivative("two.m.force", "one.m.k")[-1] != 0.0


def test_a_scenario_with_derivatives_is_resumed(
    tmp_path: Path, make_fmu: MakeFmu, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("mass")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.toml").write_text(
        'connections = ["one.x -> two.x_other", "two.x -> one.x_other"]\n'
        '[participants.one]\nfmu = "mass.fmu"\n[participants.two]\nfmu = "mass.fmu"\n'
        'parameters = { kc = 0.5 }\n[master]\nalgorithm = "jacobi"\nstep = 0.05\nuntil = 0.5\n'
    )
    command: list[Any] = ["cosimulate", "loop.toml", "-q", "--derivatives", "one.k"]
    assert main([*command, "-o", "whole.csv"]) == 0
    assert main([*command, "-o", "half.csv", "--until", "0.25", "--checkpoint", "half.state"]) == 0
    assert main([*command, "-o", "rest.csv", "--resume", "half.state"]) == 0
    assert (tmp_path / "rest.csv").read_text() == (tmp_path / "whole.csv").read_text()
    assert "d(two.x)/d(one.k)" in (tmp_path / "whole.csv").read_text()


def test_rows_of_a_process_that_has_ended_have_nan() -> None:
    """The process had the derivatives; the file keeps their columns, and its last rows get NaN."""
    loop = oscillators("jacobi", {})
    tangents = CouplingTangents(loop, ["one.m.k"])
    rows = recorder.Recorder(loop.descriptions, loop.links, ["one.m.x", "two.m.force"], derivatives=tangents)
    reads = rows.reads(loop.links)
    inputs = {name: [link.input for link in loop.links if link.target == name] for name in loop.participants}
    rows.bind(reads, inputs)
    box: Any = RecorderCopy()
    rows.write_to(box)
    rows.record(0.0, {name: [1.5] * len(of) for name, of in reads.items()}, {"two": [2.5]})
    box.note.replay(box.entries)
    result = box.note.result(message="it crashed", unfinished="it crashed")
    assert result["one.m.x"].tolist() == [1.5] and result["two.m.force"].tolist() == [2.5]
    table = result.with_derivatives()
    assert np.isnan(table["d(one.m.x)/d(one.m.k)"]).all()
    assert table.unit("d(two.m.force)/d(one.m.k)") == "N/(N/m)"
