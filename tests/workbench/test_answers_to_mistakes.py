"""Mistakes in scripts of people who come from other tools, each answered in one line with the remedy."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cart_models import cart_model, cart_result

import cosim
import cosim_fmu
from cosim.kit import run_source
from cosim_mechanics import Multibody

Act = Callable[[Multibody], Any]


MISTAKES: dict[str, tuple[Act, str]] = {
    "no name": (
        lambda m: m.add("mechanics.gravity"),
        "Model.add(): name is missing: write add(kind, name, …)",
    ),  # type: ignore[call-arg]
    "a part without a name": (lambda m: m.add(cosim.Component), "name is missing: write add(kind, name, …)"),  # type: ignore[call-arg]
    "name and kind exchanged": (
        lambda m: m.add("rubber", "mechanics.linear_bushing"),
        "the kind comes first, then the name: write add('mechanics.linear_bushing', 'rubber', …)",
    ),
    "no child": (
        lambda m: m.joint("pin"),
        "Multibody.joint(): child is missing: write joint(kind, child, …)",
    ),  # type: ignore[call-arg]
    "no name of a body": (lambda m: m.body(mass=1.0), "body(): name is missing: write body(name, …)"),  # type: ignore[call-arg]
    "a name that is given twice": (
        lambda m: m.joint("pin", "cart", child="cart"),  # type: ignore[misc]
        "joint(): child is given twice: once without its name, at place 2",
    ),
    "a model without a name": (lambda m: cosim.Model(), "Model(): name is missing: write Model(name, …)"),  # type: ignore[call-arg]
    "too many arguments": (
        lambda m: m.set_start("cart.z", 1.0, "m"),  # type: ignore[call-arg]
        "Model.set_start(): takes 2 arguments without names (path, value), given are 3",
    ),
    "a value without its name": (
        lambda m: type(m.parts["cart"])(3.0),  # type: ignore[call-arg]
        "RigidBody(): takes no argument without its name, given are 1: write RigidBody(mass=…",
    ),
    "a body of a plain model": (
        lambda m: cosim.Model("m").body("b"),  # type: ignore[attr-defined]
        "Model has no attribute 'body': make a Multibody: `from cosim_mechanics import Multibody`",
    ),
    "a model file by another name": (lambda m: cosim.load_model("m.toml"), "Model.from_file('model.toml')"),
    "a run by another name": (lambda m: cosim.run(m), "no 'run': write `model.simulate(until=2.0)`"),
    "a plugin below cosim": (lambda m: cosim.mechanics, "write `import cosim_mechanics`"),
    "a file without its name": (lambda m: cart_result().to_csv(), "is missing: write to_csv(path)"),  # type: ignore[call-arg]
    "run": (lambda m: m.run(), "Multibody has no attribute 'run': call simulate(until=…)"),  # type: ignore[attr-defined]
    "a part as an attribute": (lambda m: m.cart, "it is a part: write model['cart']"),  # type: ignore[attr-defined]
    "a misspelt method": (lambda m: m.simulat(1.0), "has no attribute 'simulat': nearest: simulat"),  # type: ignore[attr-defined]
    "an unknown part": (lambda m: m["card"], "no part 'card'. Nearest: cart."),
    "an unknown part among the parts": (lambda m: m.parts["card"], "no part 'card'. Nearest: cart."),
    "what a part computes": (
        lambda m: m["cart"].z,  # type: ignore[attr-defined]
        "RigidBody has no attribute 'z': it is computed: read it from a result, result['cart.z']",
    ),
    "a misspelt parameter of a part": (lambda m: m["cart"].mas, "has no attribute 'mas': nearest: mass"),  # type: ignore[attr-defined]
    "a system that runs": (lambda m: m.build().simulate(until=1), "write cosim.simulate(system, until=…)"),  # type: ignore[attr-defined]
    "a variable as an attribute": (
        lambda m: m.build().default_state().mass,  # type: ignore[attr-defined]
        "State has no attribute 'mass': write state['cart.mass']",
    ),
    "a simulator that runs": (
        lambda m: cosim.Simulator(m.build()).run(1.0),  # type: ignore[attr-defined]
        "Simulator has no attribute 'run': call advance_to(time)",
    ),
    "the time of a simulator": (
        lambda m: cosim.Simulator(m.build()).time,  # type: ignore[attr-defined]
        "write simulator.state.time",
    ),
    "a class for a system": (
        lambda m: cosim.simulate(cosim.Component, until=1.0),  # type: ignore[arg-type]
        "needs a System, not the class Component",
    ),
    "None for a value with a default": (
        lambda m: m.body("b", mass=1.0, inertia=(1, 1, 1), center_of_mass=None),
        "b.center_of_mass: center_of_mass is None, needs ",
    ),
    "t": (lambda m: cart_result().t, "Result has no attribute 't': write result.time"),  # type: ignore[attr-defined]
    "t as a signal": (lambda m: cart_result()["t"], "The time is result.time."),
    "y": (lambda m: cart_result().y, "write result['part.signal'], or to_numpy()"),  # type: ignore[attr-defined]
    "a signal as an attribute": (
        lambda m: cart_result().z,
        "Result has no attribute 'z': write result['cart.z']",
    ),  # type: ignore[attr-defined]
    "a table": (lambda m: cart_result().to_df(), "write to_pandas()"),  # type: ignore[attr-defined]
    "save": (lambda m: cart_result().save("run.csv"), "write to_csv('run.csv') or to_parquet"),  # type: ignore[attr-defined]
    "a spreadsheet": (lambda m: cart_result().to_excel(), "write to_pandas().to_excel('run.xlsx')"),  # type: ignore[attr-defined]
    "a spreadsheet by its ending": (lambda m: cart_result().to_csv("run.xlsx"), "end in .csv: write run.csv"),
    "several signals": (
        lambda m: cart_result()["cart.z", "joint.q"],  # type: ignore[index]
        "Several: result.select(['cart.z', 'joint.q']).",
    ),
    "a list of signals": (lambda m: cart_result()[["cart.z"]], "Several: result.select(['cart.z'])."),  # type: ignore[index]
    "a signal that was not recorded": (
        lambda m: cart_result()["cart.x"],
        "no signal in this result 'cart.x'. Nearest: cart.z. Only recorded signals are here: ",
    ),
    "signals in a list": (lambda m: cosim.Result([0.0], [1.0]), "signals: is [1.0], needs a mapping"),  # type: ignore[arg-type]
    "participants in a list": (
        lambda m: cosim_fmu.CoSimulation([m.build()], []),  # type: ignore[arg-type]
        "needs a mapping: CoSimulation({'plant': 'plant.fmu', …}, […])",
    ),
    "no participants": (lambda m: cosim_fmu.CoSimulation([], []), "participants: is [], needs a mapping"),  # type: ignore[arg-type]
    "nothing to connect": (
        lambda m: cosim_fmu.CoSimulation(),
        "CoSimulation.__init__(): participants is missing",
    ),  # type: ignore[call-arg]
    "many runs as a list": (
        lambda m: m.simulate_many([{"cart.mass": 1.0}]),  # type: ignore[arg-type]
        "values: is [{'cart.mass': 1.0}], needs a mapping",
    ),
    "an option of a co-simulation in its run": (
        lambda m: cosim_fmu.CoSimulation({"a": m.build()}, []).simulate(1.0, step=0.1),  # type: ignore[call-arg]
        "(given: step=0.1). It is an option of CoSimulation: write CoSimulation(…, step=0.1).",
    ),
    "an ensemble of a model": (
        lambda m: cosim.Ensemble(m, until=1.0),
        "Ensemble: needs a System, not a Multibody: write Ensemble(model.build(), …)",
    ),
    "values of a part that is made": (
        lambda m: m.add(cosim.registry().get("component", "measures.constant")(value=1.0), "c", value=2.0),
        "c.value: this Constant already has its values: write add(Constant, 'c', value=…)",
    ),
    "a table in place of a file": (
        lambda m: m.add("signals.time_table", "drive", file=np.eye(2)),
        "drive.file: file is array([[1., 0.], [0., 1.]]), column '': both need a text; of a table in memory "
        "give columns, times=table['time'], samples=table['force']",
    ),
    "a matrix in place of a pose": (
        lambda m: m.joint("pin", child="cart", name="pin", frame_on_parent=np.eye(4)),
        "array([[1., 0., 0., 0.], [0., 1., 0., 0.], [0., 0., 1., 0... is not a pose",
    ),
    "a table among the options": (
        lambda m: m.simulate(until=1.0, inputs=np.eye(2)),
        "no option 'inputs' (given: inputs=array([[1., 0.], [0., 1.]]))",
    ),
    "at": (
        lambda m: cart_result().at(1.0),  # type: ignore[attr-defined]
        "Result has no attribute 'at': there are animate, columns, ",
    ),
    "Multibody": (lambda m: cosim.Multibody, "write `from cosim_mechanics import Multibody`"),  # type: ignore[attr-defined]
    "an integrator by its class": (
        lambda m: cosim.RungeKuttaMerson,  # type: ignore[attr-defined]
        "it is registered: write 'integrators.runge_kutta_merson'",
    ),
    "a misspelt name": (lambda m: cosim.Compnent, "module 'cosim' has no 'Compnent': nearest Component"),  # type: ignore[attr-defined]
    "FMU": (lambda m: cosim_fmu.Fmu, "module 'cosim_fmu' has no 'Fmu': nearest FmuParticipant"),  # type: ignore[attr-defined]
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered_in_one_line(mistake: str) -> None:
    act, answer = MISTAKES[mistake]
    with pytest.raises((cosim.CosimError, AttributeError)) as raised:
        act(cart_model())
    assert answer in str(raised.value) and len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "package"),
    [("Multibody", "cosim_mechanics"), ("CoSimulation", "cosim_fmu"), ("ForceElement", "cosim_mechanics")],
)
def test_an_import_from_the_wrong_package(name: str, package: str) -> None:
    with pytest.raises(ImportError) as raised:
        run_source(f"from cosim import {name}")
    assert str(raised.value) == f"module 'cosim' has no '{name}': write `from {package} import {name}`"


def test_names_that_are_only_tried_stay_attribute_errors() -> None:
    assert not hasattr(cosim, "Multibody") and not hasattr(cosim, "_private")
    assert getattr(cart_model(), "nothing", None) is None
    with pytest.raises(AttributeError, match=r"^'Multibody' object has no attribute '_nothing'$"):
        _ = cart_model()._nothing  # type: ignore[attr-defined]


def test_an_attribute_error_inside_a_property_is_not_hidden() -> None:
    class Odd(cosim.Model):
        @property
        def weight(self) -> float:
            return self.parts.weight  # type: ignore[attr-defined,no-any-return]

    with pytest.raises(AttributeError, match="'Parts'.*attribute 'weight'"):
        _ = Odd("odd").weight


def test_a_missing_attribute_is_pickled() -> None:
    with pytest.raises(AttributeError) as raised:
        _ = cart_result().t  # type: ignore[attr-defined]
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
