"""Newton's method on the interface starts with the directional derivatives of participants."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cosim import kit
from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms import newton_iteration
from cosim_master.algorithms.programmed_algorithm import ExchangeMemory

LINKS: list[Any] = ["one.y -> two.u", {"from": "two.y", "to": "one.u", "factor": 3.0}]


class HasDerivatives(LinearParticipant):
    """Gives the derivatives of its outputs, the matrix D times `scale`; fails if that is 0."""

    scale = 1.0

    def describe(self) -> kit.ParticipantDescription:
        return replace(super().describe(), has_derivatives=True)

    def directional_derivative(
        self, outputs: Sequence[str], inputs: Sequence[str], seed: Sequence[float]
    ) -> Sequence[float]:
        if self.scale == 0.0:
            raise RuntimeError("not in this mode")
        rows = [self.outputs.index(name) for name in outputs]
        columns = [self.inputs.index(name) for name in inputs]
        return (self.scale * self.d[np.ix_(rows, columns)] @ np.array(seed)).tolist()


def coupled(kind: type[LinearParticipant], algorithm: str = "interface_newton") -> CoSimulation:
    """A loop of direct feedthrough with gain -6, which fixed-point iteration does not solve."""
    parts = {
        name: kind([[[-1.0]], [[1.0]], [[1.0]], [[gain]]], ["u"], ["y"], [1.0])
        for name, gain in (("one", 2.0), ("two", -1.0))
    }
    return CoSimulation(parts, LINKS, algorithm, 0.01)


def loops_of_gains(*gains: float) -> CoSimulation:
    """For each gain an algebraic loop y = gain y + x, with a constant state x: 0 for gain 1, else 1."""
    parts: dict[str, Any] = {}
    links = []
    for i, gain in enumerate(gains):
        parts[f"a{i}"] = LinearParticipant(
            [[[0.0]], [[0.0]], [[1.0]], [[gain]]], ["u"], ["y"], [0.0 if gain == 1.0 else 1.0]
        )
        parts[f"b{i}"] = LinearParticipant(
            [np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), [[1.0]]], ["u"], ["y"], []
        )
        links += [f"a{i}.y -> b{i}.u", f"b{i}.y -> a{i}.u"]
    return CoSimulation(parts, links, "interface_newton", 0.1)


@pytest.mark.parametrize("algorithm", ["interface_newton", "gauss_seidel"])
def test_derivatives_take_the_place_of_differences(algorithm: str) -> None:
    by_differences = coupled(LinearParticipant, algorithm).simulate(1.0)
    by_derivatives = coupled(HasDerivatives, algorithm).simulate(1.0)
    for name in by_differences.names:
        assert by_derivatives[name] == pytest.approx(by_differences[name], rel=1e-6, abs=1e-8)
    counts_before, counts = (result.statistics["algorithm"] for result in (by_differences, by_derivatives))
    assert counts["iterations"] <= counts_before["iterations"] + 5
    if algorithm == "interface_newton":
        assert counts_before["jacobians"] >= 1
        assert (counts["jacobians"], counts["derivatives"]) == (0, 1)  # one for all steps


@pytest.mark.parametrize("scale", [0.0, -4.0, float("nan")])
def test_wrong_and_missing_derivatives_are_replaced_by_differences(
    scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_differences = coupled(LinearParticipant).simulate(0.5)
    monkeypatch.setattr(HasDerivatives, "scale", scale)
    by_derivatives = coupled(HasDerivatives).simulate(0.5)
    for name in by_differences.names:
        assert by_derivatives[name] == pytest.approx(by_differences[name], rel=1e-6, abs=1e-8)
    assert by_derivatives.statistics["algorithm"]["jacobians"] >= 1


def test_the_inverse_is_corrected_by_broydens_formula() -> None:
    """After the correction it is the inverse of the Jacobian by Broyden's formula."""
    random, size = np.random.default_rng(5), 7
    memory = ExchangeMemory(size, (), layout.newton_rows(size))
    jacobian = random.normal(size=(size, size)) - 3.0 * np.eye(size)
    start = layout.matrix_row(size) * size
    memory.table[start : start + size * size] = jacobian.ravel()
    newton_iteration.invert(memory.counts, memory.table)
    change, residual = random.normal(size=size), 0.1 * random.normal(size=size)
    memory.row(layout.CHANGE)[:], memory.row(layout.RESIDUAL)[:] = change, residual
    assert newton_iteration.apply_broyden(size, memory.table)
    # the change was a step of Newton's method, so the residual before it was -J change
    corrected = jacobian + np.outer(residual, change) / (change @ change)
    start = layout.INVERSE * size
    inverse = memory.table[start : start + size * size].reshape(size, size).T
    assert inverse @ corrected == pytest.approx(np.eye(size), abs=1e-12)


def test_an_undetermined_loop_does_not_disturb_one_that_is_solved() -> None:
    """With gain 1 any value is a solution; with gain -4 only Newton's method converges, to 1 / 5."""
    result = loops_of_gains(1.0, -4.0).simulate(0.5)
    assert result["a0.y"] == pytest.approx(np.zeros(6))
    assert result["a1.y"] == pytest.approx(np.full(6, 0.2), rel=1e-7)
