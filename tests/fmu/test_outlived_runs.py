"""The process of a run is ended by an FMU, or does not come back: another one says so and has all rows."""

import csv
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faults_fmu import CALLS, RESTS, command
from faults_fmu import make_faulty as make
from forked_commands import Done, ForkedCommands

import cosim
from cosim.command_line import black_box, supervised
from cosim.command_line.black_box import BlackBox, BlackBoxReader
from cosim.command_line.plugins_command import PluginsCommand
from cosim.simulation.interrupt import Terminated

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the run is a fork on Linux alone")

Compiled = Callable[..., Path]
BEGIN = {"LOAD", "Instantiate", "SetupExperiment", "SetReal", "EnterInitializationMode"}
BEGIN |= {"ExitInitializationMode", "GetReal"}
"""Before the first row is recorded."""
MARK = "# not whole: "


@pytest.fixture(scope="module")
def commands(compiled: Compiled, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkedCommands]:
    """A process that has loaded what scenarios need, and runs each in forks."""
    made, folder = ForkedCommands(), tmp_path_factory.mktemp("first")
    first = command(folder, make(folder, compiled, "NOWHERE", ""))
    assert made.run(folder, first, forks=False).returncode == 0
    yield made
    made.close()


def run(commands: ForkedCommands, folder: Path, fmu: Path, *more: str, words: tuple[str, ...] = ()) -> Done:
    _, wait = commands.begin_program(folder, [*command(folder, fmu, *more), *words])
    return wait()


def rows(folder: Path) -> tuple[list[float], str]:
    """The times of a file of results, and what its last line says of what is missing."""
    lines = list(csv.reader((folder / "out.csv").read_text().splitlines()))
    mark = ",".join(lines.pop()) if lines[-1][0].startswith(MARK) else ""
    return [float(line[0]) for line in lines[1:]], mark.removeprefix(MARK)


ENDS = {"raise(SIGSEGV)": "crashed: SIGSEGV", "_exit(0)": "ended the process of the run, with exit code 0"}


@pytest.mark.few(5)
@pytest.mark.parametrize("fault", ENDS)
@pytest.mark.parametrize("where", CALLS)
def test_what_ends_the_process_of_a_run_is_named_and_takes_no_rows(
    where: str, fault: str, tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    status, _printed, said = run(commands, tmp_path, make(tmp_path, compiled, where, fault))
    assert status == 1 and "Traceback" not in said, said
    who = {"LOAD": "faults: loading its library", "UNLOAD": "faults: unloading its library"}
    assert f"{who.get(where, f'm: fmi2{where}')}: the FMU {ENDS[fault]}" in said
    if where in BEGIN:
        assert not (tmp_path / "out.csv").exists()
    elif where == "DoStep":
        times, mark = rows(tmp_path)
        assert times == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])
        assert said.splitlines()[-1] == mark and mark.startswith("at t = 0.4 s: m: fmi2DoStep")
        assert "t = 0.4 s → out.csv" in said
    else:
        times, mark = rows(tmp_path)
        assert times == pytest.approx([i / 10 for i in range(11)]) and mark == ""
        assert "results are written → out.csv" in said and "at t = 1 s: " in said


