"""A run in another process has the same bytes: one that resumes a State, and one that compiles nothing."""

import os
import subprocess
import sys
from pathlib import Path

import ball_run
import pytest

HERE = Path(ball_run.__file__).parent


def run_in_new_process(*arguments, plain=False):
    """Run `ball_run` in a new process."""
    environment = {**os.environ, "COSIM_PLAIN": "1" if plain else "0"}
    command = [sys.executable, str(HERE / "ball_run.py"), *map(str, arguments)]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert process.returncode == 0, process.stderr


@pytest.fixture(scope="module")
def end_without_saving(tmp_path_factory):
    """The State at 2 s of a run that passed 1 s without being saved."""
    path = tmp_path_factory.mktemp("end_without_saving") / "end"
    ball_run.main("1,2", path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("is_first_plain", "is_second_plain"),
    [
        (True, False),
        pytest.param(False, True, marks=pytest.mark.thorough),
        pytest.param(False, False, marks=pytest.mark.thorough),
        pytest.param(True, True, marks=pytest.mark.thorough),
    ],
)
def test_a_run_that_is_saved_and_resumed_in_a_new_process(
    end_without_saving, tmp_path, is_first_plain, is_second_plain
):
    run_in_new_process("1", tmp_path / "saved", plain=is_first_plain)
    run_in_new_process("2", tmp_path / "end", tmp_path / "saved", plain=is_second_plain)
    assert (tmp_path / "end").read_bytes() == end_without_saving


def test_plain_python_gives_the_same_bytes(end_without_saving, tmp_path):
    run_in_new_process("1,2", tmp_path / "end", plain=True)
    assert (tmp_path / "end").read_bytes() == end_without_saving
