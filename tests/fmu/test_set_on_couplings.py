"""An attribute set on a co-simulation, algorithm, participant or scenario has an effect or fails."""

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


def decay_loop(**options: Any) -> CoSimulation:
    return CoSimulation({"p": decay()}, [], "jacobi", 0.1, **options)


WRONG_ACCURACY = r"accuracy.*is 10(\.0)?, needs a number above 0 and at most 0\.1: 1e-6 for six digits"


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
def test_options_of_a_co_simulation_cannot_be_set_later(name: str, text: str) -> None:
    loop = decay_loop()
    with pytest.raises(AttributeNameError, match=text):
        setattr(loop, name, 0.2)


def test_the_end_may_be_set() -> None:
    loop = decay_loop()
    loop.until = "500 ms"
    assert loop.simulate().time[-1] == 0.5
    with pytest.raises(cosim.ModelError, match="'soon', needs a time"):
        loop.until = "soon"
    with pytest.raises(cosim.ModelError, match="until: is True"):
        loop.until = True


def test_a_failed_verification_changes_nothing() -> None:
    loop = decay_loop()
    result = loop.simulate(0.5)
    before = loop.step, loop.algorithm, loop.result
    with pytest.raises(cosim.CosimError):
        loop.verify(result, until="0.05 s")
    assert (loop.step, loop.algorithm, loop.result) == before


def test_attributes_of_algorithms_and_participants() -> None:
    algorithm = GaussSeidel(extrapolation=1)
    with pytest.raises(AttributeNameError, match=r"option: make another, GaussSeidel\(…, extrapolation=…\)"):
        algorithm.extrapolation = 2
    with pytest.raises(AttributeNameError, match="attribute 'extrapolatoin'"):
        algorithm.extrapolatoin = 2
    participant = LinearParticipant([[[-1.0]], [[1.0]], [[1.0]], [[0.0]]], ["u"], ["y"], [1.0])
    participant.x = [2.0]  # an attribute that its methods set
    with pytest.raises(AttributeNameError, match="has no attribute 'stiffnes'"):
        participant.stiffnes = 1.0


def test_a_scenario_can_be_changed_until_it_is_coupled(tmp_path: Path) -> None:
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
def test_settings_of_a_co_simulation_are_read_only(name: str) -> None:
    loop = decay_loop(options={"extrapolation": 1}, tolerances={"p": 1e-3})
    settings = getattr(loop, name)
    with pytest.raises(TypeError, match="support item assignment"):
        settings["p"] = 2
    assert loop.options == {"extrapolation": 1} and loop.tolerances == {"p": 1e-3}
    assert pickle.loads(pickle.dumps(loop)).options == {"extrapolation": 1}


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
def test_every_entry_point_refuses_an_accuracy_of_ten(run: Any) -> None:
    with pytest.raises(cosim.ModelError, match=WRONG_ACCURACY):
        run()


@pytest.mark.parametrize(
    "make",
    [
        lambda: decay_loop(tolerance=10),
        lambda: decay_loop(tolerances={"p": 10}),
        lambda: CoSimulation({"p": decay()}, [], "joint", 0.1, options={"accuracy": 10}),
    ],
)
def test_a_co_simulation_refuses_a_tolerance_of_ten(make: Any) -> None:
    with pytest.raises(cosim.ModelError, match="10.*number above 0.*0.1"):
        make()


def test_files_and_the_command_line_refuse_an_accuracy_of_ten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
def test_a_step_must_be_a_time(step: Any) -> None:
    series = TimedInputs({"u": [[0.0, 1.0]]})
    with pytest.raises(cosim.ModelError, match=r"master\.step.*needs a time: 2\.0 \(s\)"):
        CoSimulation({"inputs": series}, [], "jacobi", step)


def test_one_signal_may_be_recorded_by_its_name_alone() -> None:
    series = TimedInputs({"u": [[0.0, 1.0]]})
    result = CoSimulation({"inputs": series}, [], "jacobi", 0.1).simulate(0.2, record="inputs.u")
    assert result.names == ["inputs.u"] and result["inputs.u"].tolist() == [1.0, 1.0, 1.0]
