"""Orders and stability limits of the master algorithms against theory, on systems with known solutions."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
import orders
from cuts import Cut, TwoMasses

import cosim
from cosim_fmu import CoSimulation

CUTS = orders.CUTS
BOTH = pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)


@BOTH
@pytest.mark.parametrize(
    ("name", "follows", "since", "order"),
    [
        ("jacobi", False, 0, 1),
        ("jacobi, linear", False, 0, 2),
        ("jacobi, linear", True, 0, 2),
        ("jacobi, quadratic", False, 4, 2),  # the mean of the parabola is held: second order
        ("jacobi, quadratic", True, 4, 3),
        ("gauss_seidel", False, 0, 1),
        ("gauss_seidel, linear", True, 0, 2),
        # from t to t + h along a line where the source has stepped: second order, whatever the others do
        ("gauss_seidel, quadratic", True, 4, 2),
        ("waveform_iteration", False, 0, 2),
        ("waveform_iteration", True, 0, 2),
        ("interface_newton", True, 0, 2),
    ],
)
def test_order_over_the_step(cut: Cut, name: str, follows: bool, since: int, order: float) -> None:
    algorithm, options = orders.FIXED[name]
    steps = [0.01 * 0.5 ** (i + ("quadratic" in name)) for i in range(3)]
    points = [orders.run(cut, follows, algorithm, step, options, since) for step in steps]
    assert orders.order(points) == pytest.approx(order, abs=0.15)


@BOTH
@pytest.mark.parametrize(("name", "order"), [("adaptive_step", 1.0), ("adaptive_forward", 2.0)])
def test_order_over_the_mean_exchange(cut: Cut, name: str, order: float) -> None:
    options = [{"tolerance": size, "absolute_tolerance": size} for size in (1e-3, 1e-4, 1e-5)]
    points = [orders.run(cut, False, name, 0.25, chosen) for chosen in options]
    assert orders.order(points) == pytest.approx(order, abs=0.4)
    assert points[0][1] > 5.0 * points[2][1]


def test_extrapolation_begins_with_an_error_of_second_order() -> None:
    cut, (algorithm, options) = CUTS["motion and motion"], orders.FIXED["jacobi, quadratic"]
    steps = (0.01, 0.005, 0.0025)
    whole = [orders.run(cut, True, algorithm, step, options) for step in steps]
    started = [orders.run(cut, True, algorithm, step, options, since=4) for step in steps]
    assert orders.order(whole) == pytest.approx(2.0, abs=0.15)
    assert whole[-1][1] > 10.0 * started[-1][1]


# stability


def amplification(cut: Cut, step: float, algorithm: str) -> np.ndarray:
    """What a communication step does with states and outputs on the board, by its definition."""
    parts = cut.make(False)
    names = list(parts)
    inputs = [f"{n}.{u}" for n, p in parts.items() for u in p.inputs]
    outputs = [f"{n}.{y}" for n, p in parts.items() for y in p.outputs]
    states = [f"{n}.x{i}" for n, p in parts.items() for i in range(len(p.start))]
    wires = np.zeros((len(inputs), len(outputs)))
    for source, target in cut.links:
        wires[inputs.index(target), outputs.index(source)] = 1.0
    now = np.eye(len(states) + len(outputs))
    x, y = np.split(now, [len(states)])
    board = y.copy()
    for name in names:
        mine = [
            [i for i, path in enumerate(paths) if path.startswith(name + ".")]
            for paths in (inputs, outputs, states)
        ]
        u = (wires @ (board if algorithm == "gauss_seidel" else now[len(states) :]))[mine[0]]
        free, forced, _ = parts[name].maps(step)
        x[mine[2]] = free @ x[mine[2]] + forced @ u
        board[mine[1]] = parts[name].c @ x[mine[2]] + parts[name].d @ u
    return np.vstack([x, board])


def radius(matrix: np.ndarray) -> float:
    return float(np.max(np.abs(np.linalg.eigvals(matrix))))


def first_above_one(growth: Callable[[float], float], step: float) -> float:
    """The smallest step at which `growth` passes 1, looked for from `step` on."""
    while growth(step) < 1.0:
        step *= 1.02
    low, high = step / 1.02, step
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if growth(middle) > 1.0 else (middle, high)
    return high


DAMPED = TwoMasses(c1=0.3, c2=0.3, k=10.0, c=0.2)


FORCE, MOTION = DAMPED.force_and_motion(), DAMPED.motion_and_motion()


def rate_of_growth(cut: Cut, algorithm: str, step: float) -> float:
    """Per communication step, seen in a run: the largest states of two stretches of it."""
    loop = CoSimulation(cut.make(False), cut.links, algorithm, step)
    assert loop.order == ["left", "right"]
    result = loop.simulate(3000 * step, record=cut.signals)
    sizes = np.linalg.norm([result[name] for name in cut.signals], axis=0)
    return float(sizes[2600:].max() / sizes[1000:1401].max()) ** (1.0 / 1600.0)


@pytest.mark.parametrize(
    ("cut", "algorithm"), [(FORCE, "jacobi"), (FORCE, "gauss_seidel"), (MOTION, "jacobi")]
)
def test_limit_of_stability_is_that_of_the_closed_form(cut: Cut, algorithm: str) -> None:
    edge = first_above_one(lambda step: radius(amplification(cut, step, algorithm)), 0.02)
    for step in (0.85 * edge, 1.2 * edge):
        expected = radius(amplification(cut, step, algorithm))
        assert rate_of_growth(cut, algorithm, step) == pytest.approx(expected, rel=5e-4)
    assert rate_of_growth(cut, algorithm, 0.85 * edge) < 1.0 < rate_of_growth(cut, algorithm, 1.2 * edge)


def test_gauss_seidel_over_motions_is_stable_at_every_step() -> None:
    assert (
        max(radius(amplification(MOTION, step, "gauss_seidel")) for step in np.linspace(0.01, 3.0, 300)) < 1.0
    )
    for step in (0.05, 0.5, 1.5):
        result = CoSimulation(MOTION.make(False), MOTION.links, "gauss_seidel", step).simulate(400 * step)
        assert max(abs(result[name][-1]) for name in MOTION.signals) < 0.1


def test_fixed_point_iteration_converges_where_its_matrix_contracts() -> None:
    """Over a step, the change of the interface is multiplied by a matrix that the step makes large."""
    cut = TwoMasses(k=300.0, c=1.0).force_and_motion()

    def contraction(step: float) -> float:
        parts = cut.make(True)
        left, right = parts["left"], parts["right"]
        # inputs at the end of the step, reached along a line: a change du is the slope du / step
        gain = {n: p.c @ p.maps(step)[2] / step + p.d for n, p in parts.items()}
        motion, force = gain["right"], gain["left"][2:]
        assert left.outputs[2] == "force" and right.outputs == ["x", "v"]
        return radius(np.block([[np.zeros((1, 1)), force], [motion, np.zeros((2, 2))]]))

    edge = first_above_one(contraction, 1e-3)
    options: dict[str, Any] = {"iterations": 400, "tolerance": 1e-9}
    inside = CoSimulation(cut.make(True), cut.links, "waveform_iteration", 0.9 * edge, options=options)
    assert inside.simulate(3.0 * edge).statistics["algorithm"]["largest_iterations"] > 30
    outside = CoSimulation(cut.make(True), cut.links, "waveform_iteration", 1.1 * edge, options=options)
    with pytest.raises(cosim.SimulationError, match="did not settle"):
        outside.simulate(3.0 * edge)
    newton = CoSimulation(cut.make(True), cut.links, "interface_newton", 1.1 * edge)
    assert newton.simulate(3.0 * edge).message == ""
