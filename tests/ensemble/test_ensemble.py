"""Runs of an ensemble are single runs, to the byte, in whatever threads and processes they are done."""

import pickle
import signal
import threading

import numpy as np
import pytest
from ensemble_parts import Ball, Blowup, Bounded, Fuse, Sampler, distance, overshoot

import cosim


def ball():
    model = cosim.Model("ball")
    model.add(Ball, "ball")
    return model


def delayed():
    model = ball()
    model.add("measures.delay", "late", source="ball.height", delay=0.13)
    model.add(Sampler, "sampler", source="late")
    return model


def four_bar():
    from cosim_mechanics import Multibody

    model = Multibody("loop", gravity=(0, 0, -9.81))
    rod = model.body("rod", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    model.joint("pin", child=rod)
    arm = model.body("arm", mass=2.0, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.2, 0.2))
    model.joint("pin", child=arm, frame_on_parent=(0.0, 1.0, 0.0))
    ends = {"point1": (1, 0, 0), "point2": (1, 0, 0), "length": 1.0}
    model.constraint("rod", "link", body1="rod", body2="arm", **ends)
    return model


def single(system, values, run, until, **settings):
    """The rows of a single run on the grid, after the events of each instant."""
    state = system.default_state()
    for path, listed in values.items():
        state[path] = listed[run]
    return cosim.simulate(system, until, state=state, **settings)


def on_grid(result, name, times):
    interval = times[1] - times[0]
    rows = [np.flatnonzero(np.abs(result.time - t) < 1e-9 * interval)[-1] for t in times]
    return result[name][rows]


CASES = {
    "events": (ball, {"ball.restitution": np.linspace(0.3, 0.8, 5)}, "integrators.runge_kutta_merson"),
    "delay and sampler": (delayed, {"late.delay": np.linspace(0.05, 0.12, 5)}, "integrators.dormand_prince"),
    "constraint": (four_bar, {"rod.mass": np.linspace(0.5, 3.0, 5)}, "integrators.runge_kutta_merson"),
    "implicit": (four_bar, {"rod.mass": np.linspace(0.5, 3.0, 5)}, "integrators.radau5"),
}


@pytest.mark.parametrize("case", CASES)
def test_runs_are_single_runs_to_the_byte(case):
    make, values, integrator = CASES[case]
    model = make()
    settings = {"until": 0.7, "integrator": integrator, "output_interval": 0.03, "accuracy": 1e-5}
    found = [model.simulate_many(values, threads=n, **settings) for n in (1, 2, 3)]
    assert found[0].time.size == 25 and found[0].time[-1] == 0.7
    assert not np.isnan(found[0].values).any()
    for other in found[1:]:
        assert other.values.tobytes() == found[0].values.tobytes()
    system = model.build()
    for run in (0, 3, 4):
        one = single(system, values, run, **settings)
        assert one.names == list(found[0].names)
        for name in one.names:
            assert on_grid(one, name, found[0].time).tobytes() == found[0][name][run].tobytes(), (run, name)
            assert one[name][-1].tobytes() == found[0].last(name)[run].tobytes()


def test_values_are_those_after_the_events_of_an_instant():
    model = delayed()
    found = model.simulate_many({"sampler.period": [0.1, 0.2]}, 1.0, output_interval=0.1, threads=1)
    held = found["sampler.kept"][0]
    # sampled at each point of the grid, but for the last one: there it is pending
    np.testing.assert_array_equal(held[:-1], found["late"][0][:-1])
    assert held[-1] == held[-2]


def test_reductions_are_of_what_was_recorded():
    model = ball()
    values = {"ball.restitution": np.linspace(0.2, 0.9, 7)}
    whole = model.simulate_many(values, 1.5, output_interval=0.01)
    names = ("last", "first", "max", "min", "mean", "rms", "span", "integral")
    reduce = {
        **{name: f"{name}(ball.height)" for name in names},
        "q": "quantile(ball.height, 0.9)",
        "over": (overshoot, "ball.height"),
        "far": (distance, "ball.height", "ball.speed"),
    }
    found = model.simulate_many(values, 1.5, output_interval=0.01, reduce=reduce)
    z, v, t = whole["ball.height"], whole["ball.speed"], whole.time
    np.testing.assert_array_equal(found["last"], z[:, -1])
    np.testing.assert_array_equal(found["first"], z[:, 0])
    np.testing.assert_array_equal(found["max"], z.max(axis=1))
    np.testing.assert_array_equal(found["min"], z.min(axis=1))
    np.testing.assert_allclose(found["mean"], np.trapezoid(z, t) / 1.5, rtol=1e-12)
    np.testing.assert_allclose(found["integral"], np.trapezoid(z, t), rtol=1e-12)
    np.testing.assert_allclose(found["rms"], np.sqrt(np.trapezoid(z**2, t) / 1.5), rtol=1e-12)
    np.testing.assert_allclose(found["span"], np.ptp(z, axis=1), rtol=1e-12)
    np.testing.assert_allclose(found["q"], np.quantile(z, 0.9, axis=1), rtol=1e-12)
    np.testing.assert_array_equal(found["over"], z.max(axis=1) - z[:, -1])
    np.testing.assert_array_equal(found["far"], np.abs(z - v).max(axis=1))
    assert found.units["max"] == "m" and found.units["over"] == "1"
    with pytest.raises(cosim.LookUpError, match="Only reductions were recorded"):
        _ = found.values


