"""Native FMUs of co-simulations with series, and with changes at times and under conditions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fmpy
import pytest
from ball_and_clockwork import model_of
from compiled_sources import CLEAN, compile_sources
from controlled_spring import plant
from native_container_runs import PassThrough, check_bits, export, record_all, running
from native_tools import needs_compiler

from cosim_fmu import CoSimulation, SystemParticipant
from cosim_fmu.scenario.scenario_changes import make_changes
from cosim_master.coupling.connection import Connection
from cosim_master.participants.timed_changes import Changes
from cosim_master.participants.timed_inputs import TimedInputs

pytestmark = needs_compiler
PUSH: list[list[Any]] = [[0.1, 1.0], ["150 ms", -2.0], [0.15, 3.0], [0.4, 0.5]]
"""Values over time that start after the run, jump, and end before the end of the run."""
CHANGES: dict[str, list[list[float]]] = {"one.part.gain": [[0.2, 0.75], [0.33, -0.5]]}


def timed(interpolation: str, extrapolation: str, algorithm: str, start: float = 0.0) -> CoSimulation:
    """A plant that a series pushes, and a part whose parameter changes at times."""
    parts = {"plant": SystemParticipant(plant()), "one": SystemParticipant(model_of(PassThrough))}
    parts["timed"] = TimedInputs({"u": PUSH}, interpolation, extrapolation=extrapolation)
    parts["changes"] = Changes(CHANGES, {}, {})
    wires = [
        *(("timed.u", "plant.body.force"), ("plant.body.position", "one.part.seen")),
        Connection("changes.one.part.gain", "one.part.gain", reads_any=True),
    ]
    return record_all(CoSimulation(parts, wires, algorithm, 0.01, start=start))


def conditional(algorithm: str) -> CoSimulation:
    """Changes under conditions that become true while the plant swings, one of them twice, and at a time."""
    parts: dict[str, Any] = {
        "plant": SystemParticipant(plant()),
        "one": SystemParticipant(model_of(PassThrough)),
    }
    entries = [
        {
            "when": "one.part.out > one.part.seen and plant.body.position > 0.5 m or one.part.out == 0",
            "set": {"one.part.gain": 0.75},
        },
        {"at": "250 ms", "set": {"one.part.gain": -0.5}},
        {"when": "plant.body.position < 0.9 m", "set": {"one.part.gain": 0.1, "plant.body.force": 2.0}},
    ]
    changes, links = make_changes(entries, parts, {}, lambda *words: pytest.fail(str(words)))
    assert changes is not None
    wires = [("plant.body.position", "one.part.seen"), *links]
    return CoSimulation({**parts, "changes": changes}, wires, algorithm, 0.01)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("interpolation", "extrapolation", "algorithm"),
    [
        ("linear", "kept", "jacobi"),
        ("held", "tangent", "interface_newton"),
        ("linear", "tangent", "adaptive"),
    ],
)
def test_the_bits_of_series_and_timed_changes(
    interpolation: str, extrapolation: str, algorithm: str, tmp_path: Path
) -> None:
    def loop() -> CoSimulation:
        return timed(interpolation, extrapolation, algorithm)

    assert check_bits(loop(), export(loop(), tmp_path), 0.6) == 6


def test_rollback_and_serialized_states(tmp_path: Path) -> None:
    fmu = export(timed("linear", "kept", "jacobi"), tmp_path)
    with running(fmu) as instance, running(fmu) as second:
        time = instance.step(0.0, 0.122)
        saved = instance.slave.getFMUstate()
        data = instance.slave.serializeFMUstate(saved)
        ends = {instance.step(time, 0.1) and instance["plant.body.position"]}
        instance.slave.setFMUstate(saved)
        second.slave.setFMUstate(second.slave.deSerializeFMUstate(data))
        ends |= {each.step(time, 0.1) and each["plant.body.position"] for each in (instance, second)}
        assert len(ends) == 1


def test_a_step_beyond_the_end_of_a_series_is_an_error(tmp_path: Path) -> None:
    fmu = export(timed("linear", "error", "jacobi", start=0.2), tmp_path)
    with running(fmu, start=0.2) as instance:
        instance.step(0.2, 0.1)
        with pytest.raises(fmpy.fmi1.FMICallException):
            instance.step(0.3, 0.2)
        assert "timed: has values from 0.1 s to 0.4 s" in instance.log[-1]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "algorithm",
    ["jacobi", pytest.param("gauss_seidel", marks=pytest.mark.thorough), "waveform_iteration"],
)
def test_the_bits_of_changes_under_conditions(algorithm: str, tmp_path: Path) -> None:
    loop = conditional(algorithm)
    result = loop.simulate(0.6, inside="nothing")
    assert len(result.events) >= 3 and len(set(result["one.part.gain"])) == 4
    assert check_bits(record_all(conditional(algorithm)), export(record_all(loop), tmp_path), 0.6) >= 6


@pytest.mark.thorough
def test_the_bits_of_compiled_sources(tmp_path: Path) -> None:
    def loop() -> CoSimulation:
        return timed("linear", "tangent", "gauss_seidel")

    sources = export(loop(), tmp_path, sources=True)
    assert check_bits(loop(), compile_sources(sources, *CLEAN, "-O3"), 0.6) == 6
