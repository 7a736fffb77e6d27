"""The connections between Model Exchange FMUs that are solved as one system."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from cosim.kit import ParticipantDescription
from cosim_fmi.variables.variable_access import Access
from cosim_master.coupling.directed_graph import closed_path, components
from cosim_master.coupling.instant_graph import Port, instant_graph, path_text
from cosim_master.coupling.link import Link
from cosim_master.model_exchange.evaluation import Evaluation, ExchangeProgram
from cosim_master.model_exchange.system_calls import REAL


class Ports(Protocol):
    """The ports of an FMU in continuous-time mode, for the wiring."""

    def read_ports(self, names: Sequence[str]) -> Sequence[Any]:
        """The values of these variables at the present point."""

    def access(self, names: Sequence[str], verb: str) -> Access:
        """The access by which compiled code reads ("Get") or writes ("Set") variables."""

    def changed_ports(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The discrete inputs that have to pass through event mode."""

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
    loops are solved (`loop_calls`). All other inputs are written at events.

    Parameters
    ----------
    links : sequence of Link
        Connections between members.
    members : mapping of str to Ports
    descriptions : mapping of str to ParticipantDescription
        With the feedthrough of the members.
    continuous : mapping of str to container of str
        Continuous inputs of each member.

    Attributes
    ----------
    program : ExchangeProgram
        The operations of compiled code at each evaluation.
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
        self.program = ExchangeProgram()
        self._evaluation: Evaluation | None = None
        self._first: dict[Port, float] = {}
        self._outgoing: dict[Port, list[Link]] = {}
        for link in self.continuous:
            self._outgoing.setdefault(link.start, []).append(link)
        self._parts = {name: i for i, name in enumerate(members)}
        self._sequence(descriptions)

    def _sequence(self, descriptions: Mapping[str, ParticipantDescription]) -> None:
        """Write the program: level by level, the outputs that are read and passed on, then the loops."""
        graph = instant_graph(descriptions, self.continuous, known_only=False)
        ordered = components(graph)
        levels = _levels(graph, ordered, self._outgoing)
        passes: dict[int, _Pass] = {}
        loops: dict[int, list[tuple[list[Port], list[Port]]]] = {}
        for component, level in zip(ordered, levels, strict=True):
            outputs = [port for port in component if port in self._outgoing]
            if path := closed_path(graph, component):
                loops.setdefault(level, []).append((outputs, list(path)))
            else:
                self._add_to(passes.setdefault(level, _Pass()), outputs)
        for level in sorted({*passes, *loops}):
            if level in passes:
                self._read(passes[level])
                self._write(passes[level])
            for outputs, path in loops.get(level, []):
                self._loop(outputs, path, descriptions)

    def _add_to(self, target: _Pass, outputs: Sequence[Port]) -> None:
        """Let outputs be read, and the inputs be written that they feed."""
        for name, output in outputs:
            target.reads.setdefault(name, []).append(output)
            for link in self._outgoing[name, output]:
                target.writes.setdefault(link.target, []).append(link)

    def _loop(
        self,
        outputs: Sequence[Port],
        path: Sequence[Port],
        descriptions: Mapping[str, ParticipantDescription],
    ) -> None:
        """Write a loop: the search for its values, the reading of its outputs, the writing of its inputs."""
        together = _Pass()
        self._add_to(together, outputs)
        ports = [(name, output) for name, listed in together.reads.items() for output in listed]
        is_real = all(descriptions[name].variables[output].type == "real" for name, output in ports)
        loop = self.program.open_loop(path_text(path), [".".join(port) for port in ports], is_real)
        for place, add in ((2, self._read), (3, self._write)):
            count_before = len(self.program.operations)
            add(together)
            loop[place] = len(self.program.operations) - count_before

    def _read(self, chosen: _Pass) -> None:
        """Add the reading of outputs to the program."""
        for name, outputs in chosen.reads.items():
            access = self._members[name].access(outputs, "Get")
            self.program.read(self._parts[name], access, [(name, output) for output in outputs])

    def _write(self, chosen: _Pass) -> None:
        """Add the writing of inputs to the program."""
        for name, links in chosen.writes.items():
            access = self._members[name].access([link.input for link in links], "Set")
            self.program.write(self._parts[name], access, links)

    def attach(self, evaluation: Evaluation) -> None:
        """Use an evaluation of the program, which has the values."""
        self._evaluation = evaluation
        for link in self.continuous:
            evaluation.values[self.program.inputs[link.end]] = self._first.get(link.end, 0.0)

    def start_from(self, values: Mapping[Port, float]) -> None:
        """Set the first values of continuous inputs, before `attach`."""
        self._first = dict(values)

    @property
    def given(self) -> dict[Port, float]:
        """The last value of each connected continuous input."""
        assert self._evaluation is not None
        return {port: float(self._evaluation.values[slot]) for port, slot in self.program.inputs.items()}

    @property
    def addresses(self) -> dict[Port, int]:
        """Addresses of the last values of the connected continuous inputs."""
        assert self._evaluation is not None
        at = self._evaluation.values.ctypes.data
        return {port: at + REAL * slot for port, slot in self.program.inputs.items()}

    def sampled(self) -> list[Access]:
        """The accesses by which compiled code reads values that pass on at events alone, except clocks."""
        outputs: dict[str, list[str]] = {}
        for link in self._at_events:
            outputs.setdefault(link.source, []).append(link.output)
        return [
            self._members[name].access(list(dict.fromkeys(ports)), "Get") for name, ports in outputs.items()
        ]

    def changes_at_events(self) -> dict[str, dict[str, Any]]:
        """The discrete inputs whose values have changed and the clocks that tick, for each member."""
        values: dict[str, dict[str, Any]] = {}
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
            values.setdefault(link.target, {})[link.input] = value
        changed = {name: self._members[name].changed_ports(ports) for name, ports in values.items()}
        return {name: ports for name, ports in changed.items() if ports}

    @property
    def search_memory(self) -> list[NDArray[Any]]:
        """The arrays with the start values of the searches of loops."""
        return [array for loop in self.program.loops for array in loop.arrays]

    def memory(self) -> list[Any]:
        """The start values of the searches of loops."""
        return [loop.memory() for loop in self.program.loops]

    def put_back(self, memory: Sequence[Any]) -> None:
        """Restore the start values from `memory`."""
        for loop, loop_memory in zip(self.program.loops, memory, strict=True):
            loop.put_back(loop_memory)


def _levels(
    graph: Mapping[Port, Sequence[Port]], ordered: Sequence[Sequence[Port]], outgoing: Container[Port]
) -> list[int]:
    """For each component of the graph, in topological order, the number of passes before it."""
    level_of: dict[Port, int] = dict.fromkeys(graph, 0)
    levels = []
    for component in ordered:
        level = max(level_of[port] for port in component)
        levels.append(level)
        level_of.update(dict.fromkeys(component, level))
        edges = ((port, successor) for port in component for successor in graph[port])
        for port, successor in edges:
            if successor not in component:
                level_of[successor] = max(level_of[successor], level + (port not in outgoing))
    return levels
