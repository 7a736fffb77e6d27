"""Where workers of the tests write: one folder, in memory where that can hold it."""

import os
import tempfile
from pathlib import Path
from types import SimpleNamespace

import memory_folder
import pytest

posix = pytest.mark.skipif(not hasattr(os, "ST_NOEXEC"), reason="flags of file systems of Linux")


@posix
@pytest.mark.parametrize(
    ("flags", "room", "is_taken"),
    [
        ("", 2 * memory_folder.ROOM, True),
        ("ST_NOEXEC", 2 * memory_folder.ROOM, False),
        ("ST_RDONLY", 2 * memory_folder.ROOM, False),
        ("", memory_folder.ROOM // 2, False),
    ],
)
def test_it_needs_room_for_what_tests_write_and_load(
    flags: str, room: int, is_taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = SimpleNamespace(f_flag=getattr(os, flags, 0), f_bavail=room // 4096, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda path: about)
    monkeypatch.setattr(memory_folder, "memory_left", lambda: 2 * memory_folder.ROOM)
    assert memory_folder.has_room(tmp_path) == is_taken
    monkeypatch.setattr(memory_folder, "memory_left", lambda: 0)
    assert not memory_folder.has_room(tmp_path)


def test_a_place_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert not memory_folder.has_room(tmp_path / "missing")


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="one process writes as ever")
def test_a_worker_writes_in_the_one_folder(tmp_path: Path) -> None:
    place = Path(tempfile.gettempdir())
    assert place.name.startswith("tests-") and str(place) == os.environ["TMPDIR"]
    assert tmp_path.resolve().is_relative_to(place.resolve())
