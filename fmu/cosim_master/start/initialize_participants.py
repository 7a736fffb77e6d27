"""The start of a run: participants are initialized, and their values made consistent."""

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
    """Pass values along the connections until all inputs are set and all outputs agree with them.

    The connected outputs are read in the order of their dependencies: an output is read when all inputs that
    it depends on directly have been set, and its value is passed on at once. So without closed loops one pass
    is enough. A closed loop of direct feedthrough is iterated by substitution, to a relative change of 1e-10.
    That also solves apparent loops, of FMUs that do not declare their dependencies. If substitution does not
    converge and all values are real, Newton's method follows (`loop_calls`).

    Parameters
    ----------
    coupled : CoupledParticipants
    descriptions : mapping of str to ParticipantDescription
    input_values : dict of (str, str) to object
        The values of inputs that were written; updated. Equal values are not written again, since after its
        initialization mode an FMU may refuse to be read between a written value and the next step.
    parameters : sequence of Link, optional
        Connections that only pass values in initialization: of parameters, and inside a joint system. With
        them the participants are in initialization mode, whose dependencies may differ from those in a run.

    Raises
    ------
    CoSimulationError
        A loop did not converge: with its path, the residuals, the iterations and the reason.
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
    """Connected outputs in the order of their dependencies: groups, each with a closed path through it or [].

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
        counts, reason = f"{self.sweeps} substitutions", ""
        if all(isinstance(value, float) for value in first) and len(first) <= LARGEST_NEWTON_LOOP:
            names = [".".join(port) for port in self.outputs]
            self.coupled.solved_at_start.append(path_text(self.path))
            loop = SolvedLoop(path_text(self.path), names, 0, is_real=True)
            if loop.solve(np.array([v if math.isfinite(v) else 0.0 for v in first]), self._substitute_once):
                return
            counts += f" and {loop.steps} Newton steps" * (loop.steps > 0)
            reason, self.residuals = f": {loop.reason}" * (loop.steps < MOST_STEPS), loop.residuals
        shown = ", ".join(f"{name} by {r:.3g}" for name, r in self.residuals.items())
        raise CoSimulationError(
            self.coupled.time,
            f"the values at the start are not consistent: the loop {path_text(self.path)} does not converge "
            f"in {counts}{reason}; at the end it changed {shown}. "
            "Give other start values, or break the loop with a delay.",
        )

    def _substitute(self, first: Sequence[Any]) -> bool:
        """Read and pass on each value, repeatedly. Returns whether the values have converged."""
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
        """Whether values are the same after a substitution; stores the change of each as its residual."""
        self.residuals = {}
        has_converged = True
        for port, old, new in zip(self.outputs, before, after, strict=True):
            change, allowed = float(new != old), 0.0
            if isinstance(new, float):
                change, allowed = abs(new - old), TOLERANCE * max(1.0, abs(new))
            self.residuals[".".join(port)] = change
            has_converged = has_converged and change <= allowed
        return has_converged

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
    """Whether a value is finite, and so small that the substitution may still converge."""
    return not isinstance(value, float) or abs(value) < HOPELESS


def initialize_participants(
    coupled: CoupledParticipants, coupling: Coupling, stop: float | None, stack: ExitStack
) -> dict[Port, Any]:
    """Initialize all participants, make inputs and outputs consistent, end their initialization modes.

    Parameters
    ----------
    coupled : CoupledParticipants
    coupling : Coupling
        With start, start values and tolerances, and the connections that pass a value once.
    stop : float or None
        The end of the run, s.
    stack : ExitStack
        Closes the participants.

    Returns
    -------
    dict of (str, str) to object
        The values of inputs that were written.
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
    with_mode = {n: p for n, p in coupled.participants.items() if isinstance(p, InitializationMode)}
    for name, participant_with_mode in with_mode.items():
        try:
            coupled.guarded(name, participant_with_mode.exit_initialization)
        except StopRequested as request:
            coupled.stop(name, request)
    if with_mode:
        make_consistent(coupled, coupled.descriptions, input_values)
    return input_values


def _close(name: str, participant: cosim.Participant, warnings: list[str]) -> None:
    with suppress(Exception):
        if isinstance(participant, ReportsWarnings):
            warnings += [f"{name}: {text}" for text in participant.warnings]
    with suppress(Exception):  # a failing close must not hide the results, or an earlier error
        participant.close()
        if isinstance(participant, ReportsCloseError) and (error := participant.close_error()):
            warnings.append(f"{name}: it did not end as it should: {error}")
