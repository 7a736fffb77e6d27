"""Results as CSV: exact numbers, readable by fmpy, one clear message for what is no result."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cosim

CSV = "workbench.csv"
NUMBERS = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, math.inf]


def sink() -> cosim.ResultSink:
    found: cosim.ResultSink = cosim.registry().get("result_sink", CSV)()
    return found


def result() -> cosim.Result:
    n = len(NUMBERS)
    vector = np.arange(3.0 * n).reshape(n, 3) / 7.0
    return cosim.Result(np.arange(n) / 3.0, {"ball.z": NUMBERS, "wheel.q": vector}, {"ball.z": "m"})


def bits(values: object) -> bytes:
    return np.ascontiguousarray(values, dtype=np.float64).tobytes()


def test_every_number_reads_back_exactly(tmp_path: Path) -> None:
    written = result()
    back = sink().read(written.to_csv(tmp_path / "r.csv"))
    assert bits(back.time) == bits(written.time)
    assert list(back.columns()) == list(written.columns())
    for name, values in written.columns().items():
        assert bits(back.columns()[name]) == bits(values), name


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_any_double_reads_back_exactly(tmp_path_factory: pytest.TempPathFactory, values: list[float]) -> None:
    path = tmp_path_factory.mktemp("csv") / "r.csv"
    back = sink().read(cosim.Result(np.arange(len(values)), {"x": values}).to_csv(path))
    assert bits(back["x"]) == bits(values)


def test_the_first_line_has_quoted_names_and_time_first(tmp_path: Path) -> None:
    header = result().to_csv(tmp_path / "r.csv").read_text("utf-8").splitlines()[0]
    names = header.split(",")
    assert names[:2] == ['"time"', '"ball.z"']
    assert all(name.startswith('"') and name.endswith('"') for name in names)


def test_fmpy_reads_it(tmp_path: Path) -> None:
    from fmpy.util import read_csv

    table = read_csv(result().to_csv(tmp_path / "r.csv"))
    assert bits(table["time"]) == bits(result().time)
    assert bits(table["ball.z"]) == bits(NUMBERS)


def test_what_fmpy_writes_is_read(tmp_path: Path) -> None:
    from fmpy.util import write_csv

    path = tmp_path / "fmpy.csv"
    write_csv(path, np.array([(0.0, 1.5), (0.1, 1 / 3)], dtype=[("time", float), ("x", float)]))
    back = sink().read(path)
    assert back.names == ["x"]
    assert back["x"].tolist() == [1.5, 1 / 3]


def test_the_same_result_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (result().to_csv(tmp_path / name).read_bytes() for name in ("a.csv", "b.csv"))
    assert first == second


def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.csv"
    path.write_text("old")

    def refuse(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(cosim.CosimError, match=r"r\.csv: cannot be written: No space left"):
        result().to_csv(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["r.csv"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(cosim.CosimError, match=r"nowhere/r\.csv: .*no.*folder"):
        result().to_csv(tmp_path / "nowhere" / "r.csv")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"r\.csv:1: "),
        ('"x","y"\n1.0,2.0\n', r'r\.csv:1: .*"time"'),
        ('"time","x"\n0.0,1.0\n0.1\n', r"r\.csv:3: "),
        ('"time","x"\n0.0,1.0\n0.1,much\n', r"r\.csv:3: .*much"),
        ('"time","x","x"\n0.0,1.0,2.0\n', r"r\.csv:1: .*same name"),
    ],
)
def test_what_is_no_result(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(cosim.CosimError, match=said):
        sink().read(path)


def test_a_file_that_is_missing_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(cosim.CosimError, match=r"missing\.csv: no such file"):
        sink().read(tmp_path / "missing.csv")
    (tmp_path / "r.csv").write_bytes(b'"time"\n\xff\xfe\n')
    with pytest.raises(cosim.CosimError, match="UTF-8"):
        sink().read(tmp_path / "r.csv")
