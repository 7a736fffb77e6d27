"""Test files are ordered by their last time: new ones first, large before small, then the longest."""

from pathlib import Path

import pytest
from file_order import in_order, store_seconds, stored_seconds

from cosim_compiler import kernel_cache


def test_new_files_come_first_then_the_longest_and_items_of_a_file_keep_their_order(tmp_path: Path) -> None:
    for name, size in (("a", 1), ("b", 9), ("c", 2), ("d", 3), ("e", 9)):
        (tmp_path / name).write_bytes(bytes(size))
    files = ["a", "b", "c", "c", "d", "e", "b"]
    items = list(zip(files, range(len(files)), strict=True))
    assert in_order(items, {}, tmp_path) == [1, 6, 5, 4, 2, 3, 0]
    assert in_order(items, {"a": 3.0, "b": 0.5, "c": 7.0, "gone": 9.0}, tmp_path) == [5, 4, 2, 3, 0, 1, 6]


def test_the_times_of_files_are_stored_in_the_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COSIM_CACHE_DIR", str(tmp_path))
    kernel_cache.folder.cache_clear()
    try:
        assert stored_seconds() == {}
        store_seconds({"tests/a.py": 1.5})
        assert stored_seconds() == {"tests/a.py": 1.5}
    finally:
        monkeypatch.undo()
        kernel_cache.folder.cache_clear()
