"""In initialization mode an FMU shows what it will show when that mode ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from export_tools import Fmu, export, oscillator, running
from native_tools import export_native, needs_compiler

REMEMBERED = ("felt", "held", "last")


@pytest.fixture(scope="module", params=["python", pytest.param("native", marks=needs_compiler)])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    write: Any = export if request.param == "python" else export_native
    model = oscillator()
    model.measure("measures.sample_and_hold", "held", source="osc.position", period=0.1)
    model.measure("signals.unit_delay", "last", source="osc.position", period=0.1, value=0.5)
    return Path(write(model, tmp_path_factory.mktemp(request.param) / "oscillator.fmu"))


def remembered(fmu: Fmu) -> list[float]:
    return [fmu[name] for name in REMEMBERED]


@pytest.mark.few(1)
def test_what_remembers_has_its_first_values(path: Path) -> None:
    with running(path) as looked, running(path) as plain:
        looked.slave.setupExperiment(startTime=0.0)
        looked.slave.enterInitializationMode()
        for start in (2.0, 3.0, 1.5):
            looked["osc.x"] = start
            position = start + (0.1 + 0.2)
            assert [looked["osc.position"], *remembered(looked)] == [position, position, position, 0.5]
            assert looked["osc.x"] == start
        looked.slave.exitInitializationMode()
        assert [looked["osc.position"], *remembered(looked)] == [position, position, position, 0.5]
        plain.start(**{"osc.x": 1.5})
        for fmu in (looked, plain):
            fmu.steps(0, 25)
        assert looked.all() == plain.all()  # to the last bit: looking leaves no trace


def test_the_description_says_what_the_first_values_depend_on(path: Path) -> None:
    with running(path) as fmu:
        initial = {
            unknown.variable.name: {known.name for known in unknown.dependencies or ()}
            for unknown in fmu.description.initialUnknowns
        }
    for name in ("felt", "held"):
        assert "osc.x" in initial[name]
