"""Exported FMUs run in fmpy as the systems do that they were made from."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_tools import Fmu, ball, export, fuse, oscillator, running
from how_many import many

import cosim
from cosim_export.interface.archive import read_archive, write_archive

H = 0.01


def stepped(model: cosim.Model, paths: list[str], steps: int, accuracy: float = 1e-6) -> list[list[float]]:
    """What a simulator gives at the communication points."""
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


def test_fmpy_simulates_it(oscillator_fmu: Path) -> None:
    import fmpy

    names = ["osc.position", "felt", "osc.dissipated_energy"]
    result = fmpy.simulate_fmu(
        str(oscillator_fmu), stop_time=0.5, step_size=H, output_interval=H, output=names
    )
    expected = stepped(oscillator(), names, 50)
    assert len(result) == 51
    np.testing.assert_allclose([list(row)[1:] for row in result[1:]], expected, rtol=1e-9, atol=1e-12)
    assert result["felt"][1] == result["osc.position"][0]


def test_every_bit_is_that_of_a_simulator(oscillator_fmu: Path) -> None:
    names = ["osc.position", "osc.acceleration", "felt", "osc.x", "osc.dissipated_energy"]
    with running(oscillator_fmu) as fmu:
        fmu.start()
        rows = []
        for i in range(40):
            fmu.slave.doStep(i * H, H)
            rows.append([fmu[name] for name in names])
    assert rows == stepped(oscillator(), names, 40)


def test_events_are_those_of_a_simulator(tmp_path: Path) -> None:
    with running(export(ball(), tmp_path / "ball.fmu", expose=["ball.*"])) as fmu:
        fmu.start()
        rows = []
        for i in range(150):
            fmu.slave.doStep(i * H, H)
            rows.append([fmu["ball.height"], fmu["ball.bounces"], fmu["ball.samples"]])
    assert rows == stepped(ball(), ["ball.height", "ball.bounces", "ball.samples"], 150)
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


def test_inputs_and_parameters_between_steps(oscillator_fmu: Path) -> None:
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
        rough = fmu["osc.x"]
    simulator = cosim.Simulator(oscillator().build(), accuracy=1e-3)
    simulator.initialize()
    simulator.advance_to(1.0)
    assert rough == simulator.state["osc.x"]


def test_the_start_time(tmp_path: Path) -> None:
    model = cosim.Model("clock")
    model.measure("measures.time", "now")
    with running(export(model, tmp_path / "clock.fmu")) as fmu:
        fmu.start(start=3.0)
        assert fmu["now"] == 3.0
        fmu.slave.doStep(3.0, 0.5)
        assert fmu["now"] == 3.5


@pytest.mark.parametrize(
    ("time", "size", "reason"),
    [
        (0.0, 0.0, "the step size is 0.0 s, needs more than 0"),
        (0.0, -0.1, "the step size is -0.1 s, needs more than 0"),
        (0.0, math.nan, "have to be finite"),
        (0.5, 0.1, "the instance is at t = 0.0 s"),
        (0.0, 3.0, "after the stop time 2.0 s"),
    ],
)
def test_steps_that_are_refused(oscillator_fmu: Path, time: float, size: float, reason: str) -> None:
    from fmpy.fmi1 import FMICallException

    with running(oscillator_fmu) as fmu:
        fmu.start(stop=2.0)
        with pytest.raises(FMICallException, match="error"):
            fmu.slave.doStep(time, size)
        assert any(reason in message for message in fmu.messages)
        fmu.slave.doStep(0.0, 0.1)
        assert fmu["osc.x"] != 0.1


def test_a_step_before_initialization_is_refused(oscillator_fmu: Path) -> None:
    from fmpy.fmi1 import FMICallException

    with running(oscillator_fmu) as fmu:
        with pytest.raises(FMICallException, match="error"):
            fmu.slave.doStep(0.0, 0.1)
        assert any("initialize first" in message for message in fmu.messages)


def test_a_failing_component_is_a_message_and_a_status(tmp_path: Path) -> None:
    from fmpy.fmi1 import FMICallException

    with running(export(fuse(), tmp_path / "fuse.fmu")) as fmu:
        fmu.start()
        fmu.slave.doStep(0.0, 0.1)
        fmu["fuse.signal"] = 2.0
        with pytest.raises(FMICallException, match="error"):
            fmu.slave.doStep(0.1, 0.1)
        text = "\n".join(fmu.messages)
        assert "fuse" in text and "fuse has blown" in text and "Traceback" in text
        with pytest.raises(FMICallException, match="error"):
            fmu["fuse.through"]
        fmu["fuse.signal"] = 0.5
        fmu.slave.doStep(0.1, 0.1)
        assert fmu["fuse.through"] == 0.5


def test_what_a_run_finds_is_a_warning(tmp_path: Path) -> None:
    from cosim_mechanics import Multibody

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


def wrong(fmu: Fmu, call: Any) -> str:
    """What an FMU logs about a call that it answers with an error."""
    from fmpy.fmi1 import FMICallException

    fmu.messages.clear()
    with pytest.raises(FMICallException, match="error"):
        call(fmu)
    return "\n".join(fmu.messages)


def assign(name: str, value: Any) -> Any:
    return lambda fmu: fmu.__setitem__(name, value)


WRONG_CALLS = {
    "out of bounds": (assign("osc.mass", -1.0), "at least 0.1"),
    "NaN": (assign("osc.force", math.nan), "finite"),
    "a reference that does not exist": (
        lambda f: f.slave.getReal([999]),
        "no variable has the value reference 999",
    ),
    "another type": (
        lambda f: f.slave.getInteger([f.references["osc.x"]]),
        "osc.x is of type Real, not Integer",
    ),
    "a string": (lambda f: f.slave.setString([0], ["x"]), "is of type Real, not String"),
    "a state that runs": (assign("osc.x", 3.0), "osc.x: can be set only before initialization ends"),
    "what is computed": (assign("felt", 3.0), "felt: it is computed and cannot be set"),
    "setup": (lambda f: f.slave.setupExperiment(), "fmi2SetupExperiment: not allowed here"),
    "enter": (lambda f: f.slave.enterInitializationMode(), "not allowed here: the instance is between steps"),
    "exit": (lambda f: f.slave.exitInitializationMode(), "needs to be in initialization mode"),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("what", WRONG_CALLS)
def test_wrong_calls_are_answered_at_once_and_change_nothing(oscillator_fmu: Path, what: str) -> None:
    call, reason = WRONG_CALLS[what]
    with running(oscillator_fmu) as fmu:
        fmu.start()
        fmu.steps(0, 3)
        before = fmu.all()
        assert reason in wrong(fmu, call)
        assert fmu.all() == before
        fmu.steps(3, 4)


def test_terminate_and_exit_out_of_order(oscillator_fmu: Path) -> None:
    with running(oscillator_fmu) as fmu:
        assert "instance is instantiated" in wrong(fmu, lambda f: f.slave.terminate())
        assert "instance is instantiated" in wrong(fmu, lambda f: f.slave.exitInitializationMode())
        for bad in (0.0, -1.0, 2.0, math.nan):
            assert "tolerance" in wrong(fmu, lambda f, bad=bad: f.slave.setupExperiment(tolerance=bad))
        assert "start time" in wrong(fmu, lambda f: f.slave.setupExperiment(startTime=math.inf))
        assert "stop time" in wrong(fmu, lambda f: f.slave.setupExperiment(startTime=2.0, stopTime=1.0))
        fmu.start()
        fmu.steps(0, 2)


def test_messages_are_formats_for_printf(tmp_path: Path) -> None:
    """FMI's logger takes a format: a bare % in a message makes it read arguments that are not there."""
    with running(export(fuse(), tmp_path / "fuse.fmu")) as fmu:
        fmu.start()
        fmu.slave.doStep(0.0, 0.1)
        fmu["fuse.signal"] = 7.0
        assert "more than 100 %% of \N{GREEK SMALL LETTER MU}, %%s %%n" in wrong(
            fmu, lambda f: f.slave.doStep(0.1, 0.1)
        )


