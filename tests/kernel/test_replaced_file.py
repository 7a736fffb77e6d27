"""A file is replaced only when the new one is complete; else the former one stays, and nothing is left."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim import process_lock
from cosim.kit import replaced_file, write_whole

KILLED = """
import os, signal, sys
from pathlib import Path
from cosim.kit import replaced_file
with replaced_file(Path(sys.argv[1])) as draft:
    draft.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def file_names(folder: Path) -> list[str]:
    """The names of the files of a folder, sorted."""
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.skipif(not process_lock.has_locks(), reason="Windows has no such locks")
def test_the_draft_of_a_killed_process_is_removed_by_a_later_write(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("before", "utf-8")
    for name in (".run-20240101.csv", ".run-draft-mine.csv", ".run-draft-12345678.parquet"):
        (tmp_path / name).write_text("not a draft of ours", "utf-8")
    names = file_names(tmp_path)
    assert subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False).returncode == -9
    (draft_name,) = set(file_names(tmp_path)) - set(names)
    assert path.read_text("utf-8") == "before"
    assert (tmp_path / draft_name).read_text("utf-8") == "half"

    # a young draft stays: its process might be about to lock it
    with replaced_file(path) as draft:
        draft.write_text("next", "utf-8")
    assert draft_name in file_names(tmp_path)

    # an old one is removed, unless a process is writing it
    old = time.time() - 2 * process_lock.SECONDS_TO_LOCK
    os.utime(tmp_path / draft_name, (old, old))
    with replaced_file(path) as draft:
        draft.write_text("outer", "utf-8")
        os.utime(draft, (old, old))
        with replaced_file(path) as inner_draft:
            inner_draft.write_text("inner", "utf-8")
        assert path.read_text("utf-8") == "inner"
    assert path.read_text("utf-8") == "outer"
    assert file_names(tmp_path) == names


@pytest.mark.parametrize("name", ["x" * 251 + ".csv", "名" * 83 + ".csv"])
def test_a_file_whose_name_is_as_long_as_the_system_allows(name: str, tmp_path: Path) -> None:
    """The name of its draft is not longer, also where a file is written as a whole."""
    path = tmp_path / name
    for text in ("first", "second"):
        with replaced_file(path) as draft:
            draft.write_text(text)
        assert path.read_text() == text
    write_whole(path, b"third")
    assert file_names(tmp_path) == [name] and path.read_text() == "third"


class Content:
    """What a checkpoint is made of; None fails."""

    def __init__(self, content: bytes | None) -> None:
        self._content = content

    def to_bytes(self) -> bytes:
        if self._content is None:
            raise RuntimeError("half way")
        return self._content


def write_in_block(path: Path, content: bytes | None) -> None:
    with replaced_file(path) as draft:
        draft.write_bytes(b"half" if content is None else content)
        if content is None:
            raise RuntimeError("half way")


def write_checkpoint(path: Path, content: bytes | None) -> None:
    cosim.Checkpoint(path).write(Content(content))


@pytest.mark.parametrize("write", [write_in_block, write_checkpoint])
def test_a_write_that_fails_leaves_the_former_file_and_no_draft(write: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"former")
    with pytest.raises(RuntimeError, match="half way"):
        write(path, None)
    assert path.read_bytes() == b"former" and file_names(tmp_path) == ["a.bin"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.parametrize("write", [write_in_block, write_checkpoint])
@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_a_new_file_has_the_permissions_of_the_former_one(write: Any, mode: int, tmp_path: Path) -> None:
    path, link = tmp_path / "a.bin", tmp_path / "link.bin"
    link.symlink_to(path)
    write(link, b"first")
    mask = os.umask(0o022)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    path.chmod(mode)
    write(link, b"second")
    assert path.read_bytes() == b"second" and stat.S_IMODE(path.stat().st_mode) == mode
    assert link.is_symlink() and file_names(tmp_path) == ["a.bin", "link.bin"]
