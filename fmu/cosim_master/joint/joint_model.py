"""Instances of Model Exchange FMUs that are solved as one, and what passes between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from cosim.kit import ParticipantDescription
from cosim_fmi.variables.variable_access import Access
from cosim_master.coupling.directed_graph import closed_path, components
from cosim_master.coupling.instant_graph import Port, instant_graph, path_text
from cosim_master.coupling.link import Link
from cosim_master.model_exchange.evaluation import Evaluation, ExchangeProgram
from cosim_master.model_exchange.fmu_model import MOST_EVENT_ITERATIONS, FmuModel
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
        With both ends among the members.
    members : mapping of str to Ports
    descriptions : mapping of str to ParticipantDescription
        Their feedthrough says what depends on what.
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
        """Write the program: passes and loops, in order."""
        graph = instant_graph(descriptions, self.continuous, known_only=False)
        depth: dict[Port, int] = dict.fromkeys(graph, 0)
        passes: dict[int, _Pass] = {}
        loops: dict[int, list[tuple[list[Port], list[Port]]]] = {}
        for component in components(graph):
            level = max(depth[port] for port in component)
            outputs = [port for port in component if port in self._outgoing]
            path = closed_path(graph, component)
            for port in component:
                depth[port] = level
            if path:
                loops.setdefault(level, []).append((outputs, list(path)))
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
        for level in sorted({*passes, *loops}):
            if level in passes:
                self._read(passes[level])
                self._write(passes[level])
            for outputs, path in loops.get(level, []):
                self._loop(outputs, path, descriptions)

    def _loop(
        self,
        outputs: Sequence[Port],
        path: Sequence[Port],
        descriptions: Mapping[str, ParticipantDescription],
    ) -> None:
        together = _Pass()
        for name, output in outputs:
            together.reads.setdefault(name, []).append(output)
            for link in self._outgoing[name, output]:
                together.writes.setdefault(link.target, []).append(link)
        ports = [(name, output) for name, listed in together.reads.items() for output in listed]
        is_real = all(descriptions[name].variables[output].type == "real" for name, output in ports)
        opened = self.program.open_loop(path_text(path), [".".join(port) for port in ports], is_real)
        for place, add in ((2, self._read), (3, self._write)):
            before = len(self.program.operations)
            add(together)
            opened[place] = len(self.program.operations) - before

    def _read(self, chosen: _Pass) -> None:
        for name, outputs in chosen.reads.items():
            access = self._members[name].access(outputs, "Get")
            self.program.read(self._parts[name], access, [(name, output) for output in outputs])

    def _write(self, chosen: _Pass) -> None:
        for name, links in chosen.writes.items():
            access = self._members[name].access([link.input for link in links], "Set")
            self.program.write(self._parts[name], access, links)

    def attach(self, evaluation: Evaluation) -> None:
        """The program belongs to this evaluation, which has the values."""
        self._evaluation = evaluation
        for link in self.continuous:
            evaluation.values[self.program.inputs[link.end]] = self._first.get(link.end, 0.0)

    def start_from(self, values: Mapping[Port, float]) -> None:
        """First values of continuous inputs, before `attach`."""
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
        changed = {name: self._members[name].changed_ports(ports) for name, ports in wanted.items()}
        return {name: ports for name, ports in changed.items() if ports}

    @property
    def search_memory(self) -> list[NDArray[Any]]:
        """Arrays with what the searches of loops begin with."""
        return [array for loop in self.program.loops for array in loop.arrays]

    def memory(self) -> list[Any]:
        """The start values of the searches of loops."""
        return [loop.memory() for loop in self.program.loops]

    def put_back(self, memory: Sequence[Any]) -> None:
        """Restore the start values from `memory`."""
        for loop, kept in zip(self.program.loops, memory, strict=True):
            loop.put_back(kept)


class JointPart:
    """A member of the joint system.

    Parameters
    ----------
    name : str
        The name of the participant.
    model : FmuModel
    """

    def __init__(self, name: str, model: FmuModel) -> None:
        self.name, self.model = name, model
        self.states, self.indicators = slice(0, 0), slice(0, 0)
        self.now: Sequence[float] = []
        self.next_event = math.inf


class JointModel:
    """The instances of the members in continuous-time mode as one (`ModelExchangeInstance`).

    Their states and indicators follow each other. At an event all of them go through event mode; those whose
    inputs change by it do so again, until nothing changes.

    Parameters
    ----------
    parts : sequence of JointPart
    wiring : JointWiring

    Attributes
    ----------
    evaluation : Evaluation
        The evaluation of all members, by which compiled code calls them.
    count, indicators : int
        Continuous states and event indicators of all.
    at : str
        The participant that is or was called last.
    stop_requested : bool
        Whether one of them has asked for the end of the simulation.
    before_event : callable
        Called before all go through event mode inside a step.
    due : dict of float to list of str
        For instants with a time event the participants that wanted it.
    """

    def __init__(self, parts: Sequence[JointPart], wiring: JointWiring) -> None:
        self.parts, self._wiring = list(parts), wiring
        self.count = self.indicators = 0
        for part in parts:
            part.states = slice(self.count, self.count + part.model.count)
            part.indicators = slice(self.indicators, self.indicators + part.model.indicators)
            self.count, self.indicators = part.states.stop, part.indicators.stop
        self.at = ""
        self.evaluation = Evaluation([part.model for part in self.parts], wiring.program)
        wiring.attach(self.evaluation)
        self.due: dict[float, list[str]] = {}
        self.store_values: Callable[[float], None] = lambda time: None
        self.before_event: Callable[[], None] = lambda: None

    @property
    def stop_requested(self) -> bool:
        """Whether one of them has."""
        return any(part.model.stop_requested for part in self.parts)

    @stop_requested.setter
    def stop_requested(self, value: bool) -> None:
        for part in self.parts:
            part.model.stop_requested = value

    def forget(self) -> None:
        """Forget the evaluated points, which may be later than a restored state."""
        for part in self.parts:
            part.model.forget()

    @property
    def lost(self) -> str:
        """The time and reason of the last failure to find inputs since `clear_lost`."""
        time = self.evaluation.lost_at
        return "" if time is None else f"at t = {time:.9g} s {self.evaluation.why()}"

    def clear_lost(self) -> None:
        """A step begins: forget why inputs were not found."""
        self.evaluation.clear_lost()

    def move_to_point(self, time: float, states: Any, inputs: Any) -> None:
        """Make this the present point, at which variables are read."""
        for part in self.parts:
            part.now = list(states[part.states])
        self._do(lambda: self.evaluation.move_to_point(time, states, inputs))

    def check_settled(self, code: int) -> None:
        """Raise the error of a search by compiled code."""
        self._do(lambda: self.evaluation.check(code))

    def compute_all(self) -> None:
        """Compute all values that depend on the present point."""
        self._do(self.evaluation.compute_all)

    def failure(self) -> Exception | None:
        """The error of the last evaluation, or of a value that is not defined; the part is `at`."""
        reason = self.evaluation.failure()
        if reason is not None:
            self.at = self.parts[self.evaluation.place].name
        return reason

    def _do(self, action: Callable[[], bool | None]) -> None:
        """Carry out calls of the instances; `UnsolvedError` if inputs cannot be found."""
        try:
            answer = action()
        except Exception:
            self.at = self.parts[self.evaluation.place].name
            raise
        if answer is False:
            raise UnsolvedError(self.evaluation.why())

    def handle_event(
        self, time: float, states: Any, inputs: Any, changes: Mapping[str, Any] | None = None
    ) -> tuple[Sequence[float], float, bool]:
        """Event mode of all, with discrete inputs of the first; see `pass_events`."""
        self.before_event()
        self.move_to_point(time, states, inputs)
        self.due[time] = [part.name for part in self.parts if part.next_event <= time]
        self.store_values(time)
        first, *others = (part.name for part in self.parts)
        answer = self.pass_events(time, {first: changes or {}, **{name: {} for name in others}})
        self.compute_all()
        self.store_values(time)
        return answer

    def pass_events(
        self, time: float, going: Mapping[str, Mapping[str, Any]]
    ) -> tuple[list[float], float, bool]:
        """Pass through event mode from continuous-time mode and back.

        Parameters
        ----------
        time : float
            s; all are at this point.
        going : mapping of str to mapping
            The members, and the discrete inputs that are set there.

        Returns
        -------
        (list of float, float, bool)
            The continuous states after it, the time of the next time event (s), and whether nominal values
            have changed.
        """
        for part in self.parts:
            part.model.start_instant()
        self._enter(going)
        answer = self.leave_event_mode(time, list(going))
        for part in self.parts:
            part.model.end_instant()
        return answer

    def _enter(self, going: Mapping[str, Mapping[str, Any]]) -> None:
        for part in self.parts:
            if part.name in going:
                self.at = part.name
                part.model.enter_event_mode(going[part.name])

    def leave_event_mode(self, time: float, going: Sequence[str]) -> tuple[list[float], float, bool]:
        """Pass from event mode of these members to continuous-time mode of all; see `pass_events`."""
        rescale = False
        for _ in range(MOST_EVENT_ITERATIONS):
            before = dict(self._wiring.given)
            for part in self.parts:
                if part.name in going:
                    self.at = part.name
                    part.now, part.next_event, changed = part.model.leave_event_mode(time)
                    rescale = rescale or changed
            if self.stop_requested:
                break
            self._do(lambda: self.evaluation.exchange(time))
            reached: dict[str, dict[str, Any]] = {
                target: {}
                for (target, name), value in self._wiring.given.items()
                if _has_jumped(before.get((target, name), value), value)
            }
            reached |= self._wiring.changes_at_events()
            if not reached:
                break
            self._enter(reached)
            going = list(reached)
        else:
            names = ", ".join(going)
            raise RuntimeError(
                f"inputs still change after {MOST_EVENT_ITERATIONS} passes through event mode at one "
                f"instant, t = {time:.9g} s: those of {names}"
            )
        following = min((part.next_event for part in self.parts), default=math.inf)
        return [x for part in self.parts for x in part.now], following, rescale

    def nominals(self) -> list[float]:
        """Nominal values of the continuous states."""
        sizes: list[float] = []
        for part in self.parts:
            self.at = part.name
            sizes += part.model.nominals()
        return sizes


def _has_jumped(before: Any, after: Any) -> bool:
    """Whether it is more than rounding."""
    if isinstance(before, float) and isinstance(after, float):
        return not math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12)
    return bool(before != after)


class UnsolvedError(RuntimeError):
    """Inputs cannot be found at a point where they have to be."""
