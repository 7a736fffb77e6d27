"""Workers write into one temporary folder, in memory if there is room and machine code may be loaded."""

import os
import tempfile
from pathlib import Path
from types import SimpleNamespace

import memory_folder
import pytest

posix = pytest.mark.skipif(not hasattr(os, "ST_NOEXEC"), reason="flags of file systems of Linux")


@posix
@pytest.mark.parametrize(
    ("flags", "room", "expected"),
    [
        ("", 2 * memory_folder.ROOM, True),
        ("ST_NOEXEC", 2 * memory_folder.ROOM, False),
        ("ST_RDONLY", 2 * memory_folder.ROOM, False),
        ("", memory_folder.ROOM // 2, False),
    ],
)
def test_the_folder_needs_room_and_the_right_to_write_and_load_code(
    flags: str, room: int, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status_of_file_system = SimpleNamespace(
        f_flag=getattr(os, flags, 0), f_bavail=room // 4096, f_frsize=4096
    )
    monkeypatch.setattr(os, "statvfs", lambda path: status_of_file_system)
    monkeypatch.setattr(memory_folder, "memory_left", lambda: 2 * memory_folder.ROOM)
    assert memory_folder.has_room(tmp_path) == expected
    monkeypatch.setattr(memory_folder, "memory_left", lambda: 0)
    assert not memory_folder.has_room(tmp_path)


def test_a_missing_folder_has_no_room(tmp_path: Path) -> None:
    assert not memory_folder.has_room(tmp_path / "missing")


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="this is no worker")
def test_a_worker_writes_into_the_shared_folder(tmp_path: Path) -> None:
    place = Path(tempfile.gettempdir())
    assert place.name.startswith("tests-") and str(place) == os.environ["TMPDIR"]
    assert tmp_path.resolve().is_relative_to(place.resolve())
