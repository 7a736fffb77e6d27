"""The beginning of a run: participants are initialized and their values made consistent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import ParticipantDescription
from cosim_fmi.binding.process_guard import same_folder
from cosim_master.abilities import HoldsStarts, InitializationMode, ReportsCloseError, ReportsWarnings
from cosim_master.coupling.coupling import Coupling
from cosim_master.coupling.directed_graph import closed_path, components
from cosim_master.coupling.errors import CoSimulationError, StopRequested
from cosim_master.coupling.instant_graph import Port, instant_graph, path_text
from cosim_master.coupling.link import Link
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.first_values import HOPELESS, MOST_SWEEPS, TOLERANCE
from cosim_master.model_exchange.evaluation import SolvedLoop
from cosim_master.model_exchange.loop_calls import MOST_STEPS

LARGEST_NEWTON_LOOP = 200

Vector = NDArray[np.float64]


def make_consistent(
    coupled: CoupledParticipants,
    descriptions: Mapping[str, ParticipantDescription],
    input_values: dict[Port, Any],
    parameters: Sequence[Link] | None = None,
) -> None:
    """Pass values along the connections until every input has its value and every output fits its inputs.

    The connected outputs are taken in the order of their dependencies: an output is read when all inputs
    that it depends on directly have been set, and its value is passed on at once. So one pass is enough
    without closed loops. A closed loop of direct feedthrough is iterated (first by substitution, which also
    settles the loops that only seem to be there because an FMU does not tell its dependencies,
    to a relative change of 1e-10; then, when all its values are real, by Newton's method: `loop_calls`).

    Parameters
    ----------
    coupled : CoupledParticipants
    descriptions : mapping of str to ParticipantDescription
    input_values : dict of (str, str) to object
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
    outgoing: dict[Port, list[Link]] = {}
    for link in links:
        outgoing.setdefault(link.start, []).append(link)
    for outputs, path in passing_order(descriptions, links, initializing=parameters is not None):
        if path:
            _Loop(coupled, outputs, outgoing, path, input_values).solve()
        else:
            for port in outputs:
                _pass_on(coupled, outgoing[port], _read(coupled, port), input_values)


def passing_order(
    descriptions: Mapping[str, ParticipantDescription], links: Sequence[Link], *, initializing: bool
) -> Iterator[tuple[list[Port], Sequence[Port]]]:
    """Connected outputs in the order of their dependencies: groups, each with the closed path in it if any.

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    links : sequence of Link
    initializing : bool
        Whether the dependencies are those of the initialization mode.
    """
    if not links:
        return
    graph = instant_graph(descriptions, links, known_only=False, initializing=initializing)
    starts = {link.start for link in links}
    for component in components(graph):
        yield [port for port in component if port in starts], closed_path(graph, component)


class _Loop:
    """A closed loop of outputs that depend on each other at the same instant."""

    def __init__(
        self,
        coupled: CoupledParticipants,
        outputs: Sequence[Port],
        outgoing: Mapping[Port, Sequence[Link]],
        path: Sequence[Port],
        input_values: dict[Port, Any],
    ) -> None:
        self.coupled, self.outputs, self.outgoing, self.path = coupled, outputs, outgoing, path
        self.input_values = input_values
        self.residuals: dict[str, float] = {}
        self.sweeps = 0

    def solve(self) -> None:
        """Make the loop consistent: by substitution, else by Newton's method if all values are real."""
        first: list[Any] = [_read(self.coupled, port) for port in self.outputs]
        if self._substitute(first):
            return
        counts, why = f"{self.sweeps} substitutions", ""
        if all(isinstance(value, float) for value in first) and len(first) <= LARGEST_NEWTON_LOOP:
            names = [".".join(port) for port in self.outputs]
            self.coupled.solved_at_start.append(path_text(self.path))
            loop = SolvedLoop(path_text(self.path), names, 0, is_real=True)
            if loop.solve(np.array([v if math.isfinite(v) else 0.0 for v in first]), self._substitute_once):
                return
            counts += f" and {loop.steps} Newton steps" * (loop.steps > 0)
            why, self.residuals = f": {loop.reason}" * (loop.steps < MOST_STEPS), loop.off
        shown = ", ".join(f"{name} by {r:.3g}" for name, r in self.residuals.items())
        raise CoSimulationError(
            self.coupled.time,
            f"the values at the start are not consistent: the loop {path_text(self.path)} does not converge "
            f"in {counts}{why}; at the end it changed {shown}. "
            "Give other start values, or break the loop with a delay.",
        )

    def _substitute(self, first: Sequence[Any]) -> bool:
        """Pass each value on as it comes, again and again. Returns whether the values have converged."""
        values = list(first)
        for port, value in zip(self.outputs, values, strict=True):
            if not _is_usable(value):
                return False
            _pass_on(self.coupled, self.outgoing[port], value, self.input_values)
        for self.sweeps in range(1, MOST_SWEEPS + 1):
            before = list(values)
            for i, port in enumerate(self.outputs):
                values[i] = _read(self.coupled, port)
                if not _is_usable(values[i]):
                    self._converged(before, values)
                    return False
                _pass_on(self.coupled, self.outgoing[port], values[i], self.input_values)
            if self._converged(before, values):
                return True
        return False

    def _converged(self, before: Sequence[Any], after: Sequence[Any]) -> bool:
        """Whether values are the same after a substitution; stores by how much each has changed."""
        self.residuals = {}
        small = True
        for port, old, new in zip(self.outputs, before, after, strict=True):
            off = abs(new - old) if isinstance(new, float) else float(new != old)
            self.residuals[".".join(port)] = off
            small = small and off <= (TOLERANCE * max(1.0, abs(new)) if isinstance(new, float) else 0.0)
        return small

    def _substitute_once(self, x: Vector) -> Vector:
        """The values of the outputs after these have been passed on."""
        for port, value in zip(self.outputs, x, strict=True):
            _pass_on(self.coupled, self.outgoing[port], float(value), self.input_values)
        return np.array([_read(self.coupled, port) for port in self.outputs], dtype=np.float64)


def _read(coupled: CoupledParticipants, port: Port) -> Any:
    name, output = port
    value = coupled.get(name, [output])[0]
    return float(value) if isinstance(value, np.floating) else value


def _pass_on(
    coupled: CoupledParticipants, links: Sequence[Link], value: Any, input_values: dict[Port, Any]
) -> None:
    for link in links:
        converted = link.convert(value)
        if isinstance(converted, float) and not math.isfinite(converted):
            raise CoSimulationError(coupled.time, f"{link.output} is {value} at the start", link.source)
        if link.fault(converted):
            raise CoSimulationError(coupled.time, link.fault(converted), link.source)
        ticks = coupled.descriptions[link.target].variables[link.input].type == "clock"
        if ticks or link.end not in input_values or input_values[link.end] != converted:
            coupled.guarded(link.target, coupled.participants[link.target].set, [link.input], [converted])
            input_values[link.end] = converted


def _is_usable(value: Any) -> bool:
    """Whether it can be passed on, and there is hope that the substitution converges."""
    return not isinstance(value, float) or abs(value) < HOPELESS


def initialize_participants(
    coupled: CoupledParticipants, coupling: Coupling, stop: float | None, stack: ExitStack
) -> dict[Port, Any]:
    """Initialize all participants, make inputs and outputs consistent, end their initialization modes.

    Parameters
    ----------
    coupled : CoupledParticipants
    coupling : Coupling
        Its start, start values and tolerances, and the connections that pass a value once.
    stop : float or None
        The end of the run, s.
    stack : ExitStack
        Closes the participants.

    Returns
    -------
    dict of (str, str) to object
        What the inputs have been given.
    """
    coupled.time = start = coupling.start
    values, tolerances = coupling.start_values, coupling.tolerances
    starts = {
        f"{name}.{path}": value
        for name, values_of_participant in values.items()
        for path, value in values_of_participant.items()
    }
    for name, participant in coupled.participants.items():
        if isinstance(participant, HoldsStarts):
            participant.hold_starts(starts)
        stack.callback(_close, name, participant, coupled.statistics.warnings)
        with same_folder():
            coupled.guarded(name, participant.initialize, start, stop, values[name], tolerances[name])
    input_values: dict[Port, Any] = {}
    make_consistent(
        coupled, coupled.descriptions, input_values, [*coupling.inner_links, *coupling.parameter_links]
    )
    waiting = {n: p for n, p in coupled.participants.items() if isinstance(p, InitializationMode)}
    for name, ready in waiting.items():
        try:
            coupled.guarded(name, ready.exit_initialization)
        except StopRequested as request:
            coupled.stop(name, request)
    if waiting:
        make_consistent(coupled, coupled.descriptions, input_values)
    return input_values


def _close(name: str, participant: cosim.Participant, warnings: list[str]) -> None:
    with suppress(Exception):
        if isinstance(participant, ReportsWarnings):
            warnings += [f"{name}: {text}" for text in participant.warnings]
    with suppress(Exception):  # a close that fails hides neither the results nor what failed before
        participant.close()
        if isinstance(participant, ReportsCloseError) and (why := participant.close_error()):
            warnings.append(f"{name}: it did not end as it should: {why}")
