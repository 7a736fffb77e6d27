"""Random signals are reproducible, independent of the steps, and have the documented spectrum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

import cosim
from cosim.testing import MeasureContract
from cosim_signals.noise import Noise
from cosim_signals.random_numbers import normal_number, threefry, uniform_pair
from cosim_signals.random_road import CLASSES, RandomRoad


class TestNoise(MeasureContract):
    make = staticmethod(lambda: Noise(standard_deviation=2.0, bandwidth=3.0, seed=5, offset=1.0))


class TestRandomRoad(MeasureContract):
    make = staticmethod(lambda: RandomRoad(roughness="E", speed=3.0, seed=2))
    step = 2e-3
    tolerance = 1e-4


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # tests/kat_vectors of Random123, threefry2x32 20
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
        ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_the_numbers_are_those_of_random123(
    counter: tuple[int, int], key: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert threefry(*counter, *key) == expected


def test_numbers_of_the_normal_distribution() -> None:
    numbers = np.array([normal_number(3.0, 0, i) for i in range(-10_000, 10_000)])
    assert abs(numbers.mean()) < 0.03 and abs(numbers.std() - 1.0) < 0.02
    assert np.mean(np.abs(numbers) < 1.0) == pytest.approx(0.6827, abs=0.012)
    assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 0.03


def test_streams_and_seeds_share_no_number() -> None:
    numbers = {
        uniform_pair(seed, stream, i)
        for seed in (0.0, 1.0, 2.0**40)
        for stream in (0, 1)
        for i in range(-9, 9)
    }
    assert len(numbers) == 3 * 2 * 18


def samples_of(kind: str, times: np.ndarray, **parameters: object) -> np.ndarray:
    model = cosim.Model("random")
    model.add(kind, "noise", **parameters)
    state = model.build().default_state()
    values = []
    for t in times:
        state.set_time(t)
        values.append(state.realize(cosim.Stage.TIME)["noise"])
    return np.array(values)


def test_noise_has_a_flat_spectrum_up_to_its_bandwidth() -> None:
    rate, count = 64.0, 1 << 14
    samples = samples_of(
        "signals.noise", np.arange(count) / rate, standard_deviation=3.0, bandwidth=10.0, seed=11
    )
    assert samples.std() == pytest.approx(3.0, rel=0.03)
    frequency, density = signal.welch(samples, rate, nperseg=512)
    within = density[(frequency > 0.5) & (frequency < 9.0)]
    assert within.mean() == pytest.approx(9.0 / 10.0, rel=0.05)
    assert density[frequency > 11.5].max() < 0.01 * within.mean()


def test_noise_is_as_strong_between_its_samples_as_at_them() -> None:
    times = np.arange(4000) / 20.0
    for shift in (0.0, 0.25, 0.5):
        samples = samples_of("signals.noise", times + shift / 20.0, bandwidth=10.0, seed=4)
        assert samples.std() == pytest.approx(1.0, rel=0.04), shift


@pytest.mark.parametrize("step", [1e-3, 7e-4])
def test_noise_is_independent_of_the_steps(step: float) -> None:
    model = cosim.Model("driven")
    model.add("signals.noise", "noise", standard_deviation="2 N", bandwidth="20 Hz", seed=9)
    model.add("measures.integrate", "sum", source="noise")
    fixed = cosim.Simulator(
        model.build(), integrator="integrators.runge_kutta_4", fixed_step=step, accuracy=1e-6
    )
    varying = cosim.Simulator(model.build(), accuracy=1e-9)
    for simulator in (fixed, varying):
        simulator.advance_to(0.7)
        simulator.state.realize()
    assert (
        fixed.state["noise"]
        == varying.state["noise"]
        == samples_of("signals.noise", np.array([0.7]), standard_deviation=2.0, bandwidth=20.0, seed=9)[0]
    )
    assert fixed.state["sum"] == pytest.approx(varying.state["sum"], abs=1e-6)


def test_held_noise_has_independent_samples() -> None:
    model = cosim.Model("held")
    model.add("signals.noise", "noise", bandwidth=50.0, seed=1)
    model.add("measures.sample_and_hold", "held", source="noise", period=0.01)
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.advance_to(0.125)
    assert simulator.state.realize()["held"] == pytest.approx(normal_number(1.0, 0, 12), abs=1e-9)


def test_a_seed_is_a_parameter_of_the_state() -> None:
    model = cosim.Model("seeds")
    model.add("signals.noise", "noise", seed=1)
    state = model.build().default_state()
    first = state.realize()["noise"]
    state["noise.seed"] = 2
    assert state.realize()["noise"] != first
    with pytest.raises(cosim.StateError, match=r"noise\.seed.*2\.5, needs an integer"):
        state["noise.seed"] = 2.5


@pytest.mark.few(1)
@pytest.mark.parametrize("letter", "AD")
def test_a_road_has_the_spectrum_of_its_class(letter: str) -> None:
    spacing, count = 0.1, 1 << 15
    heights = samples_of(
        "signals.random_road", np.arange(count) * spacing, roughness=letter, speed=1.0, seed=8
    )
    n, density = signal.welch(heights, 1.0 / spacing, nperseg=2048)
    # The road is a sum of harmonics, so only means over an octave approximate the density of the class.
    for low in (0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28):
        octave = (n >= low) & (n < 2.0 * low)
        expected = np.mean(CLASSES[letter] * (n[octave] / 0.1) ** -2.0)
        assert density[octave].mean() == pytest.approx(expected, rel=0.25), low


def test_a_second_axle_follows_the_first() -> None:
    front = samples_of("signals.random_road", np.array([1.0, 2.0]), speed=20.0, seed=3, position=2.5)
    rear = samples_of("signals.random_road", np.array([1.125, 2.125]), speed=20.0, seed=3)
    assert front == pytest.approx(rear, abs=1e-12)


def test_a_road_follows_the_distance_of_its_wheel() -> None:
    model = cosim.Model("wheel")
    model.add("signals.ramp", "distance", height="40 m", duration=2.0)
    model.add("signals.random_road", "road", roughness=64e-6, distance="distance", seed=3)
    model.add("signals.random_road", "equal_road", roughness="B", speed="20 m/s", seed=3)
    state = model.build().default_state()
    state.set_time(1.3)
    state.realize()
    assert state["road"] == pytest.approx(state["equal_road"], abs=1e-14)
    assert state["road.value_dot"] == pytest.approx(state["equal_road.value_dot"], abs=1e-12)


def test_unknown_classes_and_negative_seeds_are_refused() -> None:
    with pytest.raises(cosim.ModelError, match="roughness"):
        RandomRoad(roughness="J")
    with pytest.raises(cosim.ModelError, match="seed"):
        RandomRoad(seed=-1)
