"""Orders and stability limits of the master algorithms against theory, on systems with known solutions."""

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
import orders
from cuts import QUARTER_CAR, STIFF, Cut, TwoMasses
from scipy.linalg import block_diag, expm

import cosim
from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant

CUTS = orders.CUTS
FIRST = [pytest.param(False, marks=pytest.mark.thorough), True]
FINER = pytest.mark.parametrize("finer", [0, pytest.param(1, marks=pytest.mark.thorough)])


ORDERS = [
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
]
LONG = [("waveform_iteration", False, 0, 2), ("jacobi, quadratic", False, 4, 2)]
"""Where participants do not follow lines, `jacobi` shows the same in less time."""
ON_CUTS = [
    pytest.param(
        *row,
        cut,
        marks=pytest.mark.thorough if (i + j) % 2 or row in LONG else [],
        id=f"{row[0]}-{row[1]}-{title}",
    )
    for i, row in enumerate(ORDERS)
    for j, (title, cut) in enumerate(CUTS.items())
]
"""On each cut, on one of both by turns in a short run."""


@pytest.mark.few(2)
@FINER
@pytest.mark.parametrize(("name", "follows", "since", "order", "cut"), ON_CUTS)
def test_order_over_the_step(
    name: str, follows: bool, since: int, order: float, cut: Cut, finer: int
) -> None:
    algorithm, options = orders.FIXED[name]
    steps = [0.02 * 0.5 ** (i + 2 * ("quadratic" in name) + finer) for i in range(3)]
    points = [orders.run(cut, follows, algorithm, step, options, since) for step in steps]
    assert orders.order(points) == pytest.approx(order, abs=0.15)