def test_a_run_that_ends_well_says_and_leaves_the_same(
    tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    fmu = make(tmp_path, compiled, "NOWHERE", "")
    here = commands.run(tmp_path, [*command(tmp_path, fmu), "--quiet"])
    text = (tmp_path / "out.csv").read_text()
    there = run(commands, tmp_path, fmu, words=("--quiet",))
    assert here == there == Done(0, "", "") and (tmp_path / "out.csv").read_text() == text
    assert MARK not in text


def test_exit_is_said_by_the_other_process(
    tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    status, printed, _said = run(
        commands, tmp_path, make(tmp_path, compiled, "DoStep", "exit(0)"), words=("--json",)
    )
    found = json.loads(printed)
    assert status == found["status"] == 1 and found["result"]["to"] == pytest.approx(0.4)
    assert "m: fmi2DoStep: the FMU called exit()" in found["errors"][0]["text"]
    assert "m: fmi2DoStep: the FMU called exit()" in rows(tmp_path)[1]


@pytest.mark.parametrize("step", ["1e-3 s", "0.1 s"])
def test_rows_that_nobody_had_taken_are_not_lost(
    step: str, tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    """Those in the memory of the interpreter of exchanges, too; `cosim info` tells what is missing."""
    words = command(tmp_path, make(tmp_path, compiled, "DoStep", "if (time > 17.95) _exit(0)"))
    scenario = (tmp_path / "s.toml").read_text().replace('"1 s"', '"20 s"').replace('"0.1 s"', f'"{step}"')
    (tmp_path / "s.toml").write_text(scenario)
    _, wait = commands.begin_program(tmp_path, words)
    status, _, said = wait()
    size = cosim.parse_quantity(step, "s")
    times, mark = rows(tmp_path)
    assert status == 1 and times == pytest.approx([i * size for i in range(len(times))])
    assert times[-1] == pytest.approx(17.95 if size < 0.01 else 18.0, abs=1.1 * size), said
    assert "m: fmi2DoStep" in mark
    result = cosim.read_result(tmp_path / "out.csv")
    assert result.unfinished == mark and result["m.y"][-1] == pytest.approx(times[-1])
    assert f"not whole: {mark}" in commands.run(tmp_path, ["info", "out.csv"]).stdout


def test_parts_of_a_stream_go_on_behind_those_that_were_written(
    tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    pytest.importorskip("pyarrow")
    words = command(tmp_path, make(tmp_path, compiled, "DoStep", "if (time > 50.0) _exit(0)"))
    scenario = (tmp_path / "s.toml").read_text().replace('"1 s"', '"60 s"').replace('"0.1 s"', '"1 ms"')
    (tmp_path / "s.toml").write_text(scenario)
    _, wait = commands.begin_program(tmp_path, [*words[:-1], "out.parquet"])
    status, _, said = wait()
    assert status == 1 and "t = 50.001 s → out.parquet" in said
    result = cosim.read_result(tmp_path / "out.parquet")
    assert len(list((tmp_path / "out.parquet").glob("part-*"))) > 1
    assert result.time == pytest.approx([i / 1000 for i in range(50_002)])
    assert "m: fmi2DoStep" in result.unfinished


@pytest.mark.by_turns
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("presses", [1, 2])
def test_a_step_that_does_not_return_is_ended(
    number: int, status: int, presses: int, tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    loops = tmp_path / "it_loops"
    fmu = make(tmp_path, compiled, "DoStep", f'fclose(fopen("{loops.name}", "w")); {RESTS}')
    process, wait = commands.begin_program(tmp_path, command(tmp_path, fmu))
    until = time.monotonic() + 30.0
    while not loops.exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    begun = time.monotonic()
    for _ in range(presses):
        os.kill(process, number)
        time.sleep(0.2)
    ended, _, said = wait()
    spent = time.monotonic() - begun
    assert ended == status and (spent < supervised.SECONDS_TO_ANSWER) == (presses == 2), said
    assert "m: fmi2DoStep: the FMU did" in said
    assert rows(tmp_path)[0] == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])


SLEEPS = 'fclose(fopen("it_steps", "w")); usleep(200000)'
OPEN_TO_SIGNALS = f"signal(SIGINT, SIG_DFL); signal(SIGTERM, SIG_DFL); {SLEEPS}; {RESTS}"


@pytest.mark.by_turns
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("fault", [SLEEPS, OPEN_TO_SIGNALS])
def test_a_signal_to_both_processes_is_answered_once(
    number: int, status: int, fault: str, tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    """As service managers and `timeout` send it: to all processes of a group."""
    fmu = make(tmp_path, compiled, "DoStep", fault)
    process, wait = commands.begin_program(tmp_path, command(tmp_path, fmu))
    until = time.monotonic() + 30.0
    while not (tmp_path / "it_steps").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    (child,) = map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())
    for each in (child, process):
        os.kill(each, number)
    ended, _, said = wait()
    assert ended == status, said
    assert said.splitlines()[-1] == {130: "interrupted", 143: "terminated"}[status]
    assert "nothing said why" not in said and "crashed" not in said
    times, mark = rows(tmp_path)
    # steps that are made together may all have ended before the signal is answered
    assert times and (mark.endswith(("interrupted", "terminated")) or times[-1] == pytest.approx(1.0))


@pytest.mark.few(4)
@pytest.mark.parametrize("words", [(), ("--isolate",)])
@pytest.mark.parametrize("where", ["LOAD", "Instantiate", "DoStep", "FreeInstance", "UNLOAD"])
def test_what_an_fmu_writes_to_the_standard_error_has_no_control_characters(
    where: str, words: tuple[str, ...], tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    fmu = make(tmp_path, compiled, where, 'write(2, "one \\033[2J\\r\\n\\xff", 11)')
    status, printed, said = run(commands, tmp_path, fmu, words=words)
    assert status == 0, said
    assert words or "one \\x1b[2J\\x0d\n" in said  # of an isolated FMU it is shown where the run fails
    assert not set(printed + said) & {"\x1b", "\r"}


def test_messages_are_not_lost_where_an_fmu_closes_all_files(
    tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    closes = "for (int i = 3; i < 256; i++) close(i); status = 3"
    status, _, said = run(commands, tmp_path, make(tmp_path, compiled, "DoStep", closes))
    assert status == 1 and "fmi2DoStep: failed with status error" in said


@pytest.mark.parametrize("words", [(), ("--quiet",), ("--json",)])
def test_what_is_printed_at_the_end_of_the_process_is_no_result(
    words: tuple[str, ...], tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    late = 'write(1, "zqxj \\033[2J\\n", 10)'
    status, printed, said = run(commands, tmp_path, make(tmp_path, compiled, "UNLOAD", late), words=words)
    assert status == 0 and "zqxj" not in printed and not set(printed + said) & {"\x1b", "\r"}


GARBAGE = "{ char b[300]; memset(b, 'z', 300); for (int i = 3; i < 64; i++) (void)!pwrite(i, b, 300, 0); }"
LIMIT = "{ struct { unsigned long now, most; } limit; getrlimit(%d, &limit); %s setrlimit(%d, &limit); }"
TAKES_FILES = LIMIT % (7, "limit.now = limit.most = 3;", 7)
TAKES_SIZE = LIMIT % (1, "limit.now = limit.most = 0;", 1)
TAKES_A_WHILE = LIMIT % (1, "limit.now = 0;", 1)
MASKS = "umask(0777)"
TAKES_RIGHTS = "{ (void)!setgid(65534); (void)!setuid(65534); }"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("fault", "step"),
    [(TAKES_FILES, "0.1 s"), (TAKES_RIGHTS, "0.1 s"), (TAKES_SIZE, "0.1 s"), (TAKES_SIZE, "1e-4 s")],
)
def test_rows_that_the_process_cannot_write_any_more_are_written_by_the_other(
    step: str, fault: str, tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    if fault == TAKES_RIGHTS and os.getuid() != 0:
        pytest.skip("only root can give up its rights")
    words = command(tmp_path, make(tmp_path, compiled, "DoStep", fault))
    scenario = (tmp_path / "s.toml").read_text().replace('"0.1 s"', f'"{step}"')
    (tmp_path / "s.toml").write_text(scenario)
    status, _, said = commands.begin_program(tmp_path, words)[1]()
    assert (tmp_path / "out.csv").exists(), said
    times, mark = rows(tmp_path)
    count = round(1.0 / cosim.parse_quantity(step, "s"))
    assert times == pytest.approx([i / count for i in range(count + 1)]), said
    if status == 0:  # a process that may raise limits has raised them again
        assert fault != TAKES_RIGHTS and mark == said == ""
        return
    assert status == 1 and "results up to t = 1 s → out.csv" in said, said
    assert mark == "the process of the run has failed" and "--traceback" not in said


@pytest.mark.parametrize("fault", [TAKES_A_WHILE, MASKS])
def test_limits_and_masks_that_can_be_restored_are(
    fault: str, tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    status, _, said = run(commands, tmp_path, make(tmp_path, compiled, "DoStep", fault))
    assert status == 0, said
    assert rows(tmp_path)[0][-1] == 1.0 and (tmp_path / "out.csv").stat().st_mode & 0o700 == 0o600


@pytest.mark.parametrize("end", ["raise(SIGSEGV)", "_exit(0)", "status = 3", ""])
def test_an_fmu_that_writes_into_files_of_the_run(
    end: str, tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    """What it has overwritten is lost: the command says that it failed, and not where in its own code."""
    fmu = make(tmp_path, compiled, "DoStep", f"{GARBAGE} {end}")
    status, _, said = run(commands, tmp_path, fmu)
    assert status == 1 and said.strip() and "Traceback" not in said and "--traceback" not in said, said


def test_what_the_other_process_says_of_an_answered_signal() -> None:
    """The process has answered, and was ended by a second signal before it had recorded its status."""
    before = black_box.status_words
    box, command_run = BlackBox(), PluginsCommand()
    reader = BlackBoxReader(box)
    try:
        for code in (143, -signal.SIGTERM):
            outcome = supervised._outcome(code, [signal.SIGTERM], reader, command_run)
            assert isinstance(outcome, Terminated) and str(outcome) == "terminated"
        unasked = supervised._outcome(143, [], reader, command_run)
        assert isinstance(unasked, supervised.LostProcessError) and "nothing said why" in str(unasked)
        box.status_words[black_box.ENDED] = 0 + 1  # the command was over, and Python about to end
        for code in (0, -signal.SIGTERM):
            outcome = supervised._outcome(code, [signal.SIGTERM], reader, command_run)
            assert isinstance(outcome, supervised.EndedElsewhere) and outcome.status == 0
    finally:
        box.close()
        black_box.status_words = before


def test_a_run_that_is_killed_from_outside_has_its_rows(
    tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    """As the system does where memory is short."""
    fmu = make(tmp_path, compiled, "DoStep", "kill(getpid(), SIGKILL)")
    status, _, said = run(commands, tmp_path, fmu)
    assert status == 1 and "m: fmi2DoStep: the FMU crashed: SIGKILL" in said
    assert rows(tmp_path)[0][-1] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("words", "more", "where"),
    [
        (("--isolate",), "", "own process"),
        (("--isolate", "m"), "", "own process"),
        (("--in-process",), "process = true", "inside"),
        ((), "process = true", "own process"),
        ((), "", "inside"),
    ],
)
def test_where_an_fmu_runs_is_chosen_and_said(
    words: tuple[str, ...],
    more: str,
    where: str,
    tmp_path: Path,
    compiled: Compiled,
    commands: ForkedCommands,
) -> None:
    status, printed, said = run(
        commands, tmp_path, make(tmp_path, compiled, "NOWHERE", ""), more, words=words
    )
    assert status == 0, said
    line = {
        "own process": "FMUs each in its own process: m",
        "inside": "FMUs inside the process of the run: m",
    }
    assert line[where] in printed.splitlines()
    assert ("own process" in printed.splitlines()[0]) == (where == "own process")


def test_a_name_that_nobody_has_is_not_isolated(
    tmp_path: Path, compiled: Compiled, commands: ForkedCommands
) -> None:
    fmu = make(tmp_path, compiled, "NOWHERE", "")
    status, _, said = run(commands, tmp_path, fmu, words=("--isolate", "n"))
    assert status == 2 and "participant for --isolate 'n'" in said


def test_an_entry_that_is_torn_is_left_out() -> None:
    before = black_box.status_words
    box = BlackBox()
    reader = BlackBoxReader(box)
    try:
        box.write(("first", 1))
        box.write(("second", 2))
        size = os.fstat(box._rows.fileno()).st_size
        os.ftruncate(box._rows.fileno(), size - 1)
        assert list(reader.entries()) == [("first", 1)]
        os.ftruncate(box._rows.fileno(), 3)
        assert list(reader.entries()) == []
        box.send_note("kind", "old")
        box.send_note("kind", "new")
        room = box.shared_memory("numbers", 16)
        room[:3] = b"abc"
        assert box.shared_memory("numbers", 8) is room
        notes = reader.notes()
        again = reader.memory("numbers", notes)
        assert notes["kind"] == "new" and again is not None and bytes(again[:3]) == b"abc"
        assert reader.memory("others", notes) is None
    finally:
        box.close()
        black_box.status_words = before


def test_rows_are_given_up_where_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    before = black_box.status_words
    box = BlackBox()
    reader = BlackBoxReader(box)
    write = black_box._write

    def refuse(file: int, data: bytes) -> None:
        if file == box._rows.fileno():
            raise OSError(28, "No space left on device")
        write(file, data)

    monkeypatch.setattr(black_box, "_write", refuse)
    try:
        box.write(("row", 1))
        assert not box.keeps_rows and "rows" in reader.notes() and list(reader.entries()) == []
    finally:
        box.close()
        black_box.status_words = before
