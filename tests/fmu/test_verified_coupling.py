"""A second run with half the step shows the error of a coupling."""

import numpy as np
import pytest
from lossless_circuit import LC, circuit

import cosim
from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant
from cosim_master.participants.system_participant import SystemParticipant


def test_verify_runs_with_half_the_step_and_leaves_the_loop_unchanged() -> None:
    loop = CoSimulation(circuit(), LC, "jacobi", 0.01)
    result = loop.simulate(2.0)
    report = loop.verify(result, 2.0)
    assert (loop.step, loop.result) == (0.01, result)
    assert result.coupling is report
    assert "half the step" in str(report)
    true = np.abs(result["capacitor.v"] - np.cos(result.time)).max()
    assert report["capacitor.v"].error == pytest.approx(2.0 * true, rel=0.1)


class Oscillator(cosim.Component):
    """Law: x' = 6 v, v' = -6 x."""

    x = cosim.auxiliary_state(start=1.0)
    v = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(x, v, x_dot, v_dot):
        x_dot[0] = 6.0 * v
        v_dot[0] = -6.0 * x


@pytest.mark.parametrize("settings", [{"accuracy": 1e-3}, {"accuracy": 1e-6}, {"fixed_step": 0.05}])
def test_verify_shows_the_error_of_the_integrator_of_a_model(settings: dict[str, float]) -> None:
    model = cosim.Model("alone")
    model.add(Oscillator(), "part")
    method = "integrators.runge_kutta_3" if "accuracy" in settings else "integrators.runge_kutta_4"
    loop = CoSimulation({"one": SystemParticipant(model, method, **settings)}, (), "gauss_seidel", 2.0)
    result = loop.simulate(6.0, record=["one.part.x"])
    report = loop.verify(result)
    error = np.abs(result["one.part.x"] - np.cos(6.0 * result.time)).max()
    assert error < report["one.part.x"].error < 20.0 * error


class CoarseParticipant(LinearParticipant):
    """A linear participant that steps at multiples of 0.02 s, whatever the communication step is."""

    def step(self, time: float, size: float) -> float:
        if np.floor((time + size) / 0.02 + 1e-6) > np.floor(time / 0.02 + 1e-6):
            super().step(time + size - 0.02, 0.02)
        return time + size


def test_participants_with_longer_steps_of_their_own_cannot_be_verified() -> None:
    parts = {
        "capacitor": CoarseParticipant([[[0.0]], [[1.0]], [[1.0]], [[0.0]]], ["i_in"], ["v"], [1.0]),
        "coil": CoarseParticipant([[[0.0]], [[-1.0]], [[1.0]], [[0.0]]], ["v_in"], ["i"], [0.0]),
    }
    loop = CoSimulation(parts, LC, "jacobi", 0.01)
    report = loop.verify(loop.simulate(2.0), 2.0)
    assert report.verdict == "unknown"
    assert "capacitor, coil" in report.advice
