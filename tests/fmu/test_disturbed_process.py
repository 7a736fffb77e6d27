"""FMUs that disturb the process that they run in: forks, closed files, signals, limits."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_faults_in_every_call import SUBJECTS, Clean, Server, clean_run, rows_of, which_calls

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/stat"), reason="forks, signals and the GNU C library"
)

HARMLESS = (
    *("closes_files", "closes_std", "swaps_std", "forks", "forks_exit", "forks__exit", "forks_crash"),
    *("waits", "system", "sigpipe", "sigchld", "blocks", "ignores", "no_children", "chdir", "locale"),
    *("traps", "umask", "clears", "prints", "group", "session", "nonblocking", "nice", "one_core"),
    *("no_stack", "flags", "unlinks", "gone_folder", "undumpable", "no_death_signal"),
)
"""The run goes on, and ends with all of its rows."""
ENDING = (
    *("longjmp", "execs", "sigusr1", "sighup", "sigkill", "recurses", "frees_twice", "writes_code"),
    *("divides", "no_files", "no_memory", "no_time", "no_space", "closes_all", "alarm", "timer"),
    *("ends_thread", "thread", "heap", "daemon", "seccomp", "cancels", "stack"),
)
"""They may end the process of the run, at once or later."""
LATER = ("no_time", "alarm", "timer", "thread", "heap", "seccomp", "stack")
"""They end the process at some time, which may be between two calls of the step."""
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


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.commands.close()


def disturbed_run(
    server: Server, clean: Clean, name: str, function: str, kind: str, folder: Path, more: str = ""
) -> tuple[int, str, str]:
    """Status, what was said, and the symbol, of a program that another process outlives."""
    symbol = SUBJECTS[name].prefix + function
    numbers = which_calls(clean, symbol)
    fmu = next(clean.folder.glob("*.fmu"))
    shutil.copy(fmu, folder)
    (folder / "s.toml").write_text(SUBJECTS[name].scenario(fmu.name, more))
    fault = f"{symbol} {numbers[len(numbers) // 2]} {kind}"
    given = {"FMU_FAULT": fault, "FMU_CALLS": str(folder / "calls"), "FMU_LOCALE": "C.UTF-8"}
    words = ["cosimulate", "s.toml", "-o", "out.csv"]
    begun = time.monotonic()
    status = server.commands._ask("ended", server.commands._ask("program", str(folder), given, words))
    assert time.monotonic() - begun < SECONDS
    said = (folder / "err").read_text()
    assert "Traceback" not in said and "\x1b" not in said + (folder / "out").read_text(), said
    return status, said, symbol


def check(server: Server, name: str, function: str, kind: str, folders: pytest.TempPathFactory) -> None:
    clean, folder = clean_run(server, name, folders), folders.mktemp("disturbed")
    status, said, symbol = disturbed_run(server, clean, name, function, kind, folder)
    if (folder / "out.csv").exists():
        (folder / "out.csv").chmod(0o600)  # umask
    found = rows_of(folder)
    assert found == clean.rows[: len(found)]
    traps_ours = kind == "traps" and "Model Exchange" in name and status != 0
    if (kind in HARMLESS and not traps_ours) or status == 0:
        assert (status, found) == (0, clean.rows), said
        return
    assert status == 1, said
    names_it = "m: " in said or re.search(r"code of others was in it: .*\bm\)", said)
    names_it = names_it or (kind in LATER and "m, in its step" in said)
    assert names_it or "Errno" in said or traps_ours, said
    assert not traps_ours or "m, in its step, crashed: SIGFPE" in said  # our code between two of its calls
    calls = clean.calls
    ended = next(i for i, each in enumerate(calls) if "Terminate" in each)
    place = [i for i, each in enumerate(calls) if each == symbol][len(which_calls(clean, symbol)) // 2]
    if place > ended:
        assert found == clean.rows


@pytest.mark.parametrize("kind", QUICK)
def test_steps_that_disturb(kind: str, server: Server, tmp_path_factory: pytest.TempPathFactory) -> None:
    check(server, "2.0 Co-Simulation", "DoStep", kind, tmp_path_factory)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", HARMLESS + ENDING)
@pytest.mark.parametrize(("name", "function"), CALLS)
def test_any_call_that_disturbs(
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
def test_disturbed_processes_of_one_fmu(
    kind: str, status: int, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nothing hangs, one process answers, and no one else's ``exit`` is the FMU's."""
    name = "2.0 Co-Simulation"
    clean, folder = clean_run(server, name, tmp_path_factory), tmp_path_factory.mktemp("isolated")
    found, said, _ = disturbed_run(server, clean, name, "DoStep", kind, folder, "process = true")
    assert found == status, said
    rows = rows_of(folder)
    assert rows == clean.rows[: len(rows)] and (status == 1 or rows == clean.rows)
    assert status == 0 or "process ended" in said
