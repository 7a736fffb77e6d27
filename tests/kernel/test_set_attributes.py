"""What is set on a part, a model or a simulator before it is built is what runs, or an error."""

import inspect
import math
import pickle

import numpy as np
import pytest

import cosim
from cosim.errors import AttributeNameError
from cosim_integrators.kit import ButcherTableau
from cosim_workbench.studies import Study


class Mass(cosim.Component):
    """A mass on a spring."""

    stiffness = cosim.parameter(unit="N/m", minimum=0.0, default=100.0)
    frame = cosim.parameter(shape=3, default=(1.0, 2.0, 3.0))
    linear = cosim.option(True)
    source = cosim.source(optional=True)
    x = cosim.position(unit="m", start=1.0)
    v = cosim.speed(unit="m/s")
    n = cosim.discrete(dtype=int)
    pull = cosim.output(unit="N")
    threshold = 3.0
    note: str

    def __init__(self, table=(1.0,), **values):
        super().__init__(**values)
        self.table = tuple(table)
        self.sum = sum(table) * self.values.numbers["stiffness"][0]

    @cosim.kernel
    def derivatives(x, v, stiffness, x_dot, v_dot, pull):
        pull[0] = -stiffness * x
        x_dot[0] = v
        v_dot[0] = -stiffness * x


def model_of(part):
    model = cosim.Model("m")
    model.add(part, "k")
    return model


@pytest.mark.parametrize(
    ("name", "value", "runs_with"),
    [
        ("stiffness", 400.0, 400.0),
        ("stiffness", "120 N/mm", 120000.0),
        ("stiffness", 0.0, 0.0),
        ("stiffness", 100.0, 100.0),
        ("x", 0.0, 0.0),
        ("x", -2.5, -2.5),
        ("n", 7, 7),
    ],
)
@pytest.mark.parametrize("when", ["before it is added", "afterwards"])
def test_what_is_set_before_build_is_what_runs(name, value, runs_with, when):
    part = Mass()
    if when == "before it is added":
        setattr(part, name, value)
    model = model_of(part)
    if when == "afterwards":
        setattr(part, name, value)
    assert getattr(part, name) == runs_with
    assert model.build().default_state()[f"k.{name}"] == runs_with
    assert model.to_dict  # values as typed make the part again
    assert part.values.given[name] == value


def test_a_vector_is_set_whole_and_its_elements_not_at_all():
    part = Mass()
    with pytest.raises(ValueError, match="read-only"):
        part.frame[0] = 5.0
    part.frame = [0, 0, 7]
    with pytest.raises(ValueError, match="read-only"):
        part.frame[0] = 5.0
    assert model_of(part).build().default_state()["k.frame"].tolist() == [0.0, 0.0, 7.0]