def test_where_the_library_cannot_answer_an_error_the_next_step_does(
    oscillator_fmu: Path, tmp_path: Path
) -> None:
    """As on Windows: a refused value is logged, and stops until it is mended."""
    from fmpy.fmi1 import FMICallException

    files = read_archive(oscillator_fmu)
    manifest = json.loads(files["resources/manifest.json"])
    assert manifest["answers_errors"] == ["linux64"]
    manifest["answers_errors"] = []
    files["resources/manifest.json"] = json.dumps(manifest).encode()
    write_archive(tmp_path / "elsewhere.fmu", files)
    with running(tmp_path / "elsewhere.fmu") as fmu:
        fmu.start()
        fmu["osc.mass"] = -1.0
        assert any("at least 0.1" in message for message in fmu.messages)
        assert fmu["osc.mass"] == 2.0
        assert math.isnan(fmu.slave.getReal([999])[0])
        with pytest.raises(FMICallException, match="discard"):
            fmu.slave.doStep(0.0, 0.1)
        fmu["osc.mass"] = 3.0
        fmu.slave.doStep(0.0, 0.1)
        with pytest.raises(FMICallException, match="discard"):
            fmu.slave.doStep(0.0, -0.1)


def test_a_system_that_asks_to_stop(tmp_path: Path) -> None:
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


