"""Derivatives of co-simulations of systems agree with closed forms and with differences of whole runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coupled_oscillators import (
    ALGORITHMS,
    STARTS,
    STEP,
    TIGHT,
    Ball,
    Kicked,
    Oscillator,
    Spring,
    oscillators,
    system_of,
)
from coupling_differences import (
    TWO_STARTS,
    UNTIL,
    check,
    differences_by,
    direction_of,
    directional_derivatives,
    directional_differences,
    small_differences,
)
from scipy.linalg import expm, expm_frechet

import cosim
from cosim_fmu import CoSimulation, TimedInputs

MakeFmu = Callable[..., Path]
UNTIL_AFTER_BOUNCE = 0.6


def test_two_linear_oscillators_have_the_derivatives_of_their_map() -> None:
    """With constant inputs over a step, z becomes M z; the derivative of M is that of an exponential."""
    k = {"one": 2.0, "two": 3.0}
    loop = CoSimulation(
        {name: system_of(name, Oscillator(k=stiffness)) for name, stiffness in k.items()},
        [
            {"from": "one.m.x", "to": "two.m.force", "factor": 0.7, "convert": False},
            {"from": "two.m.x", "to": "one.m.force", "factor": 0.4, "convert": False},
        ],
        "jacobi",
        STEP,
        tolerance=1e-13,
    )
    result = loop.simulate(UNTIL, record=["one.m.x", "two.m.x"], derivatives=["one.m.k", "two.m.x"])

    def step_map(stiffness: float) -> tuple[Any, Any]:
        """The map of (x, v, force) over a step with constant force, and its derivative by the stiffness."""
        matrix = STEP * np.array([[0.0, 1.0, 0.0], [-stiffness, -0.3, 1.0], [0.0, 0.0, 0.0]])
        change = STEP * np.array([[0.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        return expm(matrix), expm_frechet(matrix, change, compute_expm=False)

    def coupled_map(one: Any, two: Any) -> Any:
        """The map of both oscillators, whose forces are 0.4 and 0.7 times the position of the other."""
        matrix = np.zeros((4, 4))
        matrix[:2, :2], matrix[2:, 2:] = one[:2, :2], two[:2, :2]
        matrix[:2, 2], matrix[2:, 0] = 0.4 * one[:2, 2], 0.7 * two[:2, 2]
        return matrix

    (one, one_by_k), (two, _) = step_map(2.0), step_map(3.0)
    matrix, matrix_by_k = coupled_map(one, two), coupled_map(one_by_k, np.zeros((3, 3)))
    z, by_k, by_x = np.array([1.0, 0.0, 1.0, 0.0]), np.zeros(4), np.array([0.0, 0.0, 1.0, 0.0])
    for i in range(len(result)):
        derivatives = [
            result.derivative(f"{name}.m.x", by)[i]
            for by in ("one.m.k", "two.m.x")
            for name in ("one", "two")
        ]
        assert derivatives == pytest.approx([by_k[0], by_k[2], by_x[0], by_x[2]], abs=1e-11)
        z, by_k, by_x = matrix @ z, matrix @ by_k + matrix_by_k @ z, matrix @ by_x
    assert not result.findings


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "algorithm",
    [
        pytest.param(name, marks=[pytest.mark.thorough] * (name == "gauss_seidel along lines"))
        for name in ALGORITHMS
    ],
)
def test_each_algorithm_has_the_derivatives_of_its_exchanges(algorithm: str) -> None:
    """The coupling converts units and has a participant with direct feedthrough."""
    names = ["one.m.place", "two.m.v", "spring.m.force"]
    starts = {**TWO_STARTS, "spring.m.stiffness": 0.7}
    # the loop is unstable: an error that an iteration leaves grows threefold in each exchange
    largest_difference = 1e-8 if ALGORITHMS[algorithm] == TIGHT else 1e-9
    result = check(lambda starts: oscillators(algorithm, starts), starts, names, largest_difference)
    assert not result.findings
    without_derivatives = oscillators(algorithm, starts).simulate(UNTIL, record=names)
    assert all(without_derivatives[name].tolist() == result[name].tolist() for name in names)


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["gauss_seidel", "interface_newton"])
@pytest.mark.parametrize("gain", [0.5, -3.0])
def test_closed_loops_of_direct_feedthrough(algorithm: str, gain: float) -> None:
    """Each of two springs depends directly and nonlinearly on the other, so that their loop is iterated."""

    def make(starts: Mapping[str, float]) -> CoSimulation:
        springs = {name: system_of(name, Spring()) for name in ("first", "second")}
        return CoSimulation(
            {**springs, "one": system_of("one", Oscillator())},
            [
                {"from": "first.m.force", "to": "second.m.other", "convert": False, "factor": gain},
                {"from": "second.m.force", "to": "first.m.other", "convert": False, "factor": -0.4},
                ("one.m.place", "first.m.one"),
                {"from": "first.m.force", "to": "one.m.force", "factor": -1.0},
            ],
            algorithm,
            STEP,
            options=TIGHT if algorithm == "interface_newton" else {},
            tolerance=1e-12,
            starts=dict(starts),
        )

    starts = {"first.m.stiffness": 0.7, "second.m.stiffness": 0.9, "one.m.x": 0.3}
    # gauss_seidel iterates its loops to 1e-8
    largest_difference = 1e-7 if algorithm == "interface_newton" else 2e-6
    result = check(make, starts, ["one.m.x", "first.m.force", "second.m.force"], largest_difference)
    assert np.abs(result.derivative("second.m.force", "one.m.x")).min() > 0.0


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("iterations", "largest_difference"),
    [(0, 2e-6), pytest.param(1, 5e-7, marks=pytest.mark.thorough), (3, 5e-7)],
)
def test_adaptive_exchanges_are_differentiated_with_constant_lengths(
    iterations: int, largest_difference: float
) -> None:
    """The runs of differences choose other lengths, so they agree only to the error of the exchanges.

    Repeated exchanges extrapolate from the values of the exchange before, whatever their number.
    """

    def make(starts: Mapping[str, float]) -> CoSimulation:
        return CoSimulation(
            {name: system_of(name, Oscillator()) for name in ("one", "two")},
            [
                {"from": f"{source}.m.speed", "to": f"{target}.m.force", "convert": False}
                for source, target in (("one", "two"), ("two", "one"))
            ],
            "adaptive",
            STEP,
            options={"tolerance": 1e-4, "iterations": iterations},
            tolerance=1e-12,
            starts=dict(starts),
        )

    starts = {name: STARTS[name] for name in ("one.m.k", "two.m.k")}
    names = ["one.m.x", "two.m.x"]
    result = make(starts).simulate(UNTIL, record=names, derivatives=list(starts))
    assert result.statistics["algorithm"]["exchanges"] > 3 * UNTIL / STEP
    assert (result.statistics["algorithm"].get("iterations", 0) > 0) == (iterations > 0)
    weights = direction_of(starts)
    expected = directional_differences(make, starts, weights, names, UNTIL)
    assert np.abs(directional_derivatives(result, weights, names) - expected).max() < largest_difference
    for path in starts:
        assert np.abs([result.derivative(name, path) for name in names]).max() > 0.02


def test_a_participant_with_longer_steps() -> None:
    names = ["one.m.place", "two.m.v"]
    check(lambda starts: oscillators("gauss_seidel", starts, {"two": 2 * STEP}), TWO_STARTS, names, 1e-9)


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi along parabolas", "interface_newton"])
def test_events_and_delays_inside_participants(algorithm: str) -> None:
    """A ball bounces within a step, and its speed 0.03 s ago is the force on an oscillator."""

    def make(starts: Mapping[str, float]) -> CoSimulation:
        ball = system_of("ball", Ball(), late={"source": "m.speed", "delay": 0.03})
        return CoSimulation(
            {"ball": ball, "two": system_of("two", Oscillator())},
            [
                {"from": "ball.late", "to": "two.m.force", "convert": False},
                {"from": "two.m.x", "to": "ball.m.force", "convert": False},
            ],
            algorithm.split()[0],
            0.02,
            options=ALGORITHMS[algorithm],
            tolerance=1e-11,
            starts=dict(starts),
        )

    names = ["ball.m.height", "ball.late", "two.m.x"]
    starts = {"ball.m.e": 0.8, "ball.m.height": 1.0, "two.m.x": 1.0}
    result = make(starts).simulate(UNTIL_AFTER_BOUNCE, record=names, derivatives=list(starts))
    assert len(result.events) == 1
    # until 0.3 s, before the bounce, in a direction that moves all starts
    expected = directional_differences(make, starts, direction_of(starts), names, 0.3)
    derivatives = directional_derivatives(result, direction_of(starts), names)[:, : expected.shape[1]]
    assert np.abs(derivatives - expected).max() < 1e-8
    # after it by the restitution alone, which leaves the time of the bounce as it is
    expected = small_differences(make, starts, "ball.m.e", names, UNTIL_AFTER_BOUNCE)
    for name, values in zip(names, expected, strict=True):
        assert np.abs(result.derivative(name, "ball.m.e") - values).max() < 1e-6


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "interface_newton"])
def test_an_input_triggers_an_event(algorithm: str) -> None:
    """A held input passes the witness at an exchange, one along lines between exchanges."""

    def make(starts: Mapping[str, float]) -> CoSimulation:
        return CoSimulation(
            {"two": system_of("two", Kicked()), "one": system_of("one", Oscillator())},
            [
                {"from": "one.m.x", "to": "two.m.u", "convert": False},
                {"from": "two.m.z", "to": "one.m.force", "convert": False},
            ],
            algorithm,
            STEP,
            options=ALGORITHMS[algorithm],
            tolerance=1e-11,
            starts=dict(starts),
        )

    starts = {"two.m.kick": 0.3, "one.m.x": 1.0}
    names = ["one.m.x", "two.m.z"]
    result = make(starts).simulate(1.0, record=names, derivatives=list(starts))
    assert len(result.events) == 1 and not result.findings
    for by in starts:
        expected = small_differences(make, starts, by, names, 1.0)
        for name, values in zip(names, expected, strict=True):
            assert np.abs(result.derivative(name, by) - values).max() < 1e-7
    assert result.derivative("two.m.z", "two.m.kick")[-1] != 0.0


def test_derivatives_that_are_exact() -> None:
    """That by a parameter without effect is 0; at the start, a state depends on its start value only."""
    loop = oscillators("interface_newton", {})
    names = ["one.m.place", "one.m.x", "two.m.x", "spring.m.force"]
    result = loop.simulate(STEP, record=names, derivatives=["one.m.idle", "one.m.x"])
    for name in names:
        assert result.derivative(name, "one.m.idle").tolist() == [0.0, 0.0]
    assert result.derivative("one.m.x", "one.m.x")[0] == 1.0
    assert result.derivative("one.m.place", "one.m.x")[0] == 1000.0
    assert result.derivative("two.m.x", "one.m.x")[0] == 0.0
    assert result.derivative("spring.m.force", "one.m.x")[0] == pytest.approx(0.7, abs=1e-15)  # equal places


def test_a_run_of_no_time_has_derivatives() -> None:
    loop = oscillators("interface_newton", {})
    result = loop.simulate(0.0, record=["one.m.x"], derivatives=["one.m.x"])
    assert result.time.tolist() == [0.0] and result.derivative("one.m.x", "one.m.x").tolist() == [1.0]


def test_derivatives_change_no_values_and_have_units() -> None:
    loop = oscillators("interface_newton", {})
    names = ["one.m.place", "one.m.x", "two.m.x", "spring.m.force"]
    result = loop.simulate(STEP, record=names, derivatives=["one.m.x"])
    without_derivatives = loop.simulate(STEP, record=names)
    assert all(without_derivatives[name].tolist() == result[name].tolist() for name in names)
    assert result.with_derivatives().unit("d(one.m.place)/d(one.m.x)") == "mm/(m)"


def test_a_single_participant_has_the_derivatives_of_a_run_without_coupling() -> None:
    system = system_of("ball", Ball())
    loop = CoSimulation({"ball": system}, [], "jacobi", 0.1, tolerance=1e-9)
    coupled = loop.simulate(UNTIL_AFTER_BOUNCE, record=["ball.m.height"], derivatives=["ball.m.e"])
    alone = cosim.simulate(
        system,
        until=UNTIL_AFTER_BOUNCE,
        accuracy=1e-9,
        signals=["m.height"],
        output_interval=0.1,
        derivatives=["m.e"],
    )
    rows = np.searchsorted(alone.time, coupled.time - 1e-12)
    expected = alone.derivative("m.height", "m.e")[rows]
    assert coupled.derivative("ball.m.height", "ball.m.e") == pytest.approx(expected, abs=1e-7)
    assert expected[-1] != 0.0


@pytest.mark.parametrize(
    ("by", "options", "words"),
    [
        ("one.m.force", {}, "connected"),
        ("three.m.k", {}, "three"),
        (3, {}, "3"),
        ("one.m.stiff", {}, "stiff"),
        ("one.m.place", {}, "start value"),
        ("one.m.k", {"inside": "events"}, "nothing"),
    ],
)
def test_impossible_derivatives_are_refused(by: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(cosim.CosimError, match=words):
        oscillators("jacobi", {}).simulate(UNTIL, derivatives=[by], **options)


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "jacobi along parabolas", "gauss_seidel along lines"])
def test_recorded_inputs_have_derivatives(algorithm: str) -> None:
    """A recorded input is the value that was held in the step before a communication point.

    `coupled_oscillators` lists the algorithms with their options.
    """
    names = ["one.m.force", "spring.m.one"]
    loop = oscillators(algorithm, {})
    result = loop.simulate(0.3, record=names, derivatives=["one.m.k", "one.m.x"])
    for by in ("one.m.k", "one.m.x"):
        expected = differences_by(lambda starts: oscillators(algorithm, starts), by, STARTS[by], names, 0.3)
        derivatives = np.array([result.derivative(name, by) for name in names])
        assert np.abs(derivatives - expected).max() < 1e-9, by


def test_a_system_that_a_series_drives_has_derivatives_by_its_parameters(tmp_path: Any) -> None:
    """The series itself has the derivative 0."""
    file = tmp_path / "force.csv"
    file.write_text("time,u\n0,0\n0.4,1\n1.0,-1\n")
    loop = CoSimulation(
        {"drive": TimedInputs(file), "one": system_of("one", Oscillator())},
        [{"from": "drive.u", "to": "one.m.force", "convert": False}],
        "jacobi",
        STEP,
        tolerance=1e-12,
    )

    result = loop.simulate(1.0, record=["one.m.x", "one.m.force"], derivatives=["one.m.k"])
    # central difference of sixth order around k = 2
    k, change = 2.0, 0.02
    weights = {-3: -1.0, -2: 9.0, -1: -45.0, 1: 45.0, 2: -9.0, 3: 1.0}
    expected = np.zeros(len(result))
    for multiple, weight in weights.items():
        loop.set_start("one.m.k", k + multiple * change)
        course = loop.simulate(1.0, record=["one.m.x"], inside="nothing")["one.m.x"]
        expected += weight / (60.0 * change) * course
    assert result.derivative("one.m.x", "one.m.k") == pytest.approx(expected, abs=1e-9)
    assert set(result.derivative("one.m.force", "one.m.k").tolist()) == {0.0}
    assert abs(expected[-1]) > 1e-2  # not trivially zero