def test_what_follows_in_the_constructor_follows_again():
    part = Mass(table=(1.0, 2.0))
    part.note = "mine"
    part.threshold = 4.0
    assert part.sum == 300.0
    part.stiffness = 10.0
    assert (part.sum, part.table, part.note, part.threshold) == (30.0, (1.0, 2.0), "mine", 4.0)
    assert Mass.threshold == 3.0


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("stiffness", -1.0, r"k\.stiffness: stiffness is -1 N/m, needs at least 0"),
        ("stiffness", "3 kg", r"k\.stiffness: .*kg"),
        ("stiffness", [1.0, 2.0], r"k\.stiffness: stiffness has shape \(2,\)"),
        ("stiffness", math.nan, r"k\.stiffness: stiffness is nan, needs a finite number"),
        ("frame", [1.0, 2.0], r"k\.frame: frame has shape \(2,\)"),
        ("linear", 3, r"k\.linear: linear is 3, needs bool"),
        ("n", 0.5, r"k\.n: n is 0\.5, needs an integer"),
    ],
)
def test_a_value_is_checked_as_where_the_part_is_made(name, value, text):
    part = Mass()
    model_of(part)
    before = dict(part.values.given)
    with pytest.raises(cosim.ModelError, match=text):
        setattr(part, name, value)
    assert part.values.given == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("stifness", r"Mass has no attribute 'stifness' to set\. Nearest: stiffness\."),
        ("zzz", r"Mass has no attribute 'zzz' to set\. There are: .*stiffness"),
        ("pull", r"Mass\.pull: it is computed \(output\), so it cannot be set"),
        ("name", r"Mass\.name: the name of a part is given where it is added"),
        ("values", r"Mass\.values: values are set one by one"),
        ("derivatives", r"Mass\.derivatives: it belongs to the class Mass"),
        ("switch", r"Mass\.switch: it belongs to the class Mass"),
    ],
)
def test_other_names_are_errors(name, text):
    part = Mass()
    model_of(part)
    with pytest.raises(AttributeNameError, match=text) as caught:
        setattr(part, name, 1.0)
    assert isinstance(caught.value, AttributeError)
    assert isinstance(caught.value, cosim.LookUpError)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "stiffness",
            r"a system was built with this part: write state\['k\.stiffness'\] = … .*model\.set_start",
        ),
        ("linear", "make the model anew, with linear set before it is built"),
        ("source", "make the model anew"),
        (
            "table",
            r"its runs depend on their State alone: declare what changes in a run, table = cosim\.discrete",
        ),
        ("stifness", "no attribute 'stifness' to set. Nearest: stiffness"),
    ],
)
def test_after_the_build_the_error_says_what_to_do(name, text):
    part = Mass()
    model = model_of(part)
    system = model.build()
    with pytest.raises(AttributeNameError, match=text):
        setattr(part, name, 1.0)
    model.set_start("k.stiffness", 400.0)
    assert system.default_state()["k.stiffness"] == 100.0
    assert model.build().default_state()["k.stiffness"] == 400.0


def test_a_build_that_fails_closes_nothing():
    class Follower(cosim.Component):
        """Needs a source."""

        source = cosim.source()
        y = cosim.output()

        @cosim.kernel
        def follow(source, y):
            y[0] = source

    model = model_of(Mass())
    part = model.add(Follower, "f", source="nowhere")
    with pytest.raises(cosim.ModelError):
        model.build()
    part.source = "k.x"
    assert model.build().default_state().realize()["f.y"] == 1.0


def test_views_of_a_state_are_read_only():
    state = model_of(Mass()).build().default_state()
    state.realize()
    for view in (state["k.frame"], state.y, state.q, state.u, state.z, state.y_dot):
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 5.0
    state["k.frame[0]"] = 5.0
    assert state["k.frame"].tolist() == [5.0, 2.0, 3.0]
    assert np.array_equal(state.y, [1.0, 0.0])


def test_a_handler_cannot_write_into_a_copy():
    class Wrong(cosim.Component):
        """Writes an element where nothing reads it."""

        m = cosim.discrete(shape=2)

        @cosim.at(0.5, does="discrete")
        def change(self, state, next_state):
            next_state["w.m"][0] = 1.0

    model = cosim.Model("m")
    model.add(Wrong, "w")
    with pytest.raises(cosim.SimulationError, match="read-only"):
        model.simulate(until=1.0)


