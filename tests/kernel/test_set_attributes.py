"""What is set on a part, a model, a State or a simulator takes effect, or is an error with the remedy."""

import math

import pytest
from mass_on_spring import Mass, model_of, simulator_of_mass, state_of_mass, system_of_mass

import cosim
from cosim.errors import AttributeNameError


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
    assert part.values.given[name] == value  # as typed
    assert getattr(Mass(**part.values.given), name) == runs_with


def test_a_vector_is_set_whole_and_its_elements_not_at_all():
    part = Mass()
    with pytest.raises(ValueError, match="read-only"):
        part.frame[0] = 5.0
    part.frame = [0, 0, 7]
    with pytest.raises(ValueError, match="read-only"):
        part.frame[0] = 5.0
    assert model_of(part).build().default_state()["k.frame"].tolist() == [0.0, 0.0, 7.0]


def test_attributes_that_a_constructor_computes_are_computed_again():
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
def test_names_that_cannot_be_set_on_a_part_are_errors(name, text):
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


def test_parts_can_be_set_after_a_build_that_failed():
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


def test_a_final_time_that_is_set_on_a_simulator_takes_effect():
    simulator = cosim.Simulator(system_of_mass(), accuracy=1e-6)
    simulator.final_time = "500 ms"
    assert simulator.advance_to(2.0).return_time == 0.5
    with pytest.raises(cosim.ModelError, match="final_time: is nan"):
        simulator.final_time = math.nan


def test_another_callable_in_place_of_a_method_is_called():
    simulator = simulator_of_mass()
    calls = []
    simulator.step = lambda: calls.append("called")
    simulator.step()
    assert calls == ["called"]


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
        (simulator_of_mass, "final_tim", "Nearest: final_time"),
        (simulator_of_mass, "accuracy", r"reset_integrator\('integrators"),
        (simulator_of_mass, "integrator", "reset_integrator"),
        (simulator_of_mass, "monitor", "set_monitor"),
        (simulator_of_mass, "state", "replace_state"),
        (
            simulator_of_mass,
            "maximum_step",
            "reset_integrator.*maximum_step=…",
        ),
        (
            lambda: simulator_of_mass().integrator,
            "accuracy",
            "it is an option: make another",
        ),
        (lambda: simulator_of_mass().integrator, "acuracy", "Nearest: accuracy"),
        (state_of_mass, "q", r"call set_q\(values\)"),
        (state_of_mass, "time", r"call set_time\(t\)"),
        (state_of_mass, "acuracy", "Nearest: accuracy"),
        (state_of_mass, "stage", r"cannot be set: call realize\(stage\)"),
        (state_of_mass, "versions", "it cannot be set"),
        (simulator_of_mass, "findings", "cannot be set: read it"),
        (simulator_of_mass, "step", r"it is a method: call step\(…\)"),
        (lambda: model_of(Mass()), "build", r"it is a method: call build\(…\)"),
        (lambda: model_of(Mass()), "from_file", r"it is a method: call from_file\(…\)"),
        (lambda: model_of(Mass()), "reading_hints", "it belongs to the class Model"),
        (system_of_mass, "state_from_bytes", "it cannot be set"),
    ],
)
def test_models_simulators_integrators_and_states_take_no_unknown_names(make, name, text):
    target = make()
    with pytest.raises(AttributeNameError, match=text):
        setattr(target, name, 1.0)


def test_declarations_of_a_class_cannot_be_added_or_replaced():
    with pytest.raises(cosim.ContractError, match="already defined"):
        Mass.more = cosim.parameter(default=1.0)
    with pytest.raises(cosim.ContractError, match=r"Mass\.stiffness.*already defined"):
        Mass.stiffness = 5.0
    with pytest.raises(cosim.ContractError, match="already defined"):
        Mass.later = cosim.kernel(lambda x, x_dot: None)


def test_a_parameter_that_a_constructor_sets_is_what_runs():
    class Rate(cosim.Component):
        """A rate. Law: level' = rate."""

        level = cosim.auxiliary_state()
        rate = cosim.parameter(unit="1/s", default=1.0, minimum=0.0)

        def __init__(self, rate):
            super().__init__()
            self.rate = rate
            self.label = "mine"

        @cosim.kernel
        def derivatives(rate, level_dot):
            level_dot[0] = rate

    model = cosim.Model("m")
    part = model.add(Rate, "r", rate="3 1/min")
    assert part.rate == model.build().default_state()["r.rate"] == 0.05
    assert model["r"].label == "mine"
    with pytest.raises(cosim.ModelError, match="-1 1/s, needs at least 0"):
        Rate(-1.0)
