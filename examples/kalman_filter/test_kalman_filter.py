"""The contract kit on the filter, and what NumPy makes of the same numbers."""

from typing import Any

import numpy as np
from kalman_filter import KalmanFilter

import cosim
from cosim.testing import ComponentContract


class TestKalmanFilter(ComponentContract):
    """The contract of components."""

    make = staticmethod(KalmanFilter)
    inputs = {"measured": 0.7}  # noqa: RUF012


def filtered(until: float) -> Any:
    """The estimate and its spread after this number of seconds."""
    model = cosim.Model("filtered")
    model.add(KalmanFilter, "filter", measured=0.7)
    simulator = cosim.Simulator(model.build())
    simulator.initialize()
    simulator.advance_to(until)
    return np.asarray(simulator.state["filter.x"]), np.asarray(simulator.state["filter.P"])


def test_is_what_numpy_computes() -> None:
    """Twenty-one ticks of a measurement that stays as it is."""
    A, H, R = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]]), np.array([[0.04]])
    x, P = np.zeros(2), np.eye(2)
    for _ in range(21):
        x, P = A @ x, A @ P @ A.T + np.diag([1e-4, 1e-3])
        K = np.linalg.solve(H @ P @ H.T + R, H @ P).T
        x, P = x + K @ (0.7 - H @ x), P - K @ H @ P
    found = filtered(2.05)
    assert np.allclose(found[0], x, rtol=1e-12, atol=0.0)
    assert np.allclose(found[1], P, rtol=1e-12, atol=1e-15)
