"""Changes of attributes and containers of the objects that users make take effect or are refused.

The first tests try every public attribute of every such object. The others change what was passed to a
constructor afterwards, which must not change the object.
"""

from __future__ import annotations

import copy
import enum
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

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


def two_followers(u: float) -> float:
    """The output of the second of two coupled followers, from the input of the first one."""
    return 2.0 * (2.0 * u + 1.0) + 1.0


def calibration() -> studies.Calibration:
    measured = model_of(x=(2.0, 1.0)).simulate(until=1.0)
    return studies.Calibration(model_of(), {"f.x[0]": (0.5, 3.0)}, measured, ["f.x[0]"])


class Case(NamedTuple):
    """An object that users make.

    Attributes
    ----------
    make : callable
        Makes a new one.
    settable : set of str
        The attributes that can be set.
    live : set of str
        The containers whose changes take effect.
    """

    make: Callable[[], Any]
    settable: set[str] = set()
    live: set[str] = set()


MODEL_SETTABLE = {"connections", "folder", "name", "parts", "settings", "simulation", "starts"}
MODEL_LIVE = {"connections", "parts", "settings", "simulation", "starts"}
"""Containers of a model, from which the next system is built."""
STATE_OF_STEPS = {"accuracy", "carried", "integrator_memory", "is_checked", "jumped"}
"""What integrators and the Step store in a State; some of it can be set only while a run is under way."""
STATE_MEMORY = {"arrays", "integrator_memory"}
"""The memory of a State itself, for callers that write to it and then call `invalidate`."""
CASES = {
    "model": Case(model_of, MODEL_SETTABLE, MODEL_LIVE),
    "multibody": Case(mechanism, MODEL_SETTABLE | {"gravity", "remarks"}, MODEL_LIVE | {"remarks"}),
    "part": Case(lambda: model_of()["f"], {"gain", "offsets", "u", "x"}),
    "body": Case(lambda: mechanism()["b"], {"center_of_mass", "feels_gravity", "inertia", "mass"}),
    "system": Case(lambda: model_of().build()),
    "state": Case(lambda: model_of().build().default_state(), STATE_OF_STEPS, STATE_MEMORY),
    "simulator": Case(
        lambda: cosim.Simulator(model_of().build()),
        settable={"final_time", "target_realtime_rate"},
        live={"findings"},
    ),
    "integrator": Case(lambda: cosim.Simulator(model_of().build()).integrator),
    "tableau": Case(lambda: ButcherTableau(order=1, a=[[]], b=[1.0], c=[0.0])),
    "ensemble": Case(lambda: cosim.Ensemble(model_of().build(), until=1.0)),
    "study": Case(lambda: studies.Study(model_of(), {"f.gain": "1..3:3"}, ["last(f.y)"], until=1.0)),
    "optimization": Case(
        lambda: studies.Optimization(model_of(), {"f.gain": (1, 3)}, "last(f.y)", until=1.0)
    ),
    "calibration": Case(calibration),
    "co-simulation": Case(coupling, {"until"}),
    "algorithm": Case(lambda: coupling().algorithm),
    "participant": Case(lambda: SystemParticipant(model_of())),
    "timed inputs": Case(lambda: TimedInputs({"u": [[0.0, 1.0], [1.0, 2.0]]})),
    "checkpoint": Case(lambda: cosim.Checkpoint(Path("run.checkpoint"))),
    "runner": Case(lambda: cosim.Ensemble(model_of().build(), until=1.0).runner(["f.gain"])),
    "shape": Case(lambda: Sphere(radius=1.0)),
}
CLASS_ATTRIBUTES = (
    "arguments",
    "attribute_hints",
    "conditions",
    "declarations",
    "handlers",
    "kernels",
    "kink_functions",
    "kit_values",
    "reading_hints",
    "signals",
    "tried_with",
)
"""Containers that belong to a class, not to an object."""
NEW_EACH_TIME = ("warnings", "events", "figures", "objectives")
"""Reports: reading one returns a new container."""
INTERNAL = {
    "system": {
        "alike",
        "blocks",
        "checks",
        "handler_blocks",
        "handler_stage",
        "inner_blocks",
        "nominal_sizes",
        "options_in_model_exchange",
        "smoothness",
        "swaps",
        "update_ranges",
    }
}
"""By case, undocumented containers: lists of the schedule."""


def public_values(instance: Any) -> dict[str, Any]:
    """The public attributes of an object that can be read, without methods."""
    values = {}
    for name in dir(instance):
        if name.startswith("_"):
            continue
        try:
            value = getattr(instance, name)
        except (AttributeError, cosim.CosimError, RuntimeError):
            continue
        if not inspect.isroutine(value):
            values[name] = value
    return values


@pytest.mark.parametrize("kind", CASES)
def test_an_attribute_is_settable_or_refused(kind: str) -> None:
    settable = CASES[kind].settable
    instance = CASES[kind].make()
    accepted = set()
    for name, value in public_values(instance).items():
        try:
            setattr(instance, name, copy.copy(value))
        except (AttributeError, cosim.CosimError, TypeError):
            continue
        accepted.add(name)
    assert accepted <= settable
    assert settable <= accepted | STATE_OF_STEPS


@pytest.mark.parametrize("kind", CASES)
def test_an_unknown_name_is_refused(kind: str) -> None:
    instance = CASES[kind].make()
    with pytest.raises(AttributeError):
        instance.nothing_of_this_name = 1
    assert not hasattr(instance, "nothing_of_this_name")


