"""Each public attribute of what users make is set, and each container in it is changed: effect or error."""

from __future__ import annotations

import copy
import enum
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
import cosim.kit
import cosim_fmu
import cosim_workbench.studies as studies
from cosim.errors import AttributeNameError
from cosim_fmu import CoSimulation, SystemParticipant, TimedInputs
from cosim_integrators.kit import ButcherTableau
from cosim_mechanics import Multibody
from cosim_mechanics.shapes import Sphere


class Follower(cosim.Component):
    """Follows its input, and decays."""

    gain = cosim.parameter(default=2.0)
    offsets = cosim.parameter(shape=3, default=(1.0, 2.0, 3.0))
    u = cosim.input(unit="1")
    x = cosim.auxiliary_state(shape=2, start=(1.0, 1.0))
    y = cosim.output(unit="1")

    @cosim.kernel
    def derivatives(u, x, gain, offsets, y, x_dot):
        y[0] = gain * u + offsets[0]
        x_dot[0] = -x[0]
        x_dot[1] = -x[1]


def model_of(**values: Any) -> cosim.Model:
    model = cosim.Model("m")
    model.add(Follower, "f", **values)
    return model


def mechanism() -> Multibody:
    model = Multibody("m")
    model.joint("pin", child=model.body("b", mass=1.0, inertia=(1, 1, 1)))
    return model


def coupling(**options: Any) -> CoSimulation:
    systems = {"a": model_of().build(), "b": model_of().build()}
    settings = {"step": 0.1, "starts": {"a.f.u": 3.0}, **options}
    return CoSimulation(systems, ["a.f.y -> b.f.u"], "jacobi", **settings)


def calibration() -> studies.Calibration:
    measured = model_of(x=(2.0, 1.0)).simulate(until=1.0)
    return studies.Calibration(model_of(), {"f.x[0]": (0.5, 3.0)}, measured, ["f.x[0]"])


MODEL = {"connections", "folder", "name", "parts", "settings", "simulation", "starts"}
STEP = {"accuracy", "carried", "integrator_memory", "is_checked", "jumped"}
LIVE = {"connections", "parts", "settings", "simulation", "starts"}
"""Containers of a model from which the next system is built."""
RAW = {"arrays", "integrator_memory"}
"""The memory of a State itself, for those who call `invalidate` after they wrote to it."""
MADE: dict[str, tuple[Callable[[], Any], set[str], set[str]]] = {
    "model": (model_of, MODEL, LIVE),
    "multibody": (mechanism, MODEL | {"gravity", "remarks"}, LIVE | {"remarks"}),
    "part": (lambda: model_of()["f"], {"gain", "offsets", "u", "x"}, set()),
    "body": (lambda: mechanism()["b"], {"center_of_mass", "feels_gravity", "inertia", "mass"}, set()),
    "system": (lambda: model_of().build(), set(), set()),
    "state": (lambda: model_of().build().default_state(), STEP, RAW),
    "simulator": (
        lambda: cosim.Simulator(model_of().build()),
        {"final_time", "target_realtime_rate"},
        {"findings"},
    ),
    "integrator": (lambda: cosim.Simulator(model_of().build()).integrator, set(), set()),
    "tableau": (lambda: ButcherTableau(order=1, a=[[]], b=[1.0], c=[0.0]), set(), set()),
    "ensemble": (lambda: cosim.Ensemble(model_of().build(), until=1.0), set(), set()),
    "study": (
        lambda: studies.Study(model_of(), {"f.gain": "1..3:3"}, ["last(f.y)"], until=1.0),
        set(),
        set(),
    ),
    "optimization": (
        lambda: studies.Optimization(model_of(), {"f.gain": (1, 3)}, "last(f.y)", until=1.0),
        set(),
        set(),
    ),
    "calibration": (calibration, set(), set()),
    "co-simulation": (coupling, {"until"}, set()),
    "algorithm": (lambda: coupling().algorithm, set(), set()),
    "participant": (lambda: SystemParticipant(model_of()), set(), set()),
    "timed inputs": (lambda: TimedInputs({"u": [[0.0, 1.0], [1.0, 2.0]]}), set(), set()),
    "checkpoint": (lambda: cosim.Checkpoint(Path("run.checkpoint")), set(), set()),
    "runner": (lambda: cosim.Ensemble(model_of().build(), until=1.0).runner(["f.gain"]), set(), set()),
    "shape": (lambda: Sphere(radius=1.0), set(), set()),
}
OF_CLASSES = ("reading_hints", "attribute_hints", "kit_values", "declarations", "arguments", "kernels")
OF_CLASSES = (*OF_CLASSES, "handlers", "conditions", "kink_functions", "signals", "tried_with")
FRESH = ("warnings", "events", "figures", "objectives")
"""Reports, a new list each time."""
INTERNAL = {
    "system": {
        *("alike", "blocks", "checks", "handler_blocks", "handler_stage", "inner_blocks", "nominal_sizes"),
        *("options_in_model_exchange", "smoothness", "swaps", "update_ranges"),
    }
}
"""Lists of the schedule: no documented attribute."""


