"""Values at the start: closed loops that are hard, or have no solution."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from scipy.optimize import brentq
from test_master_coupling import Block

import cosim
from cosim import kit
from cosim_fmu import CoSimulation, CoSimulationError

Function = Callable[[Any], Any]


def same(u: Any) -> Any:
    return u


def ring(functions: Sequence[Function], start: Any, kind: str = "real") -> CoSimulation:
    """Participants p0, p1 …: each makes its output of the input that the one before gives it."""
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
        # beyond 1.39 an undamped Newton step leads farther away
        (lambda u: u - 3.0 * math.atan(u), 40.0, 0.0),
        # not defined below 0, where an undamped step leads
        (lambda u: math.nan if u < 0.0 else 50.0 - 49.0 * math.sqrt(u), 1.02, 1.0),
        (lambda u: 1e6 * (u - 1.0), 0.0, 1e6 / (1e6 - 1.0)),
    ],
)
@pytest.mark.parametrize("count", [1, 3])
def test_loops_that_substitution_does_not_settle(
    function: Function, start: float, solution: float, count: int
) -> None:
    loop = ring([function, *[same] * (count - 1)], start)
    result = loop.simulate(0.1)
    assert result["p0.y"][0] == pytest.approx(solution, abs=1e-8)


@pytest.mark.parametrize(
    ("function", "start", "kind", "said"),
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
def test_loops_without_a_solution_stop_with_what_and_why(
    function: Function, start: Any, kind: str, said: str
) -> None:
    with pytest.raises(CoSimulationError, match=said) as caught:
        ring([function, same, same], start, kind).simulate(0.1)
    path = "the loop p0.y → p1.u → p1.y → p2.u → p2.y → p0.u → p0.y does not converge in "
    assert path in str(caught.value)


def test_many_solutions_that_fit_already_are_left_alone() -> None:
    """A loop of gain 1: every value is a solution, and the start is one."""
    assert ring([same, same, same], 4.0).simulate(0.1)["p1.y"].tolist() == [4.0, 4.0]


def test_dependencies_of_initialization_mode_decide_the_order() -> None:
    """In a run `held.y` is a state; in initialization mode it follows its input."""

    class Held(Block):
        def describe(self) -> kit.ParticipantDescription:
            known = {"y": frozenset({"u"})}
            return replace(super().describe(), initial_feedthrough=known)

    seen: list[Any] = []

    class Reader(Block):
        def set(self, names: Sequence[str], values: Sequence[Any]) -> None:
            seen.extend(values)
            super().set(names, values)

    none: Mapping[str, frozenset[str]] = {"y": frozenset()}
    parts = {
        "held": Held({"y": lambda t, u: 2.0 * u}, ["u"], feedthrough=none),
        "reader": Reader({"y": lambda t, u: u}, ["u"], feedthrough=none),
        "source": Block({"y": lambda t: 3.0}, feedthrough=none),
    }
    CoSimulation(parts, [("held.y", "reader.u"), ("source.y", "held.u")], "jacobi", 0.1).simulate(0.1)
    assert set(seen) == {6.0}


class Restored(Block):
    """A participant that goes back."""

    def describe(self) -> kit.ParticipantDescription:
        return replace(super().describe(), can_restore=True)

    def save(self) -> Any:
        return self.time, dict(self.values)

    def restore(self, token: Any) -> None:
        self.time, self.values = token[0], dict(token[1])


@pytest.mark.parametrize("algorithm", ["waveform_iteration", "interface_newton"])
def test_what_the_participants_solve_no_better_is_told(algorithm: str) -> None:
    noise = itertools.cycle((1.0, -1.0))
    inexact = Restored({"y": lambda t, u: 0.0 if t == 0.0 else 1.0 - 0.5 * u + 1e-6 * next(noise)}, ["u"])
    parts = {"a": inexact, "b": Restored({"y": lambda t, u: u}, ["u"])}
    loop = CoSimulation(parts, [("a.y", "b.u"), ("b.y", "a.u")], algorithm, 0.1)
    with pytest.raises(cosim.SimulationError, match=r"options.tolerance = \de-0\d.*participant's own"):
        loop.simulate(0.5)


@pytest.mark.parametrize("algorithm", ["waveform_iteration", "interface_newton"])
def test_a_loop_in_a_step_that_does_not_settle_names_values_and_iterations(algorithm: str) -> None:
    def jump(t: float, u: float) -> float:
        return 0.0 if t == 0.0 else (-1.0 if u >= 0.0 else 1.0)

    parts = {"a": Restored({"y": jump}, ["u"]), "b": Restored({"y": lambda t, u: u}, ["u"])}
    loop = CoSimulation(parts, [("a.y", "b.u"), ("b.y", "a.u")], algorithm, 0.1)
    with pytest.raises(cosim.SimulationError, match=r"\d+ iterations.*a\.y") as told:
        loop.simulate(0.5)
    assert ("or interface_newton" in str(told.value)) == (algorithm == "waveform_iteration")
    assert "switches within" in str(told.value)
    assert loop.result is not None and loop.result.time.tolist() == [0.0]


def test_a_value_that_is_no_number_in_the_last_iteration_is_named() -> None:
    """It is not passed on any more, which would tell it."""
    answers = itertools.chain((-1.0, 1.0) * 3, itertools.repeat(math.nan))
    parts = {
        "a": Restored({"y": lambda t, u: u}, ["u"]),
        "b": Restored({"y": lambda t, u: 0.0 if t == 0.0 else next(answers)}, ["u"]),
    }
    links, options = [("a.y", "b.u"), ("b.y", "a.u")], {"iterations": 3}
    loop = CoSimulation(parts, links, "interface_newton", 0.1, options=options)
    with pytest.raises(cosim.SimulationError, match=r"3 iterations.*b\.y"):
        loop.simulate(0.5)
