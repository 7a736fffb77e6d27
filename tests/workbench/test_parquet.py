"""Results in Parquet: units, vectors, parts, other tools, and runs that are killed."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim import kit

pytest.importorskip("pyarrow")

from cosim_workbench import parquet_results
from cosim_workbench.parquet_results import ParquetParts, ParquetResults

UNITS = {"ball.z": "m", "ball.force": "N"}


def some(count: int = 5) -> cosim.Result:
    times = np.linspace(0.0, 1.0, count)
    signals = {"ball.z": times**2, "ball.force": np.outer(times, [1.0, 2.0, 3.0]), 'odd,"name': -times}
    return cosim.Result(
        times, signals, UNITS, statistics={"steps": np.int64(3), "parts": {"a": (1.5,)}}, message="done"
    )


def equal(one: cosim.Result, two: cosim.Result) -> None:
    assert one.names == two.names and one.units == two.units
    assert np.array_equal(one.time, two.time)
    for name in one.names:
        assert np.array_equal(one[name], two[name], equal_nan=one[name].dtype == np.float64)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = some().to_parquet(tmp_path / "run.parquet")
    again = cosim.read_result(path)
    equal(again, some())
    assert again.message == "done"
    assert again.statistics == {"steps": 3, "parts": {"a": [1.5]}}


def test_other_tools_read_it_as_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas
    from pyarrow import parquet

    monkeypatch.setattr(parquet_results, "VALUES", 2 * (1 + len(some().columns())))
    monkeypatch.setattr(parquet_results, "ROWS", 1)
    path = some().to_parquet(tmp_path / "run.parquet")
    assert sorted(p.name for p in path.iterdir()) == [
        "_summary.json", "part-000000.parquet", "part-000001.parquet", "part-000002.parquet",
    ]  # fmt: skip
    table = pandas.read_parquet(path)
    assert list(table.columns)[:3] == ["time", "ball.z", "ball.force[0]"]
    assert table["ball.z"].tolist() == some()["ball.z"].tolist()
    field = parquet.read_schema(path / "part-000001.parquet").field("ball.force[1]")
    assert field.metadata == {b"unit": b"N"}
    equal(cosim.read_result(path), some())


def test_many_rows_at_once_become_several_parts(tmp_path: Path) -> None:
    time = np.arange(200_000.0)
    result = cosim.Result(time, {"x": time + 0.5}, {"x": "m"})
    stream = parquet_results.ParquetParts(tmp_path / "run.parquet")
    stream.append(result)
    stream.close(result)
    assert len(list((tmp_path / "run.parquet").glob("part-*"))) == 4  # 65536 rows of two values are 1 MB
    equal(cosim.read_result(tmp_path / "run.parquet"), result)


def test_text_and_booleans_are_columns_of_their_types(tmp_path: Path) -> None:
    import pandas
    from pyarrow import parquet

    signals = {"mode": ["off", 'a "b"\n,ü', ""], "on": [False, True, True], "x": [1.0, 2.0, 3.0]}
    result = cosim.Result([0.0, 1.0, 2.0], signals)
    path = result.to_parquet(tmp_path / "run.parquet")
    again = cosim.read_result(path)
    equal(again, result)
    assert [again[n].dtype for n in again.names] == [object, np.bool_, np.float64]
    assert [str(field.type) for field in parquet.read_schema(path / "part-000000.parquet")] == [
        "double", "string", "bool", "double",
    ]  # fmt: skip
    table = pandas.DataFrame({"time": [0.0, 1.0, 2.0], "mode": ["a", None, "b"], "on": [True, None, False]})
    table["mode"] = table["mode"].astype("category")
    table.to_parquet(tmp_path / "other.parquet")
    other = cosim.read_result(tmp_path / "other.parquet")
    assert other["mode"].tolist() == ["a", "", "b"]
    assert other["on"].tolist()[::2] == [1.0, 0.0] and np.isnan(other["on"][1])


def test_files_of_others_are_read(tmp_path: Path) -> None:
    import pandas

    pandas.DataFrame({"time": [0.0, 1.0], "x": [1, 2]}).to_parquet(tmp_path / "x.parquet")
    found = cosim.read_result(tmp_path / "x.parquet")
    assert (found["x"].tolist(), found.unit("x"), found.message) == ([1.0, 2.0], "1", "")


def test_a_result_without_points(tmp_path: Path) -> None:
    empty = some().select("ball.*")
    none = cosim.Result([], {name: values[:0] for name, values in empty.signals.items()}, empty.units)
    equal(cosim.read_result(none.to_parquet(tmp_path / "e.parquet")), none)


def test_old_results_are_replaced_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.parquet"
    monkeypatch.setattr(parquet_results, "VALUES", 1)
    monkeypatch.setattr(parquet_results, "ROWS", 1)
    some().to_parquet(path)
    monkeypatch.setattr(parquet_results, "VALUES", 2**17)
    some().to_parquet(path)
    assert sorted(p.name for p in path.iterdir()) == ["_summary.json", "part-000000.parquet"]
    (path / "thesis.doc").write_text("", "utf-8")
    with pytest.raises(cosim.CosimError, match="thesis.doc.*part of results"):
        some().to_parquet(path)
    assert (path / "part-000000.parquet").exists()


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "the folder has no part files"),
        ({"part-000000.parquet": b"no"}, "is not a Parquet file that can be read"),
    ],
)
def test_what_is_no_result(tmp_path: Path, files: dict[str, bytes], said: str) -> None:
    folder = tmp_path / "x.parquet"
    folder.mkdir()
    for name, contents in files.items():
        (folder / name).write_bytes(contents)
    with pytest.raises(cosim.CosimError, match=said):
        cosim.read_result(folder)


def test_no_column_of_times(tmp_path: Path) -> None:
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
        some().to_parquet(tmp_path / "x.parquet")


def pendulum() -> Any:
    from cosim_mechanics import Multibody

    model = Multibody("swing")
    bob = model.body("bob", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.joint("pin", child=bob, frame_on_child=[0, 0, 1.0])
    return model


def in_small_bites(simulator: cosim.Simulator, until: float) -> Any:
    return simulator.advance_to(min(until, simulator.state.time + 0.25))


def test_a_run_is_written_while_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cosim.simulation.recorder.VALUES", 200)
    monkeypatch.setattr("cosim.simulation.recorder.ROWS", 1)
    monkeypatch.setattr("cosim.simulation.simulator.Simulator.advance_some", in_small_bites)
    system = pendulum().build()
    whole = cosim.simulate(system, until=2.0, output_interval=1e-3)
    stream = ParquetParts(tmp_path / "run.parquet")
    ends = cosim.simulate(system, until=2.0, output_interval=1e-3, stream=stream)
    assert len(list((tmp_path / "run.parquet").glob("part-*"))) > 3
    assert ends.time.tolist() == [0.0, 2.0]
    again = cosim.read_result(tmp_path / "run.parquet")
    equal(again, whole)
    assert again.statistics["steps"] == whole.statistics["steps"]


KILLED = """
import numpy as np, time, sys
from pathlib import Path
import cosim
from cosim_workbench.parquet_results import ParquetParts
parts = ParquetParts(Path(sys.argv[1]))
for i in range(10**6):
    times = np.arange(1000) + 1000.0 * i
    parts.append(cosim.Result(times, {"x": 2.0 * times}, {"x": "m"}))
    print(i, flush=True)
