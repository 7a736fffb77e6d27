"""Delayed signals of all kinds of sources are within ten accuracies, or a finding says otherwise.

The table in docs/measures.md is made here: `python tests/measures/test_delay_accuracy.py` prints it.
"""

from __future__ import annotations

import functools
import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from delay_sources import DELAY, ENDING, JUMP, SOURCES, UNTIL, Source, late, run

import cosim
from cosim.run_data.run import Run
from cosim_lowering.program import Program
from cosim_mechanics import Multibody

EXPLICIT = ("runge_kutta_merson", "dormand_prince", "tsitouras", "bogacki_shampine", "dormand_prince_853")
IMPLICIT = ("radau5", "esdirk43", "bdf")
LIBRARIES = ("scipy_dop853", "scipy_lsoda", "scipy_bdf", "scipy_radau")
LIBRARIES += ("cvode",) if importlib.util.find_spec("sksundae") is not None else ()
INTERPOLATIONS = ("hermite", "dense_output")
ACCURACIES = (1e-4, 1e-6, 1e-8)
PROMISED = 10.0  # accuracies
PAGE = Path(__file__).parents[2] / "docs" / "measures.md"
BY_NAME = {source.name: source for source in SOURCES}
IN_SHORT_RUNS = ("runge_kutta_merson", "dormand_prince", "radau5")
"""The others are tested in thorough runs."""
CASES = [
    pytest.param(name, integrator, marks=[] if integrator in IN_SHORT_RUNS else [pytest.mark.thorough])
    for name in BY_NAME
    for integrator in (*EXPLICIT, *IMPLICIT, *LIBRARIES)
]


@functools.cache
def error_in_accuracies(source: Source, integrator: str, interpolation: str, accuracy: float) -> float:
    """Return the largest error, in accuracies, and check the findings."""
    error, result = run(source, integrator, accuracy, interpolation=interpolation)
    kinds = {finding.kind for finding in result.findings}
    assert kinds == ({source.finding} if source.finding else set()), result.findings
    return error / accuracy


