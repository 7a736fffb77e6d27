"""Workers report every call, and setup and teardown only if they failed or took long."""

from pathlib import Path

import few_messages
import pytest

TESTS = """
import time
import pytest

@pytest.fixture
def broken():
    raise ValueError("set up")

@pytest.fixture
def left():
    yield
    raise ValueError("torn down")

@pytest.fixture
def slow():
    time.sleep(0.11)

def test_passes(): pass
def test_fails(): assert False
def test_is_not_set_up(broken): pass
def test_is_not_torn_down(left): pass
def test_is_set_up_slowly(slow): pass
@pytest.mark.skip(reason="today")
def test_is_skipped(): pass
@pytest.mark.xfail(strict=True)
def test_fails_as_expected(): assert False
@pytest.mark.xfail(strict=True)
def test_passes_unexpectedly(): pass
"""


class Reports:
    """A plugin of pytest that collects the phases and outcomes that are reported of each test."""

    def __init__(self) -> None:
        self.phases: dict[str, list[tuple[str, str]]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.rpartition("::test_")[2]
        self.phases.setdefault(name, []).append((report.when, report.outcome))


def test_calls_failures_and_slow_phases_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_reported.py").write_text(TESTS, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    reports = Reports()
    words = [str(tmp_path), "-q", "-p", "no:cacheprovider", "--import-mode=importlib"]
    status = pytest.main(words, [few_messages, reports])
    assert status == pytest.ExitCode.TESTS_FAILED
    passed, failed, skipped = (("call", outcome) for outcome in ("passed", "failed", "skipped"))
    assert reports.phases == {
        "passes": [passed],
        "fails": [failed],
        "is_not_set_up": [("setup", "failed")],
        "is_not_torn_down": [passed, ("teardown", "failed")],
        "is_set_up_slowly": [("setup", "passed"), passed],
        "is_skipped": [("setup", "skipped")],
        "fails_as_expected": [skipped],
        "passes_unexpectedly": [failed],
    }
    summary = capsys.readouterr().out.strip().splitlines()[-1]
    assert "2 failed, 3 passed, 1 skipped, 1 xfailed, 2 errors" in summary