@pytest.mark.parametrize(
    ("make", "name", "text"),
    [
        (lambda: cosim.Model("m"), "gravty", "Model has no attribute 'gravty' to set"),
        (lambda: cosim.Model("m"), "setings", r"Nearest: settings"),
        (
            lambda: cosim.Model("m"),
            "until",
            r"give it to simulate\(until=…\), or write model\.simulation\['until'\]",
        ),
        (lambda: cosim.Model("m"), "accuracy", r"model\.simulation\['accuracy'\]"),
        (lambda: cosim.Model("m"), "dynamics", r"model\.settings\['dynamics'\]"),
        (lambda: cosim.Model("m"), "solver_id", "it cannot be set"),
        (lambda: cosim.Simulator(model_of(Mass()).build()), "final_tim", "Nearest: final_time"),
        (lambda: cosim.Simulator(model_of(Mass()).build()), "accuracy", r"reset_integrator\('integrators"),
        (lambda: cosim.Simulator(model_of(Mass()).build()), "integrator", "reset_integrator"),
        (lambda: cosim.Simulator(model_of(Mass()).build()), "monitor", "set_monitor"),
        (lambda: cosim.Simulator(model_of(Mass()).build()), "state", "replace_state"),
        (
            lambda: cosim.Simulator(model_of(Mass()).build()),
            "maximum_step",
            "reset_integrator.*maximum_step=…",
        ),
        (
            lambda: cosim.Simulator(model_of(Mass()).build()).integrator,
            "accuracy",
            "it is an option: make another",
        ),
        (lambda: cosim.Simulator(model_of(Mass()).build()).integrator, "acuracy", "Nearest: accuracy"),
        (lambda: model_of(Mass()).build().default_state(), "q", r"call set_q\(values\)"),
        (lambda: model_of(Mass()).build().default_state(), "time", r"call set_time\(t\)"),
        (lambda: model_of(Mass()).build().default_state(), "acuracy", "Nearest: accuracy"),
        (lambda: model_of(Mass()).build().default_state(), "stage", r"cannot be set: call realize\(stage\)"),
        (lambda: model_of(Mass()).build().default_state(), "versions", "it cannot be set"),
        (lambda: cosim.Simulator(model_of(Mass()).build()), "findings", "cannot be set: read it"),
        (lambda: cosim.Simulator(model_of(Mass()).build()), "step", r"it is a method: call step\(…\)"),
        (lambda: model_of(Mass()), "build", r"it is a method: call build\(…\)"),
        (lambda: model_of(Mass()), "from_file", r"it is a method: call from_file\(…\)"),
        (lambda: model_of(Mass()), "reading_hints", "it belongs to the class Model"),
        (lambda: model_of(Mass()).build(), "state_from_bytes", "it cannot be set"),
    ],
)
def test_models_simulators_integrators_and_states_take_no_unknown_names(make, name, text):
    thing = make()
    with pytest.raises(AttributeNameError, match=text):
        setattr(thing, name, 1.0)


@pytest.mark.parametrize(
    ("make", "name", "text"),
    [
        (
            lambda: model_of(Mass()).build(),
            "anything",
            "System.anything: no such attribute. Nothing can be set",
        ),
        (lambda: model_of(Mass()).build(), "input", "no such attribute. Nearest: inputs. Nothing can be set"),
        (lambda: model_of(Mass()).build(), "ny", "it cannot be set: change the model and build it again"),
        (
            lambda: model_of(Mass()).simulate(until=0.1),
            "tme",
            "no such attribute. Nearest: time. Nothing can",
        ),
        (lambda: model_of(Mass()).simulate(until=0.1), "time", r"make another, cosim\.Result\(time, signals"),
        (
            lambda: cosim.Ensemble(model_of(Mass()).build(), until=1.0),
            "threads",
            "make another ensemble with it",
        ),
        (lambda: cosim.Ensemble(model_of(Mass()).build(), until=1.0), "untli", "no such attribute"),
        (
            lambda: cosim.Ensemble(model_of(Mass()).build(), until=1.0).run(count=1),
            "time",
            "BatchResult.time: it cannot be set",
        ),
        (lambda: Study(model_of(Mass()), {"k.stiffness": "1..2:2"}, until=1.0), "sed", "Nearest: seeds"),
        (
            lambda: ButcherTableau(order=1, a=[[]], b=[1.0], c=[0.0]),
            "order",
            "ButcherTableau.order: it cannot be set: make another",
        ),
    ],
)
def test_what_is_never_changed_takes_no_attributes(make, name, text):
    thing = make()
    with pytest.raises(AttributeNameError, match=text):
        setattr(thing, name, 1.0)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (Mass, "stiffness"),
        (lambda: cosim.Model("m"), "name"),
        (lambda: model_of(Mass()).build(), "ny"),
        (lambda: cosim.Result([0.0], {}), "time"),
        (lambda: cosim.Simulator(model_of(Mass()).build()).integrator, "accuracy"),
    ],
)
def test_nothing_is_deleted(make, name):
    thing = make()
    before = getattr(thing, name)
    with pytest.raises(
        AttributeNameError, match=rf"{name}: it cannot be deleted: set another value, or make"
    ):
        delattr(thing, name)
    assert getattr(thing, name) is before
    with pytest.raises(AttributeNameError):
        del thing.nothing_at_all


