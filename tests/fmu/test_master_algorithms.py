"""Orders, iterations and tolerances of the master algorithms, against exact solutions."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from python_block import Block
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import cosim
from cosim import kit
from cosim_fmu import CoSimulation

MakeFmu = Callable[..., Path]
FORCE_AND_MOTION = [("left.force", "right.f"), ("right.x", "left.x_other"), ("right.v", "left.v_other")]
MOTION_AND_MOTION = [
    *(("left.x", "right.x_other"), ("left.v", "right.v_other")),
    *(("right.x", "left.x_other"), ("right.v", "left.v_other")),
]
SPRINGS = {"left.kc": 2.0, "left.cc": 0.1, "right.k": 3.0}
SPRINGS_ON_BOTH_SIDES = {**SPRINGS, "right.kc": 2.0, "right.cc": 0.1}
SIGNALS = ("left.x", "left.v", "right.x", "right.v")
ABILITIES = 'canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true"'
INTERPOLATING = ABILITIES + ' canInterpolateInputs="true"'
STIFF = {"left.kc": 1e3, "left.cc": 10.0, "right.k": 3.0}


def exact(time: float, spring: float = 2.0, damper: float = 0.1) -> np.ndarray:
    """`SIGNALS` of two masses that a spring and a damper connect, at a time."""
    matrix = np.array(
        [
            [0.0, 1.0, 0.0, 0.0],
            [-1.0 - spring, -damper, spring, damper],
            [0.0, 0.0, 0.0, 1.0],
            [spring, damper, -3.0 - spring, -damper],
        ]
    )
    return expm(matrix * time) @ np.array([1.0, 0.0, 1.0, 0.0])


def coupled(
    make_fmu: MakeFmu,
    links: Any,
    starts: Mapping[str, Any],
    algorithm: str,
    step: float,
    abilities: str = ABILITIES,
    **options: Any,
) -> CoSimulation:
    fmu = make_fmu("mass", abilities=abilities)
    return CoSimulation({"left": fmu, "right": fmu}, links, algorithm, step, options=options, starts=starts)


def error(loop: CoSimulation, until: float = 2.0) -> float:
    """The largest error of `SIGNALS` at the end."""
    result = loop.simulate(until)
    return float(np.max(np.abs([result[name][-1] for name in SIGNALS] - exact(until))))


class Exact(Block):
    """x' = f(u, x), advanced by the exact solution for a held input."""

    def __init__(self, after: Callable[[float, float, float], float], start: float, goes_back: bool) -> None:
        super().__init__({"x": lambda time, u: self.x}, ["u"], feedthrough={"x": frozenset()})
        self.after, self.start, self.goes_back = after, start, goes_back

    def describe(self) -> kit.ParticipantDescription:
        return dataclasses.replace(super().describe(), can_restore=self.goes_back)

    def initialize(self, start: float, stop: Any, values: Mapping[str, Any], tolerance: Any = None) -> None:
        super().initialize(start, stop, values)
        self.x = self.start

    def step(self, time: float, size: float) -> float:
        self.x = self.after(self.x, self.values["u"], size)
        return super().step(time, size)

    def save(self) -> Any:
        return self.x, dict(self.values), self.time

    def restore(self, token: Any) -> None:
        self.x, values, self.time = token
        self.values.update(values)


@pytest.mark.by_turns
@pytest.mark.parametrize("links", [FORCE_AND_MOTION, MOTION_AND_MOTION], ids=["force", "motion"])
@pytest.mark.parametrize(
    ("algorithm", "options", "order", "largest"),
    [
        ("jacobi", {}, 1.0, 2e-2),
        ("jacobi", {"extrapolation": 1}, 2.0, 2e-4),
        ("jacobi", {"extrapolation": 2}, 2.1, 5e-5),
        ("gauss_seidel", {"extrapolation": 1}, 2.0, 2e-4),
        ("waveform_iteration", {}, 2.0, 5e-5),
        ("interface_newton", {}, 2.0, 5e-5),
    ],
)
def test_order_of_the_coupling(
    make_fmu: MakeFmu, links: Any, algorithm: str, options: Any, order: float, largest: float
) -> None:
    starts = SPRINGS if links is FORCE_AND_MOTION else SPRINGS_ON_BOTH_SIDES
    errors = [
        error(coupled(make_fmu, links, starts, algorithm, step, **options)) for step in (2e-2, 1e-2, 5e-3)
    ]
    assert errors[-1] < largest
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert slopes == pytest.approx(order, abs=0.15 if order < 2.1 else 0.5)


