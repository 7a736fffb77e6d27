"""Native FMUs with events, sampling and delays."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path

import pytest
from export_random import Lag, Sampler, Swing
from export_tools import running
from held_parts import Relay, Shaken
from native_tools import InProcess, export_native, needs_compiler
from test_native_fuzz import SANITIZERS, arguments, build

import cosim
from cosim_export.native.native_sources import NativeChoices, NativeSources

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


def test_the_tolerance_of_the_host_is_the_accuracy(path: Path) -> None:
    here = InProcess(busy(), MERSON, 1e-9).start()
    with running(path) as fmu:
        fmu.start(tolerance=1e-9)
        for i in range(60):
            fmu.steps(i, i + 1)
            here.advance(i * 0.01 + 0.01)
            assert fmu["swing.angle"] == here["swing.angle"]
            if i == 30:
                state = fmu.slave.serializeFMUState(fmu.slave.getFMUState())
        assert not fmu.messages
        fmu.slave.reset()
        fmu.start(tolerance=1e-4)
        fmu.slave.setFMUState(fmu.slave.deserializeFMUState(state))
        fmu.steps(31, 60)
        assert fmu["swing.angle"] == here["swing.angle"]


def test_inputs_run_along_the_slopes_that_the_host_gives(path: Path) -> None:
    here = InProcess(busy(), MERSON, 1e-6).start()
    push = here.variables["swing.push"].path
    shown = [name for name, variable in here.variables.items() if variable.type == "Real"]
    with running(path) as fmu:
        assert fmu.description.coSimulation.canInterpolateInputs
        references = [fmu.references["swing.push"]]
        fmu.start()
        for i in range(60):
            if i % 3 == 0:  # else it runs on
                fmu["swing.push"] = here["swing.push"] = math.sin(0.4 * i)
            if i % 5 != 2:
                slope = 20.0 * math.cos(0.4 * i)
                fmu.slave.setRealInputDerivatives(references, [1], [slope])
                here.system.write_slope(here.state, push, slope)
            fmu.steps(i, i + 1)
            here.advance(i * 0.01 + 0.01)
            assert [fmu[name] for name in shown] == [here[name] for name in shown]
            if i == 30:
                state = fmu.slave.serializeFMUState(fmu.slave.getFMUState())
        expected = [fmu[name] for name in shown]
        fmu.slave.setFMUState(fmu.slave.deserializeFMUState(state))
        for i in range(31, 60):
            if i % 5 != 2:  # the other way round: a slope for this instant is meant for its value
                fmu.slave.setRealInputDerivatives(references, [1], [20.0 * math.cos(0.4 * i)])
            if i % 3 == 0:
                fmu["swing.push"] = math.sin(0.4 * i)
            fmu.steps(i, i + 1)
        assert [fmu[name] for name in shown] == expected
        for order, wrong in ((2, references), (1, [fmu.references["swing.angle"]])):
            with pytest.raises(Exception, match="fmi2SetRealInputDerivatives failed"):
                fmu.slave.setRealInputDerivatives(wrong, [order], [1.0])
        assert "straight lines" in fmu.messages[0] and "it is not an input" in fmu.messages[1]
        fmu.slave.reset()
        fmu.slave.setRealInputDerivatives(references, [1], [2.0])
        fmu.start(start=5.0)  # from where the slope counts, not from 0
        fmu.slave.doStep(5.0, 0.01)
        assert fmu["swing.push"] == pytest.approx(0.02)


class Importer:
    """Euler steps with an input that moves, entering event mode where it is asked to."""

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
            instanceName="one",
        )
        self.states, self.indicators = (
            description.numberOfContinuousStates,
            description.numberOfEventIndicators,
        )
        self.fmu.instantiate()
        nominals = (ctypes.c_double * self.states)()
        self.fmu.getNominalsOfContinuousStates(nominals, self.states)  # the standard has it here already
        assert all(x > 0.0 for x in nominals)
        self.fmu.setupExperiment()
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        self.leave_event_mode()

    def leave_event_mode(self) -> None:
        again = True
        while again:
            again, _, _, _, known, when = self.fmu.newDiscreteStates()
        self.due = when if known else math.inf
        self.fmu.enterContinuousTimeMode()

    def steps(self, first: int, last: int, size: float = 1e-3) -> list[float]:
        reals = ctypes.c_double * self.states
        for i in range(first, last):
            self.fmu.setReal([self.references["swing.push"]], [math.sin(0.05 * i)])
            states, rates = reals(), reals()
            self.fmu.getContinuousStates(states, self.states)
            self.fmu.getDerivatives(rates, self.states)
            self.fmu.setTime((i + 1) * size)
            moved = reals(*(x + size * rate for x, rate in zip(states, rates, strict=True)))
            self.fmu.setContinuousStates(moved, self.states)
            wanted, _ = self.fmu.completedIntegratorStep()
            if wanted or (i + 1) * size >= self.due:
                self.fmu.enterEventMode()
                self.leave_event_mode()
        return list(self.fmu.getReal(self.reals))


def test_model_exchange_goes_on_from_bytes_even_through_an_event_mode_without_events(path: Path) -> None:
    one, other = Importer(path), Importer(path)
    one.steps(0, 40)
    state = one.fmu.serializeFMUState(one.fmu.getFMUState())
    expected = one.steps(40, 80)
    other.fmu.setFMUState(other.fmu.deserializeFMUState(state))
    other.fmu.enterEventMode()
    other.leave_event_mode()
    assert other.steps(40, 80) == expected


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


RATE, DELAY = 7.0, 0.2


class Chasing(cosim.Component):
    """Runs against where it was."""

    x = cosim.auxiliary_state(start=1.0)
    late = cosim.input(unit="1")

    @cosim.kernel
    def derivatives(late, x_dot):
        x_dot[0] = -RATE * late


def chased(t: float) -> float:
    """x' = -RATE x(t - DELAY), 1 before t = 0, by the method of steps."""
    terms = range(int(t / DELAY + 1e-9) + 2)
    return sum((-RATE) ** k * (t - (k - 1) * DELAY) ** k / math.factorial(k) for k in terms)