def test_an_end_that_a_handler_asks_for():
    model = cosim.Model("fuse")
    model.add(Fuse, "fuse")
    power = np.array([0.3, 1.0, 2.0])
    found = model.simulate_many({"fuse.power": power}, 1.0, output_interval=0.1)
    assert found.status.tolist() == ["ok", "terminated", "terminated"]
    np.testing.assert_allclose(found.ends, [1.0, 0.5, 0.25], atol=1e-6)
    assert np.isnan(found["fuse.heat"][1, 6:]).all() and not np.isnan(found["fuse.heat"][1, :5]).any()
    np.testing.assert_allclose(found.last("fuse.heat"), [0.3, 0.5, 0.5], rtol=1e-6)
    one = single(model.build(), {"fuse.power": power}, 2, until=1.0, output_interval=0.1)
    assert one["fuse.heat"][-1] == found.last("fuse.heat")[2] and one.time[-1] == found.ends[2]
    assert len(found.run(2)) == 3


def test_a_failed_run_is_recorded_and_the_others_go_on():
    model = cosim.Model("blowup")
    model.add(Blowup, "blowup")
    starts = {"blowup.size": [0.1, 2.0, 0.2, 4.0]}
    found = model.simulate_many(starts, 1.0, threads=2, reduce=["max(blowup.size)"])
    assert found.status.tolist() == ["ok", "failed", "ok", "failed"]
    assert np.isnan(found["max(blowup.size)"]).tolist() == [False, True, False, True]
    assert [f.run for f in found.failures] == [1, 3]
    system = model.build()
    with pytest.raises(cosim.SimulationError) as caught:
        single(system, starts, 3, until=1.0)
    failed = found.failures[1]
    assert failed.reason == caught.value.reason and failed.time == caught.value.time
    state = system.state_from_bytes(failed.state)
    assert state.time == failed.time and state["blowup.size"] > 1e3
    assert caught.value.reason in found.table()["reason"][3]


def test_ctrl_c_keeps_what_is_done():
    def press(done, of):
        if done > 3:
            signal.raise_signal(signal.SIGINT)

    threads = set(threading.enumerate())
    values = {"ball.restitution": np.linspace(0.2, 0.9, 200_000)}
    with pytest.raises(KeyboardInterrupt) as caught:
        cosim.Ensemble(ball().build(), 1.5, reduce=["max(ball.height)"]).run(values, progress=press)
    found = caught.value.result
    done = found.is_done
    assert 3 < done.sum() < 200_000
    assert not np.isnan(found["max(ball.height)"][done]).any()
    assert set(found.status[~done]) == {"not run"}
    assert set(threading.enumerate()) <= threads


def test_progress_stops():
    values = {"ball.restitution": np.linspace(0.2, 0.9, 200_000)}
    ensemble = cosim.Ensemble(ball().build(), 1.5, reduce=["max(ball.height)"])
    found = ensemble.run(values, progress=lambda done, of: done < 2)
    assert "stopped after" in found.message and found.status[-1] == "not run"
    again = ensemble.run({"ball.restitution": values["ball.restitution"][:3]})
    assert again.is_done.all()
    np.testing.assert_array_equal(again["max(ball.height)"], found["max(ball.height)"][:3])


def test_an_ensemble_that_is_used_again_does_not_remember():
    ensemble = cosim.Ensemble(delayed().build(), 0.7, threads=2, output_interval=0.07)
    first = ensemble.run({"ball.restitution": [0.2, 0.5, 0.8]})
    ensemble.run({"ball.height": [0.1, 3.0]})
    again = ensemble.run({"ball.restitution": [0.2, 0.5, 0.8]})
    assert again.values.tobytes() == first.values.tobytes()


