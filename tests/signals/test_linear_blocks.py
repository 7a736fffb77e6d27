"""Transfer functions and state space: against SciPy's simulation of the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

import cosim
from cosim.testing import MeasureContract
from cosim_signals.state_space import StateSpace
from cosim_signals.transfer_function import TransferFunction


class TestTransferFunction(MeasureContract):
    make = staticmethod(lambda: TransferFunction(numerator=[2.0, 1.0], denominator=[2.0, 0.4, 4.0]))


class TestTransferFunctionWithFeedthrough(MeasureContract):
    make = staticmethod(
        lambda: TransferFunction(numerator=[2.0, 0.0, 1.0], denominator=[1.0, 0.4, 4.0], x=0.5)
    )


class TestStateSpace(MeasureContract):
    make = staticmethod(
        lambda: StateSpace(A=[[0.0, 1.0], [-4.0, -0.4]], B=[0.0, 1.0], C=[1.0, 0.5], D=0.3, x=[0.1, 0.2])
    )


def driven(kind: str, times: np.ndarray, **values: object) -> tuple[np.ndarray, cosim.Simulator]:
    model = cosim.Model("driven")
    model.add("signals.ramp", "input", height=2.0, duration=0.7, start_time=0.2, offset=0.5)
    model.add(kind, "block", source="input", **values)
    simulator = cosim.Simulator(model.build(), integrator="integrators.dormand_prince", accuracy=1e-10)
    found = []
    for t in times:
        simulator.advance_to(t)
        found.append(simulator.state.realize()["block"])
    return np.array(found), simulator


def reference(system: signal.lti, times: np.ndarray, x0: object = None) -> np.ndarray:
    fine = np.linspace(0.0, times[-1], 20_001)
    u = 0.5 + 2.0 * np.clip((fine - 0.2) / 0.7, 0.0, 1.0)
    _, y, _ = signal.lsim(system, u, fine, X0=x0)
    return np.interp(times, fine, y)


TIMES = np.linspace(0.05, 2.0, 14)


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [
        ([3.0], [0.5, 1.0]),
        ([1.0, 2.0], [2.0, 0.4, 5.0]),
        ([2.0, 0.0, 7.0], [4.0, 0.4, 5.0]),
        ([1.0], [1.0, 0.0]),
        ([1.0, 3.0, 2.0], [1.0, 6.0, 11.0, 6.0, 0.0, 0.0]),
    ],
)
def test_a_transfer_function_answers_as_scipy_says(numerator: list[float], denominator: list[float]) -> None:
    found, _ = driven("signals.transfer_function", TIMES, numerator=numerator, denominator=denominator)
    assert found == pytest.approx(reference(signal.lti(numerator, denominator), TIMES), abs=2e-7)


def test_it_may_begin_in_the_steady_state() -> None:
    values = {"numerator": [1.0, 8.0], "denominator": [2.0, 0.4, 5.0], "starts_steady": True}
    found, simulator = driven("signals.transfer_function", np.array([0.0, 0.1, 0.19]), **values)
    assert found == pytest.approx(0.5 * 8.0 / 5.0)
    assert simulator.state["block.value_dot"] == pytest.approx(0.0, abs=1e-12)


def test_units_of_a_transfer_function() -> None:
    model = cosim.Model("units")
    model.add("signals.step", "force", height="2 kN")
    model.add(
        "signals.transfer_function", "answer", source="force", numerator=["3 mm/N"], denominator=[1.0, 1.0]
    )
    system = model.build()
    assert cosim.parse_quantity(f"1 {system.signal('answer').units[0]}", "m") > 0.0
    simulator = cosim.Simulator(system, accuracy=1e-9)
    simulator.advance_to(40.0)
    name = system.signal("answer").units[0]
    assert cosim.parse_quantity(f"{simulator.state.realize()['answer']} {name}", "m") == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"numerator": [1, 2, 3], "denominator": [1, 2]}, "numerator is of order 2, denominator of order 1"),
        ({"numerator": [1.0], "denominator": [0.0, 1.0]}, "denominator begins with 0"),
        ({"numerator": [1.0], "denominator": [1.0]}, "needs at least two"),
        ({"numerator": [1.0], "denominator": [1.0, 2.0], "x": [1.0, 2.0]}, "they go together"),
    ],
)
def test_quotients_that_are_none(wrong: dict[str, object], text: str) -> None:
    with pytest.raises(cosim.ModelError, match=text):
        TransferFunction(**wrong)


def test_a_state_space_answers_as_scipy_says() -> None:
    A, B, C = [[0.0, 1.0], [-4.0, -0.4]], [[0.0], [1.0]], [[1.0, 0.5]]
    found, _ = driven("signals.state_space", TIMES, A=A, B=B, C=C, D=0.3, x=[0.1, -0.2])
    expected = reference(signal.StateSpace(A, B, C, [[0.3]]), TIMES, [0.1, -0.2])
    assert found.shape == (14,) and found == pytest.approx(expected, abs=2e-7)


def test_several_inputs_and_outputs() -> None:
    A, B = [[-1.0, 0.5], [0.0, -3.0]], [[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]]
    C, D = [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 4.0, 0.0]]
    model = cosim.Model("several")
    model.add("measures.constant", "input", value=[1.0, 2.0, 3.0])
    model.add("signals.state_space", "block", source="input", A=A, B=B, C=C, D=D, x=1.0)
    model.add("signals.limiter", "limited", source="block", lower=0.0, upper=5.0)
    simulator = cosim.Simulator(model.build(), accuracy=1e-9)
    simulator.advance_to(30.0)
    state = simulator.state.realize()
    x = -np.linalg.solve(A, np.array(B) @ [1.0, 2.0, 3.0])
    assert state["block"] == pytest.approx(np.array(C) @ x + np.array(D) @ [1.0, 2.0, 3.0])
    assert state["limited"] == pytest.approx(np.minimum(state["block"], 5.0))


def test_matrices_that_do_not_go_together() -> None:
    with pytest.raises(cosim.ModelError, match="C has the shape"):
        StateSpace(A=[[0, 1], [2, 3]], B=[0, 1], C=[1, 2, 3])
    with pytest.raises(cosim.ModelError, match="A has the shape"):
        StateSpace(A=[[0, 1]], B=[0], C=[1])