@pytest.mark.thorough
@FINER
@pytest.mark.parametrize(
    "cut", [CUTS["force and motion"], pytest.param(CUTS["motion and motion"], marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize("follows", FIRST)
@pytest.mark.parametrize("iterations", [0, pytest.param(2, marks=pytest.mark.thorough)])
def test_the_error_falls_with_the_tolerance(cut: Cut, follows: bool, iterations: int, finer: int) -> None:
    tolerances = [1e-3, 1e-4, 1e-5, 1e-6][: 3 + finer]
    options = [{"tolerance": t, "absolute_tolerance": t, "iterations": iterations} for t in tolerances]
    points = [orders.run(cut, follows, "adaptive", 0.25, chosen) for chosen in options]
    slope = np.polyfit(np.log(tolerances), np.log([error for _, error in points]), 1)[0]
    assert 0.9 < slope < 1.1
    assert orders.order(points) == pytest.approx(2.0, abs=0.15)
    assert all(error < tolerance for (_, error), tolerance in zip(points, tolerances, strict=True))


@pytest.mark.thorough
@FINER
@pytest.mark.parametrize("follows", FIRST)
@pytest.mark.parametrize("iterations", [pytest.param(0, marks=pytest.mark.thorough), 2])
def test_it_does_so_where_communication_steps_are_long(follows: bool, iterations: int, finer: int) -> None:
    """A line that misses the tolerance becomes shorter; inputs held again and again err by first order."""
    matrices = [[-1.0]], [[0.9]], [[1.0]], [[0.0]]
    exact = expm(10.0 * np.array([[-1.0, 0.9], [0.9, -1.0]])) @ [3.0, -1.0]
    tolerances, errors = [3e-3, 3e-4, 3e-5, 3e-6][: 3 + finer], []
    for tolerance in tolerances:
        parts = {
            name: LinearParticipant(matrices, ["u"], ["y"], [start], follows)
            for name, start in (("left", 3.0), ("right", -1.0))
        }
        options = {"tolerance": tolerance, "absolute_tolerance": tolerance, "iterations": iterations}
        links = [("left.y", "right.u"), ("right.y", "left.u")]
        result = CoSimulation(parts, links, "adaptive", 10.0, options=options).simulate(10.0)
        assert result.statistics["algorithm"]["rejected"] < 10
        errors.append(abs(result["left.y"][-1] - exact[0]))
    assert 0.8 < np.polyfit(np.log(tolerances), np.log(errors), 1)[0] < 1.2


@pytest.mark.thorough
@FINER
def test_held_inputs_follow_a_ramp_that_stays_to_the_tolerance(finer: int) -> None:
    """Behind the transients nothing bends, lines fit over any length, and stairs do not."""
    tolerances, errors = [1e-2, 1e-3, 1e-4, 1e-5][: 3 + finer], []
    whole = np.array(
        [[-1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.5, 0.0, -0.5, 1.0], [0.0, 0.0, 0.0, 0.0]]
    )
    exact = (expm(15.0 * whole) @ [3.0, 1.0, -1.0, 0.5])[0]
    for tolerance in tolerances:
        rooms = {
            name: LinearParticipant(
                ([[-rate, 1.0], [0.0, 0.0]], [[rate], [0.0]], [[1.0, 0.0]], [[0.0]]), ["u"], ["y"], start
            )
            for name, rate, start in (("left", 1.0, [3.0, 1.0]), ("right", 0.5, [-1.0, 0.5]))
        }
        links = [("left.y", "right.u"), ("right.y", "left.u")]
        loop = CoSimulation(rooms, links, "adaptive", 15.0, options={"tolerance": tolerance})
        errors.append(abs(loop.simulate(15.0)["left.y"][-1] - exact))
    assert 0.9 < np.polyfit(np.log(tolerances), np.log(errors), 1)[0] < 1.1


class Kinked(LinearParticipant):
    """Its output is never below 1."""

    def get(self, names: Sequence[str]) -> list[float]:
        return [max(value, 1.0) for value in super().get(names)]


@pytest.mark.few(1)
@pytest.mark.parametrize("start", [0.99999, 0.9999, 0.999])
def test_a_kink_says_nothing_of_rates(start: float) -> None:
    """What follows a ramp is not taken for as fast as the kink at which the ramp began."""
    ramp = Kinked(([[0.0, 1.0], [0.0, 0.0]], [[], []], [[1.0, 0.0]], [[]]), [], ["y"], [start, 1.0])
    rooms = {
        name: LinearParticipant(([[-rate]], [[rate]], [[1.0]], [[0.0]]), ["u"], ["y"], [1.0])
        for name, rate in (("near", 3.0), ("far", 1.0))
    }
    links = [("ramp.y", "near.u"), ("near.y", "far.u")]
    loop = CoSimulation({"ramp": ramp, **rooms}, links, "adaptive", 0.5)
    assert loop.simulate(5.0).statistics["algorithm"]["exchanges"] < 300


class Ticking(LinearParticipant):
    """Its output grows by `LEAP` each 0.1 s."""

    LEAP = 2e-3

    def get(self, names: Sequence[str]) -> list[float]:
        return [0.3 + self.LEAP * math.floor(10.0 * value + 1e-9) for value in super().get(names)]


@pytest.mark.few(1)
@pytest.mark.parametrize("step", [0.1, 0.7], ids=["at the end of steps", "inside of steps"])
def test_jumps_of_less_than_a_hundred_tolerances_are_passed(step: float) -> None:
    """No exchange is short enough for a line across a jump: the input is held over one that is short."""
    clock = Ticking(([[0.0, 1.0], [0.0, 0.0]], [[], []], [[1.0, 0.0]], [[]]), [], ["y"], [0.0, 1.0])
    room = LinearParticipant(([[-1.0]], [[1.0]], [[1.0]], [[0.0]]), ["u"], ["y"], [0.0])
    loop = CoSimulation({"clock": clock, "room": room}, [("clock.y", "room.u")], "adaptive", step)
    result = loop.simulate(2.1)
    exact = 0.0
    for tick in range(21):
        level = 0.3 + Ticking.LEAP * tick
        exact = level + (exact - level) * math.exp(-0.1)
    assert result["room.y"][-1] == pytest.approx(exact, abs=3e-5)
    assert result.statistics["algorithm"]["exchanges"] < 1000


@pytest.mark.thorough
@FINER
@pytest.mark.parametrize(
    "given", [pytest.param({}, marks=pytest.mark.thorough), {"absolute_tolerance": {"right.y": 1e-12}}]
)
def test_the_tolerance_alone_lowers_the_errors_of_small_values(given: dict[str, Any], finer: int) -> None:
    """What is allowed beside the relative error is a part of the tolerance, not an error that stays."""
    matrices = [[-1.0]], [[0.9]], [[1.0]], [[0.0]]
    until = 0.5
    exact = expm(until * np.array([[-1.0, 0.9], [0.9, -1.0]])) @ [3e-3, -1e-3]
    tolerances, errors = [1e-3, 1e-4, 1e-5, 1e-6][: 3 + finer], []
    for tolerance in tolerances:
        parts = {
            name: LinearParticipant(matrices, ["u"], ["y"], [start], True)
            for name, start in (("left", 3e-3), ("right", -1e-3))
        }
        links = [("left.y", "right.u"), ("right.y", "left.u")]
        loop = CoSimulation(parts, links, "adaptive", until, options={"tolerance": tolerance, **given})
        errors.append(abs(loop.simulate(until)["left.y"][-1] - exact[0]))
    assert 0.9 < np.polyfit(np.log(tolerances), np.log(errors), 1)[0] < 1.1


def test_extrapolation_begins_with_an_error_of_second_order() -> None:
    cut, (algorithm, options) = CUTS["motion and motion"], orders.FIXED["jacobi, quadratic"]
    steps = (0.01, 0.005, 0.0025)
    whole = [orders.run(cut, True, algorithm, step, options) for step in steps]
    started = [orders.run(cut, True, algorithm, step, options, since=4) for step in steps]
    assert orders.order(whole) == pytest.approx(2.0, abs=0.15)
    assert whole[-1][1] > 10.0 * started[-1][1]


# stability


def wires(cut: Cut, parts: dict[str, LinearParticipant]) -> np.ndarray:
    inputs = [f"{n}.{u}" for n, p in parts.items() for u in p.inputs]
    outputs = [f"{n}.{y}" for n, p in parts.items() for y in p.outputs]
    found = np.zeros((len(inputs), len(outputs)))
    for source, target in cut.links:
        found[inputs.index(target), outputs.index(source)] = 1.0
    return found


def amplification(cut: Cut, step: float, algorithm: str) -> np.ndarray:
    """What a communication step does with states and outputs on the board, by its definition."""
    parts = cut.make(False)
    wired = wires(cut, parts)
    states, outputs, inputs = (
        [name for name, p in parts.items() for _ in range(size(p))]
        for size in (lambda p: len(p.start), lambda p: len(p.outputs), lambda p: len(p.inputs))
    )
    now = np.eye(len(states) + len(outputs))
    x, y = np.split(now.copy(), [len(states)])
    for name, part in parts.items():
        seen = y if algorithm == "gauss_seidel" else now[len(states) :]
        u = (wired @ seen)[np.array(inputs) == name]
        mine = np.array(states) == name
        free, forced, _ = part.maps(step)
        x[mine] = free @ x[mine] + forced @ u
        y[np.array(outputs) == name] = part.c @ x[mine] + part.d @ u
    return np.vstack([x, y])


def implicit_amplification(cut: Cut, step: float) -> np.ndarray:
    """The same for inputs that run along a line to the outputs at the end, solved for these."""
    parts = cut.make(True)
    wired = wires(cut, parts)
    free, at_start, sloped = (block_diag(*[p.maps(step)[i] for p in parts.values()]) for i in range(3))
    at_end = sloped / step
    c, d = block_diag(*[p.c for p in parts.values()]), block_diag(*[p.d for p in parts.values()])
    known = np.hstack([free, (at_start - at_end) @ wired])
    y = np.linalg.solve(np.eye(len(c)) - c @ at_end @ wired - d @ wired, c @ known)
    return np.vstack([known + at_end @ wired @ y, y])


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
    loop = CoSimulation(cut.make(algorithm == "interface_newton"), cut.links, algorithm, step)
    assert loop.order == ("left", "right")
    result = loop.simulate(3000 * step, record=cut.signals)
    sizes = np.linalg.norm([result[name] for name in cut.signals], axis=0)
    return float(sizes[2600:].max() / sizes[1000:1401].max()) ** (1.0 / 1600.0)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("cut", "algorithm"), [(FORCE, "jacobi"), (FORCE, "gauss_seidel"), (MOTION, "jacobi")]
)
def test_limit_of_stability_is_that_of_the_closed_form(cut: Cut, algorithm: str) -> None:
    edge = first_above_one(lambda step: radius(amplification(cut, step, algorithm)), 0.02)
    below, above = (
        (radius(amplification(cut, step, algorithm)), rate_of_growth(cut, algorithm, step))
        for step in (0.85 * edge, 1.2 * edge)
    )
    for expected, found in (below, above):
        assert found == pytest.approx(expected, rel=5e-4)
    assert below[1] < 1.0 < above[1]


def test_limit_of_stability_of_an_implicit_coupling() -> None:
    """It has one, too: the line through the interface is not that of a stiff motion."""
    cut = STIFF.force_and_motion()
    edge = first_above_one(lambda step: radius(implicit_amplification(cut, step)) - 1e-6, 2e-3)
    assert edge > 50.0 * first_above_one(lambda step: radius(amplification(cut, step, "jacobi")), 1e-6)
    for step, grows in ((0.95 * edge, False), (1.1 * edge, True)):
        result = CoSimulation(cut.make(True), cut.links, "interface_newton", step).simulate(60 * step)
        sizes = np.max(np.abs([result[name] for name in cut.signals]), axis=0)
        assert (sizes[-1] > 1e3 * sizes[1]) == grows
        if grows:
            expected = radius(implicit_amplification(cut, step))
            assert (sizes[50] / sizes[30]) ** (1.0 / 20.0) == pytest.approx(expected, rel=1e-2)


def test_gauss_seidel_over_motions_is_stable_at_every_step() -> None:
    assert (
        max(radius(amplification(MOTION, step, "gauss_seidel")) for step in np.linspace(0.01, 3.0, 300)) < 1.0
    )
    for step in (0.05, 0.5, 1.5):
        result = CoSimulation(MOTION.make(False), MOTION.links, "gauss_seidel", step).simulate(400 * step)
        assert max(abs(result[name][-1]) for name in MOTION.signals) < 0.1


def contraction(cut: Cut, step: float) -> float:
    """What one iteration makes of a change of the interface at the end of a step."""
    parts = cut.make(True)
    left, right = parts["left"], parts["right"]
    assert left.outputs[2] == "force" and right.outputs == ["x", "v"]
    # inputs at the end of the step, reached along a line: a change du is the slope du / step
    gain = {name: part.c @ part.maps(step)[2] / step + part.d for name, part in parts.items()}
    return radius(np.block([[np.zeros((1, 1)), gain["left"][2:]], [gain["right"], np.zeros((2, 2))]]))


def test_fixed_point_iteration_converges_where_its_matrix_contracts() -> None:
    cut = TwoMasses(k=300.0, c=1.0).force_and_motion()
    edge = first_above_one(lambda step: contraction(cut, step), 1e-3)
    options: dict[str, Any] = {"iterations": 400, "tolerance": 1e-9}
    inside = CoSimulation(cut.make(True), cut.links, "waveform_iteration", 0.9 * edge, options=options)
    assert inside.simulate(3.0 * edge).statistics["algorithm"]["largest_iterations"] > 30
    outside = CoSimulation(cut.make(True), cut.links, "waveform_iteration", 1.1 * edge, options=options)
    with pytest.raises(cosim.SimulationError, match="did not settle"):
        outside.simulate(3.0 * edge)
    newton = CoSimulation(cut.make(True), cut.links, "interface_newton", 1.1 * edge)
    assert newton.simulate(3.0 * edge).message == ""


# well-known cuts


def largest_error(cut: Cut, algorithm: str, step: float, until: float, **options: Any) -> float:
    """Over the whole run, of positions alone; relative to the largest of them."""
    loop = CoSimulation(cut.make(True), cut.links, algorithm, step, options=options)
    result = loop.simulate(until)
    exact = np.array([cut.exact(time) for time in result.time])
    found = np.array([result["left.x0"], result["right.x0"]]).T
    return float(np.max(np.abs(found - exact[:, [0, 2]])) / np.max(np.abs(exact[:, [0, 2]])))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("algorithm", "options", "step", "largest"),
    [
        ("jacobi", {}, 1e-3, 5e-2),
        ("gauss_seidel", {}, 1e-3, 2e-2),
        ("jacobi", {"extrapolation": 1}, 1e-3, 3e-3),
        pytest.param("waveform_iteration", {}, 1e-3, 2e-4, marks=pytest.mark.thorough),
        ("waveform_iteration", {}, 5e-3, 5e-3),
        pytest.param("adaptive", {"tolerance": 1e-4}, 1e-2, 1e-3, marks=pytest.mark.thorough),
    ],
)
def test_quarter_car(algorithm: str, options: dict[str, Any], step: float, largest: float) -> None:
    assert largest_error(QUARTER_CAR.force_and_motion(), algorithm, step, 1.0, **options) < largest


def test_stiff_coupling_needs_newton() -> None:
    """With a step of half the fast period explicit algorithms grow, and fixed points do not settle."""
    cut, step = STIFF.force_and_motion(), 3e-3
    for algorithm in ("jacobi", "gauss_seidel"):
        assert radius(amplification(cut, step, algorithm)) > 1.5
    assert contraction(cut, step) > 1.1
    with pytest.raises(cosim.SimulationError, match="did not settle"):
        largest_error(cut, "waveform_iteration", step, 0.1)
    assert largest_error(cut, "interface_newton", step, 0.5) < 4e-2
    assert largest_error(cut, "interface_newton", 5e-4, 0.5) < 1e-3