def test_values_are_checked_together():
    ensemble = cosim.Ensemble(ball().build(), 1.0)
    with pytest.raises(cosim.ModelError) as caught:
        ensemble.run({"ball.restitution": [0.5, 1.5], "ball.hight": [1, 2], "ball.height": ["1 m", "2 kg"]})
    text = str(caught.value)
    assert "run 1" in text and "at most 1" in text and "Nearest: ball.height" in text and "kg" in text
    with pytest.raises(cosim.ModelError, match="others have 3"):
        ensemble.run({"ball.restitution": [0.5, 0.6], "ball.height": [1, 2, 3]})
    with pytest.raises(cosim.ModelError, match="value for each run"):
        ensemble.run({"ball.restitution": 0.5})
    found = ensemble.run({"ball.height": ["10 cm", "1 m"]})
    assert found["ball.height"][:, 0].tolist() == [0.1, 1.0]


@pytest.mark.parametrize(
    ("reduce", "says"),
    [
        (["maximum(ball.height)"], "Nearest: .*max"),
        (["max(ball.hight)"], "ball.height"),
        (["max ball.height"], "max\\(engine.z\\)"),
        (["quantile(ball.height, 2)"], "from 0 to 1"),
        (["max(ball.height)", "max(ball.height)"], "dictionary"),
        ([(overshoot, "ball.height", "ball.speed")], "takes 2 arguments"),
        ([overshoot], "with its signals"),
    ],
)
def test_reductions_that_are_none(reduce, says):
    with pytest.raises(cosim.CosimError, match=says):
        cosim.Ensemble(ball().build(), 1.0, reduce=reduce)


def test_systems_states_and_models_pickle():
    model = delayed()
    model.set_start("ball.height", 1.5)
    system = model.build()
    twin = pickle.loads(pickle.dumps(system))
    assert twin.digest == system.digest
    assert twin.default_state().to_bytes() == system.default_state().to_bytes()
    simulator = cosim.Simulator(system, accuracy=1e-6)
    simulator.advance_to(0.5)
    state = pickle.loads(pickle.dumps(simulator.state))
    assert state.to_bytes() == simulator.state.to_bytes()
    again = pickle.loads(pickle.dumps(model))
    assert again.build().digest == system.digest and again.starts == {"ball.height": 1.5}


def test_a_model_that_has_changed_since_is_found_when_it_is_unpickled():
    model = ball()
    system = model.build()
    model.set_start("ball.height", 7.0)
    with pytest.raises(cosim.CosimError, match="changed after"):
        pickle.loads(pickle.dumps(system))


def test_multibody_models_pickle():
    model = four_bar()
    twin = pickle.loads(pickle.dumps(model))
    assert twin.build().digest == model.build().digest
    assert twin.to_dict() == model.to_dict()


@pytest.mark.thorough
def test_python_handlers_run_in_processes(caplog):
    from ensemble_parts import Counted

    model = cosim.Model("ball")
    model.add(Counted, "ball")
    values = {"ball.restitution": [0.3, 0.5, 0.7]}
    found = model.simulate_many(values, 0.8, threads=2, output_interval=0.1)
    assert "ball.count" in found.message and "processes" in caplog.text
    assert found.is_done.all() and (found["ball.seen"] == 1).all()
    one = single(model.build(), values, 2, until=0.8, output_interval=0.1)
    assert on_grid(one, "ball.height", found.time).tobytes() == found["ball.height"][2].tobytes()


def test_a_run_that_ends_its_process_is_recorded():
    from ensemble_parts import Deadly

    model = cosim.Model("ball")
    model.add(Deadly, "ball")
    heights = [1.0, 2.0, 3.0, 1.5, 2.5]
    found = model.simulate_many({"ball.height": heights}, 0.3, threads=2, reduce=["max(ball.height)"])
    assert found.status.tolist() == ["ok", "ok", "failed", "ok", "ok"]
    assert [(each.run, each.reason) for each in found.failures] == [
        (2, "its process ended unexpectedly, with status 0")
    ]
    np.testing.assert_array_equal(found["max(ball.height)"][[0, 1, 3, 4]], [1.0, 2.0, 1.5, 2.5])


