"""Results in Parquet: units, vectors, text, and files that other tools read and write."""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from parquet_samples import assert_equal, sample_result

import cosim
from cosim import kit
from cosim.cli import main

pytest.importorskip("pyarrow")

from cosim_workbench import parquet_results
from cosim_workbench.parquet_results import ParquetResults


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = sample_result().to_parquet(tmp_path / "run.parquet")
    loaded = cosim.read_result(path)
    assert_equal(loaded, sample_result())
    assert loaded.message == "done"
    assert loaded.statistics == {"steps": 3, "parts": {"a": [1.5]}}


def test_other_tools_read_it_as_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas
    from pyarrow import parquet

    monkeypatch.setattr(parquet_results, "VALUES", 2 * (1 + len(sample_result().columns())))
    monkeypatch.setattr(parquet_results, "ROWS", 1)
    path = sample_result().to_parquet(tmp_path / "run.parquet")
    assert sorted(p.name for p in path.iterdir()) == [
        "_summary.json", "part-000000.parquet", "part-000001.parquet", "part-000002.parquet",
    ]  # fmt: skip
    table = pandas.read_parquet(path)
    assert list(table.columns)[:3] == ["time", "ball.z", "ball.force[0]"]
    assert table["ball.z"].tolist() == sample_result()["ball.z"].tolist()
    field = parquet.read_schema(path / "part-000001.parquet").field("ball.force[1]")
    assert field.metadata == {b"unit": b"N"}
    assert_equal(cosim.read_result(path), sample_result())


def test_text_and_booleans_are_columns_of_their_types(tmp_path: Path) -> None:
    import pandas
    from pyarrow import parquet

    signals = {"mode": ["off", 'a "b"\n,ü', ""], "on": [False, True, True], "x": [1.0, 2.0, 3.0]}
    result = cosim.Result([0.0, 1.0, 2.0], signals)
    path = result.to_parquet(tmp_path / "run.parquet")
    loaded = cosim.read_result(path)
    assert_equal(loaded, result)
    assert [loaded[n].dtype for n in loaded.names] == [object, np.bool_, np.float64]
    assert [str(field.type) for field in parquet.read_schema(path / "part-000000.parquet")] == [
        "double", "string", "bool", "double",
    ]  # fmt: skip
    table = pandas.DataFrame({"time": [0.0, 1.0, 2.0], "mode": ["a", None, "b"], "on": [True, None, False]})
    table["mode"] = table["mode"].astype("category")
    table.to_parquet(tmp_path / "other.parquet")
    of_pandas = cosim.read_result(tmp_path / "other.parquet")
    assert of_pandas["mode"].tolist() == ["a", "", "b"]
    assert of_pandas["on"].tolist()[::2] == [1.0, 0.0] and np.isnan(of_pandas["on"][1])


def test_a_file_of_pandas_is_read(tmp_path: Path) -> None:
    import pandas

    pandas.DataFrame({"time": [0.0, 1.0], "x": [1, 2]}).to_parquet(tmp_path / "x.parquet")
    result = cosim.read_result(tmp_path / "x.parquet")
    assert (result["x"].tolist(), result.unit("x"), result.message) == ([1.0, 2.0], "1", "")


def test_a_result_without_points(tmp_path: Path) -> None:
    signals = sample_result().select("ball.*")
    empty = cosim.Result([], {name: values[:0] for name, values in signals.signals.items()}, signals.units)
    assert_equal(cosim.read_result(empty.to_parquet(tmp_path / "e.parquet")), empty)


def test_old_results_are_replaced_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.parquet"
    monkeypatch.setattr(parquet_results, "VALUES", 1)
    monkeypatch.setattr(parquet_results, "ROWS", 1)
    sample_result().to_parquet(path)
    monkeypatch.setattr(parquet_results, "VALUES", 2**17)
    sample_result().to_parquet(path)
    assert sorted(p.name for p in path.iterdir()) == ["_summary.json", "part-000000.parquet"]
    (path / "thesis.doc").write_text("", "utf-8")
    with pytest.raises(cosim.CosimError, match="thesis.doc.*part of results"):
        sample_result().to_parquet(path)
    assert (path / "part-000000.parquet").exists()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "the folder has no part files"),
        ({"part-000000.parquet": b"no"}, "is not a Parquet file that can be read"),
    ],
)
def test_a_folder_that_is_no_result(tmp_path: Path, files: dict[str, bytes], message: str) -> None:
    folder = tmp_path / "x.parquet"
    folder.mkdir()
    for name, contents in files.items():
        (folder / name).write_bytes(contents)
    with pytest.raises(cosim.CosimError, match=message):
        cosim.read_result(folder)


