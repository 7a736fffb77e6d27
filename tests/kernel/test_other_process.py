"""The same bytes from another process: one that goes on, and one that compiles nothing."""

import os
import subprocess
import sys
from pathlib import Path

import ball_run
import pytest

HERE = Path(ball_run.__file__).parent


def in_another_process(*arguments, plain=False):
    """Run `ball_run` in a new process."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1" if plain else "0"}
    command = [sys.executable, str(HERE / "ball_run.py"), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def through(tmp_path_factory):
    """The State at 2 s of a run that never stopped."""
    path = tmp_path_factory.mktemp("through") / "two"
    ball_run.main(2.0, path)
    return path.read_bytes()


@pytest.mark.parametrize("saved_at", [0.4515, 1.0])
def test_going_on_in_a_new_process(through, tmp_path, saved_at):
    ball_run.main(saved_at, tmp_path / "saved")
    # A run that stops at a time takes another last step there, so the one to compare with stops too.
    in_another_process(2.0, tmp_path / "went_on", tmp_path / "saved")
    ball_run.main(2.0, tmp_path / "here", tmp_path / "saved")
    assert (tmp_path / "went_on").read_bytes() == (tmp_path / "here").read_bytes()


def test_plain_python_gives_the_same_bytes(through, tmp_path):
    in_another_process(2.0, tmp_path / "plain", plain=True)
    assert (tmp_path / "plain").read_bytes() == through


def test_compiled_and_plain_python_take_over_from_each_other(through, tmp_path):
    in_another_process(1.0, tmp_path / "saved", plain=True)
    in_another_process(2.0, tmp_path / "went_on", tmp_path / "saved")
    ball_run.main(1.0, tmp_path / "here")
    assert (tmp_path / "saved").read_bytes() == (tmp_path / "here").read_bytes()
    ball_run.main(2.0, tmp_path / "end", tmp_path / "here")
    assert (tmp_path / "went_on").read_bytes() == (tmp_path / "end").read_bytes()
