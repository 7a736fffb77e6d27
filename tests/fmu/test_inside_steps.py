"""Results have rows between communication points: before and after events, and on request inside steps."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box3_fmu import make_box3
from clocks3_fmu import make_clocks3
from in_a_process import Ramp, ball, ball_participant
from model3_fmu import make_model3

import cosim
from cosim_fmu import CoSimulation, CoSimulationError, ProcessParticipant, SystemParticipant

Compiled = Callable[..., Path]
FIRST_BOUNCE = np.sqrt(2.0 / 9.81)
"""The time at which a ball from 1 m reaches the floor, s."""


def jumps(result: cosim.Result, name: str) -> list[tuple[float, float, float]]:
    """The time of each jump of a signal, and the values before and after it."""
    values, twice = result[name], np.flatnonzero(np.diff(result.time) == 0.0)
    return [(result.time[i], values[i], values[i + 1]) for i in twice if values[i] != values[i + 1]]


@pytest.mark.parametrize("algorithm", ["jacobi", "waveform_iteration"])
def test_signals_of_a_system_have_values_before_and_after_events(algorithm: str) -> None:
    parts = {name: SystemParticipant(ball(), accuracy=1e-9) for name in "ab"}
    loop = CoSimulation(parts, [("b.ball.height", "a.ball.wind")], algorithm, 0.06)
    result = loop.simulate(1.0, record=["*.ball.speed", "*.ball.height", "a.ball.wind"])
    for name in ("a", "b"):
        speed_jumps = jumps(result, f"{name}.ball.speed")
        assert [time for time, _, _ in speed_jumps] == pytest.approx(
            [FIRST_BOUNCE, 2.0 * FIRST_BOUNCE], abs=1e-6
        )
        assert speed_jumps[0][1:] == pytest.approx(
            (-9.81 * FIRST_BOUNCE, 0.5 * 9.81 * FIRST_BOUNCE), abs=1e-6
        )
    assert (
        len(result.time) > len(loop.simulate(1.0, inside="nothing").time) == 18
    )  # 16 steps and a shorter one


def test_tables_plots_and_files_have_the_rows_of_events(tmp_path: Path) -> None:
    loop = CoSimulation({"a": SystemParticipant(ball())}, [], "jacobi", 0.06)
    result = loop.simulate(1.0, record=["a.ball.height"])
    rows = np.genfromtxt(result.to_csv(tmp_path / "ball.csv"), delimiter=",", skip_header=1)
    assert len(rows) == len(result.to_pandas()) == len(result.time)
    assert len(result.plot().axes[0].lines[0].get_xdata()) == len(rows)
    assert np.all(np.diff(result.time) >= 0.0)


def test_a_participant_in_a_process_has_the_same_rows(tmp_path: Path) -> None:
    expected, result = (
        CoSimulation({"a": part}, [], "jacobi", 0.1).simulate(1.0, record=["a.ball.speed"])
        for part in (ball_participant(), ProcessParticipant(ball_participant))
    )
    assert result.time.tobytes() == expected.time.tobytes() and len(jumps(result, "a.ball.speed")) == 2


def test_an_fmu_for_model_exchange_has_values_before_and_after_events(
    tmp_path: Path, compiled: Compiled
) -> None:
    result = CoSimulation({"m": make_model3(tmp_path, compiled, "BALL")}, [], "jacobi", 0.1).simulate(0.6)
    (time, before, after), *_ = jumps(result, "m.v")
    assert time == pytest.approx(FIRST_BOUNCE, abs=1e-5)
    assert before == pytest.approx(-9.81 * FIRST_BOUNCE, rel=1e-4) and after == pytest.approx(
        -0.7 * before, rel=1e-6
    )


def test_a_connected_participant_receives_a_change_at_the_next_communication_point(
    tmp_path: Path, compiled: Compiled
) -> None:
    """`a` rings at 0.25 s and returns early; `b` receives its output at 0.3 s."""
    box = make_box3(tmp_path, compiled)
    starts = {"a.ring_at": 0.25, "a.u": 2.0}
    loop = CoSimulation({"a": box, "b": box}, [("a.x", "b.u")], "jacobi", 0.1, starts=starts)
    result = loop.simulate(0.5)
    assert [(t, a, b) for t, a, b in jumps(result, "a.rings")] == [(0.25, 0.0, 1.0)]
    input_jumps = jumps(result, "b.u")
    rows = {round(t, 9): i for i, t in enumerate(result.time)}
    # inside the step `b` holds the value from the start of the step
    rows_of_event = np.flatnonzero(result.time == 0.25)
    assert result["b.u"][rows_of_event] == pytest.approx(result["a.x"][rows[0.2]])
    assert [t for t, _, _ in input_jumps] == pytest.approx([0.2, 0.3])
    assert input_jumps[1][2] == pytest.approx(result["a.x"][rows[0.3]])


def test_values_inside_a_step_of_an_fmu_are_recorded_on_request(tmp_path: Path, compiled: Compiled) -> None:
    fmu = make_clocks3(tmp_path, compiled)
    loop = CoSimulation({"m": fmu}, [], "jacobi", 0.05, starts={"m.u": 1.0})
    result = loop.simulate(0.05, record=["m.x"], inside="steps")
    # the FMU takes ten steps, and shows in the middle of each the value at its start
    assert result.time[1:-1] == pytest.approx([0.0025 + 0.005 * i for i in range(10)])
    assert result["m.x"][1:-1] == pytest.approx([0.005 * i for i in range(10)])
    assert len(loop.simulate(0.05, record=["m.x"]).time) == 2


def test_steps_of_an_integrator_are_recorded_on_request() -> None:
    result = CoSimulation({"a": ball()}, [], "jacobi", 0.3).simulate(
        0.3, record=["a.ball.height"], inside="steps"
    )
    assert len(result.time) > 3
    assert result["a.ball.height"] == pytest.approx(1.0 - 0.5 * 9.81 * result.time**2, abs=1e-9)
    with pytest.raises(cosim.ModelError, match="'nothing', 'events' or 'steps'"):
        CoSimulation({"a": ball()}, [], "jacobi", 0.3).simulate(0.3, inside="all")


@pytest.mark.parametrize("points", [[(0.05, ["y"], [])], [(math.nan, ["y"], [1.0])], [None], 3])
def test_a_participant_with_wrong_inner_points_is_named(points: object) -> None:
    class WrongPoints(Ramp):
        def inside(self) -> Any:
            return points if self.time else []

    with pytest.raises(CoSimulationError, match="at t = 0 s: a: "):
        CoSimulation({"a": WrongPoints()}, [], "jacobi", 0.1).simulate(0.2)


def test_inner_points_of_an_object_in_python_are_rows() -> None:
    """Other signals are interpolated there; unknown names are ignored."""

    class InnerPoints(Ramp):
        def inside(self) -> Any:
            return [(self.time - 0.05, ["y", "unknown"], [7.0, 8.0])] if self.time else []

    result = CoSimulation({"a": InnerPoints(), "b": Ramp(2.0)}, [], "jacobi", 0.1).simulate(
        0.2, record=["*.y"]
    )
    assert result.time == pytest.approx([0.0, 0.05, 0.1, 0.15, 0.2])
    assert result["a.y"] == pytest.approx([0.0, 7.0, 0.1, 7.0, 0.2])
    assert result["b.y"] == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])
