"""Transfer functions and state-space blocks, compared with SciPy's simulations of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

import cosim
from cosim.testing import MeasureContract
from cosim_signals.state_space import StateSpace
from cosim_signals.transfer_function import TransferFunction

TIMES = np.linspace(0.05, 2.0, 14)


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


def driven_by_a_ramp(
    kind: str, times: np.ndarray, **parameters: object
) -> tuple[np.ndarray, cosim.Simulator]:
    model = cosim.Model("driven")
    model.add("signals.ramp", "input", height=2.0, duration=0.7, start_time=0.2, offset=0.5)
    model.add(kind, "block", source="input", **parameters)
    simulator = cosim.Simulator(model.build(), integrator="integrators.dormand_prince", accuracy=1e-10)
    values = []
    for t in times:
        simulator.advance_to(t)
        values.append(simulator.state.realize()["block"])
    return np.array(values), simulator


def reference(system: signal.lti, times: np.ndarray, x0: object = None) -> np.ndarray:
    fine = np.linspace(0.0, times[-1], 20_001)
    u = 0.5 + 2.0 * np.clip((fine - 0.2) / 0.7, 0.0, 1.0)
    _, y, _ = signal.lsim(system, u, fine, X0=x0)
    return np.interp(times, fine, y)


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
def test_a_transfer_function_agrees_with_scipy(numerator: list[float], denominator: list[float]) -> None:
    values, _ = driven_by_a_ramp(
        "signals.transfer_function", TIMES, numerator=numerator, denominator=denominator
    )
    assert values == pytest.approx(reference(signal.lti(numerator, denominator), TIMES), abs=2e-7)


def test_a_transfer_function_may_start_in_the_steady_state() -> None:
    parameters = {"numerator": [1.0, 8.0], "denominator": [2.0, 0.4, 5.0], "starts_steady": True}
    values, simulator = driven_by_a_ramp(
        "signals.transfer_function", np.array([0.0, 0.1, 0.19]), **parameters
    )
    assert values == pytest.approx(0.5 * 8.0 / 5.0)
    assert simulator.state["block.value_dot"] == pytest.approx(0.0, abs=1e-12)


def test_units_of_a_transfer_function() -> None:
    model = cosim.Model("units")
    model.add("signals.step", "force", height="2 kN")
    model.add(
        "signals.transfer_function", "length", source="force", numerator=["3 mm/N"], denominator=[1.0, 1.0]
    )
    system = model.build()
    unit = system.signal("length").units[0]
    assert cosim.parse_quantity(f"1 {unit}", "m") > 0.0
    simulator = cosim.Simulator(system, accuracy=1e-9)
    simulator.advance_to(40.0)
    assert cosim.parse_quantity(f"{simulator.state.realize()['length']} {unit}", "m") == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"numerator": [1, 2, 3], "denominator": [1, 2]}, "numerator is of order 2, denominator of order 1"),
        ({"numerator": [1.0], "denominator": [0.0, 1.0]}, "denominator begins with 0"),
        ({"numerator": [1.0], "denominator": [1.0]}, "needs at least two"),
        ({"numerator": [1.0], "denominator": [1.0, 2.0], "x": [1.0, 2.0]}, "they go together"),
    ],
)
def test_impossible_transfer_functions_are_refused(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(cosim.ModelError, match=message):
        TransferFunction(**parameters)


def test_a_state_space_agrees_with_scipy() -> None:
    A, B, C = [[0.0, 1.0], [-4.0, -0.4]], [[0.0], [1.0]], [[1.0, 0.5]]
    values, _ = driven_by_a_ramp("signals.state_space", TIMES, A=A, B=B, C=C, D=0.3, x=[0.1, -0.2])
    expected = reference(signal.StateSpace(A, B, C, [[0.3]]), TIMES, [0.1, -0.2])
    assert values.shape == (14,) and values == pytest.approx(expected, abs=2e-7)


def test_a_state_space_with_several_inputs_and_outputs() -> None:
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


def test_matrices_of_different_shapes_are_refused() -> None:
    with pytest.raises(cosim.ModelError, match="C has the shape"):
        StateSpace(A=[[0, 1], [2, 3]], B=[0, 1], C=[1, 2, 3])
    with pytest.raises(cosim.ModelError, match="A has the shape"):
        StateSpace(A=[[0, 1]], B=[0], C=[1])
