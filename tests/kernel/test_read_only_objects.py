"""Systems, results, views of a State and what was given to a part are only read."""

import inspect
import pickle

import numpy as np
import pytest
from mass_on_spring import Mass, model_of, simulator_of_mass, state_of_mass, system_of_mass

import cosim
from cosim.errors import AttributeNameError
from cosim_integrators.kit import ButcherTableau
from cosim_workbench.studies import Study


@pytest.mark.parametrize(
    ("make", "name", "text"),
    [
        (
            system_of_mass,
            "anything",
            "System.anything: no such attribute. Nothing can be set",
        ),
        (system_of_mass, "input", "no such attribute. Nearest: inputs. Nothing can be set"),
        (system_of_mass, "ny", "it cannot be set: change the model and build it again"),
        (
            lambda: model_of(Mass()).simulate(until=0.1),
            "tme",
            "no such attribute. Nearest: time. Nothing can",
        ),
        (lambda: model_of(Mass()).simulate(until=0.1), "time", r"make another, cosim\.Result\(time, signals"),
        (
            lambda: cosim.Ensemble(system_of_mass(), until=1.0),
            "threads",
            "make another ensemble with it",
        ),
        (lambda: cosim.Ensemble(system_of_mass(), until=1.0), "untli", "no such attribute"),
        (
            lambda: cosim.Ensemble(system_of_mass(), until=1.0).run(count=1),
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
def test_immutable_objects_take_no_attributes(make, name, text):
    target = make()
    with pytest.raises(AttributeNameError, match=text):
        setattr(target, name, 1.0)


def test_an_object_without_settable_attributes_says_so():
    from cosim_fmu import TimedInputs

    with pytest.raises(AttributeNameError, match="TimedInputs.*'zz'.*set. Nothing"):
        TimedInputs({}).zz = 1


def test_a_result_that_was_pickled_is_still_read_only():
    result = pickle.loads(pickle.dumps(model_of(Mass()).simulate(until=0.1)))
    with pytest.raises(AttributeNameError, match="it cannot be set"):
        result.time = 1.0


def test_help_shows_the_parameters_of_immutable_classes():
    assert list(inspect.signature(cosim.Ensemble).parameters)[:2] == ["system", "until"]
    assert list(inspect.signature(cosim.Result).parameters)[:2] == ["time", "signals"]


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (Mass, "stiffness"),
        (lambda: cosim.Model("m"), "name"),
        (system_of_mass, "ny"),
        (lambda: cosim.Result([0.0], {}), "time"),
        (lambda: simulator_of_mass().integrator, "accuracy"),
    ],
)
def test_attributes_cannot_be_deleted(make, name):
    target = make()
    before = getattr(target, name)
    with pytest.raises(
        AttributeNameError, match=rf"{name}: it cannot be deleted: set another value, or make"
    ):
        delattr(target, name)
    assert getattr(target, name) is before
    with pytest.raises(AttributeNameError):
        del target.nothing_at_all


def test_counts_of_a_simulator_are_not_set():
    simulator = simulator_of_mass()
    with pytest.raises(AttributeError):
        simulator.statistics.steps = 3


def test_views_of_a_state_are_read_only():
    state = state_of_mass()
    state.realize()
    for view in (state["k.frame"], state.y, state.q, state.u, state.z, state.y_dot):
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 5.0
    state["k.frame[0]"] = 5.0
    assert state["k.frame"].tolist() == [5.0, 2.0, 3.0]
    assert np.array_equal(state.y, [1.0, 0.0])


def test_a_handler_cannot_write_into_an_element_of_a_copy():
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


def test_values_given_to_a_part_are_read_only():
    part = Mass(stiffness=400.0)
    with pytest.raises(TypeError, match="support item assignment"):
        part.values.given["stiffness"] = 1.0
    assert dict(part.values.given) == {"stiffness": 400.0}
    assert dict(pickle.loads(pickle.dumps(part.values)).given) == {"stiffness": 400.0}


def test_parts_of_a_system_are_only_read():
    """A part that is put there would not run: it has to be added to the model."""
    system = system_of_mass()
    with pytest.raises(TypeError, match="does not support item assignment"):
        system.parts["another"] = Mass()
    assert list(system.parts) == ["k"]


def test_a_part_that_was_put_into_the_parts_of_a_model_is_refused():
    model = cosim.Model("m")
    model.parts["k"] = Mass()
    with pytest.raises(cosim.ModelError, match=r"parts\['k'\].*called so: add.*model\.add"):
        model.build()


def test_a_simulator_says_what_to_pickle():
    with pytest.raises(TypeError, match="pickled: pickle.*simulator.state"):
        pickle.dumps(simulator_of_mass())
