"""A file of results that grows during a run has the same bytes as one that is written at once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim_fmu.command import saved_rows
from cosim_fmu.command.saved_rows import SavedRows
from cosim_workbench.results_csv import ResultsCsv

TIMES = np.array([0.0, 0.1, 0.2, 0.2, 0.3, 0.4])


def result(rows: int, times: Any = TIMES) -> cosim.Result:
    text = np.array(["a", 'b "c"', "", "d", "e", "f", "g"], dtype=object)
    table = {"x": times[:rows] ** 2, "v": np.outer(times[:rows], [1.0, 2.0]), "text": text[:rows]}
    return cosim.Result(times[:rows], table)


class RunSoFar:
    """Stands for a co-simulation that has recorded a number of rows."""

    def __init__(self) -> None:
        self.rows = 1

    def result_so_far(self) -> cosim.Result:
        return result(self.rows)


class RecordingSink(ResultsCsv):
    """Records the row from which each call writes; 0 for the whole file."""

    def __init__(self) -> None:
        self.first_rows: list[int] = []

    def write(self, result: cosim.Result, path: Path) -> Path:
        self.first_rows.append(0)
        return super().write(result, path)

    def extend(self, result: cosim.Result, path: Path, rows: int) -> Path:
        self.first_rows.append(rows)
        return super().extend(result, path, rows)


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(saved_rows, "SECONDS", 0.0)
    monkeypatch.setattr(saved_rows, "SHARE", 1e9)
    saved: Any = SavedRows(RunSoFar(), RecordingSink(), tmp_path / "out.csv")  # type: ignore[arg-type]
    return saved


def bytes_of(result: cosim.Result, tmp_path: Path) -> bytes:
    return ResultsCsv().write(result, tmp_path / "whole.csv").read_bytes()


def test_only_new_rows_are_written(saved: Any, tmp_path: Path) -> None:
    for rows in (1, 2, 4, 5):
        saved._loop.rows = rows
        saved(0.0)
        assert (tmp_path / "out.csv").read_bytes() == bytes_of(result(rows), tmp_path)
    saved.write(result(6))
    saved.write(result(6))
    assert saved._sink.first_rows == [0, 1, 2, 4, 5, 6]
    assert (tmp_path / "out.csv").read_bytes() == bytes_of(result(6), tmp_path)


def test_the_file_is_written_again_if_rows_or_the_file_have_changed(saved: Any, tmp_path: Path) -> None:
    times_with_insertion = np.array([0.0, 0.1, 0.15, 0.2, 0.2, 0.3, 0.4])  # a row at an earlier time
    saved.write(result(4))
    saved.write(result(7, times_with_insertion))
    assert (tmp_path / "out.csv").read_bytes() == bytes_of(result(7, times_with_insertion), tmp_path)
    with (tmp_path / "out.csv").open("a") as file:
        file.write("1,2,3,4\n")
    saved.write(result(7, times_with_insertion))
    assert (tmp_path / "out.csv").read_bytes() == bytes_of(result(7, times_with_insertion), tmp_path)
    (tmp_path / "out.csv").unlink()
    saved.write(result(7, times_with_insertion))
    saved.write(result(2))  # fewer rows
    assert saved._sink.first_rows == [0, 0, 0, 0, 0]
    assert (tmp_path / "out.csv").read_bytes() == bytes_of(result(2), tmp_path)


def test_a_row_inserted_before_the_last_one(saved: Any, tmp_path: Path) -> None:
    """The third row has the value after an event; the value before it is recorded later."""
    without_insertion = cosim.Result([0.0, 0.1, 0.2], {"x": [0.0, 1.0, 5.0]})
    with_insertion = cosim.Result([0.0, 0.1, 0.2, 0.2], {"x": [0.0, 1.0, 2.0, 5.0]})
    saved.write(without_insertion)
    saved.write(with_insertion)
    assert saved._sink.first_rows == [0, 0]
    assert (tmp_path / "out.csv").read_bytes() == bytes_of(with_insertion, tmp_path)


def test_after_a_full_disk_the_file_is_written_again(
    saved: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved.write(result(3))

    def write_part_and_fail(self: Any, result: cosim.Result, path: Path, rows: int) -> Path:
        with Path(path).open("a") as file:
            file.write("0.2,")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(RecordingSink, "extend", write_part_and_fail)
        with pytest.raises(cosim.CosimError, match="The results are in "):
            saved.write(result(5))
    saved.write(result(6))
    assert (tmp_path / "out.csv").read_bytes() == bytes_of(result(6), tmp_path)
