"""What passes between Model Exchange FMUs that are solved as one, at an instant and at events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from cosim.kit import ParticipantDescription
from cosim_fmu.master.joint.feedthrough_solver import FeedthroughSolver
from cosim_fmu.master.wiring.feedthrough import Port, direct_inputs, instant_graph, path_text
from cosim_fmu.master.wiring.graph import closed_path, components
from cosim_fmu.master.wiring.link import Link

MOST_SWEEPS = 100


class Ports(Protocol):
    """What the wiring needs of an FMU, in continuous-time mode."""

    def read_ports(self, names: Sequence[str]) -> Sequence[Any]:
        """Values at the point that it has been moved to."""

    def write_ports(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Write continuous inputs."""

    def changed_ports(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Those of discrete inputs that have to go through event mode."""

    def has_ticked(self, name: str) -> bool:
        """Whether a clock has ticked at this instant."""


@dataclass
class _Pass:
    """Outputs that are read, and inputs that are then written, by participant."""

    reads: dict[str, list[str]] = field(default_factory=dict)
    writes: dict[str, list[Link]] = field(default_factory=dict)


class JointWiring:
    """The connections of a system of FMUs.

    Continuous inputs are written at each evaluation, in the order in which outputs depend on inputs; closed
    loops are solved (`FeedthroughSolver`). All other inputs are written at events.

    Parameters
    ----------
    links : sequence of Link
        With both ends among the members.
    members : mapping of str to Ports
    descriptions : mapping of str to ParticipantDescription
        Their feedthrough says what depends on what.
    continuous : mapping of str to container of str
        Continuous inputs of each member.

    Attributes
    ----------
    given : dict of (str, str) to object
        The last value of each connected continuous input.
    samples : bool
        Whether there are inputs that change at events alone.
    """

    def __init__(
        self,
        links: Sequence[Link],
        members: Mapping[str, Ports],
        descriptions: Mapping[str, ParticipantDescription],
        continuous: Mapping[str, Sequence[str]],
    ) -> None:
        self._members = members
        self.continuous = [link for link in links if link.input in continuous[link.target]]
        self._at_events = [link for link in links if link.input not in continuous[link.target]]
        self.samples = bool(self._at_events)
        self._clocks = {
            link
            for link in self._at_events
            if descriptions[link.target].variables[link.input].type == "clock"
        }
        self.given: dict[Port, Any] = {}
        self._outgoing: dict[Port, list[Link]] = {}
        for link in self.continuous:
            self._outgoing.setdefault(link.start, []).append(link)
        self._solvers: list[FeedthroughSolver] = []
        self._program = self._sequence(descriptions)

    def _sequence(self, descriptions: Mapping[str, ParticipantDescription]) -> list[Any]:
        """Passes and loops, in order."""
        graph = instant_graph(descriptions, self.continuous, known_only=False)
        depth: dict[Port, int] = dict.fromkeys(graph, 0)
        passes: dict[int, _Pass] = {}
        loops: dict[int, list[Any]] = {}
        for component in components(graph):
            level = max(depth[port] for port in component)
            outputs = [port for port in component if port in self._outgoing]
            path = closed_path(graph, component)
            for port in component:
                depth[port] = level
            if path:
                loops.setdefault(level, []).append(self._loop(outputs, path))
            else:
                for name, output in outputs:
                    reads = passes.setdefault(level, _Pass())
                    reads.reads.setdefault(name, []).append(output)
                    for link in self._outgoing[name, output]:
                        reads.writes.setdefault(link.target, []).append(link)
            for port in component:
                for following in graph[port]:
                    if following not in component:
                        depth[following] = max(depth[following], level + (port not in self._outgoing))
        found = []
        for level in sorted({*passes, *loops}):
            if level in passes:
                found.append(partial(self._pass, passes[level]))
            found += loops.get(level, [])
        return found

    def _loop(self, outputs: Sequence[Port], path: Sequence[Port]) -> Any:
        together = _Pass()
        for name, output in outputs:
            together.reads.setdefault(name, []).append(output)
            for link in self._outgoing[name, output]:
                together.writes.setdefault(link.target, []).append(link)
        ports = [(name, output) for name, listed in together.reads.items() for output in listed]
        names = [".".join(port) for port in ports]

        def through(values: Sequence[float]) -> Sequence[float]:
            self._write(together, dict(zip(ports, values, strict=True)))
            return list(self._read(together).values())

        solver = FeedthroughSolver(path_text(path), names, through)
        self._solvers.append(solver)
        return partial(self._solve, solver, together)

    def exchange(self) -> str:
        """Give all continuous inputs what belongs to them at this point; why they have nothing, or ""."""
        for each in self._program:
            fault: str = each()
            if fault:
                return fault
        return ""

    def changes_at_events(self) -> dict[str, dict[str, Any]]:
        """By member, the other inputs whose values have changed, and clocks that tick."""
        wanted: dict[str, dict[str, Any]] = {}
        for link in self._at_events:
            source = self._members[link.source]
            value = (
                source.has_ticked(link.output)
                if link in self._clocks
                else source.read_ports([link.output])[0]
            )
            value = link.convert(value)
            if link.fault(value):
                raise RuntimeError(link.fault(value))
            wanted.setdefault(link.target, {})[link.input] = value
        found = {name: self._members[name].changed_ports(given) for name, given in wanted.items()}
        return {name: given for name, given in found.items() if given}

    def memory(self) -> list[Any]:
        """What the searches of loops begin with."""
        return [solver.memory() for solver in self._solvers]

    def put_back(self, memory: Sequence[Any]) -> None:
        """From `memory`."""
        for solver, kept in zip(self._solvers, memory, strict=True):
            solver.put_back(kept)

    def _read(self, chosen: _Pass) -> dict[Port, Any]:
        return {
            (name, output): value
            for name, outputs in chosen.reads.items()
            for output, value in zip(outputs, self._members[name].read_ports(outputs), strict=True)
        }

    def _write(self, chosen: _Pass, values: Mapping[Port, Any]) -> str:
        for name, links in chosen.writes.items():
            converted = [link.convert(values[link.start]) for link in links]
            for link, value in zip(links, converted, strict=True):
                if link.fault(value):
                    return f"{link.source}.{link.fault(value)}"
                self.given[link.end] = value
            self._members[name].write_ports([link.input for link in links], converted)
        return ""

    def _pass(self, chosen: _Pass) -> str:
        return self._write(chosen, self._read(chosen))

    def _solve(self, solver: FeedthroughSolver, chosen: _Pass) -> str:
        first = list(self._read(chosen).values())
        if all(isinstance(value, float) for value in first):
            return solver.solve(first)
        for _ in range(MOST_SWEEPS):
            values = self._read(chosen)
            fault = self._write(chosen, values)
            if fault or list(self._read(chosen).values()) == list(values.values()):
                return fault
        return f"the loop {solver.path} does not settle in {MOST_SWEEPS} substitutions"


def with_more_feedthrough(
    description: ParticipantDescription, found: Mapping[str, frozenset[str]]
) -> ParticipantDescription:
    """A description in which outputs depend on these inputs, too."""
    if not found:
        return description
    known = {output: direct_inputs(description, output) | needs for output, needs in found.items()}
    return replace(description, feedthrough={**(description.feedthrough or {}), **known})
