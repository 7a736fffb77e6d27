"""Components with a view in native FMUs."""

from __future__ import annotations

from pathlib import Path

from export_tools import running
from native_tools import InProcess, export_native, needs_compiler
from view_parts import Echo, EchoByNames, Pendulum, PendulumByNames, swinging

pytestmark = needs_compiler
MERSON = "integrators.runge_kutta_merson"


def test_a_native_fmu_gives_the_bytes_of_the_run_and_of_argument_names(tmp_path: Path) -> None:
    fmus = [
        export_native(swinging(*pair), tmp_path / f"{pair[0].__name__}.fmu")
        for pair in ((Pendulum, Echo), (PendulumByNames, EchoByNames))
    ]
    here = InProcess(swinging(Pendulum, Echo), MERSON, 1e-6).start()
    shown = [name for name, variable in here.variables.items() if variable.type == "Real"]
    with running(fmus[0]) as fmu, running(fmus[1]) as other:
        fmu.start()
        other.start()
        for i in range(200):
            fmu.steps(i, i + 1)
            other.steps(i, i + 1)
            here.advance(i * 0.01 + 0.01)
            assert [fmu[name] for name in shown] == [here[name] for name in shown]
            assert [fmu[name] for name in shown] == [other[name] for name in shown]
        assert fmu["pendulum.hits"] == here["pendulum.hits"] >= 1
