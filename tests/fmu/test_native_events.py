"""Native FMUs with events, sampling and delays."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from export_random import Lag, Sampler, Swing
from export_tools import running
from native_tools import InProcess, export_native, needs_compiler
from test_native_fuzz import SANITIZERS, arguments, build

import cosim
from cosim_fmu.native.native_sources import NativeSources

pytestmark = needs_compiler
MERSON = "integrators.runge_kutta_merson"


def busy() -> cosim.Model:
    """A swing that is kicked, sampled, felt late and followed."""
    model = cosim.Model("busy")
    model.add(Swing, "swing", limit=0.4)
    model.add(Sampler, "sampler", period=0.0137)
    model.add(Lag, "lag")
    model.measure("measures.delay", "late", source="swing.y", delay=0.013)
    model.connect("late", "sampler.entry")
    model.connect("sampler.y", "lag.entry")
    return model


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_native(busy(), tmp_path_factory.mktemp("busy") / "busy.fmu")


def test_events_samples_and_delays_equal_the_run_in_python(path: Path) -> None:
    here = InProcess(busy(), MERSON, 1e-6).start()
    shown = [name for name, variable in here.variables.items() if variable.type == "Real"]
    with running(path) as fmu:
        fmu.start()
        for i in range(150):
            push = math.sin(0.05 * i)
            fmu["swing.push"] = push
            here["swing.push"] = push
            fmu.steps(i, i + 1)
            here.advance(i * 0.01 + 0.01)
            assert [fmu[name] for name in shown] == [here[name] for name in shown]
            if i == 60:
                state = fmu.slave.serializeFMUState(fmu.slave.getFMUState())
        assert fmu["swing.kicks"] == here["swing.kicks"] >= 1
        expected = [fmu[name] for name in shown]
        fmu.slave.setFMUState(fmu.slave.deserializeFMUState(state))
        for i in range(61, 150):
            fmu["swing.push"] = math.sin(0.05 * i)
            fmu.steps(i, i + 1)
        assert [fmu[name] for name in shown] == expected


def test_model_exchange_with_events(path: Path) -> None:
    from fmpy import simulate_fmu
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(path)) == []
    found = simulate_fmu(
        str(path),
        fmi_type="ModelExchange",
        stop_time=1.0,
        relative_tolerance=1e-9,
        output=["swing.angle", "swing.kicks", "sampler.total"],
    )
    here = InProcess(busy(), MERSON, 1e-9).start()
    here.advance(1.0)
    assert found["swing.kicks"][-1] == here["swing.kicks"] >= 1
    assert found["swing.angle"][-1] == pytest.approx(here["swing.angle"], abs=1e-5)
    assert found["sampler.total"][-1] == pytest.approx(here["sampler.total"], rel=1e-3)


def test_random_calls_are_answered(tmp_path: Path) -> None:
    import subprocess

    sources = NativeSources(busy())
    assert len(sources.indicators) == 1
    program = build(sources, tmp_path, "fuzz", *SANITIZERS)
    for seed in range(3):
        command = [str(program), *arguments(sources, seed, 6000)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
        assert done.returncode == 0, done.stderr[-3000:]


def test_fmi3_in_whole_steps_and_in_pieces(tmp_path: Path) -> None:
    from fmpy import simulate_fmu
    from fmpy.validation import validate_fmu

    path = export_native(busy(), tmp_path / "busy3.fmu", fmi=3)
    assert validate_fmu(str(path)) == []
    here = InProcess(busy(), MERSON, 1e-6).start()
    for i in range(100):
        here.advance((i + 1) * 0.01)
    for early in (False, True):
        found = simulate_fmu(
            str(path),
            fmi_type="CoSimulation",
            stop_time=1.0,
            output_interval=0.01,
            output=["swing.angle", "sampler.total"],
            early_return_allowed=early,
            use_event_mode=early,
        )
        assert found["swing.angle"][-1] == pytest.approx(here["swing.angle"], abs=1e-7)
        assert found["sampler.total"][-1] == pytest.approx(here["sampler.total"], abs=1e-7)