def attributes(thing: Any) -> dict[str, Any]:
    """The public attributes of an object that can be read, without methods."""
    found = {}
    for name in dir(thing):
        if name.startswith("_"):
            continue
        try:
            value = getattr(thing, name)
        except (AttributeError, cosim.CosimError, RuntimeError):
            continue
        if not inspect.isroutine(value):
            found[name] = value
    return found


@pytest.mark.parametrize("kind", MADE)
def test_an_attribute_takes_effect_or_is_refused(kind: str) -> None:
    make, settable, _ = MADE[kind]
    thing = make()
    accepted = set()
    for name, value in attributes(thing).items():
        try:
            setattr(thing, name, copy.copy(value))
        except (AttributeError, cosim.CosimError, TypeError):
            continue
        accepted.add(name)
    assert accepted <= settable
    assert settable <= accepted | STEP, "what the test knows to be settable"


@pytest.mark.parametrize("kind", MADE)
def test_an_unknown_name_is_refused(kind: str) -> None:
    thing = MADE[kind][0]()
    with pytest.raises(AttributeError):
        thing.nothing_of_this_name = 1
    assert not hasattr(thing, "nothing_of_this_name")


@pytest.mark.parametrize("kind", [kind for kind in MADE if MADE[kind][1]])
def test_a_misspelt_name_has_the_nearest(kind: str) -> None:
    make, settable, _ = MADE[kind]
    for name in sorted(settable - STEP):
        thing = make()
        with pytest.raises(AttributeNameError, match=rf"Nearest: {name}|There are: .*{name}"):
            setattr(thing, name[:1] + name[2:] if len(name) > 3 else f"{name}_{name}", 1.0)


@pytest.mark.parametrize("kind", MADE)
def test_containers_are_read_only_or_live(kind: str) -> None:
    make, _, live = MADE[kind]
    found = attributes(make())
    for name, value in found.items():
        if name in live or name in OF_CLASSES or name in FRESH or name in INTERNAL.get(kind, ()):
            continue
        assert not isinstance(value, (list, dict, set, bytearray)), name
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, name


def test_reports_are_new_each_time() -> None:
    for thing in (make() for make, _, _ in MADE.values()):
        for name in FRESH:
            if isinstance(getattr(thing, name, None), (list, dict)):
                getattr(thing, name).clear()
                assert getattr(thing, name) is not getattr(thing, name)


def test_every_public_class_is_closed() -> None:
    """A new public class is closed, frozen, or a kind of tuple, enumeration or error."""
    for module in (cosim, cosim_fmu, studies):
        for name in dir(module):
            cls = getattr(module, name)
            if name.startswith("_") or not inspect.isclass(cls) or cls is cosim.Register:
                continue
            frozen = getattr(cls, "__dataclass_params__", None)
            assert issubclass(cls, (cosim.kit.ClosedAttributes, BaseException, enum.Enum, tuple)) or (
                frozen is not None and frozen.frozen
            ), name


# what users give, and change later


def test_arrays_lists_and_dicts_that_were_given_may_change_later() -> None:
    array, listed = np.array([1.0, 2.0, 3.0]), [4.0, 5.0]
    model = model_of(offsets=array)
    model.set_start("f.x", listed)
    array[0], listed[0] = 9.0, 9.0
    model["f"].gain = 3.0  # which makes the part anew
    state = model.build().default_state()
    assert (state["f.offsets"].tolist(), state["f.x"].tolist()) == ([1.0, 2.0, 3.0], [4.0, 5.0])
    part = Follower()
    part.offsets = array
    array[0] = 7.0
    part.gain = 4.0
    assert part.offsets.tolist() == [9.0, 2.0, 3.0]


class Table(cosim.Component):
    """Its constructor has a parameter of its own."""

    gain = cosim.parameter(default=1.0)

    def __init__(self, rows: Any = (), **values: Any) -> None:
        super().__init__(**values)
        self.total = sum(map(sum, rows))