def test_columns_that_are_no_times_or_no_signals(tmp_path: Path) -> None:
    import pandas

    pandas.DataFrame({"x": [1]}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(cosim.CosimError, match='column "time"'):
        cosim.read_result(tmp_path / "x.parquet")
    pandas.DataFrame({"time": ["a"], "x": [1.0]}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(cosim.CosimError, match="the times are no numbers"):
        cosim.read_result(tmp_path / "x.parquet")
    pandas.DataFrame({"time": [0.0], "x": [[1.0, 2.0]]}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(cosim.CosimError, match="neither numbers nor"):
        cosim.read_result(tmp_path / "x.parquet")


@pytest.mark.parametrize("missing", ["pyarrow", "pyarrow.parquet"])
def test_without_pyarrow_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(cosim.CosimError, match="pip install"):
        sample_result().to_parquet(tmp_path / "x.parquet")


def test_a_result_names_its_model_file_and_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pyarrow import parquet

    text = '[measures.wave]\ntype = "sinusoid"\namplitude = 2.0\nfrequency = 3.0\nphase = 0.0\n'
    (tmp_path / "wave.toml").write_text(text, "utf-8")
    path = tmp_path / "wave.parquet"
    assert main(["run", str(tmp_path / "wave.toml"), "-q", "-o", str(path)]) == 0
    source = {"file": "wave.toml", "sha256": hashlib.sha256(text.encode()).hexdigest()}
    about = json.loads(parquet.read_schema(path / "part-000000.parquet").metadata[b"cosim"])
    assert about["source"] == {"model": source} and about["version"] == cosim.__version__
    assert cosim.read_result(path).statistics["source"] == {"model": source}
    assert main(["info", str(path)]) == 0
    assert capsys.readouterr().out.startswith("wave.parquet   1 signal, ")


@pytest.mark.thorough
def test_xarray(tmp_path: Path) -> None:
    pytest.importorskip("xarray")
    dataset = sample_result().to_xarray()
    assert dataset["ball.z"].attrs["units"] == "m"
    assert dataset["ball.force"].shape == (5, 3)
    assert float(dataset["ball.force"].sel(time=1.0)[2]) == 3.0


def test_the_sink_of_an_ending(tmp_path: Path) -> None:
    assert isinstance(kit.result_sink(tmp_path / "a.parquet"), ParquetResults)
    with pytest.raises(cosim.CosimError, match="plugin writes results.*'.xyz'"):
        kit.result_sink(tmp_path / "a.xyz")


def test_a_summary_of_a_result_is_json(tmp_path: Path) -> None:
    summary = sample_result().to_parquet(tmp_path / "b.parquet") / "_summary.json"
    assert json.loads(summary.read_text())["message"] == "done"


@pytest.mark.parametrize("about", [b"{", b"[]", b'{"sizes": 3}', b'{"sizes": {"ball.force": "x"}}'])
def test_damaged_metadata_of_a_part_are_ignored(tmp_path: Path, about: bytes) -> None:
    from pyarrow import parquet

    path = sample_result().to_parquet(tmp_path / "run.parquet")
    part = path / "part-000000.parquet"
    table = parquet.read_table(part)
    parquet.write_table(table.replace_schema_metadata({b"cosim": about}), part)
    assert "ball.force[2]" in cosim.read_result(path).names


def test_times_that_are_no_seconds_are_refused(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "run.parquet"
    for times, message in (
        (pyarrow.array([0.0, None]), "the times are no finite numbers"),
        (pyarrow.array([0, 1], pyarrow.timestamp("ns")), r"timestamp\[ns\], needs numbers \(times in s\)"),
        (pyarrow.array(["0", "1"]), "the times are no numbers"),
    ):
        parquet.write_table(pyarrow.table({"time": times, "x": [1.0, 2.0]}), path)
        with pytest.raises(cosim.CosimError, match=message):
            cosim.read_result(path)
