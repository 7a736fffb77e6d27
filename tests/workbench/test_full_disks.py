"""A command whose file finds no room ends with status 1 and a sentence; the former file stays as it was."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cosim.cli import main
from cosim.command_line.plugins_command import PluginsCommand
from cosim.errors import NotWrittenError
from cosim.kit import write_whole
from cosim_workbench.studies.fit import Fit
from cosim_workbench.studies.optimum import Optimum

pytestmark = pytest.mark.skipif(os.name == "nt", reason="limits for files, modes and devices of POSIX")
EXAMPLES = Path(__file__).parents[2] / "examples"
SIGNAL, RANGE = "car_joint.q[0]", "suspension.stiffness=10000..30000"
LIMITED = """
import resource, sys
from cosim.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
sys.exit(main(sys.argv[1:]))
"""


def test_a_full_disk_adds_nothing_to_a_sound_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Errors of `write` name no file: the standard output is not written to find out whether it failed."""

    def run(*arguments: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(PluginsCommand, "run", run)
    assert main(["plugins"]) == 1
    output = capsys.readouterr()
    assert output.out == "" and output.err == "a file: cannot be written: No space left on device\n"


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """A limit (bytes) for each file that this process writes."""
    import resource  # which Windows does not have

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def umask() -> int:
    """The permissions that new files of this process do not have."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["linearize", "quarter_car/quarter_car.toml"], "out.json"),
        (["animate", "slider_crank/slider_crank.toml"], "out.html"),
        (["run", "quarter_car/quarter_car.toml", "--until", "0.1 s"], "out.csv"),
    ],
)
def test_a_file_that_finds_no_room_leaves_the_former_one(
    words: list[str],
    file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [words[0], str(EXAMPLES / words[1]), *words[2:], "-o"]
    for name in ("tmp", "first"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path)
    assert main([*words, f"first/{file}"]) == 0  # with room also for what is compiled and cached
    assert (tmp_path / "first" / file).stat().st_size > 1000
    (tmp_path / file).write_text("# former\n")
    capsys.readouterr()
    with files_of_at_most(1000):
        assert main([*words, file]) == 1
    assert f"{file}: cannot be written: File too large" in capsys.readouterr().err
    assert (tmp_path / file).read_text() == "# former\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([file, "first", "tmp"])
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize("former", [None, b"", b"former"])
def test_a_file_is_replaced_as_a_whole(former: bytes | None, tmp_path: Path) -> None:
    path, link = tmp_path / "a.json", tmp_path / "link.json"
    if former is not None:
        path.write_bytes(former)
        path.chmod(0o640)
    link.symlink_to(path)
    for content in (b"", b"new"):
        write_whole(link, content)
        assert path.read_bytes() == content and link.is_symlink()
    mode = stat.S_IMODE(path.stat().st_mode)
    assert mode == (0o666 & ~umask() if former is None else 0o640)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.json", "link.json"]
    with pytest.raises(NotWrittenError, match="missing.*cannot be written: No such file"):
        write_whole(tmp_path / "missing" / "a.json", b"x")


def test_a_device_is_written_and_not_replaced() -> None:
    write_whole(Path("/dev/null"), b"x")
    assert not Path("/dev/null").is_file()
    if Path("/dev/full").exists():
        with pytest.raises(NotWrittenError, match="/dev/full: cannot be written: No space left on device"):
            write_whole(Path("/dev/full"), b"x")


@pytest.mark.few(1)
@pytest.mark.parametrize("words", [["model", "thing"], ["scenario", "thing"], ["--stubs"]])
def test_a_new_file_that_finds_no_room_is_named(words: list[str], tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.run(
        [sys.executable, "-P", "-c", LIMITED, "new", *words],
        cwd=tmp_path, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    folder = "typings" if words == ["--stubs"] else "thing"
    assert process.returncode == 1 and "Traceback" not in process.stderr
    messages = [line for line in process.stderr.splitlines() if line.startswith(folder)]
    assert len(messages) == 1 and messages[0].endswith("cannot be written: File too large"), process.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.thorough
@pytest.mark.parametrize("command", ["optimize", "calibrate"])
def test_tables_are_written_before_what_is_printed_and_elsewhere_if_need_be(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    model = EXAMPLES / "quarter_car" / "quarter_car.toml"
    measured, table = tmp_path / "measured.csv", tmp_path / "table.csv"
    assert main(["run", str(model), "--until", "0.1 s", "-q", "-o", str(measured)]) == 0
    words = {
        "optimize": ["--vary", RANGE, "--minimize", f"max({SIGNAL})", "--runs", "4", "--until", "0.1 s"],
        "calibrate": ["--data", str(measured), "--signal", f"{SIGNAL}=car_joint.q", "--fit", RANGE],
    }[command]
    words = [command, str(model), *words, "-o"]
    outcome = Fit if command == "calibrate" else Optimum

    def closed(self: object) -> str:
        raise BrokenPipeError

    # the output is closed before the summary is printed: the table is there already
    with monkeypatch.context() as patch:
        patch.setattr(outcome, "__str__", closed)
        assert main([*words, str(table)]) == 1
    assert table.read_text("utf-8").count("\n") > 4
    # a full disk: the table is written to another folder
    capsys.readouterr()
    full = tmp_path / "full.csv"
    full.symlink_to("/dev/full")
    assert main([*words, str(full)]) == 1
    output = capsys.readouterr()
    (spare,) = tmp_path.glob("cosim-results-*/*.csv")
    assert f"The results are in {spare}" in output.err
    assert RANGE.partition("=")[0] in output.out
    assert spare.read_text("utf-8").count("\n") == table.read_text("utf-8").count("\n")