def test_interpolated_inputs_make_smaller_errors_than_held_ones(make_fmu: MakeFmu) -> None:
    held_error = error(
        coupled(make_fmu, MOTION_AND_MOTION, SPRINGS_ON_BOTH_SIDES, "waveform_iteration", 5e-2)
    )
    interpolated_errors = [
        error(
            coupled(
                make_fmu, MOTION_AND_MOTION, SPRINGS_ON_BOTH_SIDES, "waveform_iteration", step, INTERPOLATING
            )
        )
        for step in (1e-1, 5e-2)
    ]
    assert interpolated_errors[1] < 0.7 * held_error
    assert np.log2(interpolated_errors[0] / interpolated_errors[1]) == pytest.approx(2.0, abs=0.15)


def test_masses_in_a_row_move_as_their_matrix_exponential(make_fmu: MakeFmu) -> None:
    """Two, three and five masses, each an FMU; springs of 1 N/m to the ground, 2 N/m, 3 N/m, … in between."""
    fmu = make_fmu("mass")
    for count in (2, 3, 5):
        names = [f"m{i}" for i in range(count)]
        links, starts = [], {}
        for i, name in enumerate(names[:-1]):
            links += [(f"{name}.force", f"{names[i + 1]}.f")]
            links += [(f"{names[i + 1]}.x", f"{name}.x_other"), (f"{names[i + 1]}.v", f"{name}.v_other")]
            starts |= {f"{name}.kc": 2.0 + i, f"{name}.cc": 0.1}
        matrix = np.zeros((2 * count, 2 * count))
        for i in range(count):
            matrix[2 * i, 2 * i + 1] = 1.0
            matrix[2 * i + 1, 2 * i] -= 1.0
        for i in range(count - 1):
            for mass, neighbour in ((i, i + 1), (i + 1, i)):
                matrix[2 * mass + 1, 2 * mass : 2 * mass + 2] -= (2.0 + i, 0.1)
                matrix[2 * mass + 1, 2 * neighbour : 2 * neighbour + 2] += (2.0 + i, 0.1)
        start = np.tile([1.0, 0.0], count)
        start[0] = 1.3
        starts["m0.x"] = 1.3
        options = {"tolerance": 1e-11, "absolute_tolerance": 1e-13}
        loop = CoSimulation(
            dict.fromkeys(names, fmu), links, "waveform_iteration", 2e-4, options=options, starts=starts
        )
        result = loop.simulate(0.2)
        reached = [result[f"{name}.{signal}"][-1] for name in names for signal in ("x", "v")]
        assert reached == pytest.approx(expm(0.2 * matrix) @ start, abs=1e-8)


def test_newton_needs_fewer_iterations_than_fixed_point(make_fmu: MakeFmu) -> None:
    runs = {}
    for algorithm in ("waveform_iteration", "interface_newton"):
        loop = coupled(make_fmu, FORCE_AND_MOTION, STIFF, algorithm, 1e-2, INTERPOLATING)
        result = loop.simulate(0.5)
        reached = np.array([result[name][-1] for name in SIGNALS])
        assert np.max(np.abs(reached - exact(0.5, 1e3, 10.0))) < 5e-3
        runs[algorithm] = (reached, result.statistics["algorithm"])
    (fixed_point, counts_of_fixed_point), (newton, counts_of_newton) = runs.values()
    assert newton == pytest.approx(fixed_point, abs=1e-6)
    assert counts_of_newton["iterations"] < counts_of_fixed_point["iterations"] / 4.0
    assert counts_of_newton["jacobians"] <= 3


def test_an_iteration_that_does_not_converge_names_the_signal_and_keeps_the_results(
    make_fmu: MakeFmu,
) -> None:
    loop = coupled(make_fmu, FORCE_AND_MOTION, STIFF, "waveform_iteration", 1e-2, iterations=5)
    with pytest.raises(cosim.SimulationError) as caught:
        loop.simulate(0.1)
    message = str(caught.value)
    assert "5 iterations of WaveformIteration: left.force" in message
    assert " gives " in message and "interface_newton" in message
    assert loop.result is not None and loop.result.time.tolist() == [0.0]
    assert caught.value.result is loop.result  # type: ignore[attr-defined]


