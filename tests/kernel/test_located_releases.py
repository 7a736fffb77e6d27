"""The release of a held witness is located and ends a step, so that it costs no accuracy."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

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
    """The largest error, relative to the largest value; steps for 1e-4 are long beside a sinusoid."""
    return (10.0 if accuracy > 1e-5 else 4.0) * accuracy


def release_times(result: cosim.Result) -> list[float]:
    return [finding.time for finding in result.findings if finding.kind == "released"]


@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("a", [0.3, 1.0, 10.0, 300.0])
@pytest.mark.parametrize("method", METHODS)
def test_a_floor_that_falls_away(method: str, a: float, accuracy: float) -> None:
    """A step across the release had an error of 19 accuracies (`dormand_prince`)."""
    if accuracy < 1e-6 and method in ("heun", "bogacki_shampine", "generalized_alpha", "radau3"):
        accuracy = 1e-7  # a method of low order would need thousands of steps more
    end = end_of_contact(a)
    result = run(FallingFloor(a=a), 2.0 * end + 0.5, method, accuracy)
    exact = np.array([height_on_falling_floor(a, t) for t in result.time])
    assert np.abs(result["it.height"] - exact).max() < largest_error(accuracy) * np.abs(exact).max()
    assert release_times(result) == pytest.approx([end], rel=max(500.0 * accuracy, 1e-6))


class Piece(NamedTuple):
    """A piece of the solution of a relay: x at its start, and its switch, which is 0 while x slides at 0."""

    start: float
    x: float
    s: float

    def x_at(self, w: float, c: float, t: float) -> float:
        """x at a time, in closed form."""
        if self.s == 0.0:
            return 0.0
        drive = c / w * (math.cos(w * self.start) - math.cos(w * t))
        return self.x - self.s * (t - self.start) + drive


def relay_pieces(w: float, c: float, until: float) -> list[Piece]:
    """The solution of a relay: a piece ends where x returns to 0, or where the drive exceeds the switch."""
    pieces = [Piece(0.0, 0.5, 1.0)]
    scan = 1e-3 / w
    while pieces[-1].start < until:
        piece = pieces[-1]
        is_sliding = piece.s == 0.0

        def beyond_end(t: float, piece: Piece = piece, is_sliding: bool = is_sliding) -> float:
            """Above zero after the end of the piece."""
            return c * abs(math.sin(w * t)) - 1.0 if is_sliding else -piece.s * piece.x_at(w, c, t)

        t = piece.start + scan
        while beyond_end(t) < 0.0 and t < until:
            t += scan
        if t >= until:
            return pieces
        end = brentq(beyond_end, t - scan, t, xtol=1e-15)
        drive = c * math.sin(w * end)
        begins_to_slide = not is_sliding and abs(drive) < 1.0
        pieces.append(Piece(end, 0.0, 0.0 if begins_to_slide else math.copysign(1.0, drive)))
    return pieces


@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("w", [0.3, 1.0, 1.3, 4.0])
@pytest.mark.parametrize("method", ["runge_kutta_merson", "dormand_prince", "tsitouras", "radau5", "bdf"])
def test_a_relay_leaves_its_surface_on_the_right_side(method: str, w: float, accuracy: float) -> None:
    """It leaves to the side that its switch has, and to the other one."""
    c, until = 1.7, 8.0 / w
    result = run(Relay(w=w, c=c), until, method, accuracy)
    pieces = relay_pieces(w, c, until)
    exact = []
    for t in result.time:
        piece = [each for each in pieces if each.start <= t][-1]
        exact.append(piece.x_at(w, c, t))
    assert np.abs(result["it.x"] - exact).max() < largest_error(accuracy) * np.abs(exact).max()
    ends = [after.start for before, after in pairwise(pieces) if before.s == 0.0]
    assert release_times(result)[: len(ends)] == pytest.approx(ends, rel=max(500.0 * accuracy, 1e-6))
    is_away = np.abs(result["it.x"]) > 1e-3
    assert (np.sign(result["it.x"][is_away]) == result["it.s"][is_away]).all()


@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("w", [0.3, 1.0, 1.3])
@pytest.mark.parametrize("method", METHODS[2:])
def test_a_clamp_is_released_where_its_rate_changes_its_sign(method: str, w: float, accuracy: float) -> None:
    """A step across the release had an error of 24 accuracies (`dormand_prince`, 1e-6)."""
    result = run(Clamp(w=w), 6.0 / w, method, accuracy)
    clamped = np.minimum(result.time, math.pi / 2.0 / w)
    exact = np.minimum(np.sin(w * clamped) / w, 0.5)
    exact = np.where(w * result.time > math.pi / 2.0, 0.5 + (np.sin(w * result.time) - 1.0) / w, exact)
    assert np.abs(result["it.x"] - exact).max() < largest_error(accuracy) * np.abs(exact).max()
    assert release_times(result)[:1] == pytest.approx([math.pi / 2.0 / w], rel=max(500.0 * accuracy, 1e-6))
