"""Delays of all kinds of sources: what comes out is right within ten accuracies, or a finding says so.

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


@functools.cache
def worst(source: Source, integrator: str, interpolation: str, accuracy: float) -> float:
    """The error in accuracies."""
    error, result = run(source, integrator, accuracy, interpolation=interpolation)
    kinds = {finding.kind for finding in result.findings}
    assert kinds == ({source.finding} if source.finding else set()), result.findings
    return error / accuracy


OFTEN = ("runge_kutta_merson", "dormand_prince", "radau5")  # the others in the thorough tests
NORMAL = [
    pytest.param(name, integrator, marks=[] if integrator in OFTEN else [pytest.mark.thorough])
    for name in BY_NAME
    for integrator in (*EXPLICIT, *IMPLICIT, *LIBRARIES)
]


@pytest.mark.few(6)
@pytest.mark.parametrize(("name", "integrator"), NORMAL)
def test_what_is_delayed_is_right_within_ten_accuracies(name: str, integrator: str) -> None:
    for interpolation in INTERPOLATIONS:
        for accuracy in ACCURACIES:
            error = worst(BY_NAME[name], integrator, interpolation, accuracy)
            assert error <= PROMISED, (interpolation, accuracy)


@pytest.mark.parametrize("integrator", ["dormand_prince", "bdf"])
def test_a_point_that_changes_a_history_behind_it_has_it_looked_at_again(integrator: str) -> None:
    """What a history says before a point that it gets was looked at for the sake of another: off by 17."""
    error, result = run(BY_NAME["delayed sinusoid"], integrator, 1e-8, interpolation="dense_output")
    assert error < 5e-9
    first = np.abs(result["first_delay"] - late(BY_NAME["sinusoid"].exact, 0.3)(result.time))
    assert first.max() < 5e-9


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_more_accuracy_is_less_error(interpolation: str) -> None:
    errors = [
        run(BY_NAME["sinusoid"], "runge_kutta_merson", accuracy, interpolation=interpolation)[0]
        for accuracy in ACCURACIES
    ]
    assert errors[0] > 30.0 * errors[1] > 900.0 * errors[2]


def test_a_jump_is_found_with_the_name_of_the_delay_and_kept_as_a_jump() -> None:
    _, result = run(BY_NAME["jumping"], "runge_kutta_merson", 1e-6)
    (finding,) = result.findings
    assert (finding.kind, finding.witness) == ("not smooth", "late")
    assert "jump an event" in finding.message
    falls = np.flatnonzero(np.diff(result["late"]) < -0.5)
    assert falls.tolist() == [int(np.searchsorted(result.time, JUMP + DELAY)) - 1]


def test_a_source_that_is_no_number_inside_steps_is_found_with_the_name_of_the_delay() -> None:
    _, result = run(ENDING, "runge_kutta_merson", 1e-6)
    assert (ENDING.finding, "late") in {(f.kind, f.witness) for f in result.findings}


@pytest.mark.parametrize("step", [0.1, 0.35])
def test_fixed_steps_stay_as_they_are(step: float) -> None:
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
def test_extremes_inside_of_long_steps_are_found(kind: str) -> None:
    model = cosim.Model("extreme")
    model.add(f"measures.{kind}", "best", source=BY_NAME["chirp"].build(model))
    model.add("measures.delay", "late", source="source.y", delay=DELAY)
    result = model.simulate(until=UNTIL, accuracy=1e-7, output_interval=UNTIL)
    assert result["best"][-1] == pytest.approx(1.0 if kind == "maximum" else 0.0, abs=1e-6)
    if kind == "maximum":  # that is the first of many that are as large
        when = result["best.time"][-1]
        assert when * (1.0 + 3.0 * when) % (2.0 * math.pi) == pytest.approx(0.5 * math.pi, abs=1e-2)


def test_a_long_run_in_which_nothing_is_integrated_keeps_all_of_it() -> None:
    model = cosim.Model("long")
    model.add("measures.delay", "late", source=BY_NAME["sinusoid"].build(model), delay=40.0)
    result = model.simulate(until=60.0, accuracy=1e-6, output_interval=0.0137)
    exact = late(BY_NAME["sinusoid"].exact, 40.0)(result.time)
    assert np.abs(result["late"] - exact).max() < 1e-5


def test_saved_in_the_middle_it_goes_on_to_the_same_bytes() -> None:
    model = cosim.Model("saved")
    model.add("measures.delay", "late", source=BY_NAME["chain with feedthrough"].build(model), delay=DELAY)
    system = model.build()
    whole = cosim.Simulator(system, accuracy=1e-6)
    whole.advance_to(1.0)
    state = system.state_from_bytes(whole.state.to_bytes())
    whole.advance_to(2.0)
    again = cosim.Simulator(system, state, accuracy=1e-6)
    again.advance_to(2.0)
    assert again.state.to_bytes() == whole.state.to_bytes()


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_rows_of_a_step_that_ends_where_a_delayed_break_arrives_are_numbers(integrator: str) -> None:
    _, result = run(BY_NAME["state"], integrator, 1e-5)
    assert np.abs(result["oscillator.x"] - np.sin(3.0 * result.time)).max() < 1e-2


def table() -> str:
    """What holds for which source, in the words of the documentation."""
    lines = ["| source | " + " | ".join(f"`{i}`" for i in INTERPOLATIONS) + " |", "|---|---|---|"]
    for source in SOURCES:
        cells = []
        for interpolation in INTERPOLATIONS:
            ratio = max(
                worst(source, integrator, interpolation, accuracy)
                for integrator in OFTEN
                for accuracy in ACCURACIES
            )
            cell = f"≤ {1 if ratio <= 1.0 else 10}" if ratio <= PROMISED else "**more**"
            cells.append(cell + (f', and the finding "{source.finding}"' if source.finding else ""))
        lines.append(f"| {source.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


@pytest.mark.thorough
def test_the_table_in_the_documentation_is_this_one() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")


if __name__ == "__main__":
    print(table())


def test_whether_a_point_is_needed_takes_no_forces_and_no_accelerations() -> None:
    """A speed that is delayed: its value tells, and only an added point needs its rate."""
    model = Multibody("weight")
    model.joint("slider", child=model.body("weight", mass=2.0, inertia=(1, 1, 1)))
    model.add("mechanics.coordinate_spring", "spring", coordinate="weight_joint", stiffness=50.0)
    speed = model.measure("mechanics.velocity", "speed", of="weight", axis="x")
    model.measure("measures.delay", "felt", source=speed, delay=0.1)
    system = model.build()
    run = Run(**Program(system, "integrators.dormand_prince").arrays)
    labels = [system.blocks[i].label for i in run.checked_blocks]
    asked, later = set(labels[: run.plan.checked_values]), set(labels[run.plan.checked_values :])
    assert "dynamics: velocities" in asked
    assert {"dynamics: accelerations", "force"} <= later
    assert not {"dynamics: accelerations", "force"} & asked