@pytest.mark.parametrize("kind", [kind for kind, case in CASES.items() if case.settable])
def test_the_error_of_a_misspelt_name_contains_the_nearest(kind: str) -> None:
    for name in sorted(CASES[kind].settable - STATE_OF_STEPS):
        instance = CASES[kind].make()
        # without its second letter; short names, which would resemble too many others, twice
        misspelt = name[:1] + name[2:] if len(name) > 3 else f"{name}_{name}"
        with pytest.raises(AttributeNameError, match=rf"Nearest: {name}|There are: .*{name}"):
            setattr(instance, misspelt, 1.0)


@pytest.mark.parametrize("kind", CASES)
def test_containers_are_read_only_or_live(kind: str) -> None:
    changeable = {*CASES[kind].live, *CLASS_ATTRIBUTES, *NEW_EACH_TIME, *INTERNAL.get(kind, ())}
    for name, value in public_values(CASES[kind].make()).items():
        if name in changeable:
            continue
        assert not isinstance(value, (list, dict, set, bytearray)), name
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, name


def test_reports_are_new_each_time() -> None:
    for case in CASES.values():
        instance = case.make()
        for name in NEW_EACH_TIME:
            if isinstance(getattr(instance, name, None), (list, dict)):
                getattr(instance, name).clear()
                assert getattr(instance, name) is not getattr(instance, name)


def test_every_public_class_is_closed() -> None:
    """It refuses unknown attributes, is frozen, or is a kind of tuple, enumeration or error."""
    for module in (cosim, cosim_fmu, studies):
        for name in dir(module):
            cls = getattr(module, name)
            if name.startswith("_") or not inspect.isclass(cls) or cls is cosim.Register:
                continue
            frozen = getattr(cls, "__dataclass_params__", None)
            assert issubclass(cls, (cosim.kit.ClosedAttributes, BaseException, enum.Enum, tuple)) or (
                frozen is not None and frozen.frozen
            ), name


# containers that are passed, and changed later


def test_values_of_parts_are_copied() -> None:
    array, start = np.array([1.0, 2.0, 3.0]), [4.0, 5.0]
    model = model_of(offsets=array)
    model.set_start("f.x", start)
    array[0], start[0] = 9.0, 9.0
    model["f"].gain = 3.0  # constructs the part again, from the arguments that it has stored
    state = model.build().default_state()
    assert (state["f.offsets"].tolist(), state["f.x"].tolist()) == ([1.0, 2.0, 3.0], [4.0, 5.0])
    part = Follower()
    part.offsets = array
    array[0] = 7.0
    part.gain = 4.0
    assert part.offsets.tolist() == [9.0, 2.0, 3.0]


class Table(cosim.Component):
    """A component whose constructor has a parameter that is not declared."""

    gain = cosim.parameter(default=1.0)

    def __init__(self, rows: Any = (), **values: Any) -> None:
        super().__init__(**values)
        self.total = sum(map(sum, rows))


def test_arguments_of_a_constructor_are_copied() -> None:
    rows = [[1.0, 2.0], [3.0]]
    part = Table(rows)
    rows[0][0] = 100.0
    rows.append([5.0])
    part.gain = 2.0  # calls the constructor again
    assert part.total == 6.0


def test_arguments_of_a_co_simulation_are_copied() -> None:
    starts, tolerances, points = {"a.f.u": 3.0}, {"a": 1e-4}, [[0.0, 1.0], [1.0, 2.0]]
    inputs = TimedInputs({"u": points}, "linear")
    original = coupling(starts=starts, tolerances=tolerances)
    starts["a.f.u"], tolerances["a"], points[1][1] = 9.0, 1.0, 9.0
    pickled = pickle.loads(pickle.dumps(original))
    for co_simulation in (original, pickled):
        assert co_simulation.tolerances["a"] == 1e-4
        assert co_simulation.simulate(1.0)["b.f.y"][-1] == two_followers(3.0)
    inputs.step(0.0, 0.5)
    assert inputs.get(["u"]) == [1.5]


def test_copies_of_a_co_simulation_have_separate_start_values() -> None:
    original = coupling()
    copied = copy.copy(original)
    copied.set_start("a.f.u", 9.0)
    assert original.simulate(1.0)["b.f.y"][-1] == two_followers(3.0)
    for co_simulation in (copied, pickle.loads(pickle.dumps(copied))):
        assert co_simulation.simulate(1.0)["b.f.y"][-1] == two_followers(9.0)


def test_measured_data_are_copied() -> None:
    measured = model_of(x=(2.0, 1.0)).simulate(until=1.0)
    subject = studies.Calibration(model_of(), {"f.x[0]": (0.5, 3.0)}, measured, ["f.x[0]"])
    measured.time[:] *= 2.0
    measured.signals["f.x"][:] = 0.0
    assert subject.fit().values["f.x[0]"] == pytest.approx(2.0, abs=1e-6)
    assert pickle.loads(pickle.dumps(subject)).fit().values == subject.fit().values


def test_tolerances_of_an_integrator_are_copied() -> None:
    tolerances = {"z": 1e-3}
    integrator = cosim.registry().get("integrator", "integrators.dormand_prince")(
        absolute_tolerance=tolerances
    )
    tolerances["z"] = 1.0
    assert integrator.absolute_tolerance == {"z": 1e-3}
    with pytest.raises(TypeError):
        integrator.absolute_tolerance["z"] = 1.0
