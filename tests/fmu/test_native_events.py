"""Native FMUs with events, sampling and delays equal the run in Python; random calls are answered."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path

import pytest
from busy_swing import MERSON, busy, path
from export_tools import running
from held_parts import Relay, Shaken
from native_fuzz import SANITIZERS, arguments, build
from native_tools import InProcess, export_native, needs_compiler

import cosim
from cosim_export.native.native_sources import NativeChoices, NativeSources

assert path  # a fixture
pytestmark = needs_compiler


def test_events_samples_and_delays_equal_the_run_in_python(path: Path) -> None:
    in_python = InProcess(busy(), MERSON, 1e-6).start()
    names = [name for name, variable in in_python.variables.items() if variable.type == "Real"]
    with running(path) as fmu:
        fmu.start()
        for i in range(150):
            push = math.sin(0.05 * i)
            fmu["swing.push"] = push
            in_python["swing.push"] = push
            fmu.steps(i, i + 1)
            in_python.advance(i * 0.01 + 0.01)
            assert [fmu[name] for name in names] == [in_python[name] for name in names]
            if i == 60:
                state = fmu.slave.serializeFMUState(fmu.slave.getFMUState())
        assert fmu["swing.kicks"] == in_python["swing.kicks"] >= 1

        # the same steps again from the state after step 60
        expected = [fmu[name] for name in names]
        fmu.slave.setFMUState(fmu.slave.deserializeFMUState(state))
        for i in range(61, 150):
            fmu["swing.push"] = math.sin(0.05 * i)
            fmu.steps(i, i + 1)
        assert [fmu[name] for name in names] == expected


def test_the_tolerance_of_the_host_is_the_accuracy(path: Path) -> None:
    in_python = InProcess(busy(), MERSON, 1e-9).start()
    with running(path) as fmu:
        fmu.start(tolerance=1e-9)
        for i in range(60):
            fmu.steps(i, i + 1)
            in_python.advance(i * 0.01 + 0.01)
            assert fmu["swing.angle"] == in_python["swing.angle"]
            if i == 30:
                state = fmu.slave.serializeFMUState(fmu.slave.getFMUState())
        assert not fmu.messages

        # a state carries its accuracy to an instance with another tolerance
        fmu.slave.reset()
        fmu.start(tolerance=1e-4)
        fmu.slave.setFMUState(fmu.slave.deserializeFMUState(state))
        fmu.steps(31, 60)
        assert fmu["swing.angle"] == in_python["swing.angle"]


def test_inputs_change_with_the_derivatives_that_the_host_sets(path: Path) -> None:
    in_python = InProcess(busy(), MERSON, 1e-6).start()
    push = in_python.variables["swing.push"].path
    names = [name for name, variable in in_python.variables.items() if variable.type == "Real"]
    with running(path) as fmu:
        assert fmu.description.coSimulation.canInterpolateInputs
        references = [fmu.references["swing.push"]]
        fmu.start()
        for i in range(60):
            if i % 3 == 0:  # otherwise the input continues from where it is
                fmu["swing.push"] = in_python["swing.push"] = math.sin(0.4 * i)
            if i % 5 != 2:
                slope = 20.0 * math.cos(0.4 * i)
                fmu.slave.setRealInputDerivatives(references, [1], [slope])
                in_python.system.write_slope(in_python.state, push, slope)
            fmu.steps(i, i + 1)
            in_python.advance(i * 0.01 + 0.01)
            assert [fmu[name] for name in names] == [in_python[name] for name in names]
            if i == 30:
                state = fmu.slave.serializeFMUState(fmu.slave.getFMUState())

        # the same from the state after step 30; the derivative may be set before the value
        expected = [fmu[name] for name in names]
        fmu.slave.setFMUState(fmu.slave.deserializeFMUState(state))
        for i in range(31, 60):
            if i % 5 != 2:
                fmu.slave.setRealInputDerivatives(references, [1], [20.0 * math.cos(0.4 * i)])
            if i % 3 == 0:
                fmu["swing.push"] = math.sin(0.4 * i)
            fmu.steps(i, i + 1)
        assert [fmu[name] for name in names] == expected

        # wrong orders and variables are refused
        for order, variables in ((2, references), (1, [fmu.references["swing.angle"]])):
            with pytest.raises(Exception, match="fmi2SetRealInputDerivatives failed"):
                fmu.slave.setRealInputDerivatives(variables, [order], [1.0])
        assert "straight lines" in fmu.messages[0] and "it is not an input" in fmu.messages[1]

        # a derivative that is set before initialization counts from the start time, not from 0
        fmu.slave.reset()
        fmu.slave.setRealInputDerivatives(references, [1], [2.0])
        fmu.start(start=5.0)
        fmu.slave.doStep(5.0, 0.01)
        assert fmu["swing.push"] == pytest.approx(0.02)


@pytest.mark.thorough
def test_sliding_and_resting_parts_equal_the_run_in_python_also_after_a_rollback(tmp_path: Path) -> None:
    model = cosim.Model("resting")
    model.add(Relay, "relay")
    model.add(Shaken, "shaken")
    in_python = InProcess(model, MERSON, 1e-6).start()
    with running(export_native(model, tmp_path / "resting.fmu", kind="cs")) as fmu:
        rates = [r for name, r in fmu.references.items() if name.startswith("der(")]
        states = [fmu.references[name[4:-1]] for name in fmu.references if name.startswith("der(")]
        fmu.start()
        for i in range(24):
            fmu.steps(i, i + 1, 0.1)
            in_python.advance(0.1 * i + 0.1)
            assert fmu.all() == in_python.all()
            fmu.slave.getDirectionalDerivative(rates, states, [1.0] * len(states))  # changes nothing
            assert fmu.all() == in_python.all()
            if i == 18:  # both are held
                state, values_of_state = fmu.slave.serializeFMUState(fmu.slave.getFMUState()), fmu.all()
        fmu.slave.setFMUState(fmu.slave.deserializeFMUState(state))
        assert fmu.all() == values_of_state
        fmu.steps(19, 24, 0.1)
        assert fmu.all() == in_python.all()
    assert in_python.simulator is not None
    assert [f.kind for f in in_python.simulator.findings if f.kind == "held"] == ["held"] * 2


@pytest.mark.thorough
@pytest.mark.parametrize("version", [2, pytest.param(3, marks=pytest.mark.thorough)])
def test_random_calls_are_answered(version: int, tmp_path: Path) -> None:
    sources = NativeSources(busy(), NativeChoices(version=version))
    assert len(sources.indicators) == 1
    program = build(sources, tmp_path, "fuzz", *SANITIZERS, driver=f"fuzz{version}")
    for seed in range(3):
        command = [str(program), *arguments(sources, seed, 6000)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
        assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.thorough
@pytest.mark.parametrize("version", [2, 3])
def test_random_calls_under_valgrind(version: int, tmp_path: Path) -> None:
    """Valgrind also checks the lowered functions, and finds reads of memory that was never written."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        pytest.skip("no valgrind here")
    sources = NativeSources(busy(), NativeChoices(version=version))
    program = build(sources, tmp_path, "fuzz", "-O1", "-g", driver=f"fuzz{version}")
    command = [valgrind, "-q", "--error-exitcode=9", "--leak-check=full", str(program)]
    done = subprocess.run(
        [*command, *arguments(sources, 5, 3000)], capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_fmi3_with_and_without_early_return(tmp_path: Path) -> None:
    from fmpy import simulate_fmu
    from fmpy.validation import validate_fmu

    path = export_native(busy(), tmp_path / "busy3.fmu", fmi=3)
    assert validate_fmu(str(path)) == []
    in_python = InProcess(busy(), MERSON, 1e-6).start()
    for i in range(100):
        in_python.advance((i + 1) * 0.01)
    for early_return in (False, True):
        rows = simulate_fmu(
            str(path),
            fmi_type="CoSimulation",
            stop_time=1.0,
            output_interval=0.01,
            output=["swing.angle", "sampler.total"],
            early_return_allowed=early_return,
            use_event_mode=early_return,
        )
        assert rows["swing.angle"][-1] == pytest.approx(in_python["swing.angle"], abs=1e-7)
        assert rows["sampler.total"][-1] == pytest.approx(in_python["sampler.total"], abs=1e-7)
