"""Newton's method on the interface begins with directional derivatives where participants give them."""

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


class Told(LinearParticipant):
    """Gives the matrix D, or says that it cannot."""

    wrong = 1.0
    asked = 0

    def describe(self) -> kit.ParticipantDescription:
        return replace(super().describe(), has_derivatives=True)

    def directional_derivative(
        self, outputs: Sequence[str], inputs: Sequence[str], seed: Sequence[float]
    ) -> Sequence[float]:
        self.asked += 1
        if self.wrong == 0.0:
            raise RuntimeError("not in this mode")
        rows, columns = (
            [names.index(n) for n in given]
            for names, given in ((self.outputs, outputs), (self.inputs, inputs))
        )
        return (self.wrong * self.d[np.ix_(rows, columns)] @ np.array(seed)).tolist()


def coupled(kind: type[LinearParticipant], algorithm: str = "interface_newton") -> CoSimulation:
    """A loop of direct feedthrough with gain -6, which fixed-point iteration does not solve."""
    parts = {
        name: kind([[[-1.0]], [[1.0]], [[1.0]], [[gain]]], ["u"], ["y"], [1.0])
        for name, gain in (("one", 2.0), ("two", -1.0))
    }
    return CoSimulation(parts, LINKS, algorithm, 0.01)


@pytest.mark.parametrize("algorithm", ["interface_newton", "gauss_seidel"])
def test_derivatives_take_the_place_of_differences(algorithm: str) -> None:
    plain = coupled(LinearParticipant, algorithm).simulate(1.0)
    told = coupled(Told, algorithm).simulate(1.0)
    for name in plain.names:
        assert told[name] == pytest.approx(plain[name], rel=1e-6, abs=1e-8)
    before, after = (result.statistics["algorithm"] for result in (plain, told))
    assert after["iterations"] <= before["iterations"] + 5
    if algorithm == "interface_newton":
        assert before["jacobians"] >= 1
        assert (after["jacobians"], after["derivatives"]) == (0, 1)  # kept over all steps


@pytest.mark.parametrize("wrong", [0.0, -4.0, float("nan")])
def test_wrong_ones_are_made_good_by_differences(wrong: float, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = coupled(LinearParticipant).simulate(0.5)
    monkeypatch.setattr(Told, "wrong", wrong)
    told = coupled(Told).simulate(0.5)
    for name in plain.names:
        assert told[name] == pytest.approx(plain[name], rel=1e-6, abs=1e-8)
    assert told.statistics["algorithm"]["jacobians"] >= 1


def test_a_correction_is_broydens() -> None:
    """The kept inverse is that of the Jacobian that Broyden's formula gives."""
    random, size = np.random.default_rng(5), 7
    memory = ExchangeMemory(size, (), layout.newton_rows(size))
    jacobian = random.normal(size=(size, size)) - 3.0 * np.eye(size)
    first = layout.matrix_row(size) * size
    memory.table[first : first + size * size] = jacobian.ravel()
    newton_iteration.invert(memory.counts, memory.table)
    change, left = random.normal(size=size), 0.1 * random.normal(size=size)
    memory.row(layout.CHANGE)[:], memory.row(layout.RESIDUAL)[:] = change, left
    assert newton_iteration.apply_broyden(size, memory.table)
    # the change was a step of Newton's method, so the residual before it was -J change
    corrected = jacobian + np.outer(left, change) / (change @ change)
    first = layout.INVERSE * size
    inverse = memory.table[first : first + size * size].reshape(size, size).T
    assert inverse @ corrected == pytest.approx(np.eye(size), abs=1e-12)


def gains(*given: float) -> CoSimulation:
    """For each gain a loop of its own, y = gain u + x with x' = 0, that leads back to its own input."""
    parts: dict[str, Any] = {}
    links = []
    for i, gain in enumerate(given):
        parts[f"a{i}"] = LinearParticipant(
            [[[0.0]], [[0.0]], [[1.0]], [[gain]]], ["u"], ["y"], [0.0 if gain == 1.0 else 1.0]
        )
        parts[f"b{i}"] = LinearParticipant(
            [np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), [[1.0]]], ["u"], ["y"], []
        )
        links += [f"a{i}.y -> b{i}.u", f"b{i}.y -> a{i}.u"]
    return CoSimulation(parts, links, "interface_newton", 0.1)


def test_what_nothing_determines_stays_beside_what_is_solved() -> None:
    """One loop has any solution (gain 1), the other diverges by fixed-point iteration (gain -4)."""
    result = gains(1.0, -4.0).simulate(0.5)
    assert result["a0.y"] == pytest.approx(np.zeros(6))
    assert result["a1.y"] == pytest.approx(np.full(6, 0.2), rel=1e-7)
