"""Native FMUs with events, sampling and delays equal the run in Python, in all modes and versions."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from pathlib import Path

import fmpy
import pytest
from export_random import Lag, Sampler, Swing
from export_tools import running
from held_parts import Relay, Shaken
from native_fuzz import SANITIZERS, arguments, build
from native_tools import InProcess, export_native, needs_compiler

import cosim
from cosim_export.native.native_sources import NativeChoices, NativeSources

pytestmark = needs_compiler
MERSON = "integrators.runge_kutta_merson"


def busy() -> cosim.Model:
    """A swing that events kick; a delayed measure of it is sampled, and a lag follows the samples."""
    model = cosim.Model("busy")
    model.add(Swing, "swing", limit=0.4)
    model.add(Sampler, "sampler", period=0.0137)
    model.add(Lag, "lag")
    model.measure("measures.delay", "late", source="swing.y", delay=0.013)
    model.connect("late", "sampler.entry")
    model.connect("sampler.y", "lag.entry")
    return model


RATE = 7.0
DELAY = 0.2


class DelayedFeedback(cosim.Component):
    """Law: x' = -RATE late, where late is x a delay ago."""

    x = cosim.auxiliary_state(start=1.0)
    late = cosim.input(unit="1")

    @cosim.kernel
    def derivatives(late, x_dot):
        x_dot[0] = -RATE * late


def exact_feedback(t: float) -> float:
    """x' = -RATE x(t - DELAY), 1 before t = 0, by the method of steps."""
    terms = range(int(t / DELAY + 1e-9) + 2)
    return sum((-RATE) ** k * (t - (k - 1) * DELAY) ** k / math.factorial(k) for k in terms)


class Bouncing(cosim.Component):
    """A ball on a floor: the times between its bounces shrink to zero."""

    height = cosim.position(unit="m")
    speed = cosim.speed(unit="m/s", start=-1e-5)
    bounces = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    def bounce(speed, bounces, height_next, speed_next, bounces_next):
        height_next[0] = 0.0
        speed_next[0] = -0.8 * speed if speed < 0.0 else speed
        bounces_next[0] = bounces + 1


class Importer:
    """A host of Model Exchange: Euler steps with a varying input, event mode where the FMU requests it."""

    def __init__(self, path: Path) -> None:
        from fmpy import extract, read_model_description
        from fmpy.fmi2 import FMU2Model

        description = read_model_description(str(path))
        self.references = {v.name: v.valueReference for v in description.modelVariables}
        self.reals = [v.valueReference for v in description.modelVariables if v.type == "Real"]
        self.fmu = FMU2Model(
            guid=description.guid,
            unzipDirectory=extract(str(path)),
            modelIdentifier=description.modelExchange.modelIdentifier,
            instanceName="busy",
        )
        self.states = description.numberOfContinuousStates
        self.fmu.instantiate()
        nominals = (ctypes.c_double * self.states)()
        self.fmu.getNominalsOfContinuousStates(nominals, self.states)  # the standard allows this call here
        assert all(x > 0.0 for x in nominals)
        self.fmu.setupExperiment()
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        self.leave_event_mode()

    def leave_event_mode(self) -> None:
        needs_update = True
        while needs_update:
            needs_update, _, _, _, is_defined, time = self.fmu.newDiscreteStates()
        self.next_event = time if is_defined else math.inf
        self.fmu.enterContinuousTimeMode()

    def steps(self, first: int, last: int, size: float = 1e-3) -> list[float]:
        reals = ctypes.c_double * self.states
        for i in range(first, last):
            self.fmu.setReal([self.references["swing.push"]], [math.sin(0.05 * i)])
            states, rates = reals(), reals()
            self.fmu.getContinuousStates(states, self.states)
            self.fmu.getDerivatives(rates, self.states)
            self.fmu.setTime((i + 1) * size)
            new_states = reals(*(x + size * rate for x, rate in zip(states, rates, strict=True)))
            self.fmu.setContinuousStates(new_states, self.states)
            requests_event_mode, _ = self.fmu.completedIntegratorStep()
            if requests_event_mode or (i + 1) * size >= self.next_event:
                self.fmu.enterEventMode()
                self.leave_event_mode()
        return list(self.fmu.getReal(self.reals))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_native(busy(), tmp_path_factory.mktemp("busy") / "busy.fmu")


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


def test_model_exchange_continues_from_a_serialized_state(path: Path) -> None:
    """An event mode without events after that changes nothing."""
    importer, restored_importer = Importer(path), Importer(path)
    importer.steps(0, 40)
    state = importer.fmu.serializeFMUState(importer.fmu.getFMUState())
    expected = importer.steps(40, 80)
    restored_importer.fmu.setFMUState(restored_importer.fmu.deserializeFMUState(state))
    restored_importer.fmu.enterEventMode()
    restored_importer.leave_event_mode()
    assert restored_importer.steps(40, 80) == expected


def test_model_exchange_with_events(path: Path) -> None:
    from fmpy import simulate_fmu
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(path)) == []
    rows = simulate_fmu(
        str(path),
        fmi_type="ModelExchange",
        stop_time=1.0,
        relative_tolerance=1e-9,
        output=["swing.angle", "swing.kicks", "sampler.total"],
    )
    in_python = InProcess(busy(), MERSON, 1e-9).start()
    in_python.advance(1.0)
    assert rows["swing.kicks"][-1] == in_python["swing.kicks"] >= 1
    assert rows["swing.angle"][-1] == pytest.approx(in_python["swing.angle"], abs=1e-5)
    assert rows["sampler.total"][-1] == pytest.approx(in_python["sampler.total"], rel=1e-3)


@pytest.mark.thorough
def test_a_delay_is_right_in_a_host_that_completes_few_steps(tmp_path: Path) -> None:
    """fmpy completes steps at output points only; time events make it complete one in each delay."""
    from fmpy import simulate_fmu

    model = cosim.Model("chasing")
    model.add(DelayedFeedback, "part")
    model.measure("measures.delay", "late", source="part.x", delay=DELAY)
    model.connect("late", "part.late")
    path = export_native(model, tmp_path / "chasing.fmu")
    for kind, bound in (("ModelExchange", 3e-2), ("CoSimulation", 1e-8)):
        rows = simulate_fmu(
            str(path),
            fmi_type=kind,
            stop_time=4.0,
            output_interval=0.5,
            relative_tolerance=1e-8,
            output=["part.x"],
            record_events=False,
        )
        assert len(rows) == 9
        assert rows["part.x"] == pytest.approx([exact_feedback(t) for t in rows["time"]], abs=bound)


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


@pytest.mark.thorough
@pytest.mark.parametrize("version", [2, pytest.param(3, marks=pytest.mark.thorough)])
def test_bounces_without_end_are_an_error_that_names_the_witness(
    version: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """CVODE restarts after each event with a tiny step: without the error it would make no progress."""
    model = cosim.Model("ball")
    model.add(Bouncing, "ball")
    file = export_native(model, tmp_path / "ball.fmu", fmi=version)
    times = []

    def record_and_continue(time: float, recorder: object) -> bool:
        times.append(time)
        return len(times) < 60_000

    with pytest.raises(Exception, match="DiscreteStates failed with status 3"):
        fmpy.simulate_fmu(
            str(file),
            fmi_type="ModelExchange",
            solver="CVode",
            stop_time=1.0,
            output_interval=0.01,
            step_finished=record_and_continue,
        )
    assert "end: ball.floor" in "".join(capfd.readouterr())
    assert times[-1] < 0.1
