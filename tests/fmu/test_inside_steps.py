"""What is recorded between the communication points: both sides of events, values inside steps."""

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
LANDED = np.sqrt(2.0 / 9.81)


def jumps(result: cosim.Result, name: str) -> list[tuple[float, float, float]]:
    """Time, value before and after, of each jump of a signal."""
    values, twice = result[name], np.flatnonzero(np.diff(result.time) == 0.0)
    return [(result.time[i], values[i], values[i + 1]) for i in twice if values[i] != values[i + 1]]


@pytest.mark.parametrize("algorithm", ["jacobi", "waveform_iteration"])
def test_signals_of_a_system_have_both_sides(algorithm: str) -> None:
    parts = {name: SystemParticipant(ball(), accuracy=1e-9) for name in "ab"}
    loop = CoSimulation(parts, [("b.ball.height", "a.ball.wind")], algorithm, 0.06)
    result = loop.simulate(1.0, record=["*.ball.speed", "*.ball.height", "a.ball.wind"])
    for name in ("a", "b"):
        found = jumps(result, f"{name}.ball.speed")
        assert [time for time, _, _ in found] == pytest.approx([LANDED, 2.0 * LANDED], abs=1e-6)
        assert found[0][1:] == pytest.approx((-9.81 * LANDED, 0.5 * 9.81 * LANDED), abs=1e-6)
    assert len(result.time) > len(loop.simulate(1.0, inside="nothing").time) == 18


def test_table_plot_and_csv_agree(tmp_path: Path) -> None:
    loop = CoSimulation({"a": SystemParticipant(ball())}, [], "jacobi", 0.06)
    result = loop.simulate(1.0, record=["a.ball.height"])
    rows = np.genfromtxt(result.to_csv(tmp_path / "ball.csv"), delimiter=",", skip_header=1)
    assert len(rows) == len(result.to_pandas()) == len(result.time)
    assert len(result.plot().axes[0].lines[0].get_xdata()) == len(rows)
    assert np.all(np.diff(result.time) >= 0.0)


def test_a_process_tells_the_same(tmp_path: Path) -> None:
    here, there = (
        CoSimulation({"a": part}, [], "jacobi", 0.1).simulate(1.0, record=["a.ball.speed"])
        for part in (ball_participant(), ProcessParticipant(ball_participant))
    )
    assert here.time.tobytes() == there.time.tobytes() and len(jumps(there, "a.ball.speed")) == 2


def test_model_exchange(tmp_path: Path, compiled: Compiled) -> None:
    result = CoSimulation({"m": make_model3(tmp_path, compiled, "BALL")}, [], "jacobi", 0.1).simulate(0.6)
    (time, before, after), *_ = jumps(result, "m.v")
    assert time == pytest.approx(LANDED, abs=1e-5)
    assert before == pytest.approx(-9.81 * LANDED, rel=1e-4) and after == pytest.approx(
        -0.7 * before, rel=1e-6
    )


def test_the_receiver_gets_it_at_the_next_communication_point(tmp_path: Path, compiled: Compiled) -> None:
    """`box` rings at 0.25 s and returns early; whoever is connected is told at 0.3 s."""
    box = make_box3(tmp_path, compiled)
    starts = {"a.ring_at": 0.25, "a.u": 2.0}
    loop = CoSimulation({"a": box, "b": box}, [("a.x", "b.u")], "jacobi", 0.1, starts=starts)
    result = loop.simulate(0.5)
    assert [(t, a, b) for t, a, b in jumps(result, "a.rings")] == [(0.25, 0.0, 1.0)]
    seen = jumps(result, "b.u")
    places = {round(t, 9): i for i, t in enumerate(result.time)}
    # inside the step the receiver holds what it got at its beginning
    at = np.flatnonzero(result.time == 0.25)
    assert result["b.u"][at] == pytest.approx(result["a.x"][places[0.2]])
    assert [t for t, _, _ in seen] == pytest.approx([0.2, 0.3])
    assert seen[1][2] == pytest.approx(result["a.x"][places[0.3]])


def test_values_inside_a_step_on_request(tmp_path: Path, compiled: Compiled) -> None:
    fmu = make_clocks3(tmp_path, compiled)
    loop = CoSimulation({"m": fmu}, [], "jacobi", 0.05, starts={"m.u": 1.0})
    result = loop.simulate(0.05, record=["m.x"], inside="steps")
    # ten midpoint steps: at the middle of each the value at its beginning
    assert result.time[1:-1] == pytest.approx([0.0025 + 0.005 * i for i in range(10)])
    assert result["m.x"][1:-1] == pytest.approx([0.005 * i for i in range(10)])
    assert len(loop.simulate(0.05, record=["m.x"]).time) == 2


def test_integrator_steps_on_request() -> None:
    result = CoSimulation({"a": ball()}, [], "jacobi", 0.3).simulate(
        0.3, record=["a.ball.height"], inside="steps"
    )
    assert len(result.time) > 3
    assert result["a.ball.height"] == pytest.approx(1.0 - 0.5 * 9.81 * result.time**2, abs=1e-9)
    with pytest.raises(cosim.ModelError, match="'nothing', 'events' or 'steps'"):
        CoSimulation({"a": ball()}, [], "jacobi", 0.3).simulate(0.3, inside="all")


@pytest.mark.parametrize("points", [[(0.05, ["y"], [])], [(math.nan, ["y"], [1.0])], [None], 3])
def test_a_participant_that_tells_nonsense_is_named(points: object) -> None:
    class Teller(Ramp):
        def inside(self) -> Any:
            return points if self.time else []

    with pytest.raises(CoSimulationError, match="at t = 0 s: a: "):
        CoSimulation({"a": Teller()}, [], "jacobi", 0.1).simulate(0.2)


def test_points_of_a_python_object_are_rows() -> None:
    class Teller(Ramp):
        def inside(self) -> Any:
            return [(self.time - 0.05, ["y", "unknown"], [7.0, 8.0])] if self.time else []

    result = CoSimulation({"a": Teller(), "b": Ramp(2.0)}, [], "jacobi", 0.1).simulate(0.2, record=["*.y"])
    assert result.time == pytest.approx([0.0, 0.05, 0.1, 0.15, 0.2])
    assert result["a.y"] == pytest.approx([0.0, 7.0, 0.1, 7.0, 0.2])
    assert result["b.y"] == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])
