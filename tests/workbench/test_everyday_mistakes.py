"""Everyday mistakes in scripts and files, each answered by one sentence with its place and what to write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cart_models import cart_model
from workbench_tools import write_model

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation
from cosim_mechanics import Multibody

Act = Callable[[Multibody], Any]


MISTAKES: dict[str, tuple[Act, str]] = {
    "one text for both ends": (
        lambda m: m.connect("cart.x -> push.effort"),
        'a connection has two ends: write connect("cart.x", "push.effort")',
    ),
    "a comma in a number": (
        lambda m: m.measure("measures.constant", "c", value="1,5 N"),
        "c.value: '1,5 N': write a decimal point: '1.5 N'.",
    ),
    "what others call an integrator": (
        lambda m: m.simulate(until=0.1, integrator="RK45"),
        "no integrator 'RK45'. Nearest: integrators.dormand_prince.",
    ),
    "what others call a joint": (
        lambda m: m.joint("revolute", child=m.body("c", mass=1, inertia=(1, 1, 1))),
        "Nearest: mechanics.pin.",
    ),
    "no integrator at all": (
        lambda m: m.simulate(until=0.1, integrator=5),
        "integrator: is 5, needs an id, such as 'integrators.runge_kutta_merson', or an Integrator",
    ),
    "an accuracy in words": (
        lambda m: m.simulate(until=0.1, accuracy="high"),
        "accuracy: is 'high', needs a number, such as 1e-6",
    ),
    "a progress that is not a function": (
        lambda m: m.simulate(until=0.1, progress=5),  # type: ignore[arg-type]
        "progress: is 5, needs a function: it is called with the time, s",
    ),
    "a progress of many runs that is not a function": (
        lambda m: m.simulate_many({"cart.mass": [1.0]}, 0.1, progress=5),  # type: ignore[arg-type]
        "progress: is 5, needs a function: it is called with how many runs have ended, and how many",
    ),
    "a system by hand": (
        lambda m: cosim.System(m),  # type: ignore[arg-type]
        "System: is made by a model: write model.build()",
    ),
    "a verification of a system": (
        lambda m: cosim.verify(m.build()),  # type: ignore[arg-type]
        "cosim.verify: needs a Model, not a System",
    ),
    "an assembly of a model": (
        lambda m: cosim.assemble(m, m.build().default_state()),  # type: ignore[arg-type]
        "cosim.assemble: needs a System, not a Multibody: write cosim.assemble(model.build(), …)",
    ),
    "two masses of one body": (
        lambda m: m.body("c", mass=np.array([1.0, 2.0]), inertia=(1, 1, 1)),
        "c.mass: mass is array([1., 2.]), needs a number [kg]",
    ),
    "a signal by number": (
        lambda m: m.simulate(until=0.1, signals=[5]),  # type: ignore[list-item]
        "signals: 5 is not text, needs a list of paths or patterns: ['engine.z', 'mount.*']",
    ),
    "a number of signals": (
        lambda m: cosim.simulate(m.build(), until=0.1, signals=5),  # type: ignore[arg-type]
        "signals: is 5, needs a list of paths or patterns: ['engine.z', 'mount.*']",
    ),
    "signals of many runs by number": (
        lambda m: m.simulate_many({"cart.mass": [1.0]}, 0.1, signals=[5]),
        "signals: 5 is not text, needs a list of paths or patterns",
    ),
    "an FMU with the ending of an archive": (
        lambda m: m.export_fmu("no such folder/x.zip", native=False),
        "x.zip: the name of an FMU ends in .fmu",
    ),
    "a native FMU with another ending": (
        lambda m: m.export_fmu("no such folder/x.zip", native=None),
        "x.zip: the name of an FMU ends in .fmu",
    ),
    "a number of connections": (
        lambda m: CoSimulation({"m": m.build()}, 5),  # type: ignore[arg-type]
        'connections: is 5, needs a list: ["plant.felt -> controller.speed"]',
    ),
    "one connection in place of a list": (
        lambda m: CoSimulation({"m": m.build()}, "plant.felt -> controller.speed"),
        "connections: is 'plant.felt -> controller.speed', needs a list: [",
    ),
    "a progress of a co-simulation that is not a function": (
        lambda m: CoSimulation({"m": m.build()}).simulate(0.1, progress=5),  # type: ignore[arg-type]
        "progress: is 5, needs a function: it is called with the time, s",
    ),
    "a model in place of its system": (
        lambda m: cosim.Simulator(m),
        "Simulator: needs a System, not a Multibody: write Simulator(model.build(), …)",
    ),
    "a model for the function": (
        lambda m: cosim.simulate(m, until=1.0),
        "needs a System, not a Multibody: write cosim.simulate(model.build(), …)",
    ),
    "a connection to a number": (
        lambda m: m.connect("cart.x", 5),  # type: ignore[arg-type]
        "connect: an end is 5, needs a path such as 'part.input'",
    ),
    "a name that is a number": (
        lambda m: m.body(5, mass=1, inertia=(1, 1, 1)),  # type: ignore[arg-type]
        "name: is 5, needs text",
    ),
    "a stage by its name": (
        lambda m: m.build().default_state().realize("position"),  # type: ignore[arg-type]
        "a stage is needed, not 'position': one of Stage.EMPTY",
    ),
    "an end in words": (
        lambda m: cosim.Simulator(m.build(), accuracy=1e-6).advance_to("the end"),
        "boundary_time: is 'the end', needs a time",
    ),
    "a time in words": (
        lambda m: m.build().default_state().set_time("now"),  # type: ignore[arg-type]
        "time is now, needs a finite number of seconds",
    ),
    "a result by number": (lambda m: m.simulate(until=0.01)[0], "Signals have names: result['…']."),
    "a model without a name": (lambda m: cosim.Model(5), "model: its name is 5, needs text"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered_in_one_line(mistake: str) -> None:
    act, answer = MISTAKES[mistake]
    with pytest.raises(cosim.CosimError) as raised:
        act(cart_model())
    assert answer in str(raised.value) and len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('mass = "120 kg"', "mass = 120 kg", ':5: no valid TOML: .*have quotes: mass = "120 kg"'),
        ('joint = "free"', "joint = free", ':8: no valid TOML: .*have quotes: joint = "free"'),
        ('mass = "120 kg"', "mass = 120.5.6", r":5: no valid TOML: [^.]*\(column 13\)\n"),
    ],
)
def test_text_without_quotes(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(cosim.ModelError, match=message):
        cosim.Model.from_file(write_model(tmp_path, (old, new)))


def test_a_model_where_a_scenario_is_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_model(tmp_path)
    assert main(["cosimulate", str(file)]) == 2
    expected = f"{file}: is a model, not a scenario: run it with `cosim run`\n1 problem, nothing was run.\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ('[[connections]]\nfrom = "drive"\nto = "push.effort"\n', "from: no part 'drive'"),
        ('[[connections]]\nfrom = "felt"\nto = "shove.effort"\n', "to: no part 'shove'"),
        ('[simulation]\noutput = { signals = ["energy.*"] }\n', "gravity is True, needs a number"),
        ("", "damping has shape (1, 1), needs one number"),
    ],
)
def test_one_fault_is_one_problem(tmp_path: Path, tables: str, message: str) -> None:
    text = (
        f'[model]\nname = "m"\ngravity = {"true" if "gravity" in message else "[0, 0, -9.81]"}\n'
        '[bodies.cart]\nmass = 1\ninertia = [1, 1, 1]\njoint = "slider"\n'
        '[elements.push]\ntype = "actuator"\ncoordinate = "cart_joint"\n'
        f'[elements.rub]\ntype = "coordinate_damper"\ncoordinate = "cart_joint"\n'
        f"damping = {'[[1.0]]' if 'damping' in message else 1.0}\n"
        f'[measures.felt]\ntype = "constant"\nvalue = "1 N"\n{tables}'
    )
    path = tmp_path / "m.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(cosim.ModelError) as raised:
        cosim.Model.from_file(path)
    assert len(raised.value.problems) == 1 and message in raised.value.problems[0].text
