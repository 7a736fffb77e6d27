"""CSV files of other tools: separators, units and remarks are recognized; what is no result is refused."""

from pathlib import Path

import numpy as np
import pytest
from fmpy.util import write_csv

from cosim import CosimError
from cosim_workbench.results_csv import ResultsCsv


def test_names_without_quotes_are_read(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text('time, "a,b" ,c\n0,1,2\n')
    assert ResultsCsv().read(path).names == ["a,b", "c"]


def test_a_file_of_fmpy_is_read(tmp_path: Path) -> None:
    table = np.array([(0.0, 1.0, (2.0, 3.0))], dtype=[("time", float), ("h", float), ("v", float, (2,))])
    write_csv(tmp_path / "fmpy.csv", table)
    result = ResultsCsv().read(tmp_path / "fmpy.csv")
    assert result.names == ["h", "v"]
    assert result["v[1]"].tolist() == [3.0]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_and_booleans_of_other_tools(tmp_path: Path, separator: str, end: str) -> None:
    lines = [["time", "said", "on", "x"], ["0", ' "1,5; ""on""" ', "True", "2"], ["1", '""', "false", "3"]]
    if separator != ",":
        lines[1][3] = "2,0"
    (tmp_path / "r.csv").write_bytes(end.join(separator.join(line) for line in lines).encode())
    result = ResultsCsv().read(tmp_path / "r.csv")
    assert result["said"].tolist() == ['1,5; "on"', ""]
    assert result["on"].tolist() == [True, False] and result["on"].dtype == np.bool_
    assert result["x"].tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"r\.csv:1: is not a result"),
        ("x,y\n1,2\n", 'there is no column "time"'),
        ('"time","a","a"\n0,1,2\n', "two columns have the same name"),
        ('"time","a"\n0,1\n1\n', r"r\.csv:3: does not have the columns"),
        ('"time","a"\n0,1\n1,2 3\n', r"r\.csv:3: does not have the columns"),
        ('"time,a"\n0,1\n', 'there is no column "time"'),
        ('"time","a,b"\n0,1,2\n', r"r\.csv:2: does not have the columns"),
        ('"time","a"\n0,b\n1,2\n', r"r\.csv:3: a is text in some lines and not in others"),
        ('"time","a"\n0,1\n1,b\n', r"r\.csv:3: could not convert"),
        ("time\nnow\n", "the times are text"),
        ('"time","a"\n1,0\n0,0\n', "time: decreases"),
        ('"time"\nnan\n', "no finite numbers"),
        ('"time"\n"now"\n', "the times are text"),
        ('"time","a"\n0,"x\ny"\n1,2\n', r"r\.csv:4: a is text in some lines and not in others"),
        ('"time","a"\n0,"x\n', r"r\.csv:2: could not convert"),
        ('"time","a"\n0,"x"y\n', r"r\.csv:2: could not convert"),
        ('"time","a"\n0,"x",\n', r"r\.csv:2: does not have the columns"),
    ],
)
def test_a_file_that_is_no_result_is_refused_by_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(text)
    with pytest.raises(CosimError, match=message):
        ResultsCsv().read(path)