def test_counts_of_a_simulator_are_not_set():
    simulator = cosim.Simulator(model_of(Mass()).build())
    with pytest.raises(AttributeError):
        simulator.statistics.steps = 3


def test_what_is_never_changed_goes_to_other_processes_and_stays_so():
    result = pickle.loads(pickle.dumps(model_of(Mass()).simulate(until=0.1)))
    with pytest.raises(AttributeNameError, match="it cannot be set"):
        result.time = 1.0
    assert list(inspect.signature(cosim.Ensemble).parameters)[:2] == ["system", "until"]
    assert list(inspect.signature(cosim.Result).parameters)[:2] == ["time", "signals"]


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
def test_what_is_no_path(path):
    model = model_of(Mass())
    state = model.build().default_state()
    with pytest.raises(cosim.ModelError, match="set_start.*needs the path"):
        model.set_start(path, 1.0)
    with pytest.raises(cosim.LookUpError, match="Signals have names"):
        state[path]
    with pytest.raises(cosim.LookUpError, match="Signals have names"):
        state[path] = 1.0


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
def test_settings_of_a_run_that_are_none(settings, text):
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
def test_settings_of_an_ensemble_that_are_none(settings, text):
    with pytest.raises(cosim.ModelError, match=text):
        cosim.Ensemble(model_of(Mass()).build(), until=0.1, **settings)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"count": 1.5}, "count: is 1.5, needs a whole number"),
        ({"count": True}, "count: is True, needs a whole number"),
        ({"count": 0}, "there is no run"),
        ({"values": {"k.stiffness": [1.0, 2.0]}, "count": 3}, "count: is 3, and 2 values are given"),
    ],
)
def test_how_many_runs_an_ensemble_has(given, text):
    ensemble = cosim.Ensemble(model_of(Mass()).build(), until=0.1, output_interval="50 ms")
    assert ensemble.run(count=1).time.tolist() == [0.0, 0.05, 0.1]
    with pytest.raises(cosim.ModelError, match=text):
        ensemble.run(**given)


@pytest.mark.parametrize("rate", [math.nan, True, "2", None])
def test_a_real_time_rate_is_a_number(rate):
    simulator = cosim.Simulator(model_of(Mass()).build())
    with pytest.raises(cosim.ModelError, match="target_realtime_rate.*needs a number"):
        simulator.target_realtime_rate = rate
    with pytest.raises(cosim.ModelError, match="3, needs a function"):
        simulator.set_monitor(3)


def test_a_simulator_says_what_to_pickle():
    with pytest.raises(TypeError, match="pickled: pickle.*simulator.state"):
        pickle.dumps(cosim.Simulator(model_of(Mass()).build()))


def test_what_has_no_attributes_to_set_says_so():
    from cosim_fmu import TimedInputs

    with pytest.raises(AttributeNameError, match="TimedInputs.*'zz'.*set. Nothing"):
        TimedInputs({}).zz = 1