@pytest.mark.parametrize("algorithm", ["waveform_iteration", "interface_newton"])
def test_an_algebraic_loop_is_solved_in_every_step(make_fmu: MakeFmu, algorithm: str) -> None:
    """a = 0.5 b + time, b = -0.8 a: a = time / 1.4."""
    gain = make_fmu("gain")
    clock = make_fmu("failing")
    links = [("b.y", "a.u"), ("sum.y", "b.u"), ("a.y", "sum.one"), ("clock.y", "sum.two")]

    class Sum(Block):
        def save(self) -> Any:
            return self.time, dict(self.values)

        def restore(self, token: Any) -> None:
            self.time, self.values = token[0], dict(token[1])

        def describe(self) -> kit.ParticipantDescription:
            description = super().describe()
            return kit.ParticipantDescription(
                description.kind, description.variables, description.feedthrough, True
            )

    inputs = frozenset({"one", "two"})
    adder = Sum({"y": lambda time, one, two: one + two}, ["one", "two"], feedthrough={"y": inputs})
    parts = {"a": gain, "b": gain, "clock": clock, "sum": adder}
    loop = CoSimulation(parts, links, algorithm, 0.1, starts={"a.gain": 0.5, "b.gain": -0.8})
    result = loop.simulate(1.0)
    assert result["sum.y"] == pytest.approx(result.time / 1.4, abs=1e-7)


@pytest.mark.parametrize("goes_back", [True, False])
def test_the_error_of_adaptive_follows_its_tolerance_with_and_without_rollback(
    make_fmu: MakeFmu, goes_back: bool
) -> None:
    saves = 'canGetAndSetFMUstate="true" ' if goes_back else ""
    fmu = make_fmu("mass", abilities=saves + 'canHandleVariableCommunicationStepSize="true"')
    errors, counts = [], []
    for tolerance in (1e-3, 1e-5):
        loop = CoSimulation(
            {"left": fmu, "right": fmu},
            FORCE_AND_MOTION,
            "adaptive",
            0.25,
            starts=SPRINGS,
            options={"tolerance": tolerance, "absolute_tolerance": tolerance},
        )
        errors.append(error(loop))
        assert loop.result is not None
        assert loop.result.time.tolist() == [0.25 * i for i in range(9)]
        counts.append(loop.result.statistics["algorithm"])
    # of order 2: a hundredth of the tolerance takes sqrt(100) times the exchanges
    assert errors[0] < 1e-2 and errors[1] < errors[0] / 30.0
    assert 5.0 < counts[1]["exchanges"] / counts[0]["exchanges"] < 20.0
    assert set(counts[0]) == {"exchanges", "rejected" if goes_back else "missed"}
    if not goes_back:
        with pytest.raises(cosim.ModelError, match="state, which Adaptive"):
            CoSimulation({"a": fmu}, [], "adaptive", 0.25, options={"iterations": 1})


@pytest.mark.parametrize("goes_back", [True, False])
def test_adaptive_passes_a_jump(goes_back: bool) -> None:
    """A lag follows a signal that jumps inside a communication step."""
    clock = Exact(lambda x, u, size: x + size, 0.0, goes_back)
    clock.outputs = {"x": lambda time, u: float(time >= 0.3137)}
    lag = Exact(lambda x, u, size: u + (x - u) * math.exp(-size), 0.0, goes_back)
    options = {"tolerance": 1e-4, "absolute_tolerance": 1e-5}
    loop = CoSimulation({"s": clock, "lag": lag}, [("s.x", "lag.u")], "adaptive", 0.25, options=options)
    result = loop.simulate(1.0)
    expected = 1.0 - math.exp(-(1.0 - 0.3137))
    # without rollback the exchange in which it jumps is not repeated
    assert result["lag.x"][-1] == pytest.approx(expected, abs=1e-3 if goes_back else 5e-2)
    assert result.statistics["algorithm"]["exchanges"] < 300


