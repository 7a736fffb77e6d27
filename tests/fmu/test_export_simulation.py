"""Exported FMUs in fmpy compute the same as simulators of their models."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from export_tools import Fmu, ball, export, oscillator, running
from how_many import many

import cosim
from cosim_mechanics import Multibody

H = 0.01


def rows_of_simulator(
    model: cosim.Model, paths: list[str], steps: int, accuracy: float = 1e-6
) -> list[list[float]]:
    """The values of a simulator after each step."""
    simulator = cosim.Simulator(model.build(), accuracy=accuracy)
    simulator.initialize()
    rows = []
    for i in range(steps):
        simulator.advance_to(i * H + H, within=1e-9 * H)
        simulator.state.realize(cosim.Stage.REPORT)
        rows.append([simulator.state[path] for path in paths])
    return rows


@pytest.fixture(scope="module")
def oscillator_fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(oscillator(), tmp_path_factory.mktemp("fmu") / "oscillator.fmu", step_size=H, stop_time=1.0)


def test_a_run_of_fmpy_agrees_with_a_simulator(oscillator_fmu: Path) -> None:
    import fmpy

    names = ["osc.position", "felt", "osc.dissipated_energy"]
    result = fmpy.simulate_fmu(
        str(oscillator_fmu), stop_time=0.5, step_size=H, output_interval=H, output=names
    )
    expected = rows_of_simulator(oscillator(), names, 50)
    assert len(result) == 51
    np.testing.assert_allclose([list(row)[1:] for row in result[1:]], expected, rtol=1e-9, atol=1e-12)
    assert result["felt"][1] == result["osc.position"][0]


def test_outputs_have_the_bits_of_a_simulator(oscillator_fmu: Path) -> None:
    names = ["osc.position", "osc.acceleration", "felt", "osc.x", "osc.dissipated_energy"]
    with running(oscillator_fmu) as fmu:
        fmu.start()
        rows = []
        for i in range(40):
            fmu.slave.doStep(i * H, H)
            rows.append([fmu[name] for name in names])
    assert rows == rows_of_simulator(oscillator(), names, 40)


def test_values_after_events_have_the_bits_of_a_simulator(tmp_path: Path) -> None:
    with running(export(ball(), tmp_path / "ball.fmu", expose=["ball.*"])) as fmu:
        fmu.start()
        rows = []
        for i in range(150):
            fmu.slave.doStep(i * H, H)
            rows.append([fmu["ball.height"], fmu["ball.bounces"], fmu["ball.samples"]])
    assert rows == rows_of_simulator(ball(), ["ball.height", "ball.bounces", "ball.samples"], 150)
    assert rows[-1][1] >= 2


def test_outputs_can_be_read_before_the_first_step(oscillator_fmu: Path) -> None:
    with running(oscillator_fmu) as fmu:
        fmu.slave.setupExperiment(startTime=0.0)
        fmu.slave.enterInitializationMode()
        fmu["osc.force"] = 7.0
        fmu["osc.x"] = 0.25
        assert fmu["osc.position"] == 0.25 + 0.1 + 0.2
        assert fmu["osc.acceleration"] == (7.0 - 50.0 * 0.25) / 2.0
        fmu["osc.mass"] = 4.0
        assert fmu["osc.acceleration"] == (7.0 - 50.0 * 0.25) / 4.0
        fmu.slave.exitInitializationMode()
        assert fmu["osc.acceleration"] == (7.0 - 50.0 * 0.25) / 4.0
        assert fmu["felt"] == fmu["osc.position"]


def test_inputs_and_parameters_can_be_set_between_steps(oscillator_fmu: Path) -> None:
    simulator = cosim.Simulator(oscillator().build(), accuracy=1e-6)
    simulator.initialize()
    with running(oscillator_fmu) as fmu:
        fmu.start()
        for i in range(30):
            force, wind, place = math.sin(i), 0.1 * i, 0.01 * i
            fmu["osc.force"], fmu["osc.wind[2]"], fmu["osc.places[3]"] = force, wind, place
            simulator.state["osc.force"] = force
            simulator.state["osc.wind"] = [0.0, wind]
            simulator.state["osc.places"] = [0.1, 0.2, place]
            fmu.slave.doStep(i * H, H)
            simulator.advance_to(i * H + H)
            simulator.state.realize(cosim.Stage.REPORT)
            for name in ("osc.position", "osc.acceleration", "felt"):
                assert fmu[name] == simulator.state[name]


def test_the_tolerance_is_the_accuracy(oscillator_fmu: Path) -> None:
    with running(oscillator_fmu) as fmu:
        fmu.start(tolerance=1e-3)
        fmu.slave.doStep(0.0, 1.0)
        position = fmu["osc.x"]
    simulator = cosim.Simulator(oscillator().build(), accuracy=1e-3)
    simulator.initialize()
    simulator.advance_to(1.0)
    assert position == simulator.state["osc.x"]


def test_a_host_sets_the_start_time(tmp_path: Path) -> None:
    model = cosim.Model("clock")
    model.measure("measures.time", "now")
    with running(export(model, tmp_path / "clock.fmu")) as fmu:
        fmu.start(start=3.0)
        assert fmu["now"] == 3.0
        fmu.slave.doStep(3.0, 0.5)
        assert fmu["now"] == 3.5


def test_a_finding_of_a_run_is_a_message_also_after_rollback(tmp_path: Path) -> None:
    """The bushing turns toward an angle where its coordinates become singular."""
    model = Multibody("spinning", gravity=(0, 0, 0))
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    model.joint("bushing", child=body, q=[0, 1.3, 0, 0, 0, 0], u=[0, 1.0, 0, 0, 0, 0], name="joint")
    model.add(
        "mechanics.linear_bushing",
        "mount",
        body1="ground",
        body2=body,
        stiffness=[0.01] * 6,
        damping=[0.0] * 6,
    )
    with running(export(model, tmp_path / "x.fmu")) as fmu:
        fmu.start()
        fmu.steps(0, 10)
        assert fmu.messages == []
        saved = fmu.slave.getFMUState()
        for _ in range(2):
            fmu.steps(10, 20)
            assert len(fmu.messages) == 1
            assert "mount.status at t = 0.1" in fmu.messages[0] and "within 6 degrees" in fmu.messages[0]
            fmu.slave.setFMUState(saved)
            fmu.messages.clear()


def test_a_step_in_which_the_system_asks_to_stop_is_discarded(tmp_path: Path) -> None:
    from fmpy.fmi1 import FMICallException

    with running(export(ball(limit=1.0), tmp_path / "ball.fmu")) as fmu:
        fmu.start()
        with pytest.raises(FMICallException, match="discard"):
            fmu.steps(0, 100)
        assert any("asked to stop" in message and "enough" in message for message in fmu.messages)
        assert fmu["ball.bounces"] == 1
        assert fmu.slave.getBooleanStatus(3)  # fmi2Terminated
        fmu.slave.terminate()
        with pytest.raises(FMICallException, match="error"):
            fmu.slave.doStep(0.5, H)


def test_runs_after_reset_are_the_same(oscillator_fmu: Path) -> None:
    with running(oscillator_fmu) as fmu:
        fmu.start()
        fmu["osc.force"] = 1.0
        fmu.steps(0, 10)
        first_values = fmu.all()
        fmu.slave.terminate()
        assert fmu.all() == first_values
        for _ in range(3):
            fmu.slave.reset()
            assert fmu["osc.x"] == 0.1
            fmu.start()
            fmu["osc.force"] = 1.0
            fmu.steps(0, 10)
            assert fmu.all() == first_values
            fmu.slave.terminate()
        assert fmu.messages == []


def test_two_instances_are_independent(oscillator_fmu: Path) -> None:
    with running(oscillator_fmu, name="a") as a, running(oscillator_fmu, name="b") as b:
        a.start()
        b.start(**{"osc.x": 0.3})
        a.steps(0, 20)
        values = a.all()
        b.steps(0, 5)
        b["osc.mass"] = 9.0
        a.steps(20, 21)
        assert b["osc.mass"] == 9.0 and a["osc.mass"] == 2.0
    with running(oscillator_fmu) as single:
        single.start()
        single.steps(0, 20)
        assert single.all() == values


def test_instances_leave_the_path_of_python_as_it_was(oscillator_fmu: Path, tmp_path: Path) -> None:
    path = list(sys.path)
    for i in range(many(3)):
        fmu = Fmu(oscillator_fmu, tmp_path / str(i))
        fmu.start()
        fmu.steps(0, 2)
        fmu.close()
    assert sys.path == path


def test_a_variable_may_be_infinite(tmp_path: Path) -> None:
    """A step signal stores the time of its jump, which is infinite after the jump."""
    model = cosim.Model("jump")
    model.measure("signals.step", "step", start_time=0.1, height=2.0)
    with running(export(model, tmp_path / "jump.fmu", expose=["*"])) as fmu:
        assert fmu.start()["step.due"] == 0.1
        fmu.steps(0, 20)
        assert fmu["step.due"] == math.inf


def mount() -> cosim.Model:
    """An engine on three bushings."""
    model = Multibody("engine mount", gravity=(0, 0, -9.81))
    engine = model.body("engine", mass=120.0, center_of_mass=(0, 0, 0.1), inertia=(4.5, 6.0, 5.2))
    model.joint("free", child=engine)
    places = {"left": (-0.3, 0, 0), "right": (0.3, 0, 0), "rear": (0, -0.35, 0.1)}
    for name, place in places.items():
        model.add(
            "mechanics.linear_bushing", name, body1="ground", body2=engine, frame_on_body1=place,
            frame_on_body2=place, stiffness=[0, 0, 0, 1.2e5, 1.2e5, 2.4e5],
            damping=[0, 0, 0, 300, 300, 600],
        )  # fmt: skip
    speed = model.measure("mechanics.velocity", "vertical_speed", of=engine, axis="z")
    model.measure("measures.delay", "felt", source=speed, delay=0.005)
    return model


@pytest.mark.thorough
def test_a_multibody_system_has_the_bits_of_a_simulator(tmp_path: Path) -> None:
    from fmpy.validation import validate_fmu

    path = export(mount(), tmp_path / "mount.fmu", outputs=["engine.z", "felt", "left.dissipated_energy"])
    assert validate_fmu(str(path)) == []
    names = ["engine.z", "felt", "left.dissipated_energy"]
    with running(path) as fmu:
        fmu.start()
        fmu.steps(0, 15)
        assert [fmu[name] for name in names] == rows_of_simulator(mount(), names, 15)[-1]
        fmu["left.stiffness[4]"] = 1e5
        fmu.steps(15, 20)
