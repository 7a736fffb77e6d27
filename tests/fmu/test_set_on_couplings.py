"""What is set on a co-simulation, its participants, algorithm and scenario has an effect, or is an error."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.cli import main
from cosim.errors import AttributeNameError
from cosim_fmu import CoSimulation, TimedInputs
from cosim_fmu.scenario.scenario import Scenario
from cosim_fmu.testing.linear_participant import LinearParticipant
from cosim_master.algorithms.gauss_seidel import GaussSeidel


class Decay(cosim.Component):
    """A first-order lag."""

    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = -x


def decay() -> cosim.Model:
    model = cosim.Model("decay")
    model.add(Decay, "d")
    return model


def loop(**options: Any) -> CoSimulation:
    return CoSimulation({"p": decay()}, [], "jacobi", 0.1, **options)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("step", r"it is given where the co-simulation is made: CoSimulation\(…, step=…\)"),
        ("tolerance", r"CoSimulation\(…, tolerance=…\)"),
        ("algorithm", r"CoSimulation\(…, algorithm=…\)"),
        ("connections", r"CoSimulation\(…, connections=…\)"),
        ("order", "it is worked out from the participants and connections"),
        ("result", "it is worked out"),
        ("stepp", "no attribute 'stepp' to set. Nearest: step"),
        ("untill", "Nearest: until"),
    ],
)
def test_a_co_simulation_takes_its_options_where_it_is_made(name: str, text: str) -> None:
    made = loop()
    with pytest.raises(AttributeNameError, match=text):
        setattr(made, name, 0.2)


def test_the_end_may_be_set() -> None:
    made = loop()
    made.until = "500 ms"
    assert made.simulate().time[-1] == 0.5
    with pytest.raises(cosim.ModelError, match="'soon', needs a time"):
        made.until = "soon"
    with pytest.raises(cosim.ModelError, match="until: is True"):
        made.until = True


def test_verifying_leaves_the_co_simulation_as_it_was() -> None:
    made = loop()
    result = made.simulate(0.5)
    before = made.step, made.algorithm, made.result
    with pytest.raises(cosim.CosimError):
        made.verify(result, until="0.05 s")
    assert (made.step, made.algorithm, made.result) == before


def test_algorithms_and_participants() -> None:
    algorithm = GaussSeidel(extrapolation=1)
    with pytest.raises(AttributeNameError, match=r"option: make another, GaussSeidel\(…, extrapolation=…\)"):
        algorithm.extrapolation = 2
    with pytest.raises(AttributeNameError, match="attribute 'extrapolatoin'"):
        algorithm.extrapolatoin = 2
    participant = LinearParticipant([[[-1.0]], [[1.0]], [[1.0]], [[0.0]]], ["u"], ["y"], [1.0])
    participant.x = [2.0]  # what its methods set
    with pytest.raises(AttributeNameError, match="has no attribute 'stiffnes'"):
        participant.stiffnes = 1.0


def test_a_scenario(tmp_path: Path) -> None:
    path = tmp_path / "loop.toml"
    path.write_text(
        "[participants.push]\nseries = { force = [[0.0, 0.0], [1.0, 5.0]] }\n"
        '[master]\nalgorithm = "jacobi"\nstep = 0.1\nuntil = 1.0\n'
    )
    scenario = Scenario.read(path)
    scenario.step = 0.25
    assert scenario.couple(CoSimulation).step == 0.25
    with pytest.raises(AttributeNameError, match="Nearest: step"):
        scenario.stepp = 0.25
    with pytest.raises(AttributeNameError, match="already made of this scenario: read another one"):
        scenario.step = 0.5
    with pytest.raises(AttributeNameError, match="already made"):
        scenario.feed({"push.force": [[0.0, 1.0]]})


@pytest.mark.parametrize("name", ["options", "feedthrough", "tolerances", "step_multiple"])
def test_settings_of_a_co_simulation_are_shown_and_not_written(name: str) -> None:
    made = loop(options={"extrapolation": 1}, tolerances={"p": 1e-3})
    settings = getattr(made, name)
    with pytest.raises(TypeError, match="support item assignment"):
        settings["p"] = 2
    assert made.options == {"extrapolation": 1} and made.tolerances == {"p": 1e-3}
    assert pickle.loads(pickle.dumps(made)).options == {"extrapolation": 1}


SENTENCE = r"accuracy.*is 10(\.0)?, needs a number above 0 and at most 0\.1: 1e-6 for six digits"


@pytest.mark.parametrize(
    "run",
    [
        lambda: decay().simulate(until=1.0, accuracy=10),
        lambda: cosim.simulate(decay().build(), until=1.0, accuracy=10),
        lambda: cosim.Simulator(decay().build(), accuracy=10),
        lambda: cosim.Simulator(decay().build()).reset_integrator("integrators.radau5", accuracy=10),
        lambda: decay().simulate_many({"d.x": [1.0, 2.0]}, until=1.0, accuracy=10),
        lambda: cosim.Ensemble(decay().build(), until=1.0, accuracy=10),
        lambda: decay().verify(until=1.0, accuracy=10),
    ],
)
def test_an_accuracy_of_ten_is_an_error_at_every_front_door(run: Any) -> None:
    with pytest.raises(cosim.ModelError, match=SENTENCE):
        run()


@pytest.mark.parametrize(
    "make",
    [
        lambda: loop(tolerance=10),
        lambda: loop(tolerances={"p": 10}),
        lambda: CoSimulation({"p": decay()}, [], "joint", 0.1, options={"accuracy": 10}),
    ],
)
def test_a_tolerance_of_ten_is_an_error_where_a_co_simulation_is_made(make: Any) -> None:
    with pytest.raises(cosim.ModelError, match="10.*number above 0.*0.1"):
        make()


def test_files_and_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "model.toml"
    body = '[bodies.a]\nmass = 1\ninertia = [1, 1, 1]\njoint = "free"\n'
    text = f'[model]\nname = "m"\n{body}[simulation]\nuntil = 0.1\n'
    model.write_text(text + "accuracy = 10\n")
    assert main(["run", str(model)]) != 0
    assert "accuracy is 10" in capsys.readouterr().err
    model.write_text(text)
    assert main(["run", str(model), "--accuracy", "10"]) != 0
    assert "0 and at most 0.1" in capsys.readouterr().err


@pytest.mark.parametrize("step", [True, [0.1], "1 kg", "soon"])
def test_a_step_that_is_no_time(step: Any) -> None:
    series = TimedInputs({"u": [[0.0, 1.0]]})
    with pytest.raises(cosim.ModelError, match=r"master\.step.*needs a time: 2\.0 \(s\)"):
        CoSimulation({"inputs": series}, [], "jacobi", step)


def test_one_signal_may_be_recorded_by_its_name_alone() -> None:
    series = TimedInputs({"u": [[0.0, 1.0]]})
    result = CoSimulation({"inputs": series}, [], "jacobi", 0.1).simulate(0.2, record="inputs.u")
    assert result.names == ["inputs.u"] and result["inputs.u"].tolist() == [1.0, 1.0, 1.0]
