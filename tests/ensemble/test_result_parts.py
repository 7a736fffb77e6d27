"""Results of many runs are written to parts or passed on in chunks."""

import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from ensemble_models import ball_model
from ensemble_parts import Fuse

import cosim


@pytest.mark.parametrize("workers", ["threads", "executor"])
def test_values_over_time_are_written_to_parts_and_read_back(workers, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("cosim_ensembles.batch_result.AT_ONCE", 80)  # quantiles in several passes
    model = cosim.Model("fuse")
    model.add(Fuse, "fuse")
    values = {"fuse.power": np.linspace(0.1, 2.0, 40)}
    settings = {"output_interval": 0.1, "threads": 2, "reduce": ["max(fuse.heat)"], "signals": ["fuse.heat"]}
    ensemble = cosim.Ensemble(model.build(), 1.0, **settings)
    in_memory = ensemble.run(values)
    with ThreadPoolExecutor(2) as pool:
        options = {"executor": pool, "chunk": 7} if workers == "executor" else {}
        result = ensemble.run(values, parts=tmp_path / "p", **options)
    assert len(result.parts) > 1 and result.signals == in_memory.signals
    assert sorted(result.parts.values()) == sorted(file.name for file in (tmp_path / "p").iterdir())
    assert result.values.tobytes() == in_memory.values.tobytes()
    np.testing.assert_array_equal(result["fuse.heat"], in_memory["fuse.heat"])
    np.testing.assert_array_equal(result.quantiles("fuse.heat"), in_memory.quantiles("fuse.heat"))
    for run in (0, 17, 39):
        np.testing.assert_array_equal(result.run(run)["fuse.heat"], in_memory.run(run)["fuse.heat"])
    for read_back, expected in zip(result.table().values(), in_memory.table().values(), strict=True):
        np.testing.assert_array_equal(read_back, expected)
    with pytest.raises(cosim.CosimError, match="choose another folder"):
        ensemble.run(values, parts=tmp_path / "p")
    with pytest.raises(cosim.ModelError, match="name signals"):
        cosim.Ensemble(model.build(), 1.0, reduce=["max(fuse.heat)"]).run(values, parts=tmp_path / "q")


def test_results_are_passed_on_in_chunks():
    ensemble = cosim.Ensemble(ball_model().build(), 0.8, output_interval=0.1, threads=2)
    values = {"ball.restitution": np.linspace(0.2, 0.9, 40)}
    expected, chunks = ensemble.run(values), []
    result = ensemble.run(values, each=lambda first, chunk: chunks.append((first, chunk)))
    assert result.signals == [] and result.is_done.all()
    assert len(chunks) > 1 and sum(len(chunk) for _, chunk in chunks) == 40
    for first, chunk in chunks:
        rows = slice(first, first + len(chunk))
        np.testing.assert_array_equal(chunk["ball.height"], expected["ball.height"][rows])


def test_ctrl_c_keeps_written_parts(tmp_path):
    pytest.importorskip("pyarrow")

    def press_ctrl_c(done, of):
        if done > 40:
            signal.raise_signal(signal.SIGINT)

    ensemble = cosim.Ensemble(ball_model().build(), 1.5, output_interval=0.5, threads=2)
    values = {"ball.restitution": np.linspace(0.2, 0.9, 100_000)}
    with pytest.raises(KeyboardInterrupt) as caught:
        ensemble.run(values, progress=press_ctrl_c, parts=tmp_path / "p")
    result = caught.value.result
    done = np.flatnonzero(result.is_done)
    assert 40 < len(done) < 100_000
    assert result.run(int(done[-1]))["ball.height"][0] == 1.0
    assert len(result.run(int(done[-1])).time) == 4


def test_a_model_may_write_parts(tmp_path):
    pytest.importorskip("pyarrow")
    result = ball_model().simulate_many({"ball.restitution": [0.3, 0.5]}, 0.2, parts=tmp_path / "p")
    assert result.parts and result["ball.height"].shape == (2, len(result.time))
