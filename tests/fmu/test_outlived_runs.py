"""An FMU ends or blocks the process of a run: a second process reports it, and no recorded row is lost."""

import csv
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faults_fmu import CALLS, RESTS, command, make_faulty
from forked_commands import Done, ForkedCommands

import cosim
from cosim.command_line import supervised

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the run is a fork on Linux only")

Compiled = Callable[..., Path]
CALLED_BEFORE_ROWS = {"LOAD", "Instantiate", "SetupExperiment", "SetReal", "EnterInitializationMode"}
CALLED_BEFORE_ROWS |= {"ExitInitializationMode", "GetReal"}
"""Before the first row is recorded."""
MARK = "# not whole: "
"""The start of the last line of an unfinished file of results."""
# code in C that an FMU executes in one of its calls
ENDS = {"raise(SIGSEGV)": "crashed: SIGSEGV", "_exit(0)": "ended the process of the run, with exit code 0"}
SLEEP = 'fclose(fopen("it_steps", "w")); usleep(200000)'
RESET_SIGNALS_AND_SLEEP = f"signal(SIGINT, SIG_DFL); signal(SIGTERM, SIG_DFL); {SLEEP}; {RESTS}"
OVERWRITE_FILES = (
    "{ char b[300]; memset(b, 'z', 300); for (int i = 3; i < 64; i++) (void)!pwrite(i, b, 300, 0); }"
)
LIMIT = "{ struct { unsigned long now, most; } limit; getrlimit(%d, &limit); %s setrlimit(%d, &limit); }"
RLIMIT_FSIZE, RLIMIT_NOFILE = 1, 7
FORBID_FILES = LIMIT % (RLIMIT_NOFILE, "limit.now = limit.most = 3;", RLIMIT_NOFILE)
FORBID_WRITING = LIMIT % (RLIMIT_FSIZE, "limit.now = limit.most = 0;", RLIMIT_FSIZE)
FORBID_WRITING_FOR_NOW = LIMIT % (RLIMIT_FSIZE, "limit.now = 0;", RLIMIT_FSIZE)
MASK_RIGHTS = "umask(0777)"
GIVE_UP_RIGHTS = "{ (void)!setgid(65534); (void)!setuid(65534); }"


@pytest.fixture(scope="module")
def commands(compiled: Compiled, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkedCommands]:
    """A process that has loaded all modules and compiled code, and runs each command in a fork."""
    server, folder = ForkedCommands(), tmp_path_factory.mktemp("first")
    scenario = command(folder, make_faulty(folder, compiled, "NOWHERE", ""))
    assert server.run(folder, scenario, forks=False).returncode == 0
    yield server
    server.close()


def run(
    commands: ForkedCommands, folder: Path, fmu: Path, table: str = "", options: tuple[str, ...] = ()
) -> Done:
    """Run a scenario with lines `table` in the table of its participant m."""
    _, wait = commands.begin_program(folder, [*command(folder, fmu, table), *options])
    return wait()


def rows(folder: Path) -> tuple[list[float], str]:
    """The times in the file of results, and the reason in its last line if it is unfinished."""
    lines = list(csv.reader((folder / "out.csv").read_text().splitlines()))
    mark = ",".join(lines.pop()) if lines[-1][0].startswith(MARK) else ""
    return [float(line[0]) for line in lines[1:]], mark.removeprefix(MARK)


@pytest.mark.few(5)
@pytest.mark.parametrize("fault", ENDS)
@pytest.mark.parametrize("where", CALLS)
def test_an_fmu_that_ends_the_process_is_named_and_no_row_is_lost(
    where: str, fault: str, tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    status, _output, errors = run(commands, tmp_path, make_faulty(tmp_path, compiled, where, fault))
    assert status == 1 and "Traceback" not in errors, errors
    actions = {"LOAD": "faults: loading its library", "UNLOAD": "faults: unloading its library"}
    assert f"{actions.get(where, f'm: fmi2{where}')}: the FMU {ENDS[fault]}" in errors
    if where in CALLED_BEFORE_ROWS:
        assert not (tmp_path / "out.csv").exists()
    elif where == "DoStep":
        times, mark = rows(tmp_path)
        assert times == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])
        assert errors.splitlines()[-1] == mark and mark.startswith("at t = 0.4 s: m: fmi2DoStep")
        assert "t = 0.4 s → out.csv" in errors
    else:
        times, mark = rows(tmp_path)
        assert times == pytest.approx([i / 10 for i in range(11)]) and mark == ""
        assert "results are written → out.csv" in errors and "at t = 1 s: " in errors


