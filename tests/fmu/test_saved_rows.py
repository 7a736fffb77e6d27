"""Results that grow in a file while a run goes on: the same bytes as written at once."""

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


class Run:
    """As much of a co-simulation as is asked for."""

    def __init__(self) -> None:
        self.rows = 1

    def result_so_far(self) -> cosim.Result:
        return result(self.rows)


class Counting(ResultsCsv):
    """Notes what it is asked to do."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def write(self, result: cosim.Result, path: Path) -> Path:
        self.asked.append(0)
        return super().write(result, path)

    def extend(self, result: cosim.Result, path: Path, rows: int) -> Path:
        self.asked.append(rows)
        return super().extend(result, path, rows)


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(saved_rows, "SECONDS", 0.0)
    monkeypatch.setattr(saved_rows, "SHARE", 1e9)
    made: Any = SavedRows(Run(), Counting(), tmp_path / "out.csv")  # type: ignore[arg-type]
    return made


def text_of(found: cosim.Result, tmp_path: Path) -> bytes:
    return ResultsCsv().write(found, tmp_path / "whole.csv").read_bytes()


def test_rows_are_written_once(saved: Any, tmp_path: Path) -> None:
    for rows in (1, 2, 4, 5):
        saved._loop.rows = rows
        saved(0.0)
        assert (tmp_path / "out.csv").read_bytes() == text_of(result(rows), tmp_path)
    saved.write(result(6))
    saved.write(result(6))
    assert saved._sink.asked == [0, 1, 2, 4, 5, 6]
    assert (tmp_path / "out.csv").read_bytes() == text_of(result(6), tmp_path)


def test_other_rows_and_other_files_are_written_anew(saved: Any, tmp_path: Path) -> None:
    between = np.array([0.0, 0.1, 0.15, 0.2, 0.2, 0.3, 0.4])  # what is known later of an earlier time
    saved.write(result(4))
    saved.write(result(7, between))
    assert (tmp_path / "out.csv").read_bytes() == text_of(result(7, between), tmp_path)
    with (tmp_path / "out.csv").open("a") as file:
        file.write("1,2,3,4\n")
    saved.write(result(7, between))
    assert (tmp_path / "out.csv").read_bytes() == text_of(result(7, between), tmp_path)
    (tmp_path / "out.csv").unlink()
    saved.write(result(7, between))
    saved.write(result(2))  # fewer
    assert saved._sink.asked == [0, 0, 0, 0, 0]
    assert (tmp_path / "out.csv").read_bytes() == text_of(result(2), tmp_path)


def test_a_row_that_is_put_before_the_last_one(saved: Any, tmp_path: Path) -> None:
    """The third row was the value after an event; that before is known later."""
    after = cosim.Result([0.0, 0.1, 0.2], {"x": [0.0, 1.0, 5.0]})
    both = cosim.Result([0.0, 0.1, 0.2, 0.2], {"x": [0.0, 1.0, 2.0, 5.0]})
    saved.write(after)
    saved.write(both)
    assert saved._sink.asked == [0, 0]
    assert (tmp_path / "out.csv").read_bytes() == text_of(both, tmp_path)


def test_a_full_disk_loses_nothing(saved: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved.write(result(3))

    def full(self: Any, found: cosim.Result, path: Path, rows: int) -> Path:
        with Path(path).open("a") as file:
            file.write("0.2,")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Counting, "extend", full)
        with pytest.raises(cosim.CosimError, match="The results are in "):
            saved.write(result(5))
    saved.write(result(6))
    assert (tmp_path / "out.csv").read_bytes() == text_of(result(6), tmp_path)
