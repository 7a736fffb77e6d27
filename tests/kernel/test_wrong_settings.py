"""Settings of runs, ensembles, States and models that have no meaning are refused before anything runs."""

import math

import pytest
from mass_on_spring import Mass, model_of, simulator_of_mass, state_of_mass, system_of_mass

import cosim


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"event_limit": -1}, "event_limit: is -1, needs a whole number, 0 at least"),
        ({"event_limit": math.nan}, "event_limit: is nan, needs a whole number"),
        ({"event_limit": True}, "event_limit: is True, needs a whole number"),
        ({"state": 3}, "state: is 3, needs a State"),
        ({"maximum_step": None}, "maximum_step: is None, needs a time"),
        ({"minimum_step": "x"}, "minimum_step: is 'x', needs a time"),
        ({"output_interval": math.inf}, "output interval: is inf s, needs a finite time, more than 0"),
    ],
)
def test_wrong_settings_of_a_run(settings, text):
    with pytest.raises((cosim.ModelError, cosim.SimulationError), match=text):
        model_of(Mass()).simulate(until=0.1, **settings)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"threads": 1.5}, "threads: is 1.5, needs a whole number, 1 at least"),
        ({"threads": True}, "threads: is True, needs a whole number"),
        ({"threads": 0}, "threads: is 0, needs a whole number"),
        ({"endless_events": "never"}, "endless_events: is 'never', needs one of 'hold'"),
        ({"output_interval": math.inf}, "output interval: is inf s, needs a finite time"),
        ({"output_interval": 0.0}, "output interval: is 0.0 s, needs a finite time, more than 0"),
        ({"output_interval": 1e-12}, "output interval: 1e-12 s makes 1e.11 points"),
        ({"output_interval": "1 kg"}, "output_interval: is '1 kg', needs a time"),
    ],
)
def test_wrong_settings_of_an_ensemble(settings, text):
    with pytest.raises(cosim.ModelError, match=text):
        cosim.Ensemble(system_of_mass(), until=0.1, **settings)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"count": 1.5}, "count: is 1.5, needs a whole number"),
        ({"count": True}, "count: is True, needs a whole number"),
        ({"count": 0}, "there is no run"),
        ({"values": {"k.stiffness": [1.0, 2.0]}, "count": 3}, "count: is 3, and 2 values are given"),
    ],
)
def test_wrong_counts_of_runs_of_an_ensemble(arguments, text):
    ensemble = cosim.Ensemble(system_of_mass(), until=0.1, output_interval="50 ms")
    assert ensemble.run(count=1).time.tolist() == [0.0, 0.05, 0.1]
    with pytest.raises(cosim.ModelError, match=text):
        ensemble.run(**arguments)


@pytest.mark.parametrize("rate", [math.nan, True, "2", None])
def test_a_real_time_rate_is_a_number(rate):
    simulator = simulator_of_mass()
    with pytest.raises(cosim.ModelError, match="target_realtime_rate.*needs a number"):
        simulator.target_realtime_rate = rate


def test_a_monitor_is_a_function():
    with pytest.raises(cosim.ModelError, match="3, needs a function"):
        simulator_of_mass().set_monitor(3)


@pytest.mark.parametrize("accuracy", [10, 1.0000001, 0.0, -1.0, math.nan, True])
def test_an_accuracy_of_a_state_is_checked(accuracy):
    state = state_of_mass()
    with pytest.raises(cosim.StateError, match="number above 0.*1"):
        state.accuracy = accuracy
    state.accuracy = 1.0
    state.accuracy = None
    assert state.accuracy is None


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("k.x", "abc", r"^starts: k\.x: 'abc' is not a quantity"),
        ("k.x", math.nan, r"^starts: k\.x: x is nan"),
        ("k.x", object(), r"^starts: k\.x: x is an object of class object, needs one number \[m\]"),
        ("k.pull", 1.0, r"^starts: k\.pull: it is computed"),
        ("kk.x", 1.0, r"^starts: kk\.x: no part 'kk'\. Nearest: k\."),
    ],
)
def test_a_wrong_start_has_its_path_once(path, value, text):
    model = model_of(Mass())
    model.set_start(path, value)
    with pytest.raises(cosim.ModelError, match=text) as caught:
        model.build()
    assert str(caught.value).count(path) == 1


@pytest.mark.parametrize("path", [3, None, ["k.x"], ("k", "x")])
def test_a_path_is_text(path):
    model = model_of(Mass())
    state = model.build().default_state()
    with pytest.raises(cosim.ModelError, match="set_start.*needs the path"):
        model.set_start(path, 1.0)
    with pytest.raises(cosim.LookUpError, match="Signals have names"):
        state[path]
    with pytest.raises(cosim.LookUpError, match="Signals have names"):
        state[path] = 1.0


@pytest.mark.parametrize("name", [3, "", " ", None])
def test_a_name_of_a_model_is_text(name):
    with pytest.raises(cosim.ModelError, match="model: its name"):
        cosim.Model(name)
    model = model_of(Mass())
    model.name = name
    with pytest.raises(cosim.ModelError, match="model: its name"):
        model.build()
