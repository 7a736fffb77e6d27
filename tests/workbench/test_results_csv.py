import math
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from fmpy.util import read_csv, write_csv
from how_many import many
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cosim import CosimError, Result
from cosim_workbench.results_csv import ResultsCsv

REALS = (
    st.floats(allow_nan=False)
    | st.just(math.nan)
    | st.sampled_from([0.1, -0.0, 5e-324, 1.7976931348623157e308])
)
SHAPES = st.lists(st.sampled_from([(), (1,), (2,), (12,)]), max_size=4)


@st.composite
def results(draw: st.DrawFn) -> Result:
    n = draw(st.integers(1, 4))
    time = np.sort(draw(arrays(np.float64, n, elements=st.floats(-1e6, 1e6))))
    signals = {
        f"part{i}.x[{i}]": draw(arrays(np.float64, (n, *shape), elements=REALS))
        for i, shape in enumerate(draw(SHAPES))
    }
    return Result(time, signals)


def flat(values: np.ndarray) -> np.ndarray:
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


@given(results())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_number_reads_back_exactly(tmp_path: Path, result: Result) -> None:
    path = result.to_csv(tmp_path / "r.csv")
    again = ResultsCsv().read(path)
    assert again.names == result.names
    assert again.time.tobytes() == result.time.tobytes()
    for name in result.names:
        assert np.array_equal(again[name], flat(result[name]), equal_nan=True)
        assert (
            np.array_equal(np.signbit(again[name]), np.signbit(flat(result[name])))
            or np.isnan(again[name]).any()
        )
    theirs = read_csv(path)
    assert theirs.dtype.names == ("time", *result.names)
    for name in result.names:
        assert np.array_equal(theirs[name], flat(result[name]), equal_nan=True)


def test_fmpy_has_the_same_times(tmp_path: Path) -> None:
    result = Result(np.arange(6) / 3.0, {"x": np.arange(6.0)})
    assert read_csv(result.to_csv(tmp_path / "r.csv"))["time"].tobytes() == result.time.tobytes()


def test_names_may_have_commas(tmp_path: Path) -> None:
    """As matrices in FMUs of other tools have; fmpy cannot read them back."""
    names = ["R[2,3]", "a", ",", "der(x[1,1]),y"]
    path = Result([0.0], {name: [float(i)] for i, name in enumerate(names)}).to_csv(tmp_path / "r.csv")
    assert path.read_text("utf-8").splitlines()[0] == '"time","R[2,3]","a",",","der(x[1,1]),y"'
    again = ResultsCsv().read(path)
    assert again.names == names
    assert [again[name].tolist() for name in names] == [[0.0], [1.0], [2.0], [3.0]]


