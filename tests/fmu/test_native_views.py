"""Components with a view in native FMUs."""

from __future__ import annotations

from pathlib import Path

import pytest
from export_tools import running
from native_tools import InProcess, export_native, needs_compiler
from view_parts import Echo, EchoByNames, Pendulum, PendulumByNames, swinging

pytestmark = needs_compiler
MERSON = "integrators.runge_kutta_merson"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "parts",
    [(Pendulum, Echo), pytest.param((PendulumByNames, EchoByNames), marks=pytest.mark.thorough)],
    ids=["views", "names"],
)
def test_a_native_fmu_gives_the_bytes_of_the_run_with_views(parts: tuple[type, type], tmp_path: Path) -> None:
    path = export_native(swinging(*parts), tmp_path / "swinging.fmu")
    here = InProcess(swinging(Pendulum, Echo), MERSON, 1e-6).start()
    shown = [name for name, variable in here.variables.items() if variable.type == "Real"]
    with running(path) as fmu:
        fmu.start()
        for i in range(200):
            fmu.steps(i, i + 1)
            here.advance(i * 0.01 + 0.01)
            assert [fmu[name] for name in shown] == [here[name] for name in shown]
        assert fmu["pendulum.hits"] == here["pendulum.hits"] >= 1
