"""In initialization mode an FMU shows the values that it has after this mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from export_tools import Fmu, export, oscillator, running
from native_tools import export_native, needs_compiler

MEASURES_WITH_HISTORY = ("felt", "held", "last")


@pytest.fixture(scope="module", params=["python", pytest.param("native", marks=needs_compiler)])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    write: Any = export if request.param == "python" else export_native
    model = oscillator()
    model.measure("measures.sample_and_hold", "held", source="osc.position", period=0.1)
    model.measure("signals.unit_delay", "last", source="osc.position", period=0.1, value=0.5)
    return Path(write(model, tmp_path_factory.mktemp(request.param) / "oscillator.fmu"))


def measures_with_history(fmu: Fmu) -> list[float]:
    return [fmu[name] for name in MEASURES_WITH_HISTORY]


@pytest.mark.few(1)
def test_measures_with_a_history_show_their_first_values(path: Path) -> None:
    """Reading them in initialization mode does not change the run."""
    with running(path) as read, running(path) as unread:
        read.slave.setupExperiment(startTime=0.0)
        read.slave.enterInitializationMode()
        for start in (2.0, 3.0, 1.5):
            read["osc.x"] = start
            position = start + (0.1 + 0.2)
            assert [read["osc.position"], *measures_with_history(read)] == [position, position, position, 0.5]
            assert read["osc.x"] == start
        read.slave.exitInitializationMode()
        assert [read["osc.position"], *measures_with_history(read)] == [position, position, position, 0.5]
        unread.start(**{"osc.x": 1.5})
        for fmu in (read, unread):
            fmu.steps(0, 25)
        assert read.all() == unread.all()


def test_the_description_declares_the_dependencies_of_first_values(path: Path) -> None:
    with running(path) as fmu:
        initial = {
            unknown.variable.name: {known.name for known in unknown.dependencies or ()}
            for unknown in fmu.description.initialUnknowns
        }
    for name in ("felt", "held"):
        assert "osc.x" in initial[name]
