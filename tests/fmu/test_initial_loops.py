"""Algebraic loops at the start and in steps: hard ones are solved, those without a solution are reported."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from python_block import Block
from scipy.optimize import brentq

import cosim
from cosim import kit
from cosim_fmu import CoSimulation, CoSimulationError

Function = Callable[[Any], Any]


class Restored(Block):
    """A block whose state can be saved and restored."""

    def describe(self) -> kit.ParticipantDescription:
        return replace(super().describe(), can_restore=True)

    def save(self) -> Any:
        return self.time, dict(self.values)

    def restore(self, token: Any) -> None:
        self.time, self.values = token[0], dict(token[1])


def identity(u: Any) -> Any:
    return u


def ring(functions: Sequence[Function], start: Any, kind: str = "real") -> CoSimulation:
    """Participants p0, p1 … in a ring; each applies a function to the output of the one before."""
    parts = {}
    for i, function in enumerate(functions):
        types = {"u": kind, "y": kind}
        parts[f"p{i}"] = Block({"y": lambda t, u, f=function: f(u)}, ["u"], types=types)
    names = list(parts)
    links = [(f"{a}.y", f"{b}.u") for a, b in zip(names, [*names[1:], names[0]], strict=True)]
    starts = {f"{name}.u": start for name in names}
    return CoSimulation(parts, links, "jacobi", 0.1, starts=starts)


@pytest.mark.parametrize(
    ("function", "start", "solution"),
    [
        (lambda u: 2.0 * math.cos(u), 0.0, brentq(lambda u: 2.0 * math.cos(u) - u, 0.0, 2.0)),
        # beyond 1.39 an undamped Newton step leads away from the solution
        (lambda u: u - 3.0 * math.atan(u), 40.0, 0.0),
        # an undamped step leads below 0, where the function is not defined
        (lambda u: math.nan if u < 0.0 else 50.0 - 49.0 * math.sqrt(u), 1.02, 1.0),
        (lambda u: 1e6 * (u - 1.0), 0.0, 1e6 / (1e6 - 1.0)),
    ],
)
@pytest.mark.parametrize("count", [1, 3])
def test_loops_are_solved_where_substitution_diverges(
    function: Function, start: float, solution: float, count: int
) -> None:
    loop = ring([function, *[identity] * (count - 1)], start)
    result = loop.simulate(0.1)
    assert result["p0.y"][0] == pytest.approx(solution, abs=1e-8)


@pytest.mark.parametrize(
    ("function", "start", "kind", "message"),
    [
        (lambda u: u * u + 1.0, 0.3, "real", r"40 Newton steps; at the end it changed p0\.y by"),
        (
            lambda u: u + 1.0,
            0.0,
            "real",
            "1 Newton steps: its Jacobian is singular, so that it has no solution",
        ),
        (
            lambda u: -1.0 if u >= 0.0 else 1.0,
            0.0,
            "real",
            r"40 Newton steps; at the end it changed p0\.y by",
        ),
        (lambda u: math.nan, 1.0, "real", "an output is not finite"),
        (lambda u: not u, False, "boolean", r"in 40 substitutions; at the end it changed p0\.y by 1"),
        (lambda u: (u + 1) % 7, 0, "integer", "in 40 substitutions"),
    ],
)
def test_the_message_for_a_loop_without_a_solution_names_the_loop_and_the_reason(
    function: Function, start: Any, kind: str, message: str
) -> None:
    with pytest.raises(CoSimulationError, match=message) as caught:
        ring([function, identity, identity], start, kind).simulate(0.1)
    path = "the loop p0.y → p1.u → p1.y → p2.u → p2.y → p0.u → p0.y does not converge in "
    assert path in str(caught.value)


def test_start_values_that_are_a_solution_are_kept() -> None:
    """In a loop of gain 1 every value is a solution."""
    assert ring([identity, identity, identity], 4.0).simulate(0.1)["p1.y"].tolist() == [4.0, 4.0]


def test_at_the_start_initial_dependencies_decide_the_order() -> None:
    """In a run `held.y` is a state; in initialization mode it depends on its input."""

    class Held(Block):
        def describe(self) -> kit.ParticipantDescription:
            return replace(super().describe(), initial_feedthrough={"y": frozenset({"u"})})

    received: list[Any] = []

    class Reader(Block):
        def set(self, names: Sequence[str], values: Sequence[Any]) -> None:
            received.extend(values)
            super().set(names, values)

    none: Mapping[str, frozenset[str]] = {"y": frozenset()}
    parts = {
        "held": Held({"y": lambda t, u: 2.0 * u}, ["u"], feedthrough=none),
        "reader": Reader({"y": lambda t, u: u}, ["u"], feedthrough=none),
        "source": Block({"y": lambda t: 3.0}, feedthrough=none),
    }
    CoSimulation(parts, [("held.y", "reader.u"), ("source.y", "held.u")], "jacobi", 0.1).simulate(0.1)
    assert set(received) == {6.0}


@pytest.mark.parametrize("algorithm", ["waveform_iteration", "interface_newton"])
def test_if_participants_are_inexact_the_message_proposes_a_tolerance(algorithm: str) -> None:
    noise = itertools.cycle((1.0, -1.0))
    inexact = Restored({"y": lambda t, u: 0.0 if t == 0.0 else 1.0 - 0.5 * u + 1e-6 * next(noise)}, ["u"])
    parts = {"a": inexact, "b": Restored({"y": lambda t, u: u}, ["u"])}
    loop = CoSimulation(parts, [("a.y", "b.u"), ("b.y", "a.u")], algorithm, 0.1)
    with pytest.raises(cosim.SimulationError, match=r"options.tolerance = \de-0\d.*participant's own"):
        loop.simulate(0.5)


@pytest.mark.parametrize("algorithm", ["waveform_iteration", "interface_newton"])
def test_the_message_for_a_step_that_does_not_converge_names_values_and_iterations(algorithm: str) -> None:
    def jump(t: float, u: float) -> float:
        return 0.0 if t == 0.0 else (-1.0 if u >= 0.0 else 1.0)

    parts = {"a": Restored({"y": jump}, ["u"]), "b": Restored({"y": lambda t, u: u}, ["u"])}
    loop = CoSimulation(parts, [("a.y", "b.u"), ("b.y", "a.u")], algorithm, 0.1)
    with pytest.raises(cosim.SimulationError, match=r"\d+ iterations.*a\.y") as caught:
        loop.simulate(0.5)
    assert ("or interface_newton" in str(caught.value)) == (algorithm == "waveform_iteration")
    assert "switches within" in str(caught.value)
    assert loop.result is not None and loop.result.time.tolist() == [0.0]


def test_a_value_that_becomes_nan_in_the_last_iteration_is_named() -> None:
    """After the last iteration values are not passed on, which is where NaN is noticed otherwise."""
    answers = itertools.chain((-1.0, 1.0) * 3, itertools.repeat(math.nan))
    parts = {
        "a": Restored({"y": lambda t, u: u}, ["u"]),
        "b": Restored({"y": lambda t, u: 0.0 if t == 0.0 else next(answers)}, ["u"]),
    }
    links, options = [("a.y", "b.u"), ("b.y", "a.u")], {"iterations": 3}
    loop = CoSimulation(parts, links, "interface_newton", 0.1, options=options)
    with pytest.raises(cosim.SimulationError, match=r"3 iterations.*b\.y"):
        loop.simulate(0.5)
