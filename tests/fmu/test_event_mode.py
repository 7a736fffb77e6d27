"""Masters in C with and without event mode of FMI 3.0 see the events and values of a closed form."""

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


class Event(NamedTuple):
    """The time of an event, the time of the next one as then known, and the values around the event."""

    time: float
    next_time: float
    before: list[float]
    after: list[float]


class Run(NamedTuple):
    """The output of the master.

    Parameters
    ----------
    first_event : float
        The time of the first event as known before the first step, s; -1 without one.
    events : list of Event
    points : list of list of float
        The time and the values at each communication point.
    """

    first_event: float
    events: list[Event]
    points: list[list[float]]


class Master:
    """The program ``c/host_events.c`` with the FMU of a thrown ball."""

    def __init__(self, folder: Path) -> None:
        path = export_native(thrown_ball(), folder / "thrown.fmu", fmi=3, kind="cs")
        self.program = build(folder / "host", ["-O1", "-w", "-ldl"], [SOURCES / "host_events.c"])
        with zipfile.ZipFile(path) as archive:
            (name,) = (n for n in archive.namelist() if n.startswith("binaries/"))
            self.library = archive.extract(name, folder)
        self.description = read_model_description(str(path))
        references = {v.name: v.valueReference for v in self.description.modelVariables}
        self.references = [str(references[name]) for name in SHOWN]

    def run(self, steps: int, h: float, event_mode: bool, early: bool = True, restored_at: int = -1) -> Run:
        """Take `steps` steps of size `h`; three steps after step `restored_at`, restore its state once."""
        arguments = [self.library, self.description.instantiationToken, str(int(event_mode)), str(int(early))]
        arguments += [str(steps), repr(h), str(restored_at), *self.references]
        process = subprocess.run([str(self.program), *arguments], capture_output=True, text=True, env={})
        assert process.returncode == 0, (process.returncode, process.stderr)
        lines = [line.split() for line in process.stdout.splitlines()]
        first_event = next((float(line[1]) for line in lines if line[0] == "first"), -1.0)
        points = [[float(x) for x in line[1:]] for line in lines if line[0] == "point"]
        events = []
        for line in lines:
            if line[0] == "event":
                bar = line.index("|")
                before, after = ([float(x) for x in side] for side in (line[3:bar], line[bar + 1 :]))
                events.append(Event(float(line[1]), float(line[2]), before, after))
        return Run(first_event, events, points)


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Master:
    return Master(tmp_path_factory.mktemp("events"))


@pytest.mark.few(2)
@pytest.mark.parametrize(("steps", "h"), [(90, 0.01), (2, 0.45), (1, 0.9), (9, 0.1)])
def test_in_event_mode_a_master_sees_the_values_before_and_after_each_event(
    master: Master, steps: int, h: float
) -> None:
    run = master.run(steps, h, event_mode=True)
    rows = [(event.time, *event.before, *event.after) for event in run.events]
    assert rows == [pytest.approx(row, abs=2e-6) for row in EVENTS]
    assert run.first_event == KICK_AT
    assert run.events[0].next_time == pytest.approx(EVENTS[1][0])
    # the next known time is after the event and not after the event that follows, which may be unforeseen
    for event, following in zip(run.events, run.events[1:], strict=False):
        assert event.time < event.next_time and event.next_time <= following.time


def test_a_kick_at_a_communication_point(master: Master) -> None:
    """The kick at 0.7 s is at the end of the only step."""
    run = master.run(1, KICK_AT, event_mode=True)
    event = run.events[-1]
    assert event.time == KICK_AT
    assert event.after[0] - event.before[0] == pytest.approx(2.0, abs=1e-15)
    assert run.points[-1][1] == event.after[0]
    without = master.run(1, KICK_AT, event_mode=False)  # the handler would run with the next step
    assert without.points[-1][1] == pytest.approx(event.before[0], abs=1e-9)


@pytest.mark.parametrize("early", [False, True])
def test_without_event_mode_a_master_sees_the_values_of_the_closed_form(master: Master, early: bool) -> None:
    """It sees no event and no early return."""
    run = master.run(9, 0.1, event_mode=False, early=early)
    assert not run.events and len(run.points) == 9
    for i, (time, ball_speed, late) in enumerate(run.points, start=1):
        kick = 2.0 if i == 7 else 0.0  # the kick at 7 * 0.1 is handled at the start of the next step
        assert (time, ball_speed) == (i * 0.1, pytest.approx(speed(i * 0.1) - kick, abs=2e-6))
        if i not in (1, 8):  # where the delayed speed jumps or has no history yet
            assert late == pytest.approx(speed(time - LATE), abs=2e-6)


def test_event_mode_without_early_return_shows_events_at_ends_of_steps_only(master: Master) -> None:
    run = master.run(3, KICK_AT / 2, event_mode=True, early=False)
    assert [time for time, *_ in run.events] == [KICK_AT]
    with_early_return = master.run(3, KICK_AT / 2, event_mode=True)
    for point, expected in zip(run.points, with_early_return.points, strict=True):
        assert point == pytest.approx(expected, abs=2e-6)


def test_after_a_state_is_restored_the_same_events_follow(master: Master) -> None:
    """The steps 45 to 47, with the first event, are taken twice."""
    run = master.run(90, 0.01, event_mode=True)
    repeated = master.run(90, 0.01, event_mode=True, restored_at=44)
    assert repeated.points == [*run.points[:47], *run.points[44:]]
    assert repeated.events[0] == repeated.events[1] and repeated.events[1:] == run.events