def table() -> str:
    """Return the table of the documentation: the largest error for each source."""
    lines = ["| source | " + " | ".join(f"`{i}`" for i in INTERPOLATIONS) + " |", "|---|---|---|"]
    for source in SOURCES:
        cells = []
        for interpolation in INTERPOLATIONS:
            ratio = max(
                error_in_accuracies(source, integrator, interpolation, accuracy)
                for integrator in IN_SHORT_RUNS
                for accuracy in ACCURACIES
            )
            cell = f"≤ {1 if ratio <= 1.0 else 10}" if ratio <= PROMISED else "**more**"
            cells.append(cell + (f', and the finding "{source.finding}"' if source.finding else ""))
        lines.append(f"| {source.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


@pytest.mark.few(6)
@pytest.mark.parametrize(("name", "integrator"), CASES)
def test_delayed_signals_are_within_ten_accuracies(name: str, integrator: str) -> None:
    for interpolation in INTERPOLATIONS:
        for accuracy in ACCURACIES:
            error = error_in_accuracies(BY_NAME[name], integrator, interpolation, accuracy)
            assert error <= PROMISED, (interpolation, accuracy)


@pytest.mark.parametrize("integrator", ["dormand_prince", "bdf"])
def test_the_second_of_two_delays_follows_changes_of_the_first_history(integrator: str) -> None:
    """A point that is added to a history changes it before the point, so the next delay is checked again."""
    error, result = run(BY_NAME["delayed sinusoid"], integrator, 1e-8, interpolation="dense_output")
    assert error < 5e-9
    first_error = np.abs(result["first_delay"] - late(BY_NAME["sinusoid"].exact, 0.3)(result.time))
    assert first_error.max() < 5e-9


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_errors_shrink_with_the_accuracy(interpolation: str) -> None:
    errors = [
        run(BY_NAME["sinusoid"], "runge_kutta_merson", accuracy, interpolation=interpolation)[0]
        for accuracy in ACCURACIES
    ]
    assert errors[0] > 30.0 * errors[1] > 900.0 * errors[2]


def test_a_jump_without_an_event_is_a_finding_and_stays_a_jump() -> None:
    _, result = run(BY_NAME["jumping"], "runge_kutta_merson", 1e-6)
    (finding,) = result.findings
    assert (finding.kind, finding.witness) == ("not smooth", "late")
    assert "jump an event" in finding.message
    falls = np.flatnonzero(np.diff(result["late"]) < -0.5)
    assert falls.tolist() == [int(np.searchsorted(result.time, JUMP + DELAY)) - 1]


def test_a_source_with_nan_inside_steps_is_a_finding() -> None:
    _, result = run(ENDING, "runge_kutta_merson", 1e-6)
    assert (ENDING.finding, "late") in {(f.kind, f.witness) for f in result.findings}


@pytest.mark.parametrize("step", [0.1, 0.35])
def test_delays_do_not_shorten_fixed_steps(step: float) -> None:
    model = cosim.Model("fixed")
    model.add("measures.delay", "late", source=BY_NAME["sinusoid"].build(model), delay=DELAY)
    simulator = cosim.Simulator(
        model.build(), integrator="integrators.runge_kutta_4", fixed_step=step, accuracy=1e-5
    )
    simulator.record(["late"], "grid", interval=0.01, until=2.1)
    simulator.advance_to(2.1)
    assert simulator.statistics.steps == round(2.1 / step)
    times, values = simulator.take_rows().T
    exact = late(BY_NAME["sinusoid"].exact, DELAY)(times)
    assert np.abs(values - exact).max() < 1e-4


@pytest.mark.parametrize("kind", ["maximum", "min_abs"])
def test_extremes_inside_long_steps_are_found(kind: str) -> None:
    model = cosim.Model("extreme")
    model.add(f"measures.{kind}", "best", source=BY_NAME["chirp"].build(model))
    model.add("measures.delay", "late", source="source.y", delay=DELAY)
    result = model.simulate(until=UNTIL, accuracy=1e-7, output_interval=UNTIL)
    assert result["best"][-1] == pytest.approx(1.0 if kind == "maximum" else 0.0, abs=1e-6)
    if kind == "maximum":  # the first of many equal maxima
        time = result["best.time"][-1]
        assert time * (1.0 + 3.0 * time) % (2.0 * math.pi) == pytest.approx(0.5 * math.pi, abs=1e-2)


def test_a_long_delay_in_a_model_without_states() -> None:
    model = cosim.Model("long")
    model.add("measures.delay", "late", source=BY_NAME["sinusoid"].build(model), delay=40.0)
    result = model.simulate(until=60.0, accuracy=1e-6, output_interval=0.0137)
    exact = late(BY_NAME["sinusoid"].exact, 40.0)(result.time)
    assert np.abs(result["late"] - exact).max() < 1e-5


def test_a_resumed_run_has_the_same_bytes() -> None:
    model = cosim.Model("saved")
    model.add("measures.delay", "late", source=BY_NAME["chain with feedthrough"].build(model), delay=DELAY)
    system = model.build()
    uninterrupted = cosim.Simulator(system, accuracy=1e-6)
    uninterrupted.advance_to(1.0)
    state = system.state_from_bytes(uninterrupted.state.to_bytes())
    uninterrupted.advance_to(2.0)
    resumed = cosim.Simulator(system, state, accuracy=1e-6)
    resumed.advance_to(2.0)
    assert resumed.state.to_bytes() == uninterrupted.state.to_bytes()


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_rows_of_steps_that_end_at_a_delayed_break_are_finite(integrator: str) -> None:
    _, result = run(BY_NAME["state"], integrator, 1e-5)
    assert np.abs(result["oscillator.x"] - np.sin(3.0 * result.time)).max() < 1e-2


@pytest.mark.thorough
def test_the_documentation_has_this_table() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")


def test_checks_of_a_delayed_speed_evaluate_no_forces() -> None:
    """The value of the speed decides whether a point is added; only an added point needs its rate."""
    model = Multibody("weight")
    model.joint("slider", child=model.body("weight", mass=2.0, inertia=(1, 1, 1)))
    model.add("mechanics.coordinate_spring", "spring", coordinate="weight_joint", stiffness=50.0)
    speed = model.measure("mechanics.velocity", "speed", of="weight", axis="x")
    model.measure("measures.delay", "felt", source=speed, delay=0.1)
    system = model.build()
    run = Run(**Program(system, "integrators.dormand_prince").arrays)
    labels = [system.blocks[i].label for i in run.checked_blocks]
    checked, added = set(labels[: run.plan.checked_values]), set(labels[run.plan.checked_values :])
    assert "dynamics: velocities" in checked
    assert {"dynamics: accelerations", "force"} <= added
    assert not {"dynamics: accelerations", "force"} & checked


if __name__ == "__main__":
    print(table())
