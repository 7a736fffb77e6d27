"""An instance of a native FMU for FMI 3.0 Co-Simulation: the oscillator."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from native_tools import export_native, oscillator

MERSON = "integrators.runge_kutta_merson"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_native(
        oscillator(), tmp_path_factory.mktemp("native3") / "oscillator.fmu", fmi=3, exact_derivatives=True
    )


@pytest.fixture
def slave(path: Path, tmp_path: Path) -> Iterator[Any]:
    from fmpy import extract, read_model_description
    from fmpy.fmi3 import FMU3Slave

    description = read_model_description(str(path))
    fmu = FMU3Slave(
        guid=description.guid,
        unzipDirectory=extract(str(path), str(tmp_path / "fmu")),
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="model",
    )
    # two attributes more: value references by name, and the values of all variables of type Float64
    fmu.references = {v.name: v.valueReference for v in description.modelVariables}
    floats = [v for v in description.modelVariables if v.type == "Float64" and v.causality != "independent"]
    sizes = [math.prod(int(d.start) for d in v.dimensions) for v in floats]
    fmu.all = lambda: fmu.getFloat64([v.valueReference for v in floats], sum(sizes))
    yield fmu
    fmu.freeInstance()