def test_arguments_of_a_constructor_of_its_own_may_change_later() -> None:
    rows = [[1.0, 2.0], [3.0]]
    part = Table(rows)
    rows[0][0] = 100.0
    rows.append([5.0])
    part.gain = 2.0
    assert part.total == 6.0


def test_what_a_co_simulation_was_given_may_change_later() -> None:
    starts, tolerances, points = {"a.f.u": 3.0}, {"a": 1e-4}, [[0.0, 1.0], [1.0, 2.0]]
    inputs = TimedInputs({"u": points}, "linear")
    made = coupling(starts=starts, tolerances=tolerances)
    starts["a.f.u"], tolerances["a"], points[1][1] = 9.0, 1.0, 9.0
    assert made.simulate(1.0)["b.f.y"][-1] == 2.0 * 7.0 + 1.0
    again = pickle.loads(pickle.dumps(made))
    assert again.tolerances["a"] == made.tolerances["a"] == 1e-4
    assert again.simulate(1.0)["b.f.y"][-1] == 15.0
    inputs.step(0.0, 0.5)
    assert inputs.get(["u"]) == [1.5]


def test_a_copy_of_a_co_simulation_has_start_values_of_its_own() -> None:
    made = coupling()
    twin = copy.copy(made)
    twin.set_start("a.f.u", 9.0)
    assert made.simulate(1.0)["b.f.y"][-1] == 15.0
    assert twin.simulate(1.0)["b.f.y"][-1] == 2.0 * 19.0 + 1.0
    assert pickle.loads(pickle.dumps(twin)).simulate(1.0)["b.f.y"][-1] == 39.0


def test_measured_data_may_change_later() -> None:
    measured = model_of(x=(2.0, 1.0)).simulate(until=1.0)
    made = studies.Calibration(model_of(), {"f.x[0]": (0.5, 3.0)}, measured, ["f.x[0]"])
    measured.time[:] *= 2.0
    measured.signals["f.x"][:] = 0.0
    assert made.fit().values["f.x[0]"] == pytest.approx(2.0, abs=1e-6)
    assert pickle.loads(pickle.dumps(made)).fit().values == made.fit().values


def test_tolerances_of_an_integrator_may_change_later() -> None:
    tolerances = {"z": 1e-3}
    integrator = cosim.registry().get("integrator", "integrators.dormand_prince")(
        absolute_tolerance=tolerances
    )
    tolerances["z"] = 1.0
    assert integrator.absolute_tolerance == {"z": 1e-3}
    with pytest.raises(TypeError):
        integrator.absolute_tolerance["z"] = 1.0


# values without effect


def chain(**values: Any) -> cosim.Model:
    model = model_of()
    model.add(Follower, "g", **values)
    model.connect("f.y", "g.u")
    return model


def test_a_value_of_a_connected_input_is_refused() -> None:
    assert chain().simulate(until=0.1)["g.y"][-1] == 3.0
    for model in (chain(u=4.0), chain(u=0.0)):
        with pytest.raises(
            cosim.ModelError, match=r"g\.u: its value, .*, has no effect.*connected to 'f\.y'"
        ):
            model.build()
    model = chain()
    model["g"].u = 4.0
    with pytest.raises(cosim.ModelError, match=r"g\.u: its value, 4\.0, has no effect"):
        model.build()


@pytest.mark.parametrize("name", ["relative_tolerance", "absolute_tolerance"])
def test_tolerances_beside_fixed_steps(name: str) -> None:
    settings: dict[str, Any] = {"until": 0.5, "fixed_step": 0.1, name: 1e-3}
    with pytest.raises(cosim.ModelError, match=rf"{name} has no effect beside fixed_step"):
        model_of().simulate(integrator="runge_kutta_4", **settings)
    assert model_of().simulate(integrator="implicit_euler", **settings).time[-1] == 0.5


def test_a_solver_that_does_not_exist_is_refused_where_none_is_needed() -> None:
    model = cosim.Model("m", dynamics="svall")
    model.add(Follower, "f")
    with pytest.raises(cosim.LookUpError, match=r"no dynamics solver 'svall'"):
        model.build()
    model.settings["dynamics"] = "sval"
    assert model.build().ny == 2


@pytest.mark.parametrize("wrong", ["f.y -> g.u", ("f.y",), 3, None])
def test_what_is_no_connection(wrong: Any) -> None:
    model = chain()
    model.connections.append(wrong)
    with pytest.raises(cosim.ModelError, match=r"is not a connection: write model\.connect"):
        model.build()
    model.connections[-1:] = []
    assert model.build().ny == 4