def test_reset_and_terminate(oscillator_fmu: Path) -> None:
    with running(oscillator_fmu) as fmu:
        fmu.start()
        fmu["osc.force"] = 1.0
        fmu.steps(0, 10)
        first = fmu.all()
        fmu.slave.terminate()
        assert fmu.all() == first
        for _ in range(3):
            fmu.slave.reset()
            assert fmu["osc.x"] == 0.1
            fmu.start()
            fmu["osc.force"] = 1.0
            fmu.steps(0, 10)
            assert fmu.all() == first
            fmu.slave.terminate()
        assert fmu.messages == []


def test_two_instances_are_independent(oscillator_fmu: Path) -> None:
    with running(oscillator_fmu, name="a") as a, running(oscillator_fmu, name="b") as b:
        a.start()
        b.start(**{"osc.x": 0.3})
        a.steps(0, 20)
        alone = a.all()
        b.steps(0, 5)
        b["osc.mass"] = 9.0
        a.steps(20, 21)
        assert b["osc.mass"] == 9.0 and a["osc.mass"] == 2.0
    with running(oscillator_fmu) as c:
        c.start()
        c.steps(0, 20)
        assert c.all() == alone


def test_many_instances_one_after_the_other(oscillator_fmu: Path, tmp_path: Path) -> None:
    import sys

    before = list(sys.path)
    for i in range(many(3)):
        fmu = Fmu(oscillator_fmu, tmp_path / str(i))
        fmu.start()
        fmu.steps(0, 2)
        fmu.close()
    assert sys.path == before


def test_a_memory_that_holds_a_time_that_never_comes(tmp_path: Path) -> None:
    model = cosim.Model("jump")
    model.measure("signals.step", "wanted", start_time=0.1, height=2.0)
    with running(export(model, tmp_path / "jump.fmu", expose=["*"])) as fmu:
        assert fmu.start()["wanted.due"] == 0.1
        fmu.steps(0, 20)
        assert fmu["wanted.due"] == math.inf


@pytest.mark.thorough
def test_a_multibody_system(tmp_path: Path) -> None:
    from cosim_mechanics import Multibody

    def mount() -> cosim.Model:
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

    from fmpy.validation import validate_fmu

    path = export(mount(), tmp_path / "mount.fmu", outputs=["engine.z", "felt", "left.dissipated_energy"])
    assert validate_fmu(str(path)) == []
    names = ["engine.z", "felt", "left.dissipated_energy"]
    with running(path) as fmu:
        fmu.start()
        fmu.steps(0, 15)
        assert [fmu[name] for name in names] == stepped(mount(), names, 15)[-1]
        fmu["left.stiffness[4]"] = 1e5
        fmu.steps(15, 20)
