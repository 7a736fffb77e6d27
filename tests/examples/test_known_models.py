"""Models that people know, against closed forms."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import cosim

EXAMPLES = Path(__file__).parents[2] / "examples"


def model(name: str) -> cosim.Model:
    return cosim.Model.from_file(EXAMPLES / name / f"{name}.toml")


def test_a_quarter_car_answers_to_every_wave_of_its_road() -> None:
    """After the transients: the sum of the answers to the harmonics, each by the transfer function."""
    car = model("quarter_car")
    result = car.simulate(until=6.0, output_interval=0.01)
    state = car.build().default_state().realize(cosim.Stage.INSTANCE)
    k, a, phase = (state[f"road.{name}"] for name in ("wave_numbers", "amplitudes", "phases"))
    w = k * (80.0 / 3.6)
    s = 1j * w
    m, M, kt, between = 40.0, 300.0, 180e3, 20e3 + 1.5e3 * s
    car_by_wheel = between / (M * s**2 + between)
    wheel_by_road = kt / (m * s**2 + kt + M * s**2 * car_by_wheel)
    answer = s**2 * car_by_wheel * wheel_by_road
    t = result.time[450:]
    waves = a * answer * np.exp(1j * (np.multiply.outer(t, w) + phase))
    assert result["car.ax"][450:] == pytest.approx(waves.sum(axis=1).real, abs=2e-3)
    assert math.sqrt(0.5 * np.sum(a**2 * np.abs(answer) ** 2)) == pytest.approx(1.6, abs=0.4)


def stick_limit(torque: float, damping: float) -> float:
    """The delay at which theta'' = a theta - p theta(t - T) - d theta'(t - T) begins to swing for good."""
    a, p, d = 1.5 * 9.81, torque * 3.0, damping * 3.0  # of a stick of 1 m and 1 kg
    w2 = 0.5 * (d * d - 2.0 * a + math.sqrt((d * d - 2.0 * a) ** 2 + 4.0 * (p * p - a * a)))
    w = math.sqrt(w2)
    return math.atan2(d * w, p) / w


@pytest.mark.parametrize(("part", "grows"), [(0.95, False), (1.05, True)])
def test_a_stick_is_balanced_up_to_the_delay_of_the_closed_form(part: float, grows: bool) -> None:
    stick = model("stick_balancing")
    for name in ("felt_angle", "felt_rate"):
        stick.set_start(f"{name}.delay", part * stick_limit(7.0, 2.0))
    result = stick.simulate(until=20.0, output_interval=0.02)
    angle = np.abs(result["stick_joint.angle"])
    early, late = angle[250:400].max(), angle[850:].max()
    assert late > 1.5 * early if grows else late < 0.7 * early


def lobe(frequency: float, number: int) -> tuple[float, float]:
    """Time of a revolution and limit of the width times the specific force, from the frequency of chatter."""
    m, c, k = 0.6, 120.0, 6e6
    compliance = 1.0 / (k - m * frequency**2 + 1j * c * frequency)
    limit = -1.0 / (2.0 * compliance.real)
    turn = 2.0 * math.atan2(compliance.imag, compliance.real) + math.pi  # of one wave against the one before
    return (2.0 * math.pi * number + turn % (2.0 * math.pi)) / frequency, limit


@pytest.mark.by_turns
@pytest.mark.parametrize(("part", "grows"), [(0.95, False), (1.05, True)])
@pytest.mark.parametrize(("frequency", "number"), [(3300.0, 2), (3450.0, 4)])
def test_chatter_begins_at_the_lobes(frequency: float, number: int, part: float, grows: bool) -> None:
    tool = model("chatter")
    period, limit = lobe(frequency, number)
    tool.set_start("left.delay", period)
    tool.set_start("cutting.factor", part * limit)
    result = tool.simulate(until=40.0 * period, output_interval=period / 20.0)
    size = np.abs(result["tool_joint.position"])
    early, late = size[300:400].max(), size[700:].max()
    assert late > 1.2 * early if grows else late < 0.85 * early


def test_a_motor_with_a_fine_encoder_is_the_linear_loop() -> None:
    from scipy import signal

    motor = model("dc_motor")
    motor.set_start("encoder.interval", 1e-4)
    motor.set_start("wanted.height", 0.2)  # within the bounds of the voltage
    result = motor.simulate(until=1.5, output_interval=0.01, accuracy=1e-6)
    k, ti, td, n = 12.0, 0.8, 0.12, 8.0
    filtered = np.array([td / n, 1.0])
    ahead = k * np.polymul([1.0, 1.0 / ti], filtered)  # by s (1 + s Td / N)
    back = k * np.polyadd(np.polymul([1.0, 1.0 / ti], filtered), [td, 0.0, 0.0])
    winding, disc, constant = [0.005, 2.0], [0.01, 0.002, 0.0], 0.2
    plant = np.polyadd(np.polymul(winding, disc), [constant**2, 0.0])
    closed = signal.lti(
        constant * ahead, np.polyadd(np.polymul(np.polymul([1.0, 0.0], filtered), plant), constant * back)
    )
    t, y = signal.step(closed, T=np.linspace(0.0, 1.4, 141))
    found = np.interp(t + 0.1, result.time, result["disc_joint.angle"])
    assert found == pytest.approx(0.2 * y, abs=4e-4)


def test_a_motor_with_a_coarse_encoder_stays_within_its_steps() -> None:
    result = model("dc_motor").simulate()
    angle, seen, interval = result["disc_joint.angle"], result["encoder"], math.radians(0.72)
    assert np.abs(angle - seen).max() <= 0.5 * interval * (1.0 + 2e-3)
    assert np.abs(seen / interval - np.rint(seen / interval)).max() < 1e-9
    assert max(result["control"]) == 24.0 or max(result["control"]) > 11.0
    assert np.abs(angle[-200:] - 1.0).max() < 2.0 * interval


def test_a_piston_moves_as_the_closed_form_says() -> None:
    result = model("slider_crank").simulate()
    r, length, w = 0.05, 0.15, 100.0 * math.pi
    angle = result["crank_joint.angle"]
    sine, cosine = np.sin(angle), np.cos(angle)
    root = np.sqrt(length**2 - (r * sine) ** 2)
    assert result["piston_joint.position"] == pytest.approx(r * cosine + root, abs=1e-8)
    bend = (cosine**2 - sine**2) / root + (r * sine * cosine) ** 2 / root**3
    assert result["piston.ax"] == pytest.approx(-r * w**2 * (cosine + r * bend), rel=1e-5, abs=0.05)
    assert angle[-1] - angle[0] == pytest.approx(0.06 * w, abs=1e-7)