def test_what_a_simulator_has_takes_effect():
    simulator = cosim.Simulator(model_of(Mass()).build(), accuracy=1e-6)
    simulator.final_time = "500 ms"
    assert simulator.advance_to(2.0).return_time == 0.5
    with pytest.raises(cosim.ModelError, match="final_time: is nan"):
        simulator.final_time = math.nan


@pytest.mark.parametrize("accuracy", [10, 1.0000001, 0.0, -1.0, math.nan, True])
def test_an_accuracy_of_a_state_is_checked(accuracy):
    state = model_of(Mass()).build().default_state()
    with pytest.raises(cosim.StateError, match="number above 0.*1"):
        state.accuracy = accuracy
    state.accuracy = 1.0
    state.accuracy = None
    assert state.accuracy is None


def test_subclasses_of_a_model_keep_what_their_constructor_sets():
    class Car(cosim.Model):
        def __init__(self, name):
            super().__init__(name)
            self.wheels = 4

        def grow(self):
            self.wheels += 1
            self.doors = 5

    car = Car("car")
    car.wheels = 3
    car.grow()
    assert (car.wheels, car.doors) == (4, 5)
    with pytest.raises(AttributeNameError, match="Nearest: wheels"):
        car.wheel = 3


def test_a_part_that_was_not_added_is_no_part():
    model = cosim.Model("m")
    model.parts["k"] = Mass()
    with pytest.raises(cosim.ModelError, match=r"parts\['k'\].*called so: add.*model\.add"):
        model.build()


def test_what_was_given_to_a_part_is_read_only():
    part = Mass(stiffness=400.0)
    with pytest.raises(TypeError, match="support item assignment"):
        part.values.given["stiffness"] = 1.0
    assert dict(part.values.given) == {"stiffness": 400.0}
    assert dict(pickle.loads(pickle.dumps(part.values)).given) == {"stiffness": 400.0}


@pytest.mark.parametrize("name", [3, "", " ", None])
def test_a_name_of_a_model_is_text(name):
    with pytest.raises(cosim.ModelError, match="model: its name"):
        cosim.Model(name)
    model = model_of(Mass())
    model.name = name
    with pytest.raises(cosim.ModelError, match="model: its name"):
        model.build()


def test_a_law_that_comes_late_is_refused():
    with pytest.raises(cosim.ContractError, match="already defined"):
        Mass.more = cosim.parameter(default=1.0)
    with pytest.raises(cosim.ContractError, match=r"Mass\.stiffness.*already defined"):
        Mass.stiffness = 5.0
    with pytest.raises(cosim.ContractError, match="already defined"):
        Mass.later = cosim.kernel(lambda x, x_dot: None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("use_linear_interpolation_only", True),
        ("can_use_current_value", True),
        ("interpolation", "dense_output"),
    ],
)
def test_an_option_of_a_delay_belongs_to_the_system(name, value):
    model = model_of(Mass())
    delay = model.add("measures.delay", "felt", source="k.x", delay=0.1)
    setattr(delay, name, value)
    assert getattr(delay, name) == value
    state = model.build().default_state()
    with pytest.raises(cosim.StateError, match=rf"felt\.{name}: it is an option.*model\.add\(…, {name}=…\)"):
        state[f"felt.{name}"] = value
    with pytest.raises(AttributeNameError, match=f"make the model anew, with {name} set before it is built"):
        setattr(delay, name, value)
    state["felt.delay"] = 0.05
    assert state["felt.delay"] == 0.05


def test_another_callable_in_place_of_a_method_is_called():
    simulator = cosim.Simulator(model_of(Mass()).build())
    told = []
    simulator.step = lambda: told.append("called")
    simulator.step()
    assert told == ["called"]


def test_parts_of_a_system_are_only_read():
    """A part that was put there ran nowhere; a model that is built again has it."""
    system = model_of(Mass()).build()
    with pytest.raises(TypeError, match="does not support item assignment"):
        system.parts["another"] = Mass()
    assert list(system.parts) == ["k"]
