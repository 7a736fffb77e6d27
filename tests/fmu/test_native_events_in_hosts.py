"""Model Exchange of native FMUs with events and delays, in hosts that integrate them."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path

import fmpy
import pytest
from busy_swing import MERSON, busy, path
from native_tools import InProcess, export_native, needs_compiler

import cosim

assert path  # a fixture
pytestmark = needs_compiler
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
