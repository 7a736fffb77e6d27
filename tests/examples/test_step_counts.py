"""Steps and evaluations of runs of the examples must not exceed the counts of this table.

A change that needs more of them for a good reason enters the new counts here and gives the reason in the
message of its commit.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import cosim
from cosim import kit

EXAMPLES = Path(__file__).parents[2] / "examples"
TOLERANCE = 1.03  # and one more: sines of another C library differ in the last bit


class Row(NamedTuple):
    """A run of an example with its counts of steps and evaluations."""

    example: str
    method: str
    accuracy: float
    until: float
    steps: int
    evaluations: int

    @property
    def name(self) -> str:
        """The settings of the run, as text."""
        return f"{self.example}, {self.method}, accuracy {self.accuracy:g}, until {self.until:g} s"


ROWS = [
    # The mount starts at rest in its equilibrium, with a delayed speed of 0.
    Row("engine_mount", "runge_kutta_merson", 1e-8, 0.05, 28, 301),
    Row("engine_mount", "runge_kutta_merson", 1e-8, 0.15, 87, 710),
    Row("engine_mount", "tsitouras", 1e-7, 0.2, 64, 632),
    Row("engine_mount", "dormand_prince", 1e-6, 0.2, 61, 550),
    Row("engine_mount", "bdf", 1e-6, 0.1, 117, 374),
    # The delayed position of chatter is about 1 um.
    Row("chatter", "runge_kutta_merson", 1e-8, 0.01, 1767, 9007),
    Row("chatter", "dormand_prince", 1e-8, 0.05, 3062, 18502),
    Row("chatter", "tsitouras", 1e-6, 0.05, 1013, 6166),
    # Both delayed states of the stick are about 1e-3.
    Row("stick_balancing", "runge_kutta_merson", 1e-8, 1.0, 327, 1791),
    Row("stick_balancing", "tsitouras", 1e-6, 2.0, 103, 693),
    Row("stick_balancing", "bdf", 1e-6, 1.0, 225, 699),
    # The other models have no delays, but events, kinks, constraints, contacts and a random road.
    Row("dc_motor", "runge_kutta_merson", 1e-8, 0.2, 786, 4117),
    Row("dc_motor", "tsitouras", 1e-6, 0.5, 840, 5634),
    Row("four_bar", "runge_kutta_merson", 1e-8, 0.5, 229, 1276),
    Row("four_bar", "bdf", 1e-6, 0.5, 101, 277),
    Row("slider_crank", "runge_kutta_merson", 1e-9, 0.004, 249, 1290),
    Row("quarter_car", "dormand_prince_853", 1e-6, 2.0, 567, 8213),
    Row("quarter_car", "tsitouras", 1e-6, 0.5, 293, 1828),
    Row("thrown_crate", "runge_kutta_merson", 1e-8, 0.3, 381, 2062),
    Row("crane", "runge_kutta_merson", 1e-8, 1.0, 385, 2353),
    Row("crane", "dormand_prince", 1e-6, 3.0, 161, 1315),
]


@pytest.fixture(scope="module", autouse=True)
def plugin_of_the_mount(install: Callable[[Path], Any]) -> Iterator[None]:
    """Register the parts of the engine mount."""
    with kit.use_registry(install(EXAMPLES / "engine_mount" / "plugin").registry):
        yield


def example(name: str) -> cosim.Model:
    """Return the model of an example."""
    if name != "crane":
        return cosim.Model.from_file(EXAMPLES / name / f"{name}.toml")
    folder = str(EXAMPLES / "crane")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    crane = importlib.import_module("crane")
    forces = [8.0 if i % 10 < 5 else -8.0 for i in range(crane.POINTS)]
    model = cosim.Model("crane")
    model.add(crane.Crane(forces=forces), "crane")
    return model


def excess(row: Row, steps: int, evaluations: int) -> str:
    """Return the counts of a run that exceed those of its row, as text, which may be empty."""
    counts = {"steps": (steps, row.steps), "evaluations": (evaluations, row.evaluations)}
    return "; ".join(
        f"{row.name}: {count} {kind} instead of {expected}"
        for kind, (count, expected) in counts.items()
        if count > TOLERANCE * expected + 1
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_counts_do_not_exceed_the_table(row: Row) -> None:
    method = f"integrators.{row.method}"
    result = example(row.example).simulate(until=row.until, integrator=method, accuracy=row.accuracy)
    message = excess(row, result.statistics["integrator_steps"], result.statistics["evaluations"])
    assert not message, message


def test_the_message_names_the_run_and_its_counts() -> None:
    row = Row("engine_mount", "tsitouras", 1e-8, 0.05, 28, 301)
    assert excess(row, 29, 311) == excess(row, 20, 301) == ""
    settings = "engine_mount, tsitouras, accuracy 1e-08, until 0.05 s"
    assert excess(row, 30, 301) == f"{settings}: 30 steps instead of 28"
    assert excess(row, 28, 312).endswith("312 evaluations instead of 301")
    assert excess(row, 30, 312).count("instead of") == 2
