"""Processes that share a folder of compiled kernels: damaged, planted and private entries."""

import hashlib
import json
import math
import os
import pickle
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import cache_run
import flip_run
import pytest

from cosim_compiler.native import is_plain

VALUE = float.hex(math.sin(0.5) + 1.0)
posix_only = pytest.mark.skipif(not hasattr(os, "getuid"), reason="rights of files are POSIX's")
compiled_only = pytest.mark.skipif(is_plain(), reason="nothing is compiled here")


def start(folder):
    """Start a process that uses a cache folder."""
    environment = {**os.environ, "COSIM_CACHE_DIR": str(folder), "COSIM_PLAIN": "0"}
    return subprocess.Popen(
        [sys.executable, cache_run.__file__],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """Wait for a process, check its value and return its notes."""
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    answer = json.loads(out)
    assert answer["value"] == VALUE
    return answer["notes"]


def entries(folder):
    """The files of kernels in a folder."""
    return [p for p in Path(folder).rglob("*") if p.is_file() and not p.name.startswith(".")]


@pytest.fixture(scope="module")
def filled_folder(tmp_path_factory):
    """A folder that two processes have filled at the same time."""
    folder = tmp_path_factory.mktemp("cache")
    notes = [note for process in [start(folder), start(folder)] for note in finish(process)]
    assert any("compiled" in note for note in notes)  # one process may have been done before the other
    return folder


@compiled_only
def test_a_third_process_compiles_nothing(filled_folder):
    assert entries(filled_folder)
    assert finish(start(filled_folder)) == []


@compiled_only
def test_damaged_entries_are_compiled_again(filled_folder):
    contents = {path: path.read_bytes() for path in entries(filled_folder)}
    damages = [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: b"junk"]
    assert len(contents) >= len(damages)
    for i, (path, data) in enumerate(contents.items()):
        path.write_bytes(damages[i % len(damages)](data))
    assert any("compiled" in note for note in finish(start(filled_folder)))
    assert {path: path.read_bytes() for path in contents} == contents
    assert finish(start(filled_folder)) == []


@compiled_only
def test_a_process_works_without_a_folder_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("no folder")
    notes = finish(start(tmp_path / "file"))
    assert any("not kept" in note for note in notes)


@compiled_only
@posix_only
def test_folder_and_entries_belong_to_the_user_alone(filled_folder):
    assert stat.S_IMODE((filled_folder / "kernels").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in entries(filled_folder)} == {0o600}


class Planted:
    """Its pickle creates a file when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


@compiled_only
@posix_only
def test_entries_planted_in_an_open_folder_are_not_loaded(filled_folder, tmp_path):
    kernels = shutil.copytree(filled_folder / "kernels", tmp_path / "kernels")
    code = pickle.dumps(Planted(str(tmp_path / "ran")))
    for path in entries(kernels):
        path.write_bytes(hashlib.sha256(path.name.encode() + b"\0" + code).digest() + code)
    kernels.chmod(0o777)
    notes = finish(start(tmp_path))
    assert sum("open to other users" in note for note in notes) == 1
    assert any("compiled" in note for note in notes)
    assert not (tmp_path / "ran").exists()
    assert stat.S_IMODE(kernels.stat().st_mode) == 0o777  # it is left as it was found
    assert [note for note in finish(start(tmp_path)) if "not used" not in note] == []


@pytest.mark.thorough
@compiled_only
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process for each flip would take too long")
@pytest.mark.parametrize("count", [8, 1000])
def test_flipped_bits_neither_crash_a_process_nor_give_a_wrong_number(filled_folder, tmp_path, count):
    folder = shutil.copytree(filled_folder, tmp_path / "cache")
    environment = {**os.environ, "COSIM_CACHE_DIR": str(folder), "COSIM_PLAIN": "0"}
    command = [sys.executable, flip_run.__file__, str(count)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"right": count}
