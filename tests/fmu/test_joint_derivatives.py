"""Derivatives of FMUs that are solved as one system, by differences of the system, agree with exact ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joint_systems import EXACT, FORCE, Spring, joint, mixed
from part_fmu import make_part
from scipy.linalg import expm, expm_frechet

import cosim

STARTS = {"wheel.k": 1.6e3, "wheel.m": 4.0, "wheel.x": 0.05, "body.k": 160.0, "body.c": 10.0, "body.m": 30.0}


@pytest.fixture
def part(tmp_path: Path, compiled: Callable[..., Path]) -> Path:
    return make_part(tmp_path, compiled)


def quarter_car(starts: Mapping[str, float]) -> Any:
    """The matrix A of x' = A x, with x of the wheel and the body."""
    tyre, wheel, _, spring, damper, body = (starts[name] for name in STARTS)
    return np.array(
        [
            [0.0, 1.0, 0.0, 0.0],
            [-(tyre + spring) / wheel, -damper / wheel, spring / wheel, damper / wheel],
            [0.0, 0.0, 0.0, 1.0],
            [spring / body, damper / body, -spring / body, -damper / body],
        ]
    )


def test_two_fmus_of_a_quarter_car_have_the_derivatives_of_the_matrix_exponential(part: Path) -> None:
    loop = joint({"body": part, "wheel": part}, FORCE, STARTS, options=EXACT, step=0.25)
    names = ["wheel.x", "wheel.v", "body.x", "body.v"]
    result = loop.simulate(2.0, record=names, derivatives=list(STARTS))
    start_values = np.array([STARTS["wheel.x"], 0.0, 1.0, 0.0])
    for i, time in enumerate(result.time):
        matrix = time * quarter_car(STARTS)
        for by, value in STARTS.items():
            if by == "wheel.x":
                expected = expm(matrix)[:, 0]
            else:
                change = (quarter_car({**STARTS, by: value + 1e-3 * value}) - quarter_car(STARTS)) * time
                if by in ("wheel.m", "body.m"):  # the matrix is inversely proportional to a mass
                    change = -time * quarter_car(STARTS) * np.array([[0.0], [1.0], [0.0], [1.0]]) / value
                    change[3 if by == "wheel.m" else 1] = 0.0
                else:
                    change /= 1e-3 * value
                expected = expm_frechet(matrix, change, compute_expm=False) @ start_values
            derivatives = [result.derivative(name, by)[i] for name in names]
            scale = max(1e-3, float(np.abs(expected).max()))
            assert np.abs(np.array(derivatives) - expected).max() < 1e-6 * scale, (time, by)
    assert {finding.kind for finding in result.findings} == {"derivatives by differences"}


@pytest.mark.thorough
@pytest.mark.parametrize("others", ["gauss_seidel", pytest.param("jacobi", marks=pytest.mark.thorough)])
def test_derivatives_pass_a_participant_beside_the_system(part: Path, others: str) -> None:
    """A spring in Python couples two of three FMUs; differences of sixth order of whole runs are expected."""
    connections = [
        *("p.x -> q.road", "p.v -> q.road_rate", "q.reaction -> p.force", "q.x -> s.one", "r.x -> s.other"),
        *("s.pull -> q.force", "s.back -> r.force"),
    ]
    starts = {"p.k": 1.0, "q.k": 50.0, "q.c": 0.5, "q.x": 0.2, "r.k": 2.0, "r.x": -0.5}
    names = ["p.x", "q.x", "r.x", "q.force"]

    def run(changed_starts: Mapping[str, float], **settings: Any) -> cosim.Result:
        participants = {"p": part, "r": part, "s": Spring(5.0), "q": part}
        options = {**EXACT, "others": others}
        loop = joint(participants, connections, {**starts, **changed_starts}, step=0.02, options=options)
        return loop.simulate(0.4, record=names, **settings)

    by = ["q.k", "r.x"]
    result = run({}, derivatives=by)
    for path in by:
        step = 0.02 * abs(starts[path])
        ends = [[run({path: starts[path] + i * step})[name] for name in names] for i in (-3, -2, -1, 1, 2, 3)]
        weights = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / (60.0 * step)
        expected = np.tensordot(weights, np.array(ends), 1)
        values = np.array([result.derivative(name, path) for name in names])
        assert np.abs(values - expected).max() < 1e-7 * max(1.0, np.abs(expected).max())
        assert np.abs(values[:, -1]).min() > 1e-7


def test_a_resumed_run_has_the_same_derivatives(part: Path) -> None:
    """The coupling has events, an algebraic loop and a boolean connection."""
    loop, saved = mixed(part), list[bytes]()

    def save(time: float, values: Mapping[str, float]) -> None:
        if not saved and time > 0.25:
            saved.append(loop.save())

    by = ["p.k", "q.x"]
    expected = loop.simulate(0.6, observe=save, derivatives=by)
    resumed_loop = mixed(part)
    assert resumed_loop.restore(saved[0]) == pytest.approx(0.3)
    resumed = resumed_loop.simulate(0.6, derivatives=by)
    for path in by:
        derivative, expected_derivative = (r.derivative("q.x", path) for r in (resumed, expected))
        assert derivative.tobytes() == expected_derivative.tobytes() and derivative[-1] != 0.0
    assert [str(f) for f in resumed.findings] == [str(f) for f in expected.findings]


@pytest.mark.parametrize("gain", [0.5, -0.7])
def test_an_algebraic_loop_inside_the_system_has_the_derivatives_of_its_linear_equations(
    part: Path, gain: float
) -> None:
    """y = gain u + bias of each FMU is the input u of the other, at each instant and at the start."""
    loop = joint(
        {"p": part, "q": part},
        ["p.y -> q.u", "q.y -> p.u"],
        {"p.gain": gain, "q.gain": 0.4, "p.bias": 1.0, "q.bias": 0.5},
        options=EXACT,
    )
    result = loop.simulate(0.3, record=["p.y", "q.y"], derivatives=["p.bias", "p.gain"])
    matrix = np.linalg.inv(np.array([[1.0, -gain], [-0.4, 1.0]]))
    values = np.array([result["p.y"], result["q.y"]])
    for k, name in enumerate(("p.y", "q.y")):
        by_bias = result.derivative(name, "p.bias")
        assert by_bias == pytest.approx(np.full(len(result), matrix[k, 0]), rel=1e-8)
        by_gain = result.derivative(name, "p.gain")
        assert by_gain == pytest.approx(matrix[k, 0] * values[1], rel=1e-7)
