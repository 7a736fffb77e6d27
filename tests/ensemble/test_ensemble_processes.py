"""Systems and models are pickled for other processes, whose ends do not affect other runs."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from ensemble_models import ball_model, delayed_model, four_bar_model, rows_on_grid, simulate_run
from ensemble_parts import (
    BallEndingItsProcess,
    BallWithPythonHandler,
)

import cosim


def test_systems_states_and_models_pickle():
    model = delayed_model()
    model.set_start("ball.height", 1.5)
    system = model.build()
    restored = pickle.loads(pickle.dumps(system))
    assert restored.digest == system.digest
    assert restored.default_state().to_bytes() == system.default_state().to_bytes()
    simulator = cosim.Simulator(system, accuracy=1e-6)
    simulator.advance_to(0.5)
    restored_state = pickle.loads(pickle.dumps(simulator.state))
    assert restored_state.to_bytes() == simulator.state.to_bytes()
    restored_model = pickle.loads(pickle.dumps(model))
    assert restored_model.build().digest == system.digest and restored_model.starts == {"ball.height": 1.5}


def test_a_system_of_a_changed_model_is_refused_when_it_is_unpickled():
    model = ball_model()
    system = model.build()
    model.set_start("ball.height", 7.0)
    with pytest.raises(cosim.CosimError, match="changed after"):
        pickle.loads(pickle.dumps(system))


def test_multibody_models_pickle():
    model = four_bar_model()
    restored = pickle.loads(pickle.dumps(model))
    assert restored.build().digest == model.build().digest
    assert restored.to_dict() == model.to_dict()


@pytest.mark.thorough
def test_python_handlers_run_in_processes(caplog):
    model = cosim.Model("ball")
    model.add(BallWithPythonHandler, "ball")
    values = {"ball.restitution": [0.3, 0.5, 0.7]}
    result = model.simulate_many(values, 0.8, threads=2, output_interval=0.1)
    assert "ball.count" in result.message and "processes" in caplog.text
    assert result.is_done.all() and (result["ball.initializations"] == 1).all()
    single = simulate_run(model.build(), values, 2, until=0.8, output_interval=0.1)
    assert rows_on_grid(single, "ball.height", result.time).tobytes() == result["ball.height"][2].tobytes()


def test_a_run_that_ends_its_process_is_recorded_as_failed():
    model = cosim.Model("ball")
    model.add(BallEndingItsProcess, "ball")
    heights = [1.0, 2.0, 3.0, 1.5, 2.5]
    result = model.simulate_many({"ball.height": heights}, 0.3, threads=2, reduce=["max(ball.height)"])
    assert result.status.tolist() == ["ok", "ok", "failed", "ok", "ok"]
    assert [(failure.run, failure.reason) for failure in result.failures] == [
        (2, "its process ended unexpectedly, with status 0")
    ]
    np.testing.assert_array_equal(result["max(ball.height)"][[0, 1, 3, 4]], [1.0, 2.0, 1.5, 2.5])


def test_other_executors_give_the_same_bytes():
    ensemble = cosim.Ensemble(ball_model().build(), 0.8, output_interval=0.1, threads=2)
    values = {"ball.restitution": np.linspace(0.2, 0.9, 9)}
    expected = ensemble.run(values)
    with ThreadPoolExecutor(2) as pool:
        result = ensemble.run(values, executor=pool, chunk=2)
    assert result.values.tobytes() == expected.values.tobytes()