"""


@pytest.mark.thorough
def test_what_is_complete_survives_a_kill(tmp_path: Path) -> None:
    import pandas

    folder = tmp_path / "run.parquet"
    run = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(folder)], stdout=subprocess.PIPE, env=os.environ
    )
    assert run.stdout is not None
    for _ in range(5):
        assert run.stdout.readline()
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    table = pandas.read_parquet(folder)
    assert len(table) >= 5000 and len(table) % 1000 == 0
    assert table["x"].tolist() == (2.0 * table["time"]).tolist()
    again = cosim.read_result(folder)
    assert (len(again), again.unit("x"), again.message) == (len(table), "m", "the run has not ended")


def test_it_says_what_it_is_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import hashlib

    from pyarrow import parquet

    from cosim.cli import main

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


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_a_link_in_place_of_a_draft_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("mine")
    (tmp_path / "run.parquet").mkdir()
    (tmp_path / "run.parquet" / ".part-000000.parquet.draft").symlink_to(tmp_path / "other")
    path = some().to_parquet(tmp_path / "run.parquet")
    assert (tmp_path / "other").read_text() == "mine"
    assert cosim.read_result(path).names == some().names
    assert sorted(p.name for p in path.iterdir()) == ["_summary.json", "part-000000.parquet"]


@pytest.mark.thorough
def test_xarray(tmp_path: Path) -> None:
    pytest.importorskip("xarray")
    found = some().to_xarray()
    assert found["ball.z"].attrs["units"] == "m"
    assert found["ball.force"].shape == (5, 3)
    assert float(found["ball.force"].sel(time=1.0)[2]) == 3.0


def test_the_sink_is_found_by_the_ending(tmp_path: Path) -> None:
    assert isinstance(kit.result_sink(tmp_path / "a.parquet"), ParquetResults)
    with pytest.raises(cosim.CosimError, match="plugin writes results.*'.xyz'"):
        kit.result_sink(tmp_path / "a.xyz")
    assert (
        json.loads((some().to_parquet(tmp_path / "b.parquet") / "_summary.json").read_text())["message"]
        == "done"
    )


@pytest.mark.parametrize("about", [b"{", b"[]", b'{"sizes": 3}', b'{"sizes": {"ball.force": "x"}}'])
def test_what_a_part_says_of_itself_may_be_damaged(tmp_path: Path, about: bytes) -> None:
    from pyarrow import parquet

    path = some().to_parquet(tmp_path / "run.parquet")
    part = path / "part-000000.parquet"
    table = parquet.read_table(part)
    parquet.write_table(table.replace_schema_metadata({b"cosim": about}), part)
    assert "ball.force[2]" in cosim.read_result(path).names


def test_times_that_are_no_seconds_are_refused(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "run.parquet"
    for times, said in (
        (pyarrow.array([0.0, None]), "the times are no finite numbers"),
        (pyarrow.array([0, 1], pyarrow.timestamp("ns")), r"timestamp\[ns\], needs numbers \(times in s\)"),
        (pyarrow.array(["0", "1"]), "the times are no numbers"),
    ):
        parquet.write_table(pyarrow.table({"time": times, "x": [1.0, 2.0]}), path)
        with pytest.raises(cosim.CosimError, match=said):
            cosim.read_result(path)


def test_rows_for_which_there_is_room_again_are_written_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_results, "ROWS", 2)
    monkeypatch.setattr(parquet_results, "VALUES", 2)
    stream, replace = ParquetParts(tmp_path / "out.parquet"), os.replace
    refusals = iter([True])

    def refuse_once(source: Any, target: Path) -> None:
        if target.name == "part-000001.parquet" and next(refusals, False):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse_once)
    stream.append(some(9))
    stream.close(some(9))
    assert cosim.read_result(tmp_path / "out.parquet").time.tolist() == some(9).time.tolist()


def test_rows_without_room_are_elsewhere_and_the_stream_takes_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(parquet_results, "ROWS", 2)
    monkeypatch.setattr(parquet_results, "VALUES", 2)
    stream, replace = ParquetParts(tmp_path / "out.parquet"), os.replace

    def refuse(source: Any, target: Path) -> None:
        if target.parent.name == "out.parquet" and target.name > "part-000001":
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(
        kit.NotWrittenError, match="part-000001.parquet: cannot be written: No space left"
    ) as lost:
        stream.append(some(9))
    assert lost.value.elsewhere is not None
    written, left = cosim.read_result(tmp_path / "out.parquet"), cosim.read_result(lost.value.elsewhere)
    assert [*written.time, *left.time] == some(9).time.tolist()
    assert len(written) == 2 and written.unfinished == "the run has not ended"
    for take in (stream.append, stream.close):
        with pytest.raises(kit.NotWrittenError) as again:
            take(some())
        assert again.value is lost.value
    assert len([*tmp_path.glob("cosim-results-*")]) == 1
