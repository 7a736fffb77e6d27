"""Mistakes that people make every day, each answered by one sentence with its place and what to write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from workbench_tools import write_model

import cosim
from cosim.cli import main
from cosim.kit import run_source
from cosim_fmu import CoSimulation
from cosim_mechanics import Multibody

Act = Callable[[Multibody], Any]


def model() -> Multibody:
    made = Multibody("m")
    made.joint("slider", child=made.body("cart", mass=2.0, inertia=(1, 1, 1)))
    return made


IN_PYTHON: dict[str, tuple[Act, str]] = {
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


@pytest.mark.parametrize("mistake", IN_PYTHON)
def test_in_python(mistake: str) -> None:
    act, said = IN_PYTHON[mistake]
    with pytest.raises(cosim.CosimError) as raised:
        act(model())
    assert said in str(raised.value) and len(str(raised.value).splitlines()) == 1


AUTHORS = {
    "bounds the wrong way round": (
        "    k = cosim.parameter(unit='N/m', minimum=2, maximum=1)\n",
        ":4: minimum 2 is above maximum 1",
    ),
    "a default with another unit": (
        "    k = cosim.parameter(unit='N/m', default='5 mm')\n",
        ":4: default: '5 mm': mm (m) cannot be converted to N/m",
    ),
    "a publish that writes": (
        "    n = cosim.discrete(dtype=int)\n"
        "    @cosim.every(0.1, does='publish')\n"
        "    def tick(n, n_next):\n"
        "        n_next[0] = n + 1\n",
        ':5: Wrong.tick: a publish changes nothing, and n_next is written: declare it with does="discrete"',
    ),
    "a method that raises": (
        "    x = cosim.auxiliary_state()\n    def derivatives(self, x, x_dot):\n        x_dot[0] = {}['a']\n",
        "wrong: derivatives: KeyError: 'a' (<source",
    ),
    "no super().__init__": (
        "    x = cosim.auxiliary_state()\n"
        "    def __init__(self, **values):\n"
        "        pass\n"
        "    def derivatives(self, x, x_dot):\n"
        "        x_dot[0] = 1.0\n",
        "wrong: Wrong.__init__ has to begin with super().__init__(**values)",
    ),
}


def test_signals_may_come_from_an_iterator() -> None:
    result = model().simulate(until=0.1, signals=(path for path in ["cart.z"]))
    assert list(result.signals) == ["cart.z"]


@pytest.mark.parametrize("mistake", AUTHORS)
def test_of_authors(mistake: str) -> None:
    body, said = AUTHORS[mistake]
    with pytest.raises(cosim.CosimError) as raised:
        space = run_source(f"import cosim\nclass Wrong(cosim.Component):\n    'Wrong.'\n{body}")
        made = cosim.Model("m")
        made.add(space["Wrong"], "wrong")
        made.simulate(until=0.1)
    assert said in str(raised.value) and len(str(raised.value).splitlines()) == 1


def test_the_line_of_the_method_that_raises_is_told() -> None:
    with pytest.raises(cosim.SimulationError, match=r"\(<source \d+>:6\)$"):
        body, _ = AUTHORS["a method that raises"]
        space = run_source(f"import cosim\nclass Wrong(cosim.Component):\n    'Wrong.'\n{body}")
        made = cosim.Model("m")
        made.add(space["Wrong"], "wrong")
        made.simulate(until=0.1)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('mass = "120 kg"', "mass = 120 kg", ':5: no valid TOML: .*have quotes: mass = "120 kg"'),
        ('joint = "free"', "joint = free", ':8: no valid TOML: .*have quotes: joint = "free"'),
        ('mass = "120 kg"', "mass = 120.5.6", r":5: no valid TOML: [^.]*\(column 13\)\n"),
    ],
)
def test_text_without_quotes(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(cosim.ModelError, match=said):
        cosim.Model.from_file(write_model(tmp_path, (old, new)))


def test_other_names_mean_one_thing() -> None:
    """Two classes of one kind that claim one name would make the answer a guess."""
    for kind in ("joint", "integrator"):
        claimed = [word for e in cosim.registry().entries(kind) for word in getattr(e.cls, "known_as", ())]
        assert claimed and len(claimed) == len(set(claimed))


def test_a_model_where_a_scenario_is_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_model(tmp_path)
    assert main(["cosimulate", str(file)]) == 2
    said = f"{file}: is a model, not a scenario: run it with `cosim run`\n1 problem, nothing was run.\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('[[connections]]\nfrom = "drive"\nto = "push.effort"\n', "from: no part 'drive'"),
        ('[[connections]]\nfrom = "felt"\nto = "shove.effort"\n', "to: no part 'shove'"),
        ('[simulation]\noutput = { signals = ["energy.*"] }\n', "gravity is True, needs a number"),
        ("", "damping has shape (1, 1), needs one number"),
    ],
)
def test_one_fault_is_told_once(tmp_path: Path, more: str, said: str) -> None:
    text = (
        f'[model]\nname = "m"\ngravity = {"true" if "gravity" in said else "[0, 0, -9.81]"}\n'
        '[bodies.cart]\nmass = 1\ninertia = [1, 1, 1]\njoint = "slider"\n'
        '[elements.push]\ntype = "actuator"\ncoordinate = "cart_joint"\n'
        f'[elements.rub]\ntype = "coordinate_damper"\ncoordinate = "cart_joint"\n'
        f"damping = {'[[1.0]]' if 'damping' in said else 1.0}\n"
        f'[measures.felt]\ntype = "constant"\nvalue = "1 N"\n{more}'
    )
    path = tmp_path / "m.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(cosim.ModelError) as raised:
        cosim.Model.from_file(path)
    assert len(raised.value.problems) == 1 and said in raised.value.problems[0].text


def test_the_last_word_of_an_id_is_enough_in_python() -> None:
    made = model()
    made.add("actuator", "push", coordinate="cart_joint", effort=1.0)
    result = made.simulate(until=0.1, integrator="dormand_prince")
    assert result["cart.x"][-1] == pytest.approx(0.5 * 0.5 * 0.01)
    assert made.to_dict()["parts"][-1]["type"] == "mechanics.actuator"


def test_the_end_of_many_runs_is_given_as_that_of_one() -> None:
    found = model().simulate_many({"cart.mass": [1.0, 2.0]}, until="20 ms", threads=1)
    assert found.time[-1] == 0.02
    with pytest.raises(cosim.ModelError, match="until: is missing"):
        model().simulate_many({"cart.mass": [1.0, 2.0]}, threads=1)


def test_a_checkpoint_is_a_path_too(tmp_path: Path) -> None:
    system = model().build()
    path = str(tmp_path / "c.state")
    cosim.simulate(system, until="20 ms", checkpoint=path)
    assert cosim.read_checkpoint(system, path).time == 0.02
    assert cosim.Checkpoint(path, "2 min").every == 120.0
    with pytest.raises(cosim.ModelError, match="'soon', needs a time"):
        cosim.Checkpoint(path, "soon")
