"""Mistakes of people who come from other tools, each answered in one line that says what to write."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from workbench_tools import write_model

import cosim
import cosim_fmu
from cosim.cli import main
from cosim.kit import run_source
from cosim_mechanics import Multibody

Act = Callable[[Multibody], Any]


def model() -> Multibody:
    made = Multibody("m")
    made.joint("slider", child=made.body("cart", mass=2.0, inertia=(1, 1, 1)))
    return made


def result() -> cosim.Result:
    return cosim.Result([0.0, 1.0], {"cart.z": [0.0, 1.0], "joint.q": [1.0, 2.0]}, {"cart.z": "m"})


OTHERS_CALL_IT = {
    "sine": "measures.sinusoid",
    "signals.sine": "measures.sinusoid",
    "signals.cosine": "measures.sinusoid",
    "integrator": "measures.integrate",
    "gain": "measures.scale",
    "sum": "measures.plus",
    "zoh": "measures.sample_and_hold",
    "signals.saturation": "signals.limiter",
    "signals.table": "signals.time_table",
    "relay": "signals.hysteresis",
    "spring": "mechanics.two_point_spring",
    "mechanics.damper": "mechanics.two_point_damper",
    "torsion_spring": "mechanics.coordinate_spring",
    "mechanics.prismatic": "mechanics.slider",
}


@pytest.mark.parametrize("word", OTHERS_CALL_IT)
def test_what_others_call_a_part(word: str) -> None:
    with pytest.raises(cosim.LookUpError) as raised:
        cosim.Model("m").add(word, "part")
    assert raised.value.nearest == OTHERS_CALL_IT[word]


def test_another_word_names_one_component() -> None:
    claimed = [w for e in cosim.registry().entries("component") for w in vars(e.cls).get("known_as", ())]
    assert claimed and len(claimed) == len(set(claimed))


OPTIONS = {
    "untl": "until",
    "t_end": "until",
    "stop_time": "until",
    "duration": "until",
    "dt": "fixed_step",
    "step_size": "fixed_step",
    "max_step": "maximum_step",
    "tolerance": "accuracy",
    "rtol": "relative_tolerance",
    "atol": "absolute_tolerance",
    "method": "integrator",
    "solver": "integrator",
    "outputs": "signals",
}


@pytest.mark.parametrize("word", OPTIONS)
def test_what_others_call_an_option_of_a_run(word: str) -> None:
    with pytest.raises(
        cosim.kit.OptionError, match=f"no option '{word}' .*Nearest: {OPTIONS[word]}\\."
    ) as raised:
        model().simulate(**{word: 1.0})
    assert raised.value.nearest == OPTIONS[word] and len(str(raised.value).splitlines()) == 1


IN_PYTHON: dict[str, tuple[Act, str]] = {
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
    "a file without its name": (lambda m: result().to_csv(), "is missing: write to_csv(path)"),  # type: ignore[call-arg]
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
    "t": (lambda m: result().t, "Result has no attribute 't': write result.time"),  # type: ignore[attr-defined]
    "t as a signal": (lambda m: result()["t"], "The time is result.time."),
    "y": (lambda m: result().y, "write result['part.signal'], or to_numpy()"),  # type: ignore[attr-defined]
    "a signal as an attribute": (lambda m: result().z, "Result has no attribute 'z': write result['cart.z']"),  # type: ignore[attr-defined]
    "a table": (lambda m: result().to_df(), "write to_pandas()"),  # type: ignore[attr-defined]
    "save": (lambda m: result().save("run.csv"), "write to_csv('run.csv') or to_parquet"),  # type: ignore[attr-defined]
    "a spreadsheet": (lambda m: result().to_excel(), "write to_pandas().to_excel('run.xlsx')"),  # type: ignore[attr-defined]
    "a spreadsheet by its ending": (lambda m: result().to_csv("run.xlsx"), "end in .csv: write run.csv"),
    "several signals": (
        lambda m: result()["cart.z", "joint.q"],  # type: ignore[index]
        "Several: result.select(['cart.z', 'joint.q']).",
    ),
    "a list of signals": (lambda m: result()[["cart.z"]], "Several: result.select(['cart.z'])."),  # type: ignore[index]
    "a signal that was not recorded": (
        lambda m: result()["cart.x"],
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
        lambda m: result().at(1.0),  # type: ignore[attr-defined]
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


@pytest.mark.parametrize("mistake", IN_PYTHON)
def test_in_python(mistake: str) -> None:
    act, said = IN_PYTHON[mistake]
    with pytest.raises((cosim.CosimError, AttributeError)) as raised:
        act(model())
    assert said in str(raised.value) and len(str(raised.value).splitlines()) == 1


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
    assert getattr(model(), "nothing", None) is None
    with pytest.raises(AttributeError, match=r"^'Multibody' object has no attribute '_nothing'$"):
        _ = model()._nothing  # type: ignore[attr-defined]


def test_an_attribute_error_inside_a_property_is_not_hidden() -> None:
    class Odd(cosim.Model):
        @property
        def weight(self) -> float:
            return self.parts.weight  # type: ignore[attr-defined,no-any-return]

    with pytest.raises(AttributeError, match="'Parts'.*attribute 'weight'"):
        _ = Odd("odd").weight


def test_a_missing_attribute_is_pickled() -> None:
    with pytest.raises(AttributeError) as raised:
        _ = result().t  # type: ignore[attr-defined]
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


AUTHORS = {
    "a dataclass": (
        "@dataclass\nclass A(cosim.Component):\n    '''A.'''\n    k: float = cosim.parameter(default=1.0)\n",
        "A: @dataclass would replace the constructor: remove it.",
    ),
    "no parentheses": (
        "class A(cosim.Component):\n    '''A.'''\n    k = cosim.parameter\n",
        "A: k = cosim.parameter declares nothing: write cosim.parameter(…)",
    ),
    "a default in first place": (
        "class A(cosim.Component):\n    '''A.'''\n    k = cosim.parameter(1.0)\n",
        "unit is 1.0, needs text, 'N/m', or a list of texts; a default is given by name: default=1.0",
    ),
    "value": (
        "class A(cosim.Component):\n    '''A.'''\n    k = cosim.parameter(value=1.0)\n",
        "parameter(): no option 'value' (given: value=1.0). Nearest: default.",
    ),
    "min": (
        "class A(cosim.Component):\n    '''A.'''\n    k = cosim.parameter(min=1.0)\n",
        "parameter(): no option 'min' (given: min=1.0). Nearest: minimum.",
    ),
    "a witness by its name": (
        "class A(cosim.Component):\n    '''A.'''\n    z = cosim.auxiliary_state()\n"
        "    @cosim.on('floor', does='unrestricted')\n    def hit(z, z_next): z_next[0] = 1.0\n",
        "not 'floor': write the name without quotes, cosim.on(floor, …)",
    ),
    "no kind of handler": (
        "class A(cosim.Component):\n    '''A.'''\n"
        "    @cosim.every(0.1)\n    def hit(z, z_next): z_next[0] = 1.0\n",
        "every(): does is missing: write every(period, does=…, …)",
    ),
    "dx": (
        "class A(cosim.Component):\n    '''A.'''\n    x = cosim.auxiliary_state()\n"
        "    @cosim.kernel\n    def derivatives(x, dx): dx[0] = -x\n",
        "'dx' is neither declared nor offered by an attachment; nearest: 'x_dot'.",
    ),
    "a frequency": (
        "class A(cosim.Component):\n    '''A.'''\n    n = cosim.discrete()\n"
        "    @cosim.every('100 Hz', does='discrete')\n    def hit(n, n_next): n_next[0] = n + 1.0\n",
        "Hz (1/s) cannot be converted to s: not the same quantity. Write '1/100 s'.",
    ),
    "no frequency": (
        "class A(cosim.Component):\n    '''A.'''\n    n = cosim.discrete()\n"
        "    @cosim.every('0 Hz', does='discrete')\n    def hit(n, n_next): n_next[0] = n + 1.0\n",
        "Hz (1/s) cannot be converted to s: not the same quantity.",
    ),
    "a history kept for a number": (
        "class A(cosim.Measure):\n    '''A.'''\n    source = cosim.source()\n"
        "    past = cosim.history(of='source', keep=0.1)\n",
        "cosim.history: keep is 0.1, needs the name of a parameter of the class, as text",
    ),
    "a name that every component has": (
        "class A(cosim.Component):\n    '''A.'''\n    state = cosim.output()\n",
        "A: the name 'state' is taken; choose another; every component has name, side, state, t, values",
    ),
    "recursion": (
        "def half(n):\n    return n if n < 1.0 else half(n / 2.0)\n"
        "class A(cosim.Component):\n    '''A.'''\n    x = cosim.auxiliary_state()\n"
        "    @cosim.kernel\n    def derivatives(x, x_dot): x_dot[0] = half(x)\n",
        "half → half: a kernel function cannot call itself: write a loop",
    ),
}


@pytest.mark.parametrize("mistake", AUTHORS)
def test_of_authors(mistake: str) -> None:
    source, said = AUTHORS[mistake]
    with pytest.raises(cosim.CosimError) as raised:
        run_source(f"from dataclasses import dataclass\nimport cosim\n{source}")
    assert said in str(raised.value) and len(str(raised.value).splitlines()) == 1


def test_what_a_constructor_sets_is_what_runs() -> None:
    class Rate(cosim.Component):
        """A rate. Law: level' = rate."""

        level = cosim.auxiliary_state()
        rate = cosim.parameter(unit="1/s", default=1.0, minimum=0.0)

        def __init__(self, rate: Any) -> None:
            super().__init__()
            self.rate = rate
            self.label = "mine"

        @cosim.kernel
        def derivatives(rate, level_dot):
            level_dot[0] = rate

    made = cosim.Model("m")
    assert made.add(Rate, "r", rate="3 1/min").rate == made.build().default_state()["r.rate"] == 0.05
    assert made.to_dict is not None and made["r"].label == "mine"  # type: ignore[attr-defined]
    with pytest.raises(cosim.ModelError, match="-1 1/s, needs at least 0"):
        Rate(-1.0)


