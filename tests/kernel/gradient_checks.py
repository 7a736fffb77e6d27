"""Checks of gradients against the tangents of the same run, and parts that several files check."""

from __future__ import annotations

import numpy as np
import pytest

import cosim


def model_of(part: cosim.Component) -> cosim.Model:
    """A model of one part, ``x``."""
    model = cosim.Model("m")
    model.add(part, "x")
    return model


def check_against_tangents(model: cosim.Model, by: list[str], close: float = 1e-11, **options) -> None:
    """The gradient of a random weighted sum of all recorded values is that sum of their derivatives."""
    forward = model.simulate(derivatives=by, **options)
    backward = model.simulate(gradient=by, **options)
    assert np.array_equal(backward.time, forward.time)
    assert not [finding for finding in backward.findings if finding.kind == "no derivative"]
    for seed in range(2):
        draw = np.random.default_rng(seed)
        weights = {path: draw.uniform(-1.0, 1.0, forward[path].shape) for path in forward.derivatives}
        weights = {path: w * (draw.random(w.shape) < 0.5) for path, w in weights.items()}
        gradient = backward.gradient(lambda _, weights=weights: (0.0, weights))
        for path in by:
            terms = [np.ravel(w * forward.derivative(of, path)) for of, w in weights.items()]
            expected = sum(term.sum() for term in terms)
            size = sum(abs(term).sum() for term in terms)
            assert gradient[path].item() == pytest.approx(expected, abs=close * (size + 1e-3))


class Rod(cosim.Component):
    """Law: u_i' = d_i (u_(i-1) - 2 u_i + u_(i+1)) - u_i^3: the Jacobian is a band."""

    d = cosim.parameter(shape=60, default=np.linspace(50.0, 100.0, 60))
    u = cosim.auxiliary_state(shape=60, start=np.sin(np.linspace(0.0, 3.0, 60)))

    @cosim.kernel
    def derivatives(d, u, u_dot):
        for i in range(len(u)):
            left = u[i - 1] if i > 0 else 0.0
            right = u[i + 1] if i < len(u) - 1 else 0.0
            u_dot[i] = d[i] * (left - 2.0 * u[i] + right) - u[i] * u[i] * u[i]
