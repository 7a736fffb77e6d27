"""Event mode of FMI 3.0 Co-Simulation: a master in C with it and one without, against closed forms."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest
from c_programs import SOURCES, build
from fmpy import read_model_description
from native_tools import export_native, needs_compiler
from thrown_ball import EVENTS, KICK_AT, LATE, speed, thrown_ball

pytestmark = needs_compiler
SHOWN = ["ball.speed", "late"]


class Run(NamedTuple):
    """What the master has printed."""

    first: float
    events: list[tuple[float, float, list[float], list[float]]]
    points: list[list[float]]


class Master:
    """The program in C, for one FMU."""

    def __init__(self, folder: Path) -> None:
        path = export_native(thrown_ball(), folder / "thrown.fmu", fmi=3, kind="cs")
        self.program = build(folder / "host", ["-O1", "-w", "-ldl"], [SOURCES / "host_events.c"])
        with zipfile.ZipFile(path) as archive:
            (name,) = (n for n in archive.namelist() if n.startswith("binaries/"))
            self.library = archive.extract(name, folder)
        self.description = read_model_description(str(path))
        found = {v.name: v.valueReference for v in self.description.modelVariables}
        self.references = [str(found[name]) for name in SHOWN]

    def run(self, steps: int, h: float, event_mode: bool, early: bool = True, put_back: int = -1) -> Run:
        words = [self.library, self.description.instantiationToken, str(int(event_mode)), str(int(early))]
        words += [str(steps), repr(h), str(put_back), *self.references]
        done = subprocess.run([str(self.program), *words], capture_output=True, text=True, env={})
        assert done.returncode == 0, (done.returncode, done.stderr)
        lines = [line.split() for line in done.stdout.splitlines()]
        first = next((float(line[1]) for line in lines if line[0] == "first"), -1.0)
        points = [[float(x) for x in line[1:]] for line in lines if line[0] == "point"]
        events = []
        for line in lines:
            if line[0] == "event":
                bar = line.index("|")
                before, after = ([float(x) for x in side] for side in (line[3:bar], line[bar + 1 :]))
                events.append((float(line[1]), float(line[2]), before, after))
        return Run(first, events, points)


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Master:
    return Master(tmp_path_factory.mktemp("events"))


@pytest.mark.few(2)
@pytest.mark.parametrize(("steps", "h"), [(90, 0.01), (2, 0.45), (1, 0.9), (9, 0.1)])
def test_both_limits_of_every_event(master: Master, steps: int, h: float) -> None:
    run = master.run(steps, h, event_mode=True)
    rows = [(time, *before, *after) for time, _, before, after in run.events]
    assert rows == [pytest.approx(row, abs=2e-6) for row in EVENTS]
    assert run.first == KICK_AT  # told before the first step
    told = [following for _, following, _, _ in run.events]
    assert told[0] == pytest.approx(EVENTS[1][0])
    times = [time for time, *_ in run.events]
    assert all(now < then <= after for now, then, after in zip(times, told, times[1:], strict=False))


def test_a_kick_exactly_on_a_communication_point(master: Master) -> None:
    """With steps of 0.7 s it is the end of the first one."""
    run = master.run(1, KICK_AT, event_mode=True)
    time, _, before, after = run.events[-1]
    assert time == KICK_AT
    assert after[0] - before[0] == pytest.approx(2.0, abs=1e-15)
    assert run.points[-1][1] == after[0]
    without = master.run(1, KICK_AT, event_mode=False)
    assert without.points[-1][1] == pytest.approx(before[0], abs=1e-9)  # the handler runs with the next step


@pytest.mark.parametrize("early", [False, True])
def test_a_master_without_event_mode(master: Master, early: bool) -> None:
    """It sees no event and no early return; values at communication points are those of the closed form."""
    run = master.run(9, 0.1, event_mode=False, early=early)
    assert not run.events and len(run.points) == 9
    for i, (time, now, late) in enumerate(run.points, start=1):
        kick = 2.0 if i == 7 else 0.0  # 7 * 0.1 is at the kick, which the next step begins with
        assert (time, now) == (i * 0.1, pytest.approx(speed(i * 0.1) - kick, abs=2e-6))
        if i not in (1, 8):
            assert late == pytest.approx(speed(time - LATE), abs=2e-6)


def test_event_mode_without_early_return_tells_of_events_at_the_ends_of_steps_alone(master: Master) -> None:
    run = master.run(3, KICK_AT / 2, event_mode=True, early=False)
    assert [time for time, *_ in run.events] == [KICK_AT]
    with_mode = master.run(3, KICK_AT / 2, event_mode=True)
    for one, other in zip(run.points, with_mode.points, strict=True):
        assert one == pytest.approx(other, abs=2e-6)


def test_a_state_that_is_put_back_goes_on_to_the_same_events(master: Master) -> None:
    plain = master.run(90, 0.01, event_mode=True)
    again = master.run(90, 0.01, event_mode=True, put_back=44)
    assert again.points == [*plain.points[:47], *plain.points[44:]]
    assert again.events[0] == again.events[1] and again.events[1:] == plain.events
