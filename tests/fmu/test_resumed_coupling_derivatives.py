"""Derivatives of co-simulations that are saved and resumed, and that go to a stream."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def resumed(make: Make, when: float, until: float, by: list[str]) -> tuple[cosim.Result, cosim.Result, bytes]:
    """A run; one that goes on from what this one has saved at a time; what was saved."""
    loop, saved = make(), list[bytes]()

    def observe(time: float, values: object) -> None:
        if time >= when and not saved:
            saved.append(loop.save())

    whole = loop.simulate(until, derivatives=by, observe=observe)
    other = make()
    assert other.restore(saved[0]) == pytest.approx(when)
    return whole, other.simulate(until, derivatives=by), saved[0]


def check_same(one: cosim.Result, other: cosim.Result, by: list[str]) -> None:
    """Compare all bytes of values and of derivatives."""
    assert one.time.tobytes() == other.time.tobytes() and one.names == other.names
    assert one.derivatives.keys() == other.derivatives.keys() and one.derivatives
    for of, by_variable in one.derivatives.items():
        assert one[of].tobytes() == other[of].tobytes()
        for path in by:
            assert by_variable[path].tobytes() == other.derivative(of, path).tobytes(), (of, path)
    assert [str(finding) for finding in one.findings] == [str(finding) for finding in other.findings]


@pytest.mark.few(3)
@pytest.mark.parametrize("algorithm", [*ALGORITHMS, "adaptive"])
def test_oscillators_go_on_to_the_same_bytes(algorithm: str) -> None:
    def make() -> CoSimulation:
        if algorithm != "adaptive":
            return oscillators(algorithm, {})
        parts = {name: system_of(name, Oscillator()) for name in ("one", "two")}
        link = {"from": "one.m.x", "to": "two.m.force", "convert": False}
        return CoSimulation(parts, [link], "adaptive", STEP, tolerance=1e-9, starts=STARTS)

    by = list(STARTS)
    whole, rest, _ = resumed(make, 0.2, 0.5, by)
    check_same(whole, rest, by)
    assert np.abs(rest.derivative("two.m.force", "one.m.k")[-1]) > 0.0


def ball_and_oscillator() -> CoSimulation:
    """It bounces at 0.44 s, and its delay holds what it was before."""
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


@pytest.mark.few(2)
@pytest.mark.parametrize("when", [0.0, 0.44, 0.5, 0.8])
def test_events_and_delays_go_on_to_the_same_bytes(when: float) -> None:
    by = ["ball.m.e", "two.m.x", "ball.m.height"]
    whole, rest, _ = resumed(ball_and_oscillator, when, 0.8, by)
    check_same(whole, rest, by)
    assert rest.derivative("two.m.x", "ball.m.e")[-1] != 0.0


def masses(fmu: Path) -> CoSimulation:
    connections = ["one.x -> two.x_other", "two.x -> one.x_other"]
    return CoSimulation({"one": fmu, "two": fmu}, connections, "jacobi", STEP, starts={"two.kc": 0.5})


def test_differences_of_fmus_go_on_to_the_same_bytes(make_fmu: MakeFmu) -> None:
    fmu, by = make_fmu("mass"), ["one.k", "two.kc"]
    whole, rest, _ = resumed(lambda: masses(fmu), 0.3, 0.6, by)
    check_same(whole, rest, by)
    assert rest.derivative("two.x", "one.k")[-1] != 0.0


def test_other_derivatives_are_refused() -> None:
    by = ["one.m.k", "one.m.x"]
    _, _, saved = resumed(lambda: oscillators("jacobi", {}), 0.1, 0.2, by)
    for other in (by[:1], by[::-1], []):
        loop = oscillators("jacobi", {})
        loop.restore(saved)
        with pytest.raises(cosim.ModelError, match=r"derivatives differ: .*one\.m\.k"):
            loop.simulate(0.2, derivatives=other)


@pytest.mark.thorough
def test_forged_derivatives_are_a_sentence(make_fmu: MakeFmu) -> None:
    """Each entry of what was saved, replaced by something else under a right checksum."""
    fmu = make_fmu("mass")
    of_systems = resumed(lambda: oscillators("gauss_seidel along lines", {}), 0.1, 0.2, ["one.m.k"])[2]
    of_fmus = resumed(lambda: masses(fmu), 0.1, 0.2, ["one.k"])[2]
    makes: list[tuple[bytes, Make, str]] = [
        (of_systems, lambda: oscillators("gauss_seidel along lines", {}), "one.m.k"),
        (of_fmus, lambda: masses(fmu), "one.k"),
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


def test_a_stream_gets_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of a few rows: the file has what a result in memory has."""
    monkeypatch.setattr(recorder, "NUMBERS_IN_PIECE", 20)
    target, by = tmp_path / "loop.csv", ["one.m.k", "two.m.x"]
    names = ["one.m.x", "two.m.force"]
    stream = cosim.registry().get("result_sink", "csv")().stream(target)
    ends = oscillators("jacobi", {}).simulate(1.0, record=names, derivatives=by, stream=stream)
    whole = oscillators("jacobi", {}).simulate(1.0, record=names, derivatives=by)
    written = cosim.read_result(target)
    assert written.time.tolist() == whole.time.tolist() and len(whole) == 21
    for of in names:
        for path in by:
            expected = whole.derivative(of, path)
            assert written.derivative(of, path).tolist() == expected.tolist()
            assert ends.derivative(of, path).tolist() == [expected[0], expected[-1]]
    assert whole.derivative("two.m.force", "one.m.k")[-1] != 0.0


def test_a_scenario_is_resumed(
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


class Box:
    """What a black box holds of a recorder, as another process reads it."""

    def __init__(self) -> None:
        self.kept: Any = None
        self.entries: list[Any] = []

    def send_note(self, kind: str, value: Any) -> None:
        self.kept = pickle.loads(pickle.dumps(value))

    def write(self, entry: Any) -> None:
        self.entries.append(pickle.loads(pickle.dumps(entry)))


def test_rows_of_a_process_that_has_ended_have_nan() -> None:
    """The columns of a file stay what they were; the derivatives of the last rows were in the process."""
    loop = oscillators("jacobi", {})
    tangents = CouplingTangents(loop, ["one.m.k"])
    rows = recorder.Recorder(loop.descriptions, loop.links, ["one.m.x", "two.m.force"], derivatives=tangents)
    reads = rows.reads(loop.links)
    inputs = {name: [link.input for link in loop.links if link.target == name] for name in loop.participants}
    rows.bind(reads, inputs)
    box: Any = Box()
    rows.write_to(box)
    rows.record(0.0, {name: [1.5] * len(of) for name, of in reads.items()}, {"two": [2.5]})
    box.kept.replay(box.entries)
    found = box.kept.result(message="it crashed", unfinished="it crashed")
    assert found["one.m.x"].tolist() == [1.5] and found["two.m.force"].tolist() == [2.5]
    saved = found.with_derivatives()
    assert np.isnan(saved["d(one.m.x)/d(one.m.k)"]).all()
    assert saved.unit("d(two.m.force)/d(one.m.k)") == "N/(N/m)"
