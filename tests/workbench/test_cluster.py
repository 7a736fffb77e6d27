"""A study and an ensemble on a Dask cluster of two processes on loopback, whose processes are killed midway.

The clusters are those of `distributed`, on this machine.
"""

import os
import signal
import time

import numpy as np
import pytest
from optional_packages import needs_packages
from workbench_tools import write_model

import cosim
from cosim_workbench.studies import Study, cluster

pytestmark = [needs_packages("distributed"), pytest.mark.filterwarnings("ignore")]  # of Dask itself
ROWS_PER_RUN = 21  # 20 ms in steps of 1 ms, and the start


@pytest.fixture
def scheduler():
    """The address of the scheduler of a cluster of two worker processes."""
    from distributed import LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "host": "127.0.0.1"}
    with LocalCluster(**options, dashboard_address=None) as local_cluster:
        yield local_cluster.scheduler_address


def worker_processes(scheduler):
    """The process ids of the workers of a cluster."""
    from distributed import Client

    with Client(scheduler) as client:
        return list(client.run(os.getpid).values())


def without_seconds(table):
    """The rows of a table but for their last column, the seconds that a run took."""
    return [row[:-1] for row in table.rows]


@pytest.mark.thorough
def test_points_of_killed_workers_are_run_again(scheduler, tmp_path):
    """Both first workers are killed, so that nothing is left that was sent to them."""
    model = cosim.Model.from_file(write_model(tmp_path))

    def study(**settings):
        vary = {"engine.mass": "100 kg..140 kg", "mount_left.stiffness[5]": "1e5..3e5:log"}
        objectives = ["max(engine.vz)", "last(engine.z)"]
        return Study(model, vary, objectives, sample="latin:120", until=0.02, **settings)

    expected = study().run()
    first_workers = worker_processes(scheduler)
    kills_after = [20, 60]  # of the 120 points: in the first and in the second quarter
    killed = []

    def kill_workers(done, _count, _failed):
        if len(killed) < len(kills_after) and done > kills_after[len(killed)]:
            killed.append(first_workers[len(killed)])
            os.kill(killed[-1], signal.SIGKILL)

    with cluster.cluster_executor(scheduler) as executor:
        table = study(folder=tmp_path / "study").run(executor, progress=kill_workers)
    assert killed == first_workers
    assert without_seconds(table) == without_seconds(expected)


@pytest.mark.thorough
def test_series_that_workers_write_are_complete_though_one_worker_is_killed(scheduler, tmp_path):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    study = Study(
        cosim.Model.from_file(write_model(tmp_path)),
        {"engine.mass": "100 kg..140 kg"},
        ["max(engine.vz)"],
        sample="latin:60",
        until=0.02,
        folder=tmp_path / "study",
        keep_series=True,
    )
    series_folder = tmp_path / "study" / "series"
    killed, parts_before_kill = [], []

    def kill_a_worker(done, _count, _failed):
        if done > 10 and not killed:  # after some of the 60 points
            killed.append(worker_processes(scheduler)[0])
            parts_before_kill.extend(series_folder.glob("part-*"))
            os.kill(killed[0], signal.SIGKILL)

    with cluster.cluster_executor(scheduler) as executor:
        table = study.run(executor, progress=kill_a_worker)
    assert len(killed) == 1
    assert parts_before_kill, "workers write while the study runs"
    assert table.is_complete and table.failed == 0
    series = pandas.read_parquet(series_folder)
    assert series.groupby("point").size().tolist() == [ROWS_PER_RUN] * 60
    largest_speeds = series.groupby("point")["engine.vz"].max()
    np.testing.assert_array_equal(largest_speeds.to_numpy(), table["max(engine.vz)"])


@pytest.mark.thorough
def test_chunks_of_a_model_of_200_parts_come_back_in_order(scheduler):
    model = cosim.Model("many")
    for i in range(200):  # so that the model that is sent has some size
        model.add("measures.constant", f"c{i}", value=float(i))
    ensemble = cosim.Ensemble(model.build(), 0.1, reduce=["last(c0)"])
    with cluster.cluster_executor(scheduler) as executor:
        results = ensemble.run({"c0.value": np.arange(40.0)}, executor=executor, chunk=5)
    assert results["last(c0)"].tolist() == list(range(40))


def test_a_missing_scheduler_is_an_error_after_the_patience(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    longest = 30.0  # s: the patience, and the time in which Dask gives up on a busy machine
    start = time.monotonic()
    with (
        pytest.raises(cosim.CosimError, match=r"^tcp://127\.0\.0\.1:9: no Dask scheduler"),
        cluster.cluster_executor("tcp://127.0.0.1:9"),  # the port of the discard service: nothing listens
    ):
        pass
    assert time.monotonic() - start < longest
