"""Makes inputs and outputs consistent at the start."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.kit import ParticipantDescription
from cosim_fmu.master.co_simulation_error import CoSimulationError
from cosim_fmu.master.loop.coupled_participants import CoupledParticipants
from cosim_fmu.master.wiring.feedthrough import Port, instant_graph, path_text
from cosim_fmu.master.wiring.graph import closed_path, components
from cosim_fmu.master.wiring.link import Link

TOLERANCE = 1e-10
MOST_SWEEPS = 40
MOST_NEWTON_STEPS, MOST_HALVINGS = 40, 12
LARGEST_NEWTON_LOOP = 200
MOST_CONDITION = 1e7  # differences have about nine digits

Vector = NDArray[np.float64]


def make_consistent(
    coupled: CoupledParticipants,
    descriptions: Mapping[str, ParticipantDescription],
    given: dict[Port, Any],
    parameters: Sequence[Link] | None = None,
) -> None:
    """Pass values along the connections until every input has its value and every output fits its inputs.

    The connected outputs are taken in the order of their dependencies: an output is read when all inputs
    that it depends on directly have been set, and its value is passed on at once. So one pass is enough
    without closed loops. A closed loop of direct feedthrough is iterated (first by substitution, which also
    settles the loops that only seem to be there because an FMU does not tell its dependencies,
    then, when all its values are real, by Newton's method with differences, damped) to a relative change
    of 1e-10.

    Parameters
    ----------
    coupled : CoupledParticipants
    descriptions : mapping of str to ParticipantDescription
    given : dict of (str, str) to object
        What the inputs have been given; updated. They do not get it again: after its initialization mode an
        FMU may refuse to be read between a set value and the next step.
    parameters : sequence of Link, optional
        Connections that are not passed on in a run: of parameters, and those of a joint system. When they are
        given, the participants are in initialization mode, in which the dependencies may be others than those
        of a run.

    Raises
    ------
    CoSimulationError
        A loop did not converge; names its path, the residuals, the iterations and why.
    """
    links = [*coupled.links, *(parameters or ())]
    graph = instant_graph(descriptions, links, known_only=False, initializing=parameters is not None)
    outgoing: dict[Port, list[Link]] = {}
    for link in links:
        outgoing.setdefault(link.start, []).append(link)
    for component in components(graph):
        path = closed_path(graph, component)
        outputs = [port for port in component if port in outgoing]
        if path:
            _Loop(coupled, outputs, outgoing, path, given).solve()
        else:
            for port in outputs:
                _pass_on(coupled, outgoing[port], _read(coupled, port), given)


class _Loop:
    """A closed loop of outputs that depend on each other at the same instant."""

    def __init__(
        self,
        coupled: CoupledParticipants,
        outputs: Sequence[Port],
        outgoing: Mapping[Port, Sequence[Link]],
        path: Sequence[Port],
        given: dict[Port, Any],
    ) -> None:
        self.coupled, self.outputs, self.outgoing, self.path = coupled, outputs, outgoing, path
        self.given = given
        self.residuals: dict[Port, float] = {}
        self.reason = ""
        self.sweeps = self.newton_steps = 0

    def solve(self) -> None:
        first: list[Any] = [_read(self.coupled, port) for port in self.outputs]
        if self._substitute(first):
            return
        real = all(isinstance(value, float) for value in first)
        if real and len(first) <= LARGEST_NEWTON_LOOP and self._newton(first):
            return
        shown = ", ".join(f"{'.'.join(port)} by {r:.3g}" for port, r in self.residuals.items())
        counts = f"{self.sweeps} substitutions"
        if self.newton_steps:
            counts += f" and {self.newton_steps} Newton steps"
        raise CoSimulationError(
            self.coupled.time,
            f"the values at the start are not consistent: the loop {path_text(self.path)} does not converge "
            f"in {counts}{self.reason}; at the end it changed {shown}. "
            "Give other start values, or break the loop with a delay.",
        )

    def _substitute(self, first: Sequence[Any]) -> bool:
        """Pass each value on as it comes, again and again."""
        values = list(first)
        for port, value in zip(self.outputs, values, strict=True):
            if not _is_usable(value):
                return False
            _pass_on(self.coupled, self.outgoing[port], value, self.given)
        for self.sweeps in range(1, MOST_SWEEPS + 1):
            before = list(values)
            for i, port in enumerate(self.outputs):
                values[i] = _read(self.coupled, port)
                if not _is_usable(values[i]):
                    self._converged(before, values)
                    return False
                _pass_on(self.coupled, self.outgoing[port], values[i], self.given)
            if self._converged(before, values):
                return True
        return False

    def _converged(self, before: Sequence[Any], after: Sequence[Any]) -> bool:
        self.residuals = {}
        small = True
        for port, old, new in zip(self.outputs, before, after, strict=True):
            if isinstance(new, float):
                self.residuals[port] = abs(new - old)
                small = small and abs(new - old) <= TOLERANCE * max(1.0, abs(new))
            else:
                self.residuals[port] = float(new != old)
                small = small and new == old
        return small

    def _newton(self, first: Sequence[float]) -> bool:
        """Solve G(x) = x for the outputs x; G is one pass: set all inputs of the loop, read all outputs."""
        x = np.array([value if math.isfinite(value) else 0.0 for value in first])
        g = self._pass(x)
        for self.newton_steps in range(1, MOST_NEWTON_STEPS + 1):
            if not np.all(np.isfinite(g)):
                self.reason = ": an output is not finite"
                return False
            if self._converged(list(map(float, x)), list(map(float, g))):
                return True
            step = self._newton_step(x, g)
            if step is None:
                self.reason = ": its Jacobian is singular, so that it has no solution or many"
                return False
            size = float(np.linalg.norm(g - x))
            begin = x
            for halvings in range(MOST_HALVINGS + 1):
                x = begin + step * 0.5**halvings
                g = self._pass(x)
                if np.all(np.isfinite(g)) and float(np.linalg.norm(g - x)) < size:
                    break  # the residual is smaller; where no part makes it so, the smallest is taken
        return False

    def _newton_step(self, x: Vector, g: Vector) -> Vector | None:
        slope = np.empty((x.size, x.size))
        for j in range(x.size):
            shifted = x.copy()
            shifted[j] += 1e-6 * max(1.0, abs(x[j]))
            slope[:, j] = (self._pass(shifted) - g) / (shifted[j] - x[j])
        matrix = np.eye(x.size) - slope
        if not np.all(np.isfinite(matrix)) or np.linalg.cond(matrix) > MOST_CONDITION:
            return None
        return np.asarray(np.linalg.solve(matrix, g - x), dtype=np.float64)

    def _pass(self, x: Vector) -> Vector:
        for port, value in zip(self.outputs, x, strict=True):
            _pass_on(self.coupled, self.outgoing[port], float(value), self.given)
        return np.array([_read(self.coupled, port) for port in self.outputs], dtype=np.float64)


def _read(coupled: CoupledParticipants, port: Port) -> Any:
    name, output = port
    value = coupled.get(name, [output])[0]
    return float(value) if isinstance(value, np.floating) else value


def _pass_on(coupled: CoupledParticipants, links: Sequence[Link], value: Any, given: dict[Port, Any]) -> None:
    for link in links:
        converted = link.convert(value)
        if isinstance(converted, float) and not math.isfinite(converted):
            raise CoSimulationError(coupled.time, f"{link.output} is {value} at the start", link.source)
        if link.fault(converted):
            raise CoSimulationError(coupled.time, link.fault(converted), link.source)
        ticks = coupled.descriptions[link.target].variables[link.input].type == "clock"
        if ticks or link.end not in given or given[link.end] != converted:
            coupled.guarded(link.target, coupled.participants[link.target].set, [link.input], [converted])
            given[link.end] = converted


def _is_usable(value: Any) -> bool:
    """Whether it can be passed on, and there is hope that the substitution converges."""
    return not isinstance(value, float) or abs(value) < 1e100