@pytest.mark.thorough
def test_a_delay_is_right_in_a_host_that_completes_few_steps(tmp_path: Path) -> None:
    """Fmpy tells of steps at output points alone; time events make it complete one in each delay."""
    from fmpy import simulate_fmu

    model = cosim.Model("chasing")
    model.add(Chasing, "part")
    model.measure("measures.delay", "late", source="part.x", delay=DELAY)
    model.connect("late", "part.late")
    path = export_native(model, tmp_path / "chasing.fmu")
    for kind, bound in (("ModelExchange", 3e-2), ("CoSimulation", 1e-8)):
        found = simulate_fmu(
            str(path),
            fmi_type=kind,
            stop_time=4.0,
            output_interval=0.5,
            relative_tolerance=1e-8,
            output=["part.x"],
            record_events=False,
        )
        assert len(found) == 9
        assert found["part.x"] == pytest.approx([chased(t) for t in found["time"]], abs=bound)


@pytest.mark.thorough
def test_what_slides_and_rests_equals_the_run_in_python_also_after_a_rollback(tmp_path: Path) -> None:
    model = cosim.Model("resting")
    model.add(Relay, "relay")
    model.add(Shaken, "shaken")
    here = InProcess(model, MERSON, 1e-6).start()
    with running(export_native(model, tmp_path / "resting.fmu", kind="cs")) as fmu:
        rates = [r for name, r in fmu.references.items() if name.startswith("der(")]
        states = [fmu.references[name[4:-1]] for name in fmu.references if name.startswith("der(")]
        fmu.start()
        for i in range(24):
            fmu.steps(i, i + 1, 0.1)
            here.advance(0.1 * i + 0.1)
            assert fmu.all() == here.all()
            fmu.slave.getDirectionalDerivative(rates, states, [1.0] * len(states))  # leaves no trace
            assert fmu.all() == here.all()
            if i == 18:  # both are held
                state, there = fmu.slave.serializeFMUState(fmu.slave.getFMUState()), fmu.all()
        fmu.slave.setFMUState(fmu.slave.deserializeFMUState(state))
        assert fmu.all() == there
        fmu.steps(19, 24, 0.1)
        assert fmu.all() == here.all()
    assert here.simulator is not None
    assert [f.kind for f in here.simulator.findings if f.kind == "held"] == ["held"] * 2


@pytest.mark.thorough
@pytest.mark.parametrize("version", [2, pytest.param(3, marks=pytest.mark.thorough)])
def test_random_calls_are_answered(version: int, tmp_path: Path) -> None:
    import subprocess

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
    """Also sees what the lowered functions do to the arrays, and reads of what nobody wrote."""
    import shutil
    import subprocess

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


class Bouncing(cosim.Component):
    """A ball on a floor, whose bounces pile up."""

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


@pytest.mark.thorough
@pytest.mark.parametrize("version", [2, pytest.param(3, marks=pytest.mark.thorough)])
def test_bounces_that_pile_up_end_a_foreign_host_with_the_name_of_the_witness(
    version: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """CVODE begins anew behind each event, with the shortest of steps: it would never get on."""
    import fmpy

    model = cosim.Model("ball")
    model.add(Bouncing, "ball")
    file = export_native(model, tmp_path / "ball.fmu", fmi=version)
    steps = []

    def goes_on(time: float, recorder: object) -> bool:
        steps.append(time)
        return len(steps) < 60_000

    with pytest.raises(Exception, match="DiscreteStates failed with status 3"):
        fmpy.simulate_fmu(
            str(file),
            fmi_type="ModelExchange",
            solver="CVode",
            stop_time=1.0,
            output_interval=0.01,
            step_finished=goes_on,
        )
    assert "end: ball.floor" in "".join(capfd.readouterr())
    assert steps[-1] < 0.1
