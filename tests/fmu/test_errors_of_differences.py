"""The error that is stated for derivatives by differences is at least the true one.

The true error is known because the same system, in place of an opaque participant, has exact derivatives.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from coupled_oscillators import STEP, TIGHT, Ball, Oscillator, system_of

import cosim
from cosim.kit import ParticipantDescription
from cosim_fmu import CoSimulation, SystemParticipant

BY_DIFFERENCES = "derivatives by differences"
LINKS = {
    "Oscillator": ("m.speed", "m.force"),
    "Stiffening": ("m.place", "m.force"),
    "Ball": ("m.seen", "m.force"),
}
STARTS = {
    "Oscillator": {"m.k": 2.0, "m.c": 0.3, "m.x": 1.0, "m.v": 0.0},
    "Stiffening": {"m.k": 2.0, "m.h": 0.5, "m.x": 0.8, "m.bias": 0.0},
    "Ball": {"m.e": 0.8, "m.height": 1.0, "m.speed": 0.0},
}


class Stiffening(cosim.Component):
    """Law: x'' = force + bias - k x - h x^3."""

    k = cosim.parameter(default=2.0)
    h = cosim.parameter(default=0.5)
    bias = cosim.parameter(default=0.0)
    x = cosim.position(unit="m", start=0.8)
    v = cosim.speed(unit="m/s")
    force = cosim.input(unit="N")
    place = cosim.output(unit="m")

    @cosim.kernel
    def derivatives(k, h, bias, x, v, force, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = force + bias - k * x - h * x * x * x

    @cosim.kernel
    def outputs(x, place):
        place[0] = x


PARTS = {part.__name__: part for part in (Oscillator, Stiffening, Ball)}


class Opaque(cosim.Participant):
    """A system behind the methods of a participant, without derivatives, like an FMU."""

    def __init__(self, system: cosim.System) -> None:
        self._system, self._inner = system, SystemParticipant(system)

    def __deepcopy__(self, memo: Any) -> Opaque:
        return Opaque(self._system)

    def describe(self) -> ParticipantDescription:
        return self._inner.describe()

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        self._inner.initialize(start, stop, values, tolerance)

    def set(self, names: Sequence[str], values: Any) -> None:
        self._inner.set(names, values)

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        self._inner.set_slopes(names, slopes)

    def step(self, time: float, size: float) -> float:
        return self._inner.step(time, size)

    def get(self, names: Sequence[str]) -> Any:
        return self._inner.get(names)

    def save(self) -> Any:
        return self._inner.save()

    def restore(self, token: Any) -> None:
        self._inner.restore(token)

    def close(self) -> None:
        self._inner.close()


def run_both(
    one: str,
    two: str,
    starts: Mapping[str, float],
    by: Sequence[str],
    *,
    gains: Sequence[float] = (0.7, -0.4),
    until: float = 0.5,
    **settings: Any,
) -> tuple[cosim.Result, cosim.Result]:
    """A coupling with differences of its first participant, and one with exact derivatives of both."""
    defaults = {
        f"{n}.{path}": v for n, kind in (("one", one), ("two", two)) for path, v in STARTS[kind].items()
    }
    names = [f"one.{LINKS[one][0]}", f"two.{LINKS[two][0]}"]

    def run(first: Any) -> cosim.Result:
        loop = CoSimulation(
            {"one": first, "two": system_of("two", PARTS[two]())},
            [
                {"from": names[0], "to": f"two.{LINKS[two][1]}", "factor": gains[0], "convert": False},
                {"from": names[1], "to": f"one.{LINKS[one][1]}", "factor": gains[1], "convert": False},
            ],
            **{"algorithm": "jacobi", "step": STEP, "tolerance": 1e-12, **settings},
            starts={**defaults, **starts},
        )
        return loop.simulate(until, record=names, derivatives=list(by))

    system = system_of("one", PARTS[one]())
    return run(Opaque(system)), run(system)


def stated_error(result: cosim.Result) -> float:
    """The relative error that the finding states; infinite if it says that no digit is certain."""
    (finding,) = result.findings
    assert finding.kind == BY_DIFFERENCES
    if "no digit" in finding.message or "rounding" in finding.message:
        return math.inf
    (number,) = re.findall(r"relative error below (\S+)", finding.message)
    return float(number)


def largest_error(result: cosim.Result, exact: cosim.Result, by: Sequence[str]) -> float:
    """The largest error of all derivatives, each relative to its largest value over time."""
    largest = 0.0
    for name in exact.signals:
        for path in by:
            expected = exact.derivative(name, path)
            error, size = np.abs(result.derivative(name, path) - expected).max(), np.abs(expected).max()
            largest = max(largest, error / size if size > 0.0 else (math.inf if error > 0.0 else 0.0))
    return largest


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("algorithm", "options"),
    [("jacobi", {}), ("gauss_seidel", {}), ("interface_newton", TIGHT)],
)
def test_stated_errors_of_random_couplings(algorithm: str, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(len(algorithm))  # another seed for each algorithm
    for _ in range(4):
        one, two = (str(kind) for kind in rng.choice(list(PARTS), 2))
        starts = {
            f"{name}.{path}": value * rng.uniform(0.6, 1.1)
            for name, kind in (("one", one), ("two", two))
            for path, value in STARTS[kind].items()
        }
        by = [str(path) for path in rng.choice(list(starts), 3, replace=False)]
        gains = rng.uniform(-1.0, 1.0, 2).tolist()
        result, exact = run_both(
            one, two, starts, by, gains=gains, until=0.6, algorithm=algorithm, options=options
        )
        assert largest_error(result, exact, by) <= stated_error(result) + 1e-9, (one, two, by)
        assert stated_error(result) < 1e-3


@pytest.mark.parametrize("size", [1e-15, 1e-9])
@pytest.mark.parametrize("path", ["one.m.bias", "two.m.bias"])
def test_the_error_is_large_if_increments_of_a_parameter_are_rounded(path: str, size: float) -> None:
    """They are added to values of size 1; a derivative that is lost is not a 0 without a warning."""
    result, exact = run_both("Stiffening", "Stiffening", {path: size}, [path])
    assert largest_error(result, exact, [path]) <= stated_error(result)
    assert stated_error(result) > 1e-4


def test_directions_of_different_units_state_their_own_errors() -> None:
    """A derivative of size 1e9 hides no error of one of size 1."""
    by = ["one.m.k", "one.m.bias", "two.m.x"]
    starts = {"one.m.bias": 1e-9, "two.m.x": 1e9}
    result, exact = run_both("Stiffening", "Oscillator", starts, by, gains=(0.7, 1e-9))
    assert largest_error(result, exact, by) <= stated_error(result)


def test_without_influence_the_derivative_is_exactly_0() -> None:
    result, exact = run_both("Stiffening", "Oscillator", {}, ["two.m.k"], gains=(0.7, 0.0))
    assert largest_error(result, exact, ["two.m.k"]) <= stated_error(result)
    assert set(result.derivative("one.m.place", "two.m.k").tolist()) == {0.0}
    assert stated_error(result) < 1e-6
    result, exact = run_both("Oscillator", "Oscillator", {"one.m.x": 0.0, "two.m.x": 0.0}, ["one.m.k"])
    assert largest_error(result, exact, ["one.m.k"]) == 0.0


def test_no_digit_is_certain_if_a_ball_bounces_at_a_communication_point() -> None:
    """Of the runs of the differences, some have bounced when their outputs are read, others have not."""
    by = ["one.m.height", "one.m.e"]
    result, exact = run_both(
        "Ball", "Oscillator", {"one.m.height": 9.81 * 0.4**2 / 2.0}, by, gains=(0.7, 0.0)
    )
    assert stated_error(result) == math.inf
    ends = [exact.derivative("one.m.seen", path)[-1] for path in by]
    assert np.isnan(ends).all()  # there is no derivative: the height decides which comes first
