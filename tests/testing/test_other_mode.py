"""`results_in_mode` asks a process in the other mode; each answer is that of a new process."""

import os
import sys
from pathlib import Path

import pytest

from cosim.testing.other_mode import load, results_in_mode

SOURCE = """
import os
asked = []

class Case:
    @classmethod
    def count(cls):
        print("what is printed is not an answer")
        asked.append(1)
        return [str(len(asked)), os.environ["COSIM_PLAIN"], os.getcwd()]

    @classmethod
    def fail(cls):
        raise ValueError("no such thing")

    @classmethod
    def end(cls):
        os._exit(3)
"""


def write_case(path: Path, source: str = SOURCE) -> type:
    """The class `Case` of a module with this source."""
    path.write_text(source)
    module = load(str(path), path.stem)
    case: type = module.Case
    return case


@pytest.mark.skipif(sys.platform == "win32", reason="no forks")
def test_each_question_is_answered_as_if_it_were_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = write_case(tmp_path / "asked.py")
    for plain in (True, False, True):
        monkeypatch.chdir(tmp_path / "..")
        assert results_in_mode(case, "count", plain) == ["1", str(int(plain)), os.getcwd()]
        monkeypatch.chdir(tmp_path)
        assert results_in_mode(case, "count", plain) == ["1", str(int(plain)), str(tmp_path)]
        with pytest.raises(RuntimeError, match="ValueError: no such thing"):
            results_in_mode(case, "fail", plain)
        with pytest.raises(RuntimeError, match="it ended with 3"):
            results_in_mode(case, "end", plain)


@pytest.mark.skipif(sys.platform == "win32", reason="no forks")
def test_one_process_answers_about_several_files(tmp_path: Path) -> None:
    source = SOURCE.replace("os.getcwd()", "str(os.getppid())")
    cases = [write_case(tmp_path / f"asked_{i}.py", source.replace("[]", str([0] * i))) for i in range(3)]
    answers = [results_in_mode(cases[i], "count", True) for i in (0, 1, 2, 0)]
    assert [answer[0] for answer in answers] == ["1", "2", "3", "1"]
    assert len({answer[2] for answer in answers}) == 1


LOADS = """
import sys

class Case:
    @classmethod
    def load(cls):
        names = ["cosim_mechanics.testing.described", "cosim_of_a_test"]
        are_loaded = [str(name in sys.modules) for name in names]
        for name in names:
            __import__(name)
        return are_loaded
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no forks")
def test_modules_of_the_project_are_loaded_once_and_others_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test may change its own files, so these are loaded each time."""
    (tmp_path / "cosim_of_a_test.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    case = write_case(tmp_path / "loads.py", LOADS)
    assert results_in_mode(case, "load", True) == ["False", "False"]
    assert results_in_mode(case, "load", True) == ["True", "False"]


def test_a_changed_file_and_a_changed_environment_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = write_case(tmp_path / "asked.py", SOURCE.replace("str(len(asked))", "os.environ.get('WORD', '')"))
    assert results_in_mode(case, "count", True)[0] == ""
    monkeypatch.setenv("WORD", "heard")
    assert results_in_mode(case, "count", True)[0] == "heard"
    case = write_case(tmp_path / "asked.py", SOURCE.replace("str(len(asked))", "'changed'"))
    os.utime(tmp_path / "asked.py", ns=(0, 0))
    assert results_in_mode(case, "count", True)[0] == "changed"


def test_an_error_of_loading_a_module_is_passed_on(tmp_path: Path) -> None:
    case = write_case(tmp_path / "asked.py")
    (tmp_path / "asked.py").write_text("raise ImportError('not today')")
    os.utime(tmp_path / "asked.py", ns=(0, 0))
    with pytest.raises(RuntimeError, match="not today"):
        results_in_mode(case, "count", True)
