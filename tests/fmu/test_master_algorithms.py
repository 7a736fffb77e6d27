"""What each master algorithm promises, against exact solutions."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm
from test_master_coupling import Block

import cosim
from cosim import kit
from cosim_fmu.master import CoSimulation

MakeFmu = Callable[..., Path]
FORCE_AND_MOTION = [("left.force", "right.f"), ("right.x", "left.x_other"), ("right.v", "left.v_other")]
MOTION_AND_MOTION = [
    *(("left.x", "right.x_other"), ("left.v", "right.v_other")),
    *(("right.x", "left.x_other"), ("right.v", "left.v_other")),
]
SPRINGS = {"left.kc": 2.0, "left.cc": 0.1, "right.k": 3.0}
BOTH = {**SPRINGS, "right.kc": 2.0, "right.cc": 0.1}
SIGNALS = ("left.x", "left.v", "right.x", "right.v")


def exact(time: float, spring: float = 2.0, damper: float = 0.1) -> np.ndarray:
    matrix = np.array(
        [
            [0.0, 1.0, 0.0, 0.0],
            [-1.0 - spring, -damper, spring, damper],
            [0.0, 0.0, 0.0, 1.0],
            [spring, damper, -3.0 - spring, -damper],
        ]
    )
    return expm(matrix * time) @ np.array([1.0, 0.0, 1.0, 0.0])


ABILITIES = 'canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true"'
FOLLOWS = ABILITIES + ' canInterpolateInputs="true"'


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
    result = loop.simulate(until)
    return float(np.max(np.abs([result[name][-1] for name in SIGNALS] - exact(until))))


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
    starts = SPRINGS if links is FORCE_AND_MOTION else BOTH
    errors = [
        error(coupled(make_fmu, links, starts, algorithm, step, **options)) for step in (2e-2, 1e-2, 5e-3)
    ]
    assert errors[-1] < largest
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert slopes == pytest.approx(order, abs=0.15 if order < 2.1 else 0.5)


def test_inputs_that_follow_their_slopes_are_worth_it(make_fmu: MakeFmu) -> None:
    held = error(coupled(make_fmu, MOTION_AND_MOTION, BOTH, "waveform_iteration", 5e-2))
    followed = [
        error(coupled(make_fmu, MOTION_AND_MOTION, BOTH, "waveform_iteration", step, FOLLOWS))
        for step in (1e-1, 5e-2)
    ]
    assert followed[1] < 0.7 * held
    assert np.log2(followed[0] / followed[1]) == pytest.approx(2.0, abs=0.15)


def test_whole_and_cut_agree(make_fmu: MakeFmu) -> None:
    """Two, three and five masses in a row, each an FMU, against the matrix exponential of the whole."""
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
            for one, other in ((i, i + 1), (i + 1, i)):
                matrix[2 * one + 1, 2 * one : 2 * one + 2] -= (2.0 + i, 0.1)
                matrix[2 * one + 1, 2 * other : 2 * other + 2] += (2.0 + i, 0.1)
        start = np.tile([1.0, 0.0], count)
        start[0] = 1.3
        starts["m0.x"] = 1.3
        options = {"tolerance": 1e-11, "absolute_tolerance": 1e-13}
        loop = CoSimulation(
            dict.fromkeys(names, fmu), links, "waveform_iteration", 2e-4, options=options, starts=starts
        )
        result = loop.simulate(0.2)
        found = [result[f"{name}.{signal}"][-1] for name in names for signal in ("x", "v")]
        assert found == pytest.approx(expm(0.2 * matrix) @ start, abs=1e-8)


STIFF = {"left.kc": 1e3, "left.cc": 10.0, "right.k": 3.0}


def test_newton_needs_fewer_iterations_than_fixed_point(make_fmu: MakeFmu) -> None:
    found = {}
    for algorithm in ("waveform_iteration", "interface_newton"):
        loop = coupled(make_fmu, FORCE_AND_MOTION, STIFF, algorithm, 1e-2, FOLLOWS)
        result = loop.simulate(0.5)
        reached = np.array([result[name][-1] for name in SIGNALS])
        assert np.max(np.abs(reached - exact(0.5, 1e3, 10.0))) < 5e-3
        found[algorithm] = (reached, result.statistics["algorithm"])
    fixed, newton = found["waveform_iteration"], found["interface_newton"]
    assert newton[0] == pytest.approx(fixed[0], abs=1e-6)
    assert newton[1]["iterations"] < fixed[1]["iterations"] / 4.0
    assert newton[1]["jacobians"] <= 3


def test_what_does_not_settle_is_named_and_results_are_kept(make_fmu: MakeFmu) -> None:
    loop = coupled(make_fmu, FORCE_AND_MOTION, STIFF, "waveform_iteration", 1e-2, iterations=5)
    with pytest.raises(cosim.SimulationError) as caught:
        loop.simulate(0.1)
    said = str(caught.value)
    assert "did not settle in 5 iterations of WaveformIteration: left.force: " in said
    assert " gives " in said and "interface_newton" in said
    assert loop.result is not None and loop.result.time.tolist() == [0.0]
    assert caught.value.result is loop.result  # type: ignore[attr-defined]


@pytest.mark.parametrize("algorithm", ["waveform_iteration", "interface_newton"])
def test_loop_of_feedthrough_is_solved_in_every_step(make_fmu: MakeFmu, algorithm: str) -> None:
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
            found = super().describe()
            return kit.ParticipantDescription(found.kind, found.variables, found.feedthrough, True)

    both = frozenset({"one", "two"})
    adder = Sum({"y": lambda time, one, two: one + two}, ["one", "two"], feedthrough={"y": both})
    parts = {"a": gain, "b": gain, "clock": clock, "sum": adder}
    loop = CoSimulation(parts, links, algorithm, 0.1, starts={"a.gain": 0.5, "b.gain": -0.8})
    result = loop.simulate(1.0)
    assert result["sum.y"] == pytest.approx(result.time / 1.4, abs=1e-7)


@pytest.mark.parametrize("base", ["jacobi", "gauss_seidel"])
def test_adaptive_step_follows_the_tolerance(make_fmu: MakeFmu, base: str) -> None:
    errors, exchanges = [], []
    for tolerance in (1e-4, 1e-6):
        options = {"tolerance": tolerance, "absolute_tolerance": tolerance, "base": base}
        loop = coupled(make_fmu, FORCE_AND_MOTION, SPRINGS, "adaptive_step", 0.25, **options)
        errors.append(error(loop))
        assert loop.result is not None
        assert loop.result.time.tolist() == [0.25 * i for i in range(9)]
        exchanges.append(loop.result.statistics["algorithm"]["exchanges"])
    assert errors[0] < 2e-2
    assert errors[1] < errors[0] / 5.0
    assert 5.0 < exchanges[1] / exchanges[0] < 20.0  # first order: the square root of a hundred


def test_adaptive_forward_needs_no_rollback(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass", abilities='canHandleVariableCommunicationStepSize="true"')
    parts = {"left": fmu, "right": fmu}
    errors = []
    for tolerance in (1e-3, 1e-5):
        options = {"tolerance": tolerance, "absolute_tolerance": tolerance}
        loop = CoSimulation(
            parts, FORCE_AND_MOTION, "adaptive_forward", 0.25, starts=SPRINGS, options=options
        )
        errors.append(error(loop))
    assert errors[0] < 1e-2
    assert errors[1] < errors[0] / 10.0
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation(parts, FORCE_AND_MOTION, "adaptive_step", 0.25, starts=SPRINGS)
    assert [problem.where for problem in caught.value.problems] == ["participants.left", "participants.right"]
    assert "cannot save and restore its state, which AdaptiveStep needs" in str(caught.value)


def test_options_that_are_wrong_are_all_named(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass")
    with pytest.raises(cosim.ModelError, match="option of Jacobi.*extrapolatoin.*extrapolation"):
        CoSimulation({"a": fmu}, [], "jacobi", options={"extrapolatoin": 1})
    with pytest.raises(cosim.ModelError, match="extrapolation.*is 3, needs 0, 1 or 2"):
        CoSimulation({"a": fmu}, [], "jacobi", options={"extrapolation": 3})
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation({"a": fmu}, [], "waveform_iteration", options={"tolerance": -1.0, "relaxation": 2})
    assert len(caught.value.problems) == 2
