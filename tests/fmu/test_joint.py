"""The algorithm `joint` solves FMUs for Model Exchange as one system: values, events, errors and records."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bouncing_ball_fmu import G, make_ball
from joint_systems import EXACT, FORCE, Spring, joint
from part_fmu import make_part
from scipy.linalg import expm

import cosim
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmu import CoSimulation
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant


@pytest.fixture
def part(tmp_path: Path, compiled: Callable[..., Path]) -> Path:
    return make_part(tmp_path, compiled)


def test_two_fmus_of_a_quarter_car_move_as_the_exact_solution(part: Path) -> None:
    tyre, spring, damper, wheel, body = 1.6e3, 160.0, 10.0, 4.0, 30.0
    starts = {
        "wheel.k": tyre,
        "wheel.m": wheel,
        "wheel.x": 0.05,
        "body.k": spring,
        "body.c": damper,
        "body.m": body,
    }
    matrix = np.array(
        [
            [0.0, 1.0, 0.0, 0.0],
            [-(tyre + spring) / wheel, -damper / wheel, spring / wheel, damper / wheel],
            [0.0, 0.0, 0.0, 1.0],
            [spring / body, damper / body, -spring / body, -damper / body],
        ]
    )
    loop = joint({"body": part, "wheel": part}, FORCE, starts, options=EXACT, step=0.25)
    result = loop.simulate(0.5)
    x = expm(matrix * 0.5) @ [0.05, 0.0, 1.0, 0.0]
    assert [result["wheel.x"][-1], result["wheel.v"][-1]] == pytest.approx(x[:2], abs=1e-10)
    assert [result["body.x"][-1], result["body.v"][-1]] == pytest.approx(x[2:], abs=1e-10)
    assert result["wheel.force"].tolist() == result["body.reaction"].tolist()
    assert result["body.road"].tolist() == result["wheel.x"].tolist()
    assert result.coupling.verdict == "fine" and result.coupling.how == "all is solved jointly"


def test_undeclared_feedthrough_does_not_change_the_result(
    part: Path, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    """In the order of the declared dependencies the force would be one evaluation late."""
    undeclared = make_part(tmp_path, compiled, "undeclared", reaction="", y="")
    starts = {"wheel.k": 20.0, "body.k": 3.0, "body.c": 0.3}
    positions = [
        joint({"body": file, "wheel": file}, FORCE, starts).simulate(1.0)["wheel.x"]
        for file in (part, undeclared)
    ]
    assert positions[0].tolist() == positions[1].tolist()


def test_python_calls_nothing_between_communication_points(
    part: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A higher accuracy takes more evaluations, and the same number of calls from Python."""
    calls: list[str] = []
    call = FmuInstance.call

    def counted(self: FmuInstance, function: str, *arguments: Any, group: str = "") -> int:
        if not function.startswith("Free"):  # states of earlier tests are freed at any time
            calls.append(function)
        return call(self, function, *arguments, group=group)

    monkeypatch.setattr(FmuInstance, "call", counted)
    starts = {"wheel.k": 20.0, "body.k": 3.0, "body.c": 0.3, "wheel.gain": 0.5, "body.gain": 0.5}
    links = (*FORCE, "wheel.y -> body.u", "body.y -> wheel.u")
    calls_of_runs = []
    for accuracy in (1e-3, 1e-6):
        calls.clear()
        loop = joint({"body": part, "wheel": part}, links, starts, options={"accuracy": accuracy}, step=0.5)
        loop.simulate(1.0)
        calls_of_runs.append(sorted(calls))
    assert calls_of_runs[0] == calls_of_runs[1] and "SetTime" not in calls_of_runs[0]


def test_an_integer_output_drives_a_real_input(part: Path) -> None:
    """The road rises by 1 when the count of events does."""
    starts = {"p.x": 0.0, "p.v": 1.0, "p.limit": 0.15, "q.k": 1.0, "q.x": 0.0}
    lines = ["p.high -> r.held", "r.passes -> q.road"]
    result = joint({"p": part, "q": part, "r": part}, lines, starts, options=EXACT).simulate(1.15)
    t = np.maximum(result.time - 0.15, 0.0)
    assert result["q.x"] == pytest.approx(1.0 - np.cos(t), abs=1e-9)
    assert result["q.road"][-1] == 1.0


