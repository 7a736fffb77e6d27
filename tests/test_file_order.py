"""Files that take long come first, then those of many tests."""

from pathlib import Path

from file_order import LONG, in_order

ROOT = Path(__file__).parent.parent


def test_files_that_take_long_are_there() -> None:
    assert [file for file in LONG if not (ROOT / file).is_file()] == []
    assert len(set(LONG)) == len(LONG)


def test_long_files_then_many_tests_and_each_file_as_it_is() -> None:
    files = ["a.py"] + ["b.py"] * 2 + [LONG[1]] + ["c.py"] * 2 + [LONG[0]] * 2
    items = list(zip(files, range(len(files)), strict=True))
    assert in_order(items) == [6, 7, 3, 1, 2, 4, 5, 0]