def test_names_without_quotes_are_read(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text('time, "a,b" ,c\n0,1,2\n')
    assert ResultsCsv().read(path).names == ["a,b", "c"]


def test_the_dialect_is_that_of_fmpy(tmp_path: Path) -> None:
    result = Result([0.0, 0.1], {"engine.z": [1.5, -2.0], "mount.force": [[1.0, 0.5], [0.25, 4.0]]})
    text = result.to_csv(tmp_path / "ours.csv").read_text("utf-8")
    assert text == '"time","engine.z","mount.force"\n0.0,1.5,1.0 0.5\n0.1,-2.0,0.25 4.0\n'
    scalars = result.select("engine.z")
    write_csv(tmp_path / "theirs.csv", scalars.to_numpy())
    assert scalars.to_csv(tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()


def test_a_file_of_fmpy_is_read(tmp_path: Path) -> None:
    table = np.array([(0.0, 1.0, (2.0, 3.0))], dtype=[("time", float), ("h", float), ("v", float, (2,))])
    write_csv(tmp_path / "fmpy.csv", table)
    result = ResultsCsv().read(tmp_path / "fmpy.csv")
    assert result.names == ["h", "v"]
    assert result["v[1]"].tolist() == [3.0]


def test_a_file_that_was_there_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("precious")
    with pytest.raises(UnicodeEncodeError):
        Result([0.0], {"a\ud800": [1.0]}).to_csv(path)
    assert path.read_text() == "precious"
    Result([0.0], {"a": [1.0]}).to_csv(path)
    assert path.read_text() == '"time","a"\n0.0,1.0\n'
    assert list(tmp_path.iterdir()) == [path]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.csv"
    path.write_text("old")

    def refuse(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(CosimError, match=r"r\.csv.*written: No space"):
        Result([0.0], {"a": [1.0]}).to_csv(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@given(st.lists(st.text(), min_size=1, max_size=4), st.booleans())
@settings(max_examples=many(10), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_text_reads_back(tmp_path: Path, texts: list[str], first: bool) -> None:
    texts = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
    numbers = np.arange(2.0 * len(texts)).reshape(-1, 2)
    signals = {"a": numbers, "said": texts} if first else {"said": texts, "a": numbers}
    again = ResultsCsv().read(Result(np.arange(len(texts)), signals).to_csv(tmp_path / "r.csv"))
    assert again["said"].tolist() == texts and again["said"].dtype == object
    assert again["a"].tolist() == numbers.tolist()


def test_the_dialect_of_text_and_booleans(tmp_path: Path) -> None:
    import pandas

    result = Result([0.0, 1.0], {"said": ['a "b", c', "line\r\nend"], "on": [False, True]})
    path = result.to_csv(tmp_path / "r.csv")
    assert path.read_bytes() == b'"time","said","on"\n0.0,"a ""b"", c",0\n1.0,"line\r\nend",1\n'
    assert pandas.read_csv(path)["said"].tolist() == ['a "b", c', "line\r\nend"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_and_booleans_of_other_tools(tmp_path: Path, separator: str, end: str) -> None:
    lines = [["time", "said", "on", "x"], ["0", ' "1,5; ""on""" ', "True", "2"], ["1", '""', "false", "3"]]
    if separator != ",":
        lines[1][3] = "2,0"
    (tmp_path / "r.csv").write_bytes(end.join(separator.join(line) for line in lines).encode())
    found = ResultsCsv().read(tmp_path / "r.csv")
    assert found["said"].tolist() == ['1,5; "on"', ""]
    assert found["on"].tolist() == [True, False] and found["on"].dtype == np.bool_
    assert found["x"].tolist() == [2.0, 3.0]


def test_a_result_without_points(tmp_path: Path) -> None:
    path = Result([], {"a": []}).to_csv(tmp_path / "r.csv")
    again = ResultsCsv().read(path)
    assert (again.names, len(again)) == (["a"], 0)


def test_places_that_cannot_be(tmp_path: Path) -> None:
    result = Result([0.0], {})
    with pytest.raises(CosimError, match="there is no folder"):
        result.to_csv(tmp_path / "none" / "r.csv")
    with pytest.raises(CosimError, match="is a folder"):
        result.to_csv(tmp_path)


@pytest.mark.parametrize(
    ("name", "instead"),
    [("r.xlsx", "r.csv"), ("r", "r.csv"), ("r.parquet", "r.csv"), ("r.2", "r.2.csv"), (".csv", ".csv.csv")],
)
def test_another_ending_is_refused_with_what_to_write(tmp_path: Path, name: str, instead: str) -> None:
    with pytest.raises(CosimError) as caught:
        Result([0.0], {}).to_csv(tmp_path / name)
    assert str(caught.value) == (
        f"{tmp_path / name}: this writes files that end in .csv: write {tmp_path / instead}"
    )
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CosimError, match=r"end in \.parquet: write .*r\.parquet$"):
        Result([0.0], {}).to_parquet(tmp_path / "r.csv")
    assert Result([0.0], {}).to_csv(tmp_path / "R.CSV").exists()


@pytest.mark.parametrize(
    ("text", "says"),
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
def test_what_is_no_result_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(text)
    with pytest.raises(CosimError, match=says):
        ResultsCsv().read(path)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
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
    found = ResultsCsv().read(path)
    assert found.names == ["plant.speed", "x[1]"]
    assert (found.unit("plant.speed"), found.unit("x[1]")) == ("km/h", "1")
    assert found.time.tolist() == [0.0, 0.5]
    assert found["plant.speed"].tolist() == [36.0, 72.0]


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
    found = ResultsCsv().read(tmp_path / "r.csv")
    assert found.time.tolist() == [0.0, 1.0, 2.0]
    assert (found["x"].tolist(), found["y"].tolist()) == ([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    assert "" not in found.names


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
    found = ResultsCsv().read(tmp_path / "r.csv")
    assert found.time.tolist() == [0.0, 1.0]
    assert {name: found.unit(name) for name in found.names} == {"x": "mm", "y (n)": "1"}
    assert found["y (n)"].tolist() == [2.0, 3.0]


def test_names_with_round_brackets_stay_what_they_are(tmp_path: Path) -> None:
    path = Result([0.0], {"gain (A)": [1.0]}).to_csv(tmp_path / "r.csv")
    assert ResultsCsv().read(path).names == ["gain (A)"]


def test_text_needs_no_quotes(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text('time;mode;u\n0;idle;1,5\n1;"heat; full";2\n2; heat pump ;3\n')
    found = ResultsCsv().read(path)
    assert found["mode"].tolist() == ["idle", "heat; full", "heat pump"]
    assert found["u"].tolist() == [1.5, 2.0, 3.0]


def test_an_empty_cell_is_nan(tmp_path: Path) -> None:
    """As pandas writes it; not in the time, and not among texts."""
    path = tmp_path / "r.csv"
    path.write_text("time,x,y\n0,,2\n1,2,\n")
    found = ResultsCsv().read(path)
    np.testing.assert_array_equal(found["x"], [np.nan, 2.0])
    np.testing.assert_array_equal(found["y"], [2.0, np.nan])
    for text, said in (
        ("time,x\n0,1\n,2\n", "the times are no finite numbers"),
        ('time,x\n0,"a"\n1,\n', r"r\.csv:3: x is text in some lines and not in others"),
    ):
        path.write_text(text)
        with pytest.raises(CosimError, match=said):
            ResultsCsv().read(path)


def test_lines_are_counted_with_those_that_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    for body in ("0,1\n\n\n1,bad\n", '0,1\n\n"",1\n'):
        path.write_text(f"# remark\n\ntime,x\n{body}")
        with pytest.raises(CosimError, match=r"r\.csv:(7|6): "):
            ResultsCsv().read(path)