def test_other_executors_give_the_same_bytes():
    from concurrent.futures import ThreadPoolExecutor

    ensemble = cosim.Ensemble(ball().build(), 0.8, output_interval=0.1, threads=2)
    values = {"ball.restitution": np.linspace(0.2, 0.9, 9)}
    here = ensemble.run(values)
    with ThreadPoolExecutor(2) as pool:
        there = ensemble.run(values, executor=pool, chunk=2)
    assert there.values.tobytes() == here.values.tobytes()


@pytest.mark.parametrize("where", ["threads", "executor"])
def test_values_over_time_go_to_parts_and_come_back(where, tmp_path, monkeypatch):
    from concurrent.futures import ThreadPoolExecutor

    pytest.importorskip("pyarrow")
    monkeypatch.setattr("cosim_ensembles.batch_result.AT_ONCE", 80)  # quantiles in several passes
    model = cosim.Model("fuse")
    model.add(Fuse, "fuse")
    values = {"fuse.power": np.linspace(0.1, 2.0, 40)}
    settings = {"output_interval": 0.1, "threads": 2, "reduce": ["max(fuse.heat)"], "signals": ["fuse.heat"]}
    ensemble = cosim.Ensemble(model.build(), 1.0, **settings)
    kept = ensemble.run(values)
    with ThreadPoolExecutor(2) as pool:
        more = {"executor": pool, "chunk": 7} if where == "executor" else {}
        found = ensemble.run(values, parts=tmp_path / "p", **more)
    assert len(found.parts) > 1 and found.signals == kept.signals
    assert sorted(found.parts.values()) == sorted(file.name for file in (tmp_path / "p").iterdir())
    assert found.values.tobytes() == kept.values.tobytes()
    np.testing.assert_array_equal(found["fuse.heat"], kept["fuse.heat"])
    np.testing.assert_array_equal(found.quantiles("fuse.heat"), kept.quantiles("fuse.heat"))
    for run in (0, 17, 39):
        np.testing.assert_array_equal(found.run(run)["fuse.heat"], kept.run(run)["fuse.heat"])
    for one, other in zip(found.table().values(), kept.table().values(), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(cosim.CosimError, match="choose another folder"):
        ensemble.run(values, parts=tmp_path / "p")
    with pytest.raises(cosim.ModelError, match="name signals"):
        cosim.Ensemble(model.build(), 1.0, reduce=["max(fuse.heat)"]).run(values, parts=tmp_path / "q")


def test_results_are_given_on_as_they_come():
    ensemble = cosim.Ensemble(ball().build(), 0.8, output_interval=0.1, threads=2)
    values = {"ball.restitution": np.linspace(0.2, 0.9, 40)}
    whole, seen = ensemble.run(values), []
    found = ensemble.run(values, each=lambda first, some: seen.append((first, some)))
    assert found.signals == [] and found.is_done.all()
    assert len(seen) > 1 and sum(len(some) for _, some in seen) == 40
    for first, some in seen:
        np.testing.assert_array_equal(some["ball.height"], whole["ball.height"][first : first + len(some)])


def test_ctrl_c_keeps_the_parts_that_are_written(tmp_path):
    pytest.importorskip("pyarrow")

    def press(done, of):
        if done > 40:
            signal.raise_signal(signal.SIGINT)

    ensemble = cosim.Ensemble(ball().build(), 1.5, output_interval=0.5, threads=2)
    values = {"ball.restitution": np.linspace(0.2, 0.9, 100_000)}
    with pytest.raises(KeyboardInterrupt) as caught:
        ensemble.run(values, progress=press, parts=tmp_path / "p")
    found = caught.value.result
    done = np.flatnonzero(found.is_done)
    assert 40 < len(done) < 100_000
    assert found.run(int(done[-1]))["ball.height"][0] == 1.0
    assert len(found.run(int(done[-1])).time) == 4


@pytest.mark.parametrize(
    ("path", "listed", "says"),
    [
        ("positive", np.array([1.0, 0.0]), "run 1: .*more than 0"),
        ("count", np.array([1.0, 1.5]), "run 1: .*integer"),
        ("table", np.zeros((2, 3, 2)), "shape"),
        ("table", np.zeros((2, 4)), "shape"),
        ("table[4]", np.zeros((2, 2)), "shape"),
    ],
)
def test_arrays_are_checked_as_single_values_are(path, listed, says):
    model = cosim.Model("bounded")
    model.add(Bounded, "b")
    with pytest.raises(cosim.ModelError, match=says):
        model.simulate_many({f"b.{path}": listed}, until=0.01)


def test_arrays_of_the_shape_or_flat():
    model = cosim.Model("bounded")
    model.add(Bounded, "b")
    tables = np.arange(12.0).reshape(2, 2, 3)
    for listed in (tables, tables.reshape(2, 6)):
        found = model.simulate_many({"b.table": listed}, until=1.0, reduce={"end": "last(b.level)"})
        assert found["b.table"].shape == (2, 2, 3)
        np.testing.assert_allclose(found["end"], tables[:, 1, 2], rtol=1e-9)


def test_units_of_reductions():
    model = cosim.Model("blowup")
    model.add(Fuse, "integral")
    reduce = {
        "area": "integral(integral.heat)",
        "integral_low": "min(integral.heat)",
        "mean": "mean(integral.heat)",
    }
    found = model.simulate_many({"integral.power": [1.0]}, until=1.0, reduce=reduce)
    assert {name: found.units[name] for name in reduce} == {"area": "J.s", "integral_low": "J", "mean": "J"}


def test_models_write_parts(tmp_path):
    pytest.importorskip("pyarrow")
    found = ball().simulate_many({"ball.restitution": [0.3, 0.5]}, 0.2, parts=tmp_path / "p")
    assert found.parts and found["ball.height"].shape == (2, len(found.time))


@pytest.mark.parametrize("threads", [1, 2])
def test_derivatives_of_runs_are_those_of_single_runs(threads):
    system, by = ball().build(), ["ball.restitution", "ball.height"]
    values = {"ball.restitution": [0.3, 0.5, 0.8]}
    options = {"output_interval": 0.25, "signals": ["ball.height"]}
    ensemble = cosim.Ensemble(system, 1.0, threads=threads, derivatives=by, **options)
    found = ensemble.run(values)
    names = [f"d(ball.height)/d({path})" for path in by]
    assert found.signals == ["ball.height", *names]
    assert found.units[names[0]] == "m" and found.units[names[1]] == "m/(m)"
    for run in range(3):
        alone = single(system, values, run, 1.0, derivatives=by, **options)
        for name, path in zip(names, by, strict=True):
            alone.signals[name] = alone.derivative("ball.height", path)
            assert np.array_equal(found[name][run], on_grid(alone, name, found.time))
            assert np.array_equal(found.run(run).derivative("ball.height", path), found[name][run])
    assert found[names[0]][:, -1].all() and len(set(found[names[0]][:, -1])) == 3


def test_derivatives_are_refused_where_nothing_is_kept_over_time():
    with pytest.raises(cosim.ModelError, match="derivatives.*recorded over time"):
        cosim.Ensemble(ball().build(), 1.0, reduce=["last(ball.height)"], derivatives=["ball.restitution"])


class Kicked(cosim.Component):
    """Law: x' = -k x; every `period`, the first time at the start, x becomes gain x + 1."""

    k = cosim.parameter(default=0.5)
    gain = cosim.parameter(default=0.75)
    x = cosim.auxiliary_state(start=2.0)

    @cosim.kernel
    def derivatives(k, x, x_dot):
        x_dot[0] = -k * x

    @cosim.every(0.5, does="unrestricted")
    @cosim.kernel
    def kick(gain, x, x_next):
        x_next[0] = gain * x + 1.0


@pytest.mark.parametrize("interval", [0.25, 0.5, 0.3])
def test_derivatives_at_times_of_the_grid_at_which_something_is_updated(interval):
    """The row after the updates takes the place of that before them: so do its derivatives."""
    model = cosim.Model("m")
    model.add(Kicked(), "m")
    system, by, gains = model.build(), ["m.k", "m.gain", "m.x"], [0.75, 0.0, 1.0]
    options = {"output_interval": interval, "signals": ["m.x"], "accuracy": 1e-10}
    found = cosim.Ensemble(system, 1.2, derivatives=by, **options).run({"m.gain": gains})

    def law(k, gain, x, time):
        ticks = int(time / 0.5 + 1e-9)
        for _ in range(ticks):
            x = (gain * x + 1.0) * np.exp(-k * 0.5)
        return (gain * x + 1.0) * np.exp(-k * (time - 0.5 * ticks))

    for run, gain in enumerate(gains):
        for at, time in enumerate(found.time):
            for number, path in enumerate(by):
                values = np.array([0.5, gain, 2.0], dtype=complex)
                values[number] += 1e-30j
                wanted = law(*values, time).imag / 1e-30
                assert found[f"d(m.x)/d({path})"][run, at] == pytest.approx(wanted, abs=1e-8), (time, path)
