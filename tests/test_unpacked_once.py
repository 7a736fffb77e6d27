"""Unpacked FMUs share their Python files: a second copy is a link, and a write into one is noticed."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest
from unpacked_once import UnpackedOnce


@pytest.fixture
def once(tmp_path: Path) -> UnpackedOnce:
    (tmp_path / "kept").mkdir()
    return UnpackedOnce(tmp_path / "kept")


def unpacked(once: UnpackedOnce, folder: Path, **contents: str) -> dict[str, str]:
    """Pack files and unpack them into a folder; ``a_b_py`` stands for ``a/b.py``. Returns their contents."""
    archive = folder.parent / f"{folder.name}.zip"
    with ZipFile(archive, "w") as written:
        for name, text in contents.items():
            written.writestr(name.replace("_", "/", 1).replace("_", "."), text)
    with ZipFile(archive) as read:
        once.extractall(read, folder)
    return {p.relative_to(folder).as_posix(): p.read_text() for p in sorted(folder.rglob("*.*"))}


def test_python_files_of_the_same_name_and_content_are_linked(once: UnpackedOnce, tmp_path: Path) -> None:
    first = unpacked(once, tmp_path / "first", a_b_py="1", a_c_py="2", a_d_txt="3")
    assert first == {"a/b.py": "1", "a/c.py": "2", "a/d.txt": "3"}
    second = unpacked(once, tmp_path / "second", a_b_py="1", a_c_py="20", a_d_txt="3")
    assert second == {"a/b.py": "1", "a/c.py": "20", "a/d.txt": "3"}
    shared = [name for name in first if (tmp_path / "first" / name).samefile(tmp_path / "second" / name)]
    assert shared == ["a/b.py"]


def test_a_file_may_be_unpacked_where_it_is_already(once: UnpackedOnce, tmp_path: Path) -> None:
    for _ in range(2):
        assert unpacked(once, tmp_path / "first", a_b_py="1") == {"a/b.py": "1"}


def test_a_file_can_be_linked_after_its_folder_was_removed(once: UnpackedOnce, tmp_path: Path) -> None:
    unpacked(once, tmp_path / "first", a_b_py="1")
    (tmp_path / "first" / "a" / "b.py").unlink()
    assert not once.written_since()
    assert unpacked(once, tmp_path / "second", a_b_py="1") == {"a/b.py": "1"}


def test_a_write_into_a_shared_file_is_noticed(once: UnpackedOnce, tmp_path: Path) -> None:
    unpacked(once, tmp_path / "first", a_b_py="1")
    assert once.written_since() == []
    (tmp_path / "first" / "a" / "b.py").write_text("other")
    assert once.written_since() == ["a/b.py"]
