"""A second run with half the step gives the coupling error where one run shows too little, within limits."""

import zipfile
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from python_block import Block
from stored_pieces import StoredPieces
from verdict_benchmarks import Lag, drawn_systems, part, verdicts

import cosim
from cosim.kit import black_box
from cosim_fmu import CoSimulation
from cosim_master.run import simulation_run
from cosim_master.trust import second_run

WIRES = [("left.force", "right.f"), ("right.x", "left.x_other"), ("right.v", "left.v_other")]


class CountingBlock(Block):
    """Counts its steps, also those of a second run."""

    steps = 0

    def step(self, time: float, size: float) -> float:
        self.steps += 1
        return super().step(time, size)


def test_participants_that_are_no_systems_run_once() -> None:
    """Only the user may run them again: what they do in the world is unknown."""
    block = CountingBlock({"y": lambda t, u: np.sin(u) + 0.1 * np.sin(9.0 * t) ** 3}, ["u"])
    lag = part(Lag, time=0.5)
    loop = CoSimulation(
        {"other": block, "lag": lag}, [("other.y", "lag.part.u"), ("lag.part.y", "other.u")], step=0.1
    )
    _ = loop.simulate(3.0).coupling
    assert block.steps == 30


def test_a_second_run_of_systems_takes_copies() -> None:
    """The participants, the result and its coupling error remain those of the first run."""
    case = drawn_systems.draw(7)
    loop = case.loop()
    result = loop.simulate(case.until)
    participants = dict(loop.participants)
    assert "half the step" in result.coupling.how
    assert loop.participants == participants
    assert loop.result is result
    report = result.coupling
    assert loop.verify(result, case.until).signals == report.signals


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [81003, 81004, 81006])
def test_verified_bars_of_sampled_and_switching_systems_hold(seed: int) -> None:
    """Their errors have another order than the algorithm: with bars of its order half were too small."""
    checks = verdicts.check_verdicts("drawn", seed, verify=True)
    assert checks
    assert {check.verdict for check in checks}.isdisjoint({"unknown", "unstable"})
    for check in checks:
        assert 0.999 <= check.ratio < 30.0


@pytest.mark.parametrize(
    ("tool", "file", "runs_again"),
    [
        ("cosim-framework 0.1.0", "documentation/index.html", True),
        ("cosim-framework 0.1.0", "resources/members/0/modelDescription.xml", False),
        ("cosim-framework 0.1.0 with pythonfmu 0.7.0", "documentation/index.html", False),
        ("other 0.1.0", "documentation/index.html", False),
        ("", "documentation/index.html", False),
    ],
)
def test_only_native_fmus_of_cosim_without_files_run_a_second_time(
    make_fmu: Callable[..., Path], tool: str, file: str, runs_again: bool
) -> None:
    """Ten exchanges are too few to estimate the error from one run, so only a second run shows it."""
    path = make_fmu("mass", tool=tool)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(file, b"")
    starts = {"left.kc": 2.0, "right.k": 5.0}
    loop = CoSimulation({"left": path, "right": path}, WIRES, "jacobi", 0.1, starts=starts)
    participants = dict(loop.participants)
    result = loop.simulate(1.0)
    report = result.coupling
    assert (report.verdict == "unknown") is not runs_again
    assert ("half the step" in report.how) is runs_again
    assert loop.participants == participants
    assert loop.result is result


def test_a_second_run_is_given_up_when_it_would_take_more_than_10_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of processor time: extrapolated from the share that is done, after the first half second."""
    processor_time = [7.0]
    monkeypatch.setattr(second_run, "process_time", lambda: processor_time[0])
    check_time = second_run.TimeLeft(12.0)
    check_time(2.0)
    processor_time[0] += second_run.SHORTEST
    check_time(2.0)
    processor_time[0] = 7.75
    check_time(2.75)
    with pytest.raises(cosim.CosimError, match="more than 10 s"):
        check_time(2.5)


@pytest.mark.parametrize("seconds", [pytest.param(0.0, marks=pytest.mark.thorough), 11.0])
def test_the_verdict_says_whether_the_second_run_was_given_up(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    case = drawn_systems.draw(7)
    result = case.loop().simulate(case.until)
    monkeypatch.setattr(simulation_run, "MOST_SECONDS_WITHOUT_PROGRESS", 0.0)
    monkeypatch.setattr(second_run, "process_time", partial(next, count(0.0, seconds)))
    assert ("half the step" in result.coupling.how) is (seconds == 0.0)


def interrupting_at(seconds: float) -> Callable[[float], None]:
    """A progress that is interrupted (Ctrl-C) at a simulated time (s)."""

    def progress(time: float) -> None:
        if time >= seconds:
            raise KeyboardInterrupt

    return progress


def test_an_interrupted_run_is_not_run_a_second_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its stream is closed at once: the second run could take seconds, in which a shell ends the process."""
    case = drawn_systems.draw(7)
    second_runs: list[object] = []
    monkeypatch.setattr(simulation_run, "second_run", lambda *run: second_runs.append(run))
    monkeypatch.setattr(simulation_run, "MOST_SECONDS_WITHOUT_PROGRESS", 0.0)
    whole = case.loop().simulate(case.until, stream=StoredPieces())
    assert len(second_runs) == 1 and "coupling" in whole.statistics
    stream = StoredPieces()
    with pytest.raises(KeyboardInterrupt):
        case.loop().simulate(case.until, interrupting_at(0.5 * case.until), stream=stream)
    assert len(second_runs) == 1
    assert stream.end is not None and stream.end.unfinished and "coupling" not in stream.end.statistics


def test_a_second_run_leaves_the_memory_of_the_first_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run's results may not be written yet: its rows are found there if the process ends."""
    case = drawn_systems.draw(7)
    boxes: list[object] = []
    loop = case.loop()
    refined = type(loop).simulate

    def simulate(self: CoSimulation, *arguments: object, **options: object) -> object:
        boxes.append(black_box.box)
        return refined(self, *arguments, **options)

    monkeypatch.setattr(type(loop), "simulate", simulate)
    box_of_run = object()
    result = loop.simulate(case.until)
    monkeypatch.setattr(black_box, "box", box_of_run)
    assert "half the step" in result.coupling.how
    assert boxes == [None, None] and black_box.box is box_of_run
