"""Runs of an ensemble equal single runs byte for byte, in any number of threads."""

import signal
import threading

import numpy as np
import pytest
from ensemble_models import CASES, ball_model, delayed_model, rows_on_grid, simulate_run
from ensemble_parts import Blowup, Fuse

import cosim


@pytest.mark.parametrize("case", CASES)
def test_runs_are_single_runs_byte_for_byte(case):
    make, values, integrator = CASES[case]
    model = make()
    settings = {"until": 0.7, "integrator": integrator, "output_interval": 0.03, "accuracy": 1e-5}
    result, *with_more_threads = [model.simulate_many(values, threads=n, **settings) for n in (1, 2, 3)]
    assert result.time.size == 25 and result.time[-1] == 0.7
    assert not np.isnan(result.values).any()
    for repeated in with_more_threads:
        assert repeated.values.tobytes() == result.values.tobytes()
    system = model.build()
    for run in (0, 3, 4):
        single = simulate_run(system, values, run, **settings)
        assert single.names == list(result.names)
        for name in single.names:
            rows = rows_on_grid(single, name, result.time)
            assert rows.tobytes() == result[name][run].tobytes(), (run, name)
            assert single[name][-1].tobytes() == result.last(name)[run].tobytes()


def test_rows_hold_the_values_after_the_events_of_an_instant():
    model = delayed_model()
    result = model.simulate_many({"sampler.period": [0.1, 0.2]}, 1.0, output_interval=0.1, threads=1)
    held = result["sampler.held"][0]
    # The sample at the last time is pending when the run ends.
    np.testing.assert_array_equal(held[:-1], result["late"][0][:-1])
    assert held[-1] == held[-2]


def test_a_handler_ends_a_run_early():
    model = cosim.Model("fuse")
    model.add(Fuse, "fuse")
    powers = np.array([0.3, 1.0, 2.0])
    result = model.simulate_many({"fuse.power": powers}, 1.0, output_interval=0.1)
    assert result.status.tolist() == ["ok", "terminated", "terminated"]
    np.testing.assert_allclose(result.ends, [1.0, 0.5, 0.25], atol=1e-6)
    assert np.isnan(result["fuse.heat"][1, 6:]).all() and not np.isnan(result["fuse.heat"][1, :5]).any()
    np.testing.assert_allclose(result.last("fuse.heat"), [0.3, 0.5, 0.5], rtol=1e-6)
    single = simulate_run(model.build(), {"fuse.power": powers}, 2, until=1.0, output_interval=0.1)
    assert single["fuse.heat"][-1] == result.last("fuse.heat")[2] and single.time[-1] == result.ends[2]
    assert len(result.run(2)) == 3


def test_a_failed_run_is_recorded_and_the_others_finish():
    model = cosim.Model("blowup")
    model.add(Blowup, "blowup")
    starts = {"blowup.size": [0.1, 2.0, 0.2, 4.0]}
    result = model.simulate_many(starts, 1.0, threads=2, reduce=["max(blowup.size)"])
    assert result.status.tolist() == ["ok", "failed", "ok", "failed"]
    assert np.isnan(result["max(blowup.size)"]).tolist() == [False, True, False, True]
    assert [failure.run for failure in result.failures] == [1, 3]
    system = model.build()
    with pytest.raises(cosim.SimulationError) as caught:
        simulate_run(system, starts, 3, until=1.0)
    failure = result.failures[1]
    assert failure.reason == caught.value.reason and failure.time == caught.value.time
    state = system.state_from_bytes(failure.state)
    assert state.time == failure.time and state["blowup.size"] > 1e3
    assert caught.value.reason in result.table()["reason"][3]


def test_ctrl_c_keeps_finished_runs():
    def press_ctrl_c(done, of):
        if done > 3:
            signal.raise_signal(signal.SIGINT)

    threads = set(threading.enumerate())
    values = {"ball.restitution": np.linspace(0.2, 0.9, 200_000)}
    with pytest.raises(KeyboardInterrupt) as caught:
        cosim.Ensemble(ball_model().build(), 1.5, reduce=["max(ball.height)"]).run(
            values, progress=press_ctrl_c
        )
    result = caught.value.result
    is_done = result.is_done
    assert 3 < is_done.sum() < 200_000
    assert not np.isnan(result["max(ball.height)"][is_done]).any()
    assert set(result.status[~is_done]) == {"not run"}
    assert set(threading.enumerate()) <= threads


def test_progress_may_stop_the_runs():
    values = {"ball.restitution": np.linspace(0.2, 0.9, 200_000)}
    ensemble = cosim.Ensemble(ball_model().build(), 1.5, reduce=["max(ball.height)"])
    result = ensemble.run(values, progress=lambda done, of: done < 2)
    assert "stopped after" in result.message and result.status[-1] == "not run"
    first = ensemble.run({"ball.restitution": values["ball.restitution"][:3]})
    assert first.is_done.all()
    np.testing.assert_array_equal(first["max(ball.height)"], result["max(ball.height)"][:3])


def test_runs_of_an_ensemble_do_not_depend_on_earlier_ones():
    ensemble = cosim.Ensemble(delayed_model().build(), 0.7, threads=2, output_interval=0.07)
    first = ensemble.run({"ball.restitution": [0.2, 0.5, 0.8]})
    ensemble.run({"ball.height": [0.1, 3.0]})
    third = ensemble.run({"ball.restitution": [0.2, 0.5, 0.8]})
    assert third.values.tobytes() == first.values.tobytes()
