"""A run survives FMUs that disturb its process, or ends with a message that names the FMU.

The FMUs fork, close files, send signals, set limits and more (``c/faults.c``).
"""

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from faulty_runs import SUBJECTS, Clean, Server, clean_run, rows_of, which_calls

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/stat"), reason="forks, signals and the GNU C library"
)

HARMLESS = (
    *("closes_files", "closes_std", "swaps_std", "forks", "forks_exit", "forks__exit", "forks_crash"),
    *("waits", "system", "sigpipe", "sigchld", "blocks", "ignores", "no_children", "chdir", "locale"),
    *("traps", "umask", "clears", "prints", "group", "session", "nonblocking", "nice", "one_core"),
    *("no_stack", "flags", "unlinks", "gone_folder", "undumpable", "no_death_signal"),
)
"""With these faults, a run continues to its end."""
ENDING = (
    *("longjmp", "execs", "sigusr1", "sighup", "sigkill", "recurses", "frees_twice", "writes_code"),
    *("divides", "no_files", "no_memory", "no_time", "no_space", "closes_all", "alarm", "timer"),
    *("ends_thread", "thread", "heap", "daemon", "seccomp", "cancels", "stack"),
)
"""These faults may end the process of the run, at once or later."""
LATER = ("no_time", "alarm", "timer", "thread", "heap", "seccomp", "stack")
"""Of these, the process may end between two calls of a step."""
QUICK = (
    *("closes_files", "forks", "forks_exit", "chdir", "longjmp", "execs", "divides", "closes_all"),
    *("daemon", "seccomp", "cancels", "unlinks"),
)
CALLS = (
    *(
        ("2.0 Co-Simulation", "Instantiate"),
        ("2.0 Co-Simulation", "DoStep"),
        ("2.0 Co-Simulation", "Terminate"),
    ),
    *(("3.0 Co-Simulation", "SetFloat64"), ("2.0 Model Exchange", "GetDerivatives")),
    ("3.0 Model Exchange", "FreeInstance"),
)
SECONDS = 60.0
"""A run that takes longer is taken to hang."""


class DisturbedRun(NamedTuple):
    """The exit status of a program, its messages, and the function of the FMU that has the fault."""

    status: int
    messages: str
    symbol: str


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.commands.close()


def disturbed_run(
    server: Server, clean: Clean, name: str, function: str, kind: str, folder: Path, settings: str = ""
) -> DisturbedRun:
    """Run a scenario as a program with a fault in the middle call of a function.

    `settings` are further lines of the participant's table.
    """
    symbol = SUBJECTS[name].prefix + function
    numbers = which_calls(clean, symbol)
    fmu = next(clean.folder.glob("*.fmu"))
    shutil.copy(fmu, folder)
    (folder / "s.toml").write_text(SUBJECTS[name].scenario(fmu.name, settings))
    environment = {
        "FMU_FAULT": f"{symbol} {numbers[len(numbers) // 2]} {kind}",
        "FMU_CALLS": str(folder / "calls"),
        "FMU_LOCALE": "C.UTF-8",
    }
    start = time.monotonic()
    _, wait = server.commands.begin_program(folder, ["cosimulate", "s.toml", "-o", "out.csv"], environment)
    status, output, messages = wait()
    assert time.monotonic() - start < SECONDS
    assert "Traceback" not in messages and "\x1b" not in messages + output, messages
    return DisturbedRun(status, messages, symbol)


def check(server: Server, name: str, function: str, kind: str, folders: pytest.TempPathFactory) -> None:
    """A disturbed run has the first rows of a clean one; if it fails, its message names the FMU."""
    clean, folder = clean_run(server, name, folders), folders.mktemp("disturbed")
    status, messages, symbol = disturbed_run(server, clean, name, function, kind, folder)
    if (folder / "out.csv").exists():
        (folder / "out.csv").chmod(0o600)  # the fault ``umask`` makes it unreadable
    rows = rows_of(folder)
    assert rows == clean.rows[: len(rows)]
    # traps of floating-point exceptions may hit the integrator, between two calls of the FMU
    is_trap_outside = kind == "traps" and "Model Exchange" in name and status != 0
    if (kind in HARMLESS and not is_trap_outside) or status == 0:
        assert (status, rows) == (0, clean.rows), messages
        return
    assert status == 1, messages
    names_fmu = "m: " in messages or re.search(r"code of others was in it: .*\bm\)", messages)
    names_fmu = names_fmu or (kind in LATER and "m, in its step" in messages)
    assert names_fmu or "Errno" in messages or is_trap_outside, messages
    assert not is_trap_outside or "m, in its step, crashed: SIGFPE" in messages
    # after the end of the run, a fault takes no row away
    calls = clean.calls
    terminate = next(i for i, call in enumerate(calls) if "Terminate" in call)
    fault = [i for i, call in enumerate(calls) if call == symbol][len(which_calls(clean, symbol)) // 2]
    if fault > terminate:
        assert rows == clean.rows


@pytest.mark.parametrize("kind", QUICK)
def test_disturbances_in_a_step(kind: str, server: Server, tmp_path_factory: pytest.TempPathFactory) -> None:
    check(server, "2.0 Co-Simulation", "DoStep", kind, tmp_path_factory)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", HARMLESS + ENDING)
@pytest.mark.parametrize(("name", "function"), CALLS)
def test_disturbances_in_any_call(
    name: str, function: str, kind: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    check(server, name, function, kind, tmp_path_factory)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("forks", 0),
        ("forks_exit", 0),
        ("ends_thread", 1),
        ("daemon", 1),
        pytest.param("closes_all", 1, marks=pytest.mark.thorough),
    ],
)
def test_disturbances_in_a_process_of_the_fmu(
    kind: str, status: int, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The run does not hang, and the end of a fork of that process is not taken for its own end."""
    name = "2.0 Co-Simulation"
    clean, folder = clean_run(server, name, tmp_path_factory), tmp_path_factory.mktemp("isolated")
    run = disturbed_run(server, clean, name, "DoStep", kind, folder, "process = true")
    assert run.status == status, run.messages
    rows = rows_of(folder)
    assert rows == clean.rows[: len(rows)] and (status == 1 or rows == clean.rows)
    assert status == 0 or "process ended" in run.messages
