"""States of a model with an FMU can be restored in the run that made them, and are refused elsewhere."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from bouncing_ball_fmu import height, make_ball
from fmu_models import FMU, above_a_fan, model_with_fmu

import cosim
from cosim_fmu import CoSimulation


@pytest.fixture(params=["true", "false"], ids=["without_completed_steps", "with_completed_steps"])
def ball(request: pytest.FixtureRequest, tmp_path: Path, compiled: Callable[..., Path]) -> Path:
    return make_ball(tmp_path, compiled, request.param)


@pytest.mark.parametrize("kept_events", [0, 1])
def test_a_state_of_another_run_or_before_too_many_events_is_refused(ball: Path, kept_events: int) -> None:
    """The ball bounces between 0.2 and 0.5 s; the FMU keeps its states at the last `kept_events` events."""
    system = model_with_fmu(ball, kept_events=kept_events).build()
    simulators = [cosim.Simulator(system, system.default_state(), accuracy=1e-6) for _ in range(2)]
    for simulator in simulators:
        simulator.advance_to(0.2)
    first, second = simulators
    saved = second.state.to_bytes()
    second.advance_to(0.4)
    second.replace_state(system.state_from_bytes(saved))
    second.advance_to(0.3)
    assert second.state["fmu.h"] == pytest.approx(height(0.3), abs=1e-7)
    with pytest.raises(cosim.SimulationError, match="fmu.*(serves one run|runs for another State)"):
        first.advance_to(0.3)
    second.advance_to(0.5)
    second.replace_state(system.state_from_bytes(saved))
    with pytest.raises(cosim.SimulationError, match="to which the FMU cannot return|runs for another State"):
        second.advance_to(0.3)


def test_a_state_from_before_an_event_is_restored(ball: Path) -> None:
    system = model_with_fmu(ball, kick_at=0.25).build()
    simulator = cosim.Simulator(system, system.default_state(), accuracy=1e-9)
    simulator.advance_to(0.2)
    early = simulator.state.to_bytes()
    simulator.advance_to(1.5)
    late, late_height = simulator.state.to_bytes(), float(simulator.state["fmu.h"])

    def impacts() -> list[float]:
        return [e.time for e in simulator.events if e.cause is cosim.EventCause.TRIGGERED and e.time <= 1.5]

    first_impacts = impacts()
    assert len(first_impacts) == 3
    for i in range(2):
        simulator.replace_state(system.state_from_bytes(early))
        simulator.advance_to(1.5)
        assert simulator.state["fmu.h"] == late_height and impacts() == first_impacts * (i + 2)
        simulator.replace_state(system.state_from_bytes(late))
        assert simulator.state["fmu.h"] == late_height
        simulator.advance_to(1.7)


def test_two_states_of_one_run_continue_by_turns(ball: Path) -> None:
    system = model_with_fmu(ball).build()
    simulator = cosim.Simulator(system, system.default_state(), accuracy=1e-9)
    simulator.advance_to(0.3)
    states = {name: simulator.state.to_bytes() for name in ("one", "other")}
    for time in (0.5, 0.7, 0.9):  # after the impact at 0.45 s each has an instance of its own
        for name in states:
            simulator.replace_state(system.state_from_bytes(states[name]))
            simulator.advance_to(time)
            assert simulator.state["fmu.h"] == pytest.approx(height(time), abs=1e-6)
            states[name] = simulator.state.to_bytes()


def test_a_state_without_its_fmu_is_refused(ball: Path, tmp_path: Path) -> None:
    """In another process, or after a run was closed, there is no instance that could compute the outputs."""
    system = model_with_fmu(ball).build()
    simulator = cosim.Simulator(system, system.default_state(), accuracy=1e-6)
    simulator.advance_to(0.2)
    saved = simulator.state.to_bytes()
    other_system = model_with_fmu(ball).build()
    with pytest.raises((cosim.CosimError, ValueError), match="fmu.*(FMU was closed|runs for another State)"):
        cosim.Simulator(other_system, other_system.state_from_bytes(saved), accuracy=1e-6).advance_to(0.3)
    with pytest.raises(cosim.ModelError, match="checkpoint.*FMU"):
        model_with_fmu(ball).simulate(until=0.1, checkpoint=cosim.Checkpoint(tmp_path / "saved", 10.0))


def test_a_model_whose_fmu_cannot_be_restored_is_refused_before_the_run(ball: Path, tmp_path: Path) -> None:
    without_states = tmp_path / "fixed.fmu"
    with zipfile.ZipFile(ball) as source, zipfile.ZipFile(without_states, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, data.replace(b'canGetAndSetFMUstate="true"', b""))
    with pytest.raises(cosim.ModelError, match="participants.p.*restore its state"):
        CoSimulation({"p": model_with_fmu(without_states)}, [], "waveform_iteration", 0.1)
    loop = CoSimulation({"p": model_with_fmu(ball)}, [], "waveform_iteration", 0.1)
    with pytest.raises(cosim.ModelError, match="participants.p.*checkpoint"):
        loop.simulate(0.1, checkpoint=cosim.Checkpoint(tmp_path / "saved", 10.0))


def test_an_iterating_algorithm_restores_a_model_with_an_fmu(ball: Path) -> None:
    algorithm = cosim.registry().get("master_algorithm", "fmu.waveform_iteration")
    loop = CoSimulation({"fan": above_a_fan(FMU, fmu=ball)}, [], algorithm, 0.1)
    result = loop.simulate(1.2, record=["fan.ball.h"])
    expected = above_a_fan(FMU, fmu=ball).simulate(until=1.2, output_interval=0.1)
    assert result["fan.ball.h"][-1] == pytest.approx(expected["ball.h"][-1], abs=1e-5)