@pytest.mark.parametrize("accuracy", [1e-3, 1e-6])
@pytest.mark.parametrize("algorithm", ["joint", "waveform_iteration"])
def test_a_second_run_shows_the_error_of_the_integration(part: Path, algorithm: str, accuracy: float) -> None:
    """The run has half the communication step and another accuracy: the step alone changes nothing inside."""
    starts = {"p.k": 40.0, "q.k": 9.0, "q.x": 0.0, "q.v": 1.0}
    integration = {"integrator": "integrators.bogacki_shampine", "accuracy": accuracy}
    if algorithm == "joint":
        parts, options = {"p": part, "q": part}, integration
    else:
        parts, options = {name: ModelExchangeParticipant(part, **integration) for name in "pq"}, {}
    loop = CoSimulation(parts, (), algorithm, 2.0, options=options, starts=starts)
    result = loop.simulate(6.0)
    report = loop.verify(result)
    for name, exact in (("p.x", np.cos(40.0**0.5 * result.time)), ("q.x", np.sin(3.0 * result.time) / 3.0)):
        error = np.abs(result[name] - exact).max()
        assert error < report[name].error < 20.0 * error


def test_a_boolean_is_received_at_the_instant_of_its_event(part: Path) -> None:
    """p swings; while it is above 0.3, its output ``high`` turns the force on q off."""
    starts = {"p.k": 4.0, "p.limit": 0.3, "q.force": 2.0, "q.x": 0.0, "p.x": 1.0}
    loop = joint({"p": part, "q": part}, ["p.high -> q.held"], starts, options={"accuracy": 1e-10}, step=0.5)
    result = loop.simulate(3.0)
    first, second = np.arccos(0.3) / 2.0, np.pi - np.arccos(0.3) / 2.0
    events = [(e.time, e.handler) for e in result.events]
    assert [name for _, name in events] == ["p.fmu.state_event_0"] * 2
    assert [time for time, _ in events] == pytest.approx([first, second], abs=1e-8)
    pushed = second - first
    assert result["q.v"][-1] == pytest.approx(2.0 * pushed, abs=1e-8)
    assert result["q.x"][-1] == pytest.approx(pushed**2 + 2.0 * pushed * (3.0 - second), abs=1e-7)
    assert result["q.passes"][-1] == 3  # at the start, and at each crossing
    before = np.flatnonzero(np.diff(result.time) == 0.0)[0]  # the row before the first event
    assert [bool(result["p.high"][i]) for i in (before, before + 1)] == [True, False]
    assert [bool(result["q.held"][i]) for i in (before, before + 1)] == [True, False]


