"""Results as CSV: all numbers and texts read back, fmpy reads the file, and a file is replaced as a whole."""

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
    """Values as they are read back: a vector of one element is a scalar in a file."""
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


@given(results())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_number_reads_back_exactly(tmp_path: Path, result: Result) -> None:
    path = result.to_csv(tmp_path / "r.csv")
    loaded = ResultsCsv().read(path)
    assert loaded.names == result.names
    assert loaded.time.tobytes() == result.time.tobytes()
    for name in result.names:
        assert np.array_equal(loaded[name], flat(result[name]), equal_nan=True)
        # signs of zeros, too; a sign of NaN has no meaning
        is_number = ~np.isnan(loaded[name])
        assert np.array_equal(np.signbit(loaded[name])[is_number], np.signbit(flat(result[name]))[is_number])
    table = read_csv(path)
    assert table.dtype.names == ("time", *result.names)
    for name in result.names:
        assert np.array_equal(table[name], flat(result[name]), equal_nan=True)


def test_fmpy_has_the_same_times(tmp_path: Path) -> None:
    result = Result(np.arange(6) / 3.0, {"x": np.arange(6.0)})
    assert read_csv(result.to_csv(tmp_path / "r.csv"))["time"].tobytes() == result.time.tobytes()


def test_names_may_have_commas(tmp_path: Path) -> None:
    """Names of matrices in FMUs of other tools have them; fmpy cannot read such files."""
    names = ["R[2,3]", "a", ",", "der(x[1,1]),y"]
    path = Result([0.0], {name: [float(i)] for i, name in enumerate(names)}).to_csv(tmp_path / "r.csv")
    assert path.read_text("utf-8").splitlines()[0] == '"time","R[2,3]","a",",","der(x[1,1]),y"'
    loaded = ResultsCsv().read(path)
    assert loaded.names == names
    assert [loaded[name].tolist() for name in names] == [[0.0], [1.0], [2.0], [3.0]]


def test_the_dialect_is_that_of_fmpy(tmp_path: Path) -> None:
    result = Result([0.0, 0.1], {"engine.z": [1.5, -2.0], "mount.force": [[1.0, 0.5], [0.25, 4.0]]})
    text = result.to_csv(tmp_path / "ours.csv").read_text("utf-8")
    assert text == '"time","engine.z","mount.force"\n0.0,1.5,1.0 0.5\n0.1,-2.0,0.25 4.0\n'
    scalars = result.select("engine.z")
    write_csv(tmp_path / "theirs.csv", scalars.to_numpy())
    assert scalars.to_csv(tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
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
def test_every_text_reads_back(tmp_path: Path, texts: list[str], has_numbers_first: bool) -> None:
    texts = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
    numbers = np.arange(2.0 * len(texts)).reshape(-1, 2)
    signals = {"a": numbers, "said": texts} if has_numbers_first else {"said": texts, "a": numbers}
    loaded = ResultsCsv().read(Result(np.arange(len(texts)), signals).to_csv(tmp_path / "r.csv"))
    assert loaded["said"].tolist() == texts and loaded["said"].dtype == object
    assert loaded["a"].tolist() == numbers.tolist()


def test_the_dialect_of_text_and_booleans(tmp_path: Path) -> None:
    import pandas

    result = Result([0.0, 1.0], {"said": ['a "b", c', "line\r\nend"], "on": [False, True]})
    path = result.to_csv(tmp_path / "r.csv")
    assert path.read_bytes() == b'"time","said","on"\n0.0,"a ""b"", c",0\n1.0,"line\r\nend",1\n'
    assert pandas.read_csv(path)["said"].tolist() == ['a "b", c', "line\r\nend"]


def test_a_result_without_points(tmp_path: Path) -> None:
    path = Result([], {"a": []}).to_csv(tmp_path / "r.csv")
    loaded = ResultsCsv().read(path)
    assert (loaded.names, len(loaded)) == (["a"], 0)


def test_a_missing_folder_and_a_folder_are_refused(tmp_path: Path) -> None:
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
    with pytest.raises(CosimError) as raised:
        Result([0.0], {}).to_csv(tmp_path / name)
    assert str(raised.value) == (
        f"{tmp_path / name}: this writes files that end in .csv: write {tmp_path / instead}"
    )
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CosimError, match=r"end in \.parquet: write .*r\.parquet$"):
        Result([0.0], {}).to_parquet(tmp_path / "r.csv")
    assert Result([0.0], {}).to_csv(tmp_path / "R.CSV").exists()


def test_names_with_round_brackets_stay_what_they_are(tmp_path: Path) -> None:
    path = Result([0.0], {"gain (A)": [1.0]}).to_csv(tmp_path / "r.csv")
    assert ResultsCsv().read(path).names == ["gain (A)"]
