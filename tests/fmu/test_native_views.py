"""Native FMUs of components with views have the bytes of the run in Python."""

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
    [(Pendulum, Echo), (PendulumByNames, EchoByNames)],
    ids=["views", "names"],
)
def test_a_native_fmu_gives_the_bytes_of_the_run_with_views(parts: tuple[type, type], tmp_path: Path) -> None:
    path = export_native(swinging(*parts), tmp_path / "swinging.fmu")
    in_python = InProcess(swinging(Pendulum, Echo), MERSON, 1e-6).start()
    names = [name for name, variable in in_python.variables.items() if variable.type == "Real"]
    with running(path) as fmu:
        fmu.start()
        for i in range(200):
            fmu.steps(i, i + 1)
            in_python.advance(i * 0.01 + 0.01)
            assert [fmu[name] for name in names] == [in_python[name] for name in names]
        assert fmu["pendulum.hits"] == in_python["pendulum.hits"] >= 1
