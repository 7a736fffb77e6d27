"""Time tables from files: columns, units and faults."""

from __future__ import annotations

from pathlib import Path

import pytest

import cosim
from cosim_signals.time_table import TimeTable

CSV = "time [ms],force [kN],gear\n0,1,1\n500,3,2\n1000,3,2\n"
TOML = """
[measures.drive]
type = "signals.time_table"
file = "drive.csv"
column = "force"
"""


def test_units_are_read_from_the_header(tmp_path: Path) -> None:
    (tmp_path / "drive.csv").write_text(CSV, "utf-8")
    (tmp_path / "model.toml").write_text(TOML, "utf-8")
    model = cosim.Model.from_file(tmp_path / "model.toml")
    system = model.build()
    state = system.default_state()
    state.set_time(0.25)
    assert state.realize()["drive"] == 2.0 and system.signal("drive").units == ("kN",)
    restored = cosim.Model.from_dict(model.to_dict()).build().default_state()  # now without the file
    restored.set_time(0.25)
    assert restored.realize()["drive"] == 2.0


def test_a_column_without_a_unit_takes_the_one_that_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "drive.csv"
    path.write_text("time,force\n0,1\n1,3\n", "utf-8")
    assert TimeTable(file=str(path)).unit == ""
    assert TimeTable(file=str(path), unit="kN").unit == "kN"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"column": "forse"}, r"no signal 'forse'.*force"),
        ({}, "give column, one of force, gear"),
        ({"column": "force", "times": [0.0, 1.0]}, "so times must be omitted"),
    ],
)
def test_ambiguous_columns_are_refused(tmp_path: Path, parameters: dict[str, object], message: str) -> None:
    path = tmp_path / "drive.csv"
    path.write_text(CSV, "utf-8")
    with pytest.raises(cosim.ModelError, match=message):
        TimeTable(file=str(path), **parameters)


def test_a_missing_file_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "model.toml").write_text(TOML, "utf-8")
    with pytest.raises(cosim.CosimError, match=r"model.toml:\d+.*drive.csv"):
        cosim.Model.from_file(tmp_path / "model.toml")
