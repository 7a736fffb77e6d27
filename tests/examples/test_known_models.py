"""Well-known models of the examples, compared with their closed forms."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import signal

import cosim

EXAMPLES = Path(__file__).parents[2] / "examples"


def read_model(name: str) -> cosim.Model:
    return cosim.Model.from_file(EXAMPLES / name / f"{name}.toml")


def test_a_quarter_car_responds_to_all_harmonics_of_its_road() -> None:
    """After 4.5 s the transients are gone and the transfer function gives the response to each harmonic."""
    car = read_model("quarter_car")
    result = car.simulate(until=6.0, output_interval=0.01)
    state = car.build().default_state().realize(cosim.Stage.INSTANCE)
    k, a, phase = (state[f"road.{name}"] for name in ("wave_numbers", "amplitudes", "phases"))
    w = k * (80.0 / 3.6)
    s = 1j * w
    m, M, kt, suspension = 40.0, 300.0, 180e3, 20e3 + 1.5e3 * s
    car_by_wheel = suspension / (M * s**2 + suspension)
    wheel_by_road = kt / (m * s**2 + kt + M * s**2 * car_by_wheel)
    transfer = s**2 * car_by_wheel * wheel_by_road
    t = result.time[450:]
    waves = a * transfer * np.exp(1j * (np.multiply.outer(t, w) + phase))
    assert result["car.ax"][450:] == pytest.approx(waves.sum(axis=1).real, abs=2e-3)
    assert math.sqrt(0.5 * np.sum(a**2 * np.abs(transfer) ** 2)) == pytest.approx(1.6, abs=0.4)


def greatest_stable_delay(torque: float, damping: float) -> float:
    """Return the greatest T with which theta'' = a theta - p theta(t - T) - d theta'(t - T) is stable."""
    a, p, d = 1.5 * 9.81, torque * 3.0, damping * 3.0  # a stick of 1 m and 1 kg
    w2 = 0.5 * (d * d - 2.0 * a + math.sqrt((d * d - 2.0 * a) ** 2 + 4.0 * (p * p - a * a)))
    w = math.sqrt(w2)
    return math.atan2(d * w, p) / w


@pytest.mark.parametrize(("fraction", "is_unstable"), [(0.95, False), (1.05, True)])
def test_a_stick_is_balanced_up_to_the_delay_of_the_closed_form(fraction: float, is_unstable: bool) -> None:
    stick = read_model("stick_balancing")
    for name in ("felt_angle", "felt_rate"):
        stick.set_start(f"{name}.delay", fraction * greatest_stable_delay(7.0, 2.0))
    result = stick.simulate(until=20.0, output_interval=0.02)
    angle = np.abs(result["stick_joint.angle"])
    early, late = angle[250:400].max(), angle[850:].max()
    assert late > 1.5 * early if is_unstable else late < 0.7 * early


def stability_limit(frequency: float, lobe: int) -> tuple[float, float]:
    """Return the time of a revolution and the limit of the cutting stiffness for a frequency of chatter."""
    m, c, k = 0.6, 120.0, 6e6
    compliance = 1.0 / (k - m * frequency**2 + 1j * c * frequency)
    limit = -1.0 / (2.0 * compliance.real)
    phase = 2.0 * math.atan2(compliance.imag, compliance.real) + math.pi  # between consecutive waves
    return (2.0 * math.pi * lobe + phase % (2.0 * math.pi)) / frequency, limit


@pytest.mark.by_turns
@pytest.mark.parametrize(("fraction", "is_unstable"), [(0.95, False), (1.05, True)])
@pytest.mark.parametrize(("frequency", "lobe"), [(3300.0, 2), (3450.0, 4)])
def test_chatter_starts_at_the_stability_limit(
    frequency: float, lobe: int, fraction: float, is_unstable: bool
) -> None:
    tool = read_model("chatter")
    period, limit = stability_limit(frequency, lobe)
    tool.set_start("left.delay", period)
    tool.set_start("cutting.factor", fraction * limit)
    result = tool.simulate(until=40.0 * period, output_interval=period / 20.0)
    deflection = np.abs(result["tool_joint.position"])
    early, late = deflection[300:400].max(), deflection[700:].max()
    assert late > 1.2 * early if is_unstable else late < 0.85 * early


def test_a_motor_with_a_fine_encoder_is_a_linear_loop() -> None:
    motor = read_model("dc_motor")
    motor.set_start("encoder.interval", 1e-4)
    motor.set_start("wanted.height", 0.2)  # within the bounds of the voltage
    result = motor.simulate(until=1.5, output_interval=0.01, accuracy=1e-6)
    k, ti, td, n = 12.0, 0.8, 0.12, 8.0
    filtered = np.array([td / n, 1.0])
    from_setpoint = k * np.polymul([1.0, 1.0 / ti], filtered)  # both over s (1 + s Td / N)
    from_angle = k * np.polyadd(np.polymul([1.0, 1.0 / ti], filtered), [td, 0.0, 0.0])
    coil, disc, constant = [0.005, 2.0], [0.01, 0.002, 0.0], 0.2
    plant = np.polyadd(np.polymul(coil, disc), [constant**2, 0.0])
    closed = signal.lti(
        constant * from_setpoint,
        np.polyadd(np.polymul(np.polymul([1.0, 0.0], filtered), plant), constant * from_angle),
    )
    t, y = signal.step(closed, T=np.linspace(0.0, 1.4, 141))
    angle = np.interp(t + 0.1, result.time, result["disc_joint.angle"])
    assert angle == pytest.approx(0.2 * y, abs=4e-4)


def test_a_motor_with_a_coarse_encoder_stays_within_its_steps() -> None:
    result = read_model("dc_motor").simulate()
    angle, measured, interval = result["disc_joint.angle"], result["encoder"], math.radians(0.72)
    assert np.abs(angle - measured).max() <= 0.5 * interval * (1.0 + 2e-3)
    assert np.abs(measured / interval - np.rint(measured / interval)).max() < 1e-9
    assert 11.0 < max(result["control"]) < 24.0  # the bound
    assert np.abs(angle[-200:] - 1.0).max() < 2.0 * interval


def test_a_piston_moves_as_the_closed_form() -> None:
    result = read_model("slider_crank").simulate()
    r, length, w = 0.05, 0.15, 100.0 * math.pi
    angle = result["crank_joint.angle"]
    sine, cosine = np.sin(angle), np.cos(angle)
    root = np.sqrt(length**2 - (r * sine) ** 2)
    assert result["piston_joint.position"] == pytest.approx(r * cosine + root, abs=1e-8)
    second_derivative = (cosine**2 - sine**2) / root + (r * sine * cosine) ** 2 / root**3
    assert result["piston.ax"] == pytest.approx(
        -r * w**2 * (cosine + r * second_derivative), rel=1e-5, abs=0.05
    )
    assert angle[-1] - angle[0] == pytest.approx(0.06 * w, abs=1e-7)
