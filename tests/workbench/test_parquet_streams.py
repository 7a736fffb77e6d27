"""Results in Parquet that are written in parts while a run goes on: kills, full disks, drafts."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parquet_samples import assert_equal, sample_result

import cosim
from cosim import kit
from cosim_mechanics import Multibody

pytest.importorskip("pyarrow")

from cosim_workbench import parquet_results
from cosim_workbench.parquet_results import ParquetParts


def pendulum() -> Multibody:
    model = Multibody("swing")
    bob = model.body("bob", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.joint("pin", child=bob, frame_on_child=[0, 0, 1.0])
    return model


def advance_a_little(simulator: cosim.Simulator, until: float) -> Any:
    """In place of `Simulator.advance_some`: a call of 0.25 s at most."""
    return simulator.advance_to(min(until, simulator.state.time + 0.25))


def test_a_run_is_written_while_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cosim.simulation.recorder.VALUES", 200)
    monkeypatch.setattr("cosim.simulation.recorder.ROWS", 1)
    monkeypatch.setattr("cosim.simulation.simulator.Simulator.advance_some", advance_a_little)
    system = pendulum().build()
    expected = cosim.simulate(system, until=2.0, output_interval=1e-3)
    stream = ParquetParts(tmp_path / "run.parquet")
    first_and_last = cosim.simulate(system, until=2.0, output_interval=1e-3, stream=stream)
    assert len(list((tmp_path / "run.parquet").glob("part-*"))) > 3
    assert first_and_last.time.tolist() == [0.0, 2.0]
    written = cosim.read_result(tmp_path / "run.parquet")
    assert_equal(written, expected)
    assert written.statistics["steps"] == expected.statistics["steps"]


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
def test_complete_parts_survive_a_kill(tmp_path: Path) -> None:
    import pandas

    folder = tmp_path / "run.parquet"
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(folder)], stdout=subprocess.PIPE, env=os.environ
    )
    assert process.stdout is not None
    for _ in range(5):
        assert process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    table = pandas.read_parquet(folder)
    assert len(table) >= 5000 and len(table) % 1000 == 0
    assert table["x"].tolist() == (2.0 * table["time"]).tolist()
    result = cosim.read_result(folder)
    assert (len(result), result.unit("x"), result.message) == (len(table), "m", "the run has not ended")


def test_a_part_is_written_once_though_the_disk_was_full_for_a_moment(
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
    stream.append(sample_result(9))
    stream.close(sample_result(9))
    assert cosim.read_result(tmp_path / "out.parquet").time.tolist() == sample_result(9).time.tolist()


def test_on_a_full_disk_rows_are_written_elsewhere_and_the_stream_ends(
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

    # the first part is written, the next one finds no room
    monkeypatch.setattr(os, "replace", refuse)
    message = "part-000001.parquet: cannot be written: No space left"
    with pytest.raises(kit.NotWrittenError, match=message) as raised:
        stream.append(sample_result(9))
    assert raised.value.elsewhere is not None
    written, elsewhere = (
        cosim.read_result(tmp_path / "out.parquet"),
        cosim.read_result(raised.value.elsewhere),
    )
    assert [*written.time, *elsewhere.time] == sample_result(9).time.tolist()
    assert len(written) == 2 and written.unfinished == "the run has not ended"
    # further calls raise the same error, and write nothing
    for method in (stream.append, stream.close):
        with pytest.raises(kit.NotWrittenError) as raised_again:
            method(sample_result())
        assert raised_again.value is raised.value
    assert len([*tmp_path.glob("cosim-results-*")]) == 1


def test_many_rows_at_once_become_several_parts(tmp_path: Path) -> None:
    time = np.arange(200_000.0)
    result = cosim.Result(time, {"x": time + 0.5}, {"x": "m"})
    stream = parquet_results.ParquetParts(tmp_path / "run.parquet")
    stream.append(result)
    stream.close(result)
    assert len(list((tmp_path / "run.parquet").glob("part-*"))) == 4  # 65536 rows of two values are 1 MB
    assert_equal(cosim.read_result(tmp_path / "run.parquet"), result)


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_a_link_in_place_of_a_draft_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("mine")
    (tmp_path / "run.parquet").mkdir()
    (tmp_path / "run.parquet" / ".part-000000.parquet.draft").symlink_to(tmp_path / "other")
    path = sample_result().to_parquet(tmp_path / "run.parquet")
    assert (tmp_path / "other").read_text() == "mine"
    assert cosim.read_result(path).names == sample_result().names
    assert sorted(p.name for p in path.iterdir()) == ["_summary.json", "part-000000.parquet"]
