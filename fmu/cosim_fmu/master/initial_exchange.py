"""Makes inputs and outputs consistent at the start."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_fmu.master.co_simulation_error import CoSimulationError
from cosim_fmu.master.coupled_participants import CoupledParticipants
from cosim_fmu.master.feedthrough import Port, instant_graph, path_text
from cosim_fmu.master.graph import closed_path, components
from cosim_fmu.master.link import Link

TOLERANCE = 1e-10
MOST_SWEEPS = 40
MOST_NEWTON_STEPS = 20
LARGEST_NEWTON_LOOP = 200
MOST_CONDITION = 1e7  # differences have about nine digits


def make_consistent(
    coupled: CoupledParticipants, descriptions: Mapping[str, cosim.ParticipantDescription]
) -> None:
    """Pass values along the connections until every input has its value and every output fits its inputs.

    The connected outputs are taken in the order of their dependencies: an output is read when all inputs
    that it depends on directly have been set, and its value is passed on at once. So one pass is enough
    without closed loops. A closed loop of direct feedthrough is iterated (first by substitution, which also
    settles the loops that only seem to be there because an FMU does not tell its dependencies,
    then, when all its values are real, by Newton's method with differences) to a relative change of 1e-10.

    Raises
    ------
    CoSimulationError
        A loop did not converge; names its path and the residuals.
    """
    graph = instant_graph(descriptions, coupled.links, known_only=False)
    outgoing: dict[Port, list[Link]] = {}
    for link in coupled.links:
        outgoing.setdefault(link.start, []).append(link)
    for component in components(graph):
        path = closed_path(graph, component)
        outputs = [port for port in component if port in outgoing]
        if path:
            _Loop(coupled, outputs, outgoing, path).solve()
        else:
            for port in outputs:
                _pass_on(coupled, outgoing[port], _read(coupled, port))


class _Loop:
    """A closed loop of outputs that depend on each other at the same instant."""

    def __init__(
        self,
        coupled: CoupledParticipants,
        outputs: Sequence[Port],
        outgoing: Mapping[Port, Sequence[Link]],
        path: Sequence[Port],
    ) -> None:
        self.coupled, self.outputs, self.outgoing, self.path = coupled, outputs, outgoing, path
        self.residuals: dict[Port, float] = {}

    def solve(self) -> None:
        values: list[Any] = [_read(self.coupled, port) for port in self.outputs]
        for port, value in zip(self.outputs, values, strict=True):
            _pass_on(self.coupled, self.outgoing[port], value)
        first = list(values)
        for _ in range(MOST_SWEEPS):
            before = list(values)
            for i, port in enumerate(self.outputs):
                values[i] = _read(self.coupled, port)
                _pass_on(self.coupled, self.outgoing[port], values[i])
            if self._converged(before, values):
                return
            if not all(_is_small(value) for value in values):
                break
        all_real = all(isinstance(value, float) for value in values)
        if all_real and len(values) <= LARGEST_NEWTON_LOOP and self._newton(first):
            return
        shown = ", ".join(f"{'.'.join(port)} changes by {r:.3g}" for port, r in self.residuals.items())
        raise CoSimulationError(
            self.coupled.time,
            f"the values at the start are not consistent: the loop {path_text(self.path)} does not converge "
            f"({shown}). Give other start values, or break the loop with a delay.",
        )

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
        x = np.array(first, dtype=np.float64)
        for _ in range(MOST_NEWTON_STEPS):
            g = self._pass(x)
            if not np.all(np.isfinite(g)):
                return False
            if self._converged(list(map(float, x)), list(map(float, g))):
                return True
            slope = np.empty((x.size, x.size))
            for j in range(x.size):
                shifted = x.copy()
                shifted[j] += 1e-6 * max(1.0, abs(x[j]))
                slope[:, j] = (self._pass(shifted) - g) / (shifted[j] - x[j])
            matrix = np.eye(x.size) - slope
            if not np.all(np.isfinite(matrix)) or np.linalg.cond(matrix) > MOST_CONDITION:
                return False
            x = x + np.linalg.solve(matrix, g - x)
        return False

    def _pass(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        for port, value in zip(self.outputs, x, strict=True):
            _pass_on(self.coupled, self.outgoing[port], float(value))
        return np.array([_read(self.coupled, port) for port in self.outputs], dtype=np.float64)


def _read(coupled: CoupledParticipants, port: Port) -> Any:
    name, output = port
    value = coupled.get(name, [output])[0]
    return float(value) if isinstance(value, np.floating) else value


def _pass_on(coupled: CoupledParticipants, links: Sequence[Link], value: Any) -> None:
    for link in links:
        given = [link.convert(value)]
        if isinstance(given[0], float) and not math.isfinite(given[0]):
            raise CoSimulationError(coupled.time, f"{link.output} is {value} at the start", link.source)
        coupled.guarded(link.target, coupled.participants[link.target].set, [link.input], given)


def _is_small(value: Any) -> bool:
    return not isinstance(value, float) or abs(value) < 1e100