def test_a_missing_file_and_another_encoding_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CosimError, match="no such file"):
        ResultsCsv().read(tmp_path / "r.csv")
    (tmp_path / "r.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(CosimError, match="not UTF-8"):
        ResultsCsv().read(tmp_path / "r.csv")


@pytest.mark.parametrize(
    "text",
    [
        "time,plant.speed [km/h],x[1]\n0,36,2\n0.5,72,3\n",
        "Time;plant.speed [km/h];x[1]\n0,0;36;2\n0,5;72;3\n",
        '\ufeff"t [ms]"\t"plant.speed [km/h]"\t"x[1]"\n0\t36\t2\n500\t72\t3\n',
    ],
)
def test_files_of_other_tools(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(text, "utf-8")
    result = ResultsCsv().read(path)
    assert result.names == ["plant.speed", "x[1]"]
    assert (result.unit("plant.speed"), result.unit("x[1]")) == ("km/h", "1")
    assert result.time.tolist() == [0.0, 0.5]
    assert result["plant.speed"].tolist() == [36.0, 72.0]


BODY = "0,1,2\n1,2,3\n2,3,4\n"


@pytest.mark.parametrize(
    "text",
    [
        "iterations, time, x, y\n 0, 0, 1, 2\n 1, 1, 2, 3\n 2, 2, 3, 4\n",  # ecos
        ",time,x,y\n0,0,1,2\n1,1,2,3\n2,2,3,4\n",  # pandas, with its index
        '"time","x","y",\n0,1,2,\n1,2,3,\n2,3,4,\n',  # OpenModelica, older versions
        f"sep=,\r\ntime,x,y\r\n{BODY}",  # for spreadsheets
        f"# time,x,y\n{BODY}",  # numpy.savetxt
        f"# made by a tool\n#\n\ntime,x,y\n{BODY}",
        f"time,x,y\n{BODY}\n\n",
        f"time,x,y\n\n{BODY}",
        "t,x,time,y\n0,1,7,2\n1,2,7,3\n2,3,7,4\n",
    ],
)
def test_dialects_of_other_tools(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.csv").write_text(text, "utf-8", newline="")
    result = ResultsCsv().read(tmp_path / "r.csv")
    assert result.time.tolist() == [0.0, 1.0, 2.0]
    assert (result["x"].tolist(), result["y"].tolist()) == ([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    assert "" not in result.names


@pytest.mark.parametrize(
    "text",
    [
        "Time (ms),x (mm),y (n)\n0,1,2\n1000,2,3\n",
        "time,x,y (n)\nms,mm,\n0,1,2\n1000,2,3\n",
        "time;x;y (n)\n[ms];[mm];-\n0;1,0;2\n1000;2,0;3\n",
    ],
)
def test_units_below_the_names_and_in_round_brackets(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.csv").write_text(text, "utf-8")
    result = ResultsCsv().read(tmp_path / "r.csv")
    assert result.time.tolist() == [0.0, 1.0]
    assert {name: result.unit(name) for name in result.names} == {"x": "mm", "y (n)": "1"}
    assert result["y (n)"].tolist() == [2.0, 3.0]


def test_text_needs_no_quotes(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text('time;mode;u\n0;idle;1,5\n1;"heat; full";2\n2; heat pump ;3\n')
    result = ResultsCsv().read(path)
    assert result["mode"].tolist() == ["idle", "heat; full", "heat pump"]
    assert result["u"].tolist() == [1.5, 2.0, 3.0]


def test_an_empty_cell_is_nan(tmp_path: Path) -> None:
    """As pandas writes it; not in the time, and not among texts."""
    path = tmp_path / "r.csv"
    path.write_text("time,x,y\n0,,2\n1,2,\n")
    result = ResultsCsv().read(path)
    np.testing.assert_array_equal(result["x"], [np.nan, 2.0])
    np.testing.assert_array_equal(result["y"], [2.0, np.nan])
    for text, message in (
        ("time,x\n0,1\n,2\n", "the times are no finite numbers"),
        ('time,x\n0,"a"\n1,\n', r"r\.csv:3: x is text in some lines and not in others"),
    ):
        path.write_text(text)
        with pytest.raises(CosimError, match=message):
            ResultsCsv().read(path)


@pytest.mark.parametrize(("body", "line"), [("0,1\n\n\n1,bad\n", 7), ('0,1\n\n"",1\n', 6)])
def test_lines_of_errors_count_remarks_and_empty_lines(tmp_path: Path, body: str, line: int) -> None:
    path = tmp_path / "r.csv"
    path.write_text(f"# remark\n\ntime,x\n{body}")
    with pytest.raises(CosimError, match=rf"r\.csv:{line}: "):
        ResultsCsv().read(path)