def test_columns_of_tables_are_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    made = model()
    body = made.body("b", mass=pandas.Series([3.0])[0], inertia=pandas.Series([1.0, 2.0, 2.5]))
    assert body.inertia.tolist()[:3] == [1.0, 2.0, 2.5]  # type: ignore[attr-defined]
    made.set_start("cart_joint.q", pandas.Series([0.5]))
    assert made.build is not None
    with pytest.raises(cosim.ModelError) as raised:
        made.body("c", mass=1.0, inertia=pandas.Series(["a", "b", "c"]))
    assert len(str(raised.value).splitlines()) == 1


COMMANDS = {
    ("simulate", "m.toml"): "no command 'simulate'. Nearest: run.",
    ("help",): "no command 'help'. Nearest: describe.",
    ("init", "model"): "no command 'init'. Nearest: new.",
    ("run", "m.toml", "-o", "x.xlsx"): "x.xlsx: no plugin writes results that end in '.xlsx'.",
    ("run", "m.toml", "--tolerance", "1e-6"): "no option '--tolerance'. Nearest: --accuracy.",
    ("run", "m.toml", "--dt", "1e-6"): "no option '--dt'. Nearest: --fixed-step.",
    ("describe", "sine"): "Nearest: measures.sinusoid.",
}


@pytest.mark.parametrize("words", COMMANDS)
def test_on_the_command_line(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(write_model(tmp_path).rename(tmp_path / "m.toml").parent)
    assert main(list(words)) == 2
    assert COMMANDS[words] in capsys.readouterr().err


def test_fields_of_a_dataclass_may_be_values() -> None:
    @dataclasses.dataclass
    class Chosen:
        mass: float = 2.5

    assert model().body("b", inertia=np.ones(3), **vars(Chosen())).mass == 2.5  # type: ignore[attr-defined]


def test_a_co_simulation_says_what_it_is_and_its_result_is_pickled() -> None:
    made = cosim_fmu.CoSimulation({"cart": model().build()}, [], step="1 ms")
    assert repr(made) == "<CoSimulation: cart; 0 connections, GaussSeidel, steps of 0.001 s>"
    with pytest.raises(AttributeError, match="CoSimulation.*'run': call simulate"):
        made.run()  # type: ignore[attr-defined]
    ended = made.simulate("2 ms")
    again = pickle.loads(pickle.dumps(ended))
    assert type(again) is type(ended) and again.time.tolist() == ended.time.tolist()


def test_the_kit_comes_with_the_package() -> None:
    run_source("import cosim\ncosim.kit.quote")
    assert "kit" in dir(cosim) and cosim.kit.quote is not None


def test_the_value_of_a_measure_is_found_by_both_of_its_names() -> None:
    short, whole = cosim.Result([0.0], {"felt": [2.0]}), cosim.Result([0.0], {"felt.value": [2.0]})
    assert [r[n].tolist() for r in (short, whole) for n in ("felt", "felt.value")] == [[2.0]] * 4
    assert "other.value" not in short
