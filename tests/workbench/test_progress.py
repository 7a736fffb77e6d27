"""The progress bar of commands, and the notices about compiling."""

import io
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cosim_workbench.progress import NOTICE, compile_notice, progress_bar

Captured = pytest.CaptureFixture[str]


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_no_bar_without_a_terminal() -> None:
    stream = io.StringIO()
    with progress_bar(2.0, stream=stream) as advance:
        assert advance is None
    assert stream.getvalue() == ""


def test_a_bar_on_a_terminal() -> None:
    stream = Terminal()
    with progress_bar(2.0, stream=stream) as advance:
        assert advance is not None
        assert advance(1.0) is None
        advance(2.0)
    assert "100 %" in stream.getvalue()
    assert "2.000 s" in stream.getvalue()


def test_a_notice_of_compiling_is_printed_once_and_the_logger_is_restored(capsys: Captured) -> None:
    log = logging.getLogger("cosim.native")
    before = (log.level, list(log.handlers), list(log.filters))
    with compile_notice():
        log.debug("compiling")
        assert capsys.readouterr() == ("", "")
        log.info("compiling")
        log.info("compiled force")
    log.info("compiling")
    assert capsys.readouterr() == ("", NOTICE + "\n")
    assert (log.level, log.handlers, log.filters) == before


def test_acts_of_a_long_export_are_printed(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    log = logging.getLogger("cosim.native")
    with compile_notice():
        log.info("lowering 1 of 40 functions")  # too early to be worth a line
        monkeypatch.setattr("cosim_workbench.progress.PATIENCE", -1.0)
        log.info("lowering 12 of 40 functions")
        log.info("optimizing 40 functions as a whole")
        log.info("building library 1 of 2, for x86_64-linux")
        log.info("compiled force")
    lines = ["lowering 12 of 40 functions", "optimizing 40 functions as a whole"]
    lines += ["building library 1 of 2, for x86_64-linux", NOTICE, ""]
    assert capsys.readouterr() == ("", "\n".join(lines))


def test_other_messages_are_logged_as_without_the_notice(caplog: pytest.LogCaptureFixture) -> None:
    """Warnings are logged; information is not."""
    log = logging.getLogger("cosim.native")
    with compile_notice(io.StringIO()):
        log.warning("damaged kernel is compiled again")
        log.info("compiling")
    assert [record.getMessage() for record in caplog.records] == ["damaged kernel is compiled again"]


WAVE = """
[measures.wave]
type = "sinusoid"
amplitude = 2.0
frequency = 3.0
phase = 0.0
[measures.area]
type = "integrate"
source = "wave"
"""
RUN = """
import logging, sys
from cosim.cli import main
from cosim_compiler import shipped, unit_digests
original = unit_digests.digest_of
def digest_of(kind, functions):
    digest = original(kind, functions)
    if any(function.__qualname__.startswith("Integrate") for function, _ in functions):
        not_shipped.add(digest)  # as if no release had it
    return digest
not_shipped, has = set(), shipped.has
unit_digests.digest_of = digest_of
shipped.has = lambda kind, digest: digest not in not_shipped and has(kind, digest)
status = main(["run", "wave.toml", "--until", "2 ms"])
logging.getLogger("cosim.native").warning("said to nobody in particular")
sys.exit(status)
"""


@pytest.mark.thorough
def test_a_run_with_an_empty_cache_prints_the_notice_once(tmp_path: Path) -> None:
    (tmp_path / "wave.toml").write_text(WAVE, "utf-8")
    environment = {**os.environ, "COSIM_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("COSIM_PLAIN", None)

    def error_lines() -> list[str]:
        process = subprocess.run(
            [sys.executable, "-c", RUN],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert "compiling" not in process.stdout
        return process.stderr.splitlines()

    (tmp_path / "cache").mkdir()
    notice, *progress_lines, last = error_lines()
    assert (notice, last) == (NOTICE, "said to nobody in particular")
    assert all(line.startswith("compiling: ") for line in progress_lines)
    assert error_lines() == ["said to nobody in particular"]
