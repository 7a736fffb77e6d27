"""Events inside participants are in the result of a co-simulation, with values before and after them."""

import math
from typing import Any

import pytest
from in_a_process import ball, ball_participant

import cosim
from cosim_fmu import CoSimulation, ProcessParticipant, SystemParticipant


def bounces(result: cosim.Result) -> list[cosim.EventRecord]:
    return [event for event in result.events if event.handler == "a.ball.bounce"]


@pytest.mark.parametrize("algorithm", ["jacobi", "waveform_iteration"])
def test_events_have_the_values_before_and_after_them(algorithm: str) -> None:
    """Dropped from 1 m it lands at sqrt(2 / g); rollback neither loses an event nor records it twice."""
    parts: dict[str, Any] = {"a": SystemParticipant(ball(), accuracy=1e-9), "b": ball()}
    loop = CoSimulation(parts, [("b.ball.height", "a.ball.wind")], algorithm, 0.06)
    result = loop.simulate(1.0)
    bounces_of_a = bounces(result)
    impact = math.sqrt(2.0 / 9.81)
    assert [event.time for event in bounces_of_a] == pytest.approx([impact, 2.0 * impact], abs=1e-6)
    first_bounce = bounces_of_a[0]
    assert first_bounce.cause is cosim.EventCause.TRIGGERED and first_bounce.changed == ("a.ball.speed",)
    assert first_bounce.before["a.ball.speed"] == pytest.approx(-math.sqrt(2.0 * 9.81), abs=1e-6)
    assert first_bounce.after["a.ball.speed"] == pytest.approx(0.5 * math.sqrt(2.0 * 9.81), abs=1e-6)
    times = [event.time for event in result.events]
    assert times == sorted(times) and result.statistics["events"] == len(times)
    assert len([event for event in result.events if event.handler == "b.ball.bounce"]) == 2


def test_events_of_a_participant_in_another_process() -> None:
    local = CoSimulation({"a": ball_participant()}, [], "jacobi", 0.1).simulate(1.0)
    remote = CoSimulation({"a": ProcessParticipant(ball_participant)}, [], "jacobi", 0.1).simulate(1.0)
    assert [(e.time, e.after) for e in bounces(remote)] == [(e.time, e.after) for e in bounces(local)]
    assert len(bounces(local)) == 2