def test_a_run_without_failure_is_the_same_in_a_second_process(
    tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    fmu = make_faulty(tmp_path, compiled, "NOWHERE", "")
    in_one_process = commands.run(tmp_path, [*command(tmp_path, fmu), "--quiet"])
    text = (tmp_path / "out.csv").read_text()
    in_two_processes = run(commands, tmp_path, fmu, options=("--quiet",))
    assert (
        in_one_process == in_two_processes == Done(0, "", "") and (tmp_path / "out.csv").read_text() == text
    )
    assert MARK not in text


def test_a_call_of_exit_is_reported_by_the_second_process(
    tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    status, output, _errors = run(
        commands, tmp_path, make_faulty(tmp_path, compiled, "DoStep", "exit(0)"), options=("--json",)
    )
    document = json.loads(output)
    assert status == document["status"] == 1 and document["result"]["to"] == pytest.approx(0.4)
    assert "m: fmi2DoStep: the FMU called exit()" in document["errors"][0]["text"]
    assert "m: fmi2DoStep: the FMU called exit()" in rows(tmp_path)[1]


@pytest.mark.parametrize("step", ["1e-3 s", "0.1 s"])
def test_rows_that_were_not_written_yet_are_not_lost(
    step: str, tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    """Also those in the memory of the interpreter of exchanges; `cosim info` shows why rows are missing."""
    arguments = command(tmp_path, make_faulty(tmp_path, compiled, "DoStep", "if (time > 17.95) _exit(0)"))
    scenario = (tmp_path / "s.toml").read_text().replace('"1 s"', '"20 s"').replace('"0.1 s"', f'"{step}"')
    (tmp_path / "s.toml").write_text(scenario)
    _, wait = commands.begin_program(tmp_path, arguments)
    status, _, errors = wait()
    size = cosim.parse_quantity(step, "s")
    times, mark = rows(tmp_path)
    assert status == 1 and times == pytest.approx([i * size for i in range(len(times))])
    last_time = 17.95 if size < 0.01 else 18.0  # of the last step before the condition in C is true
    assert times[-1] == pytest.approx(last_time, abs=1.1 * size), errors
    assert "m: fmi2DoStep" in mark
    result = cosim.read_result(tmp_path / "out.csv")
    assert result.unfinished == mark and result["m.y"][-1] == pytest.approx(times[-1])
    assert f"not whole: {mark}" in commands.run(tmp_path, ["info", "out.csv"]).stdout


def test_a_stream_in_parts_is_completed_by_the_second_process(
    tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    pytest.importorskip("pyarrow")
    arguments = command(tmp_path, make_faulty(tmp_path, compiled, "DoStep", "if (time > 50.0) _exit(0)"))
    scenario = (tmp_path / "s.toml").read_text().replace('"1 s"', '"60 s"').replace('"0.1 s"', '"1 ms"')
    (tmp_path / "s.toml").write_text(scenario)
    _, wait = commands.begin_program(tmp_path, [*arguments[:-1], "out.parquet"])
    status, _, errors = wait()
    assert status == 1 and "t = 50.001 s → out.parquet" in errors
    result = cosim.read_result(tmp_path / "out.parquet")
    assert len(list((tmp_path / "out.parquet").glob("part-*"))) > 1
    assert result.time == pytest.approx([i / 1000 for i in range(50_002)])
    assert "m: fmi2DoStep" in result.unfinished


@pytest.mark.by_turns
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("presses", [1, 2])
def test_a_step_that_does_not_return_is_interrupted(
    number: int, status: int, presses: int, tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    marker = tmp_path / "in_step"
    fmu = make_faulty(tmp_path, compiled, "DoStep", f'fclose(fopen("{marker.name}", "w")); {RESTS}')
    process, wait = commands.begin_program(tmp_path, command(tmp_path, fmu))
    deadline = time.monotonic() + 30.0
    while not marker.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    start = time.monotonic()
    for _ in range(presses):
        os.kill(process, number)
        time.sleep(0.2)
    end_status, _, errors = wait()
    seconds = time.monotonic() - start
    assert end_status == status, errors
    assert (seconds < supervised.SECONDS_TO_ANSWER) == (presses == 2)
    assert "m: fmi2DoStep: the FMU did" in errors
    assert rows(tmp_path)[0] == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])


@pytest.mark.by_turns
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("fault", [SLEEP, RESET_SIGNALS_AND_SLEEP])
def test_a_signal_to_both_processes_is_answered_once(
    number: int, status: int, fault: str, tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    """Service managers and `timeout` send it to all processes of a group."""
    fmu = make_faulty(tmp_path, compiled, "DoStep", fault)
    process, wait = commands.begin_program(tmp_path, command(tmp_path, fmu))
    deadline = time.monotonic() + 30.0
    while not (tmp_path / "it_steps").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    (child,) = map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())
    for target in (child, process):
        os.kill(target, number)
    end_status, _, errors = wait()
    assert end_status == status, errors
    assert errors.splitlines()[-1] == {130: "interrupted", 143: "terminated"}[status]
    assert "nothing errors why" not in errors and "crashed" not in errors
    times, mark = rows(tmp_path)
    # compiled steps may all have ended before the signal is answered
    assert times and (mark.endswith(("interrupted", "terminated")) or times[-1] == pytest.approx(1.0))


def test_a_run_in_the_background_of_a_script_ignores_ctrl_c(
    tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    """It goes on, as any program that is started with the signal ignored."""
    fmu = make_faulty(tmp_path, compiled, "DoStep", 'fclose(fopen("in_step", "w")); usleep(200000)')
    process, wait = commands.begin_in_background(tmp_path, command(tmp_path, fmu))
    deadline = time.monotonic() + 30.0
    while not (tmp_path / "in_step").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    for _ in range(supervised.MOST_ASKED):
        os.kill(process, signal.SIGINT)
        time.sleep(0.2)
    end_status, _, errors = wait()
    assert end_status == 0, errors
    times, mark = rows(tmp_path)
    assert times[-1] == pytest.approx(1.0) and not mark


@pytest.mark.few(4)
@pytest.mark.parametrize("options", [(), ("--isolate",)])
@pytest.mark.parametrize("where", ["LOAD", "Instantiate", "DoStep", "FreeInstance", "UNLOAD"])
def test_control_characters_that_an_fmu_writes_to_stderr_are_escaped(
    where: str, options: tuple[str, ...], tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    fmu = make_faulty(tmp_path, compiled, where, 'write(2, "one \\033[2J\\r\\n\\xff", 11)')
    status, output, errors = run(commands, tmp_path, fmu, options=options)
    assert status == 0, errors
    assert options or "one \\x1b[2J\\x0d\n" in errors  # of an isolated FMU it is only shown if the run fails
    assert not set(output + errors) & {"\x1b", "\r"}


def test_the_error_of_an_fmu_that_closes_all_files_is_reported(
    tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    close_files = "for (int i = 3; i < 256; i++) close(i); status = 3"
    status, _, errors = run(commands, tmp_path, make_faulty(tmp_path, compiled, "DoStep", close_files))
    assert status == 1 and "fmi2DoStep: failed with status error" in errors


@pytest.mark.parametrize("options", [(), ("--quiet",), ("--json",)])
def test_output_of_an_fmu_while_it_is_unloaded_is_discarded(
    options: tuple[str, ...], tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    print_text = 'write(1, "zqxj \\033[2J\\n", 10)'
    status, output, errors = run(
        commands, tmp_path, make_faulty(tmp_path, compiled, "UNLOAD", print_text), options=options
    )
    assert status == 0 and "zqxj" not in output and not set(output + errors) & {"\x1b", "\r"}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("fault", "step"),
    [
        (FORBID_FILES, "0.1 s"),
        (GIVE_UP_RIGHTS, "0.1 s"),
        (FORBID_WRITING, "0.1 s"),
        (FORBID_WRITING, "1e-4 s"),
    ],
)
def test_the_second_process_writes_rows_that_the_first_cannot_write(
    step: str, fault: str, tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    if fault == GIVE_UP_RIGHTS and os.getuid() != 0:
        pytest.skip("only root can give up its rights")
    arguments = command(tmp_path, make_faulty(tmp_path, compiled, "DoStep", fault))
    scenario = (tmp_path / "s.toml").read_text().replace('"0.1 s"', f'"{step}"')
    (tmp_path / "s.toml").write_text(scenario)
    status, _, errors = commands.begin_program(tmp_path, arguments)[1]()
    assert (tmp_path / "out.csv").exists(), errors
    times, mark = rows(tmp_path)
    count = round(1.0 / cosim.parse_quantity(step, "s"))
    assert times == pytest.approx([i / count for i in range(count + 1)]), errors
    if status == 0:  # as root the process has restored the limit itself
        assert fault != GIVE_UP_RIGHTS and mark == errors == ""
        return
    assert status == 1 and "results up to t = 1 s → out.csv" in errors, errors
    assert mark == "the process of the run has failed" and "--traceback" not in errors


@pytest.mark.parametrize("fault", [FORBID_WRITING_FOR_NOW, MASK_RIGHTS])
def test_limits_and_masks_that_an_fmu_changes_are_restored(
    fault: str, tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    status, _, errors = run(commands, tmp_path, make_faulty(tmp_path, compiled, "DoStep", fault))
    assert status == 0, errors
    assert rows(tmp_path)[0][-1] == 1.0 and (tmp_path / "out.csv").stat().st_mode & 0o700 == 0o600


@pytest.mark.parametrize("end", ["raise(SIGSEGV)", "_exit(0)", "status = 3", ""])
def test_an_fmu_that_writes_into_files_of_the_run(
    end: str, tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    """Overwritten rows are lost: the command fails without a traceback of its own code."""
    fmu = make_faulty(tmp_path, compiled, "DoStep", f"{OVERWRITE_FILES} {end}")
    status, _, errors = run(commands, tmp_path, fmu)
    assert status == 1 and errors.strip() and "Traceback" not in errors and "--traceback" not in errors, (
        errors
    )


def test_a_killed_run_keeps_its_rows(tmp_path: Path, compiled: Compiled, commands: ForkedCommands) -> None:
    """The system kills processes like this when memory is short."""
    fmu = make_faulty(tmp_path, compiled, "DoStep", "kill(getpid(), SIGKILL)")
    status, _, errors = run(commands, tmp_path, fmu)
    assert status == 1 and "m: fmi2DoStep: the FMU crashed: SIGKILL" in errors
    assert rows(tmp_path)[0][-1] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("options", "table", "host"),
    [
        (("--isolate",), "", "own process"),
        (("--isolate", "m"), "", "own process"),
        (("--in-process",), "process = true", "inside"),
        ((), "process = true", "own process"),
        ((), "", "inside"),
    ],
)
def test_the_process_of_an_fmu_is_chosen_and_printed(
    options: tuple[str, ...],
    table: str,
    host: str,
    tmp_path: Path,
    compiled: Compiled,
    commands: ForkedCommands,
) -> None:
    status, output, errors = run(
        commands, tmp_path, make_faulty(tmp_path, compiled, "NOWHERE", ""), table, options=options
    )
    assert status == 0, errors
    lines = {
        "own process": "FMUs each in its own process: m",
        "inside": "FMUs inside the process of the run: m",
    }
    assert lines[host] in output.splitlines()
    assert ("own process" in output.splitlines()[0]) == (host == "own process")


def test_an_unknown_participant_cannot_be_isolated(
    tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    fmu = make_faulty(tmp_path, compiled, "NOWHERE", "")
    status, _, errors = run(commands, tmp_path, fmu, options=("--isolate", "n"))
    assert status == 2 and "participant for --isolate 'n'" in errors
