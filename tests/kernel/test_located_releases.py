"""The release of a held witness ends a step: it is located, and costs no accuracy."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from releases_parts import Clamp, FallingFloor, Relay, end_of_contact, height_on_falling_floor
from scipy.optimize import brentq

import cosim

METHODS = (
    *("heun", "bogacki_shampine", "runge_kutta_merson", "dormand_prince", "tsitouras", "dormand_prince_853"),
    *("radau3", "radau5", "esdirk43", "bdf", "generalized_alpha"),
)


def run(part: cosim.Component, until: float, method: str, accuracy: float) -> cosim.Result:
    model = cosim.Model("release")
    model.add(part, "it")
    return model.simulate(until=until, integrator=f"integrators.{method}", accuracy=accuracy)


def largest_error(accuracy: float) -> float:
    """At 1e-4 steps are long enough for errors of a sinusoid alone."""
    return (10.0 if accuracy > 1e-5 else 4.0) * accuracy


def releases(result: cosim.Result) -> list[float]:
    return [finding.time for finding in result.findings if finding.kind == "released"]


@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("a", [0.3, 1.0, 10.0, 300.0])
@pytest.mark.parametrize("method", METHODS)
def test_a_floor_that_falls_away(method: str, a: float, accuracy: float) -> None:
    """Of the error of `dormand_prince` 19 accuracies were due to its last step on the floor."""
    if accuracy < 1e-6 and method in ("heun", "bogacki_shampine", "generalized_alpha", "radau3"):
        accuracy = 1e-7  # of low order: thousands of steps more
    end = end_of_contact(a)
    result = run(FallingFloor(a=a), 2.0 * end + 0.5, method, accuracy)
    exact = np.array([height_on_falling_floor(a, t) for t in result.time])
    assert np.abs(result["it.height"] - exact).max() < largest_error(accuracy) * np.abs(exact).max()
    assert releases(result) == pytest.approx([end], rel=max(500.0 * accuracy, 1e-6))


def relay_pieces(w: float, c: float, until: float) -> list[tuple[float, float, float]]:
    """When each piece of the solution begins, at which x, and with which s; s = 0 where it slides."""
    pieces = [(0.0, 0.5, 1.0)]
    scan = 1e-3 / w
    while pieces[-1][0] < until:
        start, _, s = piece = pieces[-1]
        if s == 0.0:
            leaves, t = (lambda t: c * abs(math.sin(w * t)) - 1.0), start + scan
        else:
            leaves, t = (lambda t, piece=piece: -piece[2] * x_of(piece, w, c, t)), start + scan
        while leaves(t) < 0.0 and t < until:
            t += scan
        if t >= until:
            return pieces
        t = brentq(leaves, t - scan, t, xtol=1e-15)
        drive = c * math.sin(w * t)
        slides = s != 0.0 and abs(drive) < 1.0
        pieces.append((t, 0.0, 0.0 if slides else math.copysign(1.0, drive)))
    return pieces


def x_of(piece: tuple[float, float, float], w: float, c: float, t: float) -> float:
    """x in a piece that does not slide."""
    start, x, s = piece
    return x - s * (t - start) + c / w * (math.cos(w * start) - math.cos(w * t))


@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("w", [0.3, 1.0, 1.3, 4.0])
@pytest.mark.parametrize("method", ["runge_kutta_merson", "dormand_prince", "tsitouras", "radau5", "bdf"])
def test_a_relay_leaves_its_surface_on_the_right_side(method: str, w: float, accuracy: float) -> None:
    """It leaves with the side of its switch, and with the other one."""
    c, until = 1.7, 8.0 / w
    result = run(Relay(w=w, c=c), until, method, accuracy)
    pieces = relay_pieces(w, c, until)
    exact = []
    for t in result.time:
        piece = [each for each in pieces if each[0] <= t][-1]
        exact.append(0.0 if piece[2] == 0.0 else x_of(piece, w, c, t))
    assert np.abs(result["it.x"] - exact).max() < largest_error(accuracy) * np.abs(exact).max()
    ends = [t for (_, _, s), (t, _, _) in pairwise(pieces) if s == 0.0]
    assert releases(result)[: len(ends)] == pytest.approx(ends, rel=max(500.0 * accuracy, 1e-6))
    away = np.abs(result["it.x"]) > 1e-3
    assert (np.sign(result["it.x"][away]) == result["it.s"][away]).all()


@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("w", [0.3, 1.0, 1.3])
@pytest.mark.parametrize("method", METHODS[2:])
def test_a_clamp_lets_go_where_its_rate_turns_round(method: str, w: float, accuracy: float) -> None:
    """It was off by 24 accuracies (`dormand_prince`, 1e-6)."""
    result = run(Clamp(w=w), 6.0 / w, method, accuracy)
    clamped = np.minimum(result.time, math.pi / 2.0 / w)
    exact = np.minimum(np.sin(w * clamped) / w, 0.5)
    exact = np.where(w * result.time > math.pi / 2.0, 0.5 + (np.sin(w * result.time) - 1.0) / w, exact)
    assert np.abs(result["it.x"] - exact).max() < largest_error(accuracy) * np.abs(exact).max()
    assert releases(result)[:1] == pytest.approx([math.pi / 2.0 / w], rel=max(500.0 * accuracy, 1e-6))
