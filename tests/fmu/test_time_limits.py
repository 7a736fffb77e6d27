"""A participant that does not return is ended after its timeout, and a run after its time limit."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from faults_fmu import RESTS, Compiled, command, last_time, make_faulty
from forked_commands import Done, ForkedCommands

import cosim
from cosim_fmu import CoSimulation

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals, /proc and the GNU C library")


class Limit(NamedTuple):
    """Settings of a scenario with a participant that does not return, the exit status and the message."""

    participant: str
    master: str
    status: int
    message: str


LIMITS = [
    Limit('process = true\ntimeout = "1 s"', "", 1, "did not return from step within 1 s and was killed"),
    Limit("process = true", 'time_limit = "6 s"', 1, "the time limit of 6 s has passed"),
    Limit("", "time_limit = 6.0", 1, "the time limit of 6 s has passed, and a step of a participant"),
    Limit('timeout = "1 s"', "", 2, "m.timeout: needs process = true"),
    Limit("process = true\ntimeout = -1.0", "", 2, "m.timeout: is -1.0, needs a number of seconds"),
    Limit("", "time_limit = 0.0", 2, "master.time_limit: is 0 s, needs more than 0"),
]


@pytest.fixture(scope="module", autouse=True)
def started_runs(
    commands: ForkedCommands, compiled: Compiled, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[Path, Callable[[], Done]]]:
    """The folder of a run for each limit, and a function that waits for its end.

    All runs start before the tests, and wait for their limits at the same time.
    """
    runs = []
    for limit in LIMITS:
        folder = tmp_path_factory.mktemp("limited")
        fmu = make_faulty(folder, compiled, "DoStep", RESTS)
        words = command(folder, fmu, limit.participant, limit.master)
        runs.append((folder, commands.begin(folder, words)))
    return runs


def test_a_time_limit_ends_a_run_between_steps(make_fmu: Any) -> None:
    loop = CoSimulation({"m": make_fmu("heavy")}, [], "jacobi", 0.1, starts={"m.pause": 0.01})
    with pytest.raises(cosim.SimulationError, match=r"time limit.*0\.5"):
        loop.simulate(1e3, time_limit=0.5)
    assert loop.result is not None and 0.0 < loop.result.time[-1] < 100.0
    assert loop.simulate(0.2, time_limit=60.0).time[-1] == pytest.approx(0.2)
    with pytest.raises(cosim.ModelError, match="time_limit.*greater than 0"):
        loop.simulate(0.2, time_limit=0.0)


@pytest.mark.few(3)
@pytest.mark.parametrize("number", range(len(LIMITS)))
def test_a_limit_ends_the_run_with_a_message(
    number: int, started_runs: list[tuple[Path, Callable[[], Done]]]
) -> None:
    folder, wait = started_runs[number]
    status, _, messages = wait()
    assert status == LIMITS[number].status and LIMITS[number].message in messages, messages
    if status == 1:
        assert last_time(folder) == pytest.approx(0.4)  # the FMU does not return from the step at 0.4 s