@pytest.mark.parametrize("until", [25.0, pytest.param(100.0, marks=pytest.mark.thorough)])
def test_adaptive_follows_predator_and_prey(until: float) -> None:
    """Within 1e-4 after 100 units of time, in fewer than 100 exchanges for each."""
    prey = Exact(lambda x, u, size: x * math.exp((0.1 - 0.02 * u) * size), 20.0, True)
    predator = Exact(lambda x, u, size: x * math.exp((0.02 * u - 0.4) * size), 20.0, True)
    links = [("predator.x", "prey.u"), ("prey.x", "predator.u")]
    options = {"tolerance": 6e-6, "absolute_tolerance": 6e-6, "iterations": 1}
    loop = CoSimulation({"prey": prey, "predator": predator}, links, "adaptive", 1.0, options=options)
    result = loop.simulate(until)
    exact_sizes = solve_ivp(
        lambda t, z: [z[0] * (0.1 - 0.02 * z[1]), z[1] * (-0.4 + 0.02 * z[0])],
        (0.0, until),
        [20.0, 20.0],
        "DOP853",
        rtol=1e-12,
        atol=1e-12,
    ).y[:, -1]
    assert result.statistics["algorithm"]["exchanges"] <= 100 * until
    assert [result["prey.x"][-1], result["predator.x"][-1]] == pytest.approx(exact_sizes, abs=1e-4)


@pytest.mark.parametrize(("hold", "expected"), [("mean", 2.0), ("line", 2.0), ("end", 1.0)])
def test_orders_of_the_ways_to_hold_inputs_in_an_iteration(
    make_fmu: MakeFmu, hold: str, expected: float
) -> None:
    errors = [
        error(
            coupled(make_fmu, FORCE_AND_MOTION, SPRINGS, "waveform_iteration", step, INTERPOLATING, hold=hold)
        )
        for step in (0.02, 0.01)
    ]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(expected, abs=0.15)


def test_iteration_that_holds_the_end_is_the_implicit_euler_method() -> None:
    """x' = -1000 x across a connection, h = 0.01: factors 1 / (1 + 10) and (1 - 5) / (1 + 5) per step."""
    courses = {}
    for hold in ("end", "mean"):
        rate = Exact(lambda x, u, size: u, 0.0, True)
        rate.outputs = {"x": lambda time, u: -1000.0 * u}
        rate.feedthrough = {"x": frozenset({"u"})}
        store = Exact(lambda x, u, size: x + size * u, 1.0, True)
        links = [("rate.x", "store.u"), ("store.x", "rate.u")]
        loop = CoSimulation(
            {"store": store, "rate": rate}, links, "interface_newton", 0.01, options={"hold": hold}
        )
        courses[hold] = loop.simulate(0.05)["store.x"]
    assert courses["end"] == pytest.approx((1.0 / 11.0) ** np.arange(6), abs=1e-6)
    assert courses["mean"] == pytest.approx((-4.0 / 6.0) ** np.arange(6), abs=1e-6)


def test_an_unknown_way_to_hold_inputs_is_refused(make_fmu: MakeFmu) -> None:
    with pytest.raises(cosim.ModelError, match="hold.*'midle'.*middle|hold.*no .*'midle'"):
        coupled(make_fmu, FORCE_AND_MOTION, SPRINGS, "waveform_iteration", 0.1, hold="midle")


def test_absolute_tolerances_by_name(make_fmu: MakeFmu) -> None:
    def run(**absolute: float) -> CoSimulation:
        by_name = {name.replace("_", "."): value for name, value in absolute.items()}
        options = {"tolerance": 1e-3, "absolute_tolerance": by_name}
        return coupled(make_fmu, FORCE_AND_MOTION, SPRINGS, "adaptive", 0.25, **options)

    with pytest.raises(cosim.ModelError, match="absolute_tolerance.right.x: is -1.0"):
        run(right_x=-1.0)
    with pytest.raises(cosim.ModelError, match="connected output 'right.forse'..*left.force"):
        run(right_forse=1e-2).simulate(0.5)
    loose, tight = (run(left_force=size).simulate(1.0).statistics["algorithm"] for size in (1e-1, 1e-9))
    assert loose["exchanges"] < tight["exchanges"]


def test_wrong_options_are_all_named(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass")
    with pytest.raises(cosim.ModelError, match="option of Jacobi.*extrapolatoin.*extrapolation"):
        CoSimulation({"a": fmu}, [], "jacobi", options={"extrapolatoin": 1})
    with pytest.raises(cosim.ModelError, match="extrapolation.*is 3, needs 0, 1 or 2"):
        CoSimulation({"a": fmu}, [], "jacobi", options={"extrapolation": 3})
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation({"a": fmu}, [], "waveform_iteration", options={"tolerance": -1.0, "relaxation": 2})
    assert len(caught.value.problems) == 2
