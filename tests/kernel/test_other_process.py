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
    environment = {**os.environ, "COSIM_PLAIN": "1" if plain else "0"}
    command = [sys.executable, str(HERE / "ball_run.py"), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def through(tmp_path_factory):
    """The State at 2 s of a run that passed 1 s without being saved."""
    path = tmp_path_factory.mktemp("through") / "end"
    ball_run.main("1,2", path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "plain",
    [
        (True, False),
        *(
            pytest.param(ways, marks=pytest.mark.thorough)
            for ways in ((False, True), (False, False), (True, True))
        ),
    ],
)
def test_saved_and_going_on_in_a_new_process(through, tmp_path, plain):
    in_another_process("1", tmp_path / "saved", plain=plain[0])
    in_another_process("2", tmp_path / "end", tmp_path / "saved", plain=plain[1])
    assert (tmp_path / "end").read_bytes() == through


def test_plain_python_gives_the_same_bytes(through, tmp_path):
    in_another_process("1,2", tmp_path / "end", plain=True)
    assert (tmp_path / "end").read_bytes() == through
