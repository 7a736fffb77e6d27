"""A study on a Dask cluster of two processes on loopback; one of them is killed midway."""

import os
import signal
import time

import numpy as np
import pytest
from optional_packages import needs_packages
from workbench_tools import write_model

import cosim
from cosim_workbench.studies import Study

pytestmark = [needs_packages("distributed"), pytest.mark.filterwarnings("ignore")]  # of Dask itself


@pytest.fixture
def cluster():
    from distributed import LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "host": "127.0.0.1"}
    with LocalCluster(**options, dashboard_address=None) as made:
        yield made


@pytest.mark.thorough
def test_workers_that_are_killed_cost_no_point(cluster, tmp_path):
    from distributed import Client

    from cosim_workbench.studies.cluster import cluster_executor

    model = cosim.Model.from_file(write_model(tmp_path))

    def study(**more):
        vary = {"engine.mass": "100 kg..140 kg", "mount_left.stiffness[5]": "1e5..3e5:log"}
        objectives = ["max(engine.vz)", "last(engine.z)"]
        return Study(model, vary, objectives, sample="latin:120", until=0.02, **more)

    expected = study().run()
    with Client(cluster.scheduler_address) as client:
        first = list(client.run(os.getpid).values())
    killed = []

    def kill(done, of, failed):
        """Both workers that were there at first, so that nothing is left that was sent to them."""
        if len(killed) < 2 and done > (20, 60)[len(killed)]:
            killed.append(first[len(killed)])
            os.kill(killed[-1], signal.SIGKILL)

    with cluster_executor(cluster.scheduler_address) as executor:
        found = study(folder=tmp_path / "s").run(executor, progress=kill)
    assert len(killed) == 2
    assert [row[:-1] for row in found.rows] == [row[:-1] for row in expected.rows]


@pytest.mark.thorough
def test_workers_write_values_over_time_and_one_of_them_is_killed(cluster, tmp_path):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    from distributed import Client

    from cosim_workbench.studies.cluster import cluster_executor

    model = cosim.Model.from_file(write_model(tmp_path))
    vary = {"engine.mass": "100 kg..140 kg"}
    study = Study(
        *(model, vary, ["max(engine.vz)"]),
        **{"sample": "latin:60", "until": 0.02, "folder": tmp_path / "s", "keep_series": True},
    )
    killed, written = [], []

    def kill(done, of, failed):
        if done > 10 and not killed:
            with Client(cluster.scheduler_address) as client:
                killed.extend(client.run(os.getpid).values())
            written.extend((tmp_path / "s" / "series").glob("part-*"))
            os.kill(killed[0], signal.SIGKILL)

    with cluster_executor(cluster.scheduler_address) as executor:
        table = study.run(executor, progress=kill)
    assert killed and written  # before the end, by the workers
    assert table.is_complete and table.failed == 0
    series = pandas.read_parquet(tmp_path / "s" / "series")
    assert series.groupby("point").size().tolist() == [21] * 60
    largest = series.groupby("point")["engine.vz"].max()
    np.testing.assert_array_equal(largest.to_numpy(), table["max(engine.vz)"])


@pytest.mark.thorough
def test_chunks_of_a_larger_model_come_back_in_order(cluster):

    from cosim_workbench.studies.cluster import cluster_executor

    model = cosim.Model("many")
    for i in range(200):  # a description of some size
        model.add("measures.constant", f"c{i}", value=float(i))
    ensemble = cosim.Ensemble(model.build(), 0.1, reduce=["last(c0)"])
    values = {"c0.value": np.arange(40.0)}
    with cluster_executor(cluster.scheduler_address) as executor:
        found = ensemble.run(values, executor=executor, chunk=5)
    assert found["last(c0)"].tolist() == list(range(40))


def test_no_scheduler_is_an_error_with_its_address(monkeypatch):
    from cosim_workbench.studies import cluster as module

    monkeypatch.setattr(module, "PATIENCE", 1.0)
    began = time.monotonic()
    with (
        pytest.raises(cosim.CosimError, match="no Dask scheduler"),
        module.cluster_executor("tcp://127.0.0.1:9"),
    ):
        pass
    assert time.monotonic() - began < 30.0