def test_the_impact_of_a_ball_that_another_fmu_drives_is_located(
    part: Path, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    """The position of a mass pushes the ball: x = cos t, h'' = -g + cos t; a kick follows at 0.2 s."""
    ball = make_ball(tmp_path, compiled, "true")
    loop = joint(
        {"ball": ball, "mass": part},
        [{"from": "mass.x", "to": "ball.push", "convert": False}],
        {"mass.k": 1.0, "ball.kick_at": 0.2},
        options={"accuracy": 1e-11},
        step=0.15,
    )
    result = loop.simulate(0.6)

    def height(t: float) -> float:
        return 2.0 - G * t**2 / 2.0 - np.cos(t) + max(0.0, t - 0.2)

    assert [(e.cause.name, e.handler) for e in result.events] == [
        ("SCHEDULED", "ball.fmu.time_event"),
        ("TRIGGERED", "ball.fmu.state_event_0"),
    ]
    assert result.events[0].time == 0.2 and abs(height(result.events[1].time)) < 1e-8
    before = result.time < result.events[1].time
    assert result["ball.h"][before] == pytest.approx([height(t) for t in result.time[before]], abs=1e-8)


@pytest.mark.parametrize(
    ("others", "order"),
    [("jacobi", 1), ("gauss_seidel", 1), pytest.param("interface_newton", 2, marks=pytest.mark.thorough)],
)
def test_other_participants_are_coupled_by_the_algorithm_for_others(
    part: Path, others: str, order: int
) -> None:
    """p and q are coupled stiffly inside the system; a spring in Python couples q and r."""
    starts = {"p.k": 1.0, "q.k": 50.0, "q.c": 0.5, "q.x": 0.2, "r.k": 2.0, "r.x": -0.5}
    connections = [
        *("p.x -> q.road", "p.v -> q.road_rate", "q.reaction -> p.force", "q.x -> s.one", "r.x -> s.other"),
        *("s.pull -> q.force", "s.back -> r.force"),
    ]
    matrix = np.zeros((6, 6))
    matrix[0, 1] = matrix[2, 3] = matrix[4, 5] = 1.0
    matrix[1] = [-51.0, -0.5, 50.0, 0.5, 0.0, 0.0]
    matrix[3] = [50.0, 0.5, -55.0, -0.5, 5.0, 0.0]
    matrix[5] = [0.0, 0.0, 5.0, 0.0, -7.0, 0.0]
    exact = expm(matrix * 0.2) @ [1.0, 0.0, 0.2, 0.0, -0.5, 0.0]
    errors = []
    for step in (0.04, 0.02):
        participants = {"p": part, "r": part, "s": Spring(5.0), "q": part}
        loop = joint(participants, connections, starts, step=step, options={"others": others})
        result = loop.simulate(0.2)
        errors.append(abs(result["r.x"][-1] - exact[4]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)
    assert [line for line in loop.explain().splitlines() if "one system" in line] == [
        "p + r + q: one system, solved by integrators.runge_kutta_merson, accuracy 1e-08"
    ]


def test_a_failing_fmu_is_named_and_the_results_remain(part: Path) -> None:
    loop = joint({"p": part, "q": part}, ["p.x -> q.road"], {"q.fail_at": 0.55})
    with pytest.raises(cosim.SimulationError, match="= 0.5.*fmi2GetDerivatives.*bearing.*seized"):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result.time[-1] == 0.5


def test_an_fmu_that_asks_to_stop_ends_the_run_and_is_named(part: Path) -> None:
    result = joint({"p": part, "q": part}, ["p.x -> q.road"], {"q.stop_at": 0.55}).simulate(1.0)
    assert result.message.startswith("q asked to stop at 0.55 s") and result.time[-1] == pytest.approx(0.6)


def test_steps_of_the_integrator_are_recorded_for_all_fmus(part: Path) -> None:
    result = joint({"p": part, "q": part}, ["p.x -> q.road"], {"p.k": 1.0}, step=1.0).simulate(
        2.0, inside="steps"
    )
    assert len(result.time) > 8
    assert result["p.x"] == pytest.approx(np.cos(result.time), abs=1e-7)
    assert result["q.road"].tolist() == result["p.x"].tolist()


def test_repeated_runs_are_the_same(part: Path) -> None:
    """This holds also after a failed run, and with instances that are reset."""
    loop = joint({"body": part, "wheel": part}, FORCE, {"body.k": 3.0})
    expected = loop.simulate(0.3)["wheel.x"].tolist()
    starts = loop.start_values
    loop.set_start("body.fail_at", 0.2)
    with pytest.raises(cosim.SimulationError, match="bearing has seized"):
        loop.simulate(0.3)
    loop.replace_starts(starts)
    assert loop.simulate(0.3)["wheel.x"].tolist() == expected
    loop.reuse_instances()
    assert [loop.simulate(0.3)["wheel.x"].tolist() for _ in range(2)] == [expected] * 2
    loop.reuse_instances(False)


def test_bonds_inside_the_system_create_no_energy(part: Path) -> None:
    bonds = [["wheel.v", "body.reaction"]]
    loop = joint({"body": part, "wheel": part}, FORCE, {"body.k": 1.0}, bonds=bonds)
    assert loop.bonds == () and loop.simulate(0.2).coupling.energy == {}


def test_after_the_run_its_simulator_refuses_to_advance(part: Path) -> None:
    """Its FMUs have been freed and must not be called."""
    loop = joint({"p": part, "q": part}, ["p.reaction -> q.force"], {"p.k": 1.0})
    simulators: list[cosim.Simulator] = []

    def observe(time: float, values: Any) -> None:
        member: Any = loop.participants["p"]
        simulators.append(member.simulator)

    loop.simulate(0.3, observe=observe)
    with pytest.raises(cosim.SimulationError):
        simulators[0].advance_to(5.0)
