"""Participants and their connections at run time: values, times and records of a run.

The *interface* consists of the connected real outputs in one order, the *board* of the last values that were
read of each participant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Course, FeedthroughLoop, ParticipantDescription
from cosim_master.abilities import InnerPoint, TellsInside, Ticks, WaitsForInputs, Watches
from cosim_master.coupling.check_participants import check_values
from cosim_master.coupling.coupling import Coupling
from cosim_master.coupling.errors import CoSimulationError, StopRequested
from cosim_master.coupling.feedthrough import passes_through
from cosim_master.coupling.interface_derivatives import interface_derivatives
from cosim_master.coupling.link import Link, links_from
from cosim_master.coupling.run_settings import CommunicationPoints
from cosim_master.recording.co_simulation_result import CoSimulationStatistics
from cosim_master.recording.coupling_samples import CouplingSamples, sampled_inputs
from cosim_master.recording.inner_rows import InnerValues, InputCourse
from cosim_master.recording.recorded_variables import SampledPorts

if TYPE_CHECKING:
    from cosim_master.exchange.step_threads import StepThreads
    from cosim_master.joint.joint_system import JointSystem


Port = tuple[str, str]
"""A participant and the name of one of its variables."""


class Feed(NamedTuple):
    """The source of a connected input.

    Attributes
    ----------
    source : str
        Participant.
    place : int
        The place of the output among the values that are read of the source.
    interface_place : int
        The place of the output in the interface; -1 if it is not in it.
    link : Link
    """

    source: str
    place: int
    interface_place: int
    link: Link


class Marks(NamedTuple):
    """The lengths of the records of the coupling when a state was saved; see `revert_to`."""

    events: int
    stop_reason: str
    stops: dict[str, float]
    inside: int


LARGEST = 1e60
"""Larger values mean that the exchange diverges."""
ADVICE = "try another algorithm, then a smaller step"
SHORT = 1e-9
"""Part of a step: a time that is closer to the end of the step is the end."""

Vector = NDArray[np.float64]


class Interface:
    """The real outputs that are connected, in the order of the connections.

    Parameters
    ----------
    coupling : Coupling
    reads : mapping of str to sequence of str
        The variables that are read of each participant: its values on the board, in this order.
    unit_of : mapping of str to str
        For each participant the name under which it steps; members of a joint system have one.

    Attributes
    ----------
    numbers : dict of (str, str) to int
        The number of each output.
    names : list of str
        ``participant.output`` of each.
    owners : list of str
        The name under which the participant of each output steps.
    held : list of bool
        Whether a participant that the output feeds holds the middle value of a course.
    places : list of (str, int)
        The place of each value on the board: participant, and place among the values read.
    bonds : list of (int, int)
        The numbers of both outputs of each power bond.
    links_into : dict of str to list of Link
        The connections to each participant.
    input_names : dict of str to list of str
        The connected inputs of each participant.
    feeds : dict of str to list of Feed
        The sources of the connected inputs of each participant.
    follows_slopes : dict of str to bool
        The participants whose inputs run along lines.
    """

    def __init__(
        self, coupling: Coupling, reads: Mapping[str, Sequence[str]], unit_of: Mapping[str, str]
    ) -> None:
        descriptions, links = coupling.descriptions, coupling.links
        self._board_places = {
            (name, output): i for name, outputs in reads.items() for i, output in enumerate(outputs)
        }
        self.links_into: dict[str, list[Link]] = {name: [] for name in coupling.participants}
        for link in links:
            self.links_into[link.target].append(link)
        self.input_names = {name: [link.input for link in into] for name, into in self.links_into.items()}
        starts = [link.start for link in links if _is_continuous(link, descriptions)]
        self.numbers: dict[Port, int] = {port: i for i, port in enumerate(dict.fromkeys(starts))}
        self.names: Sequence[str] = [".".join(port) for port in self.numbers]
        self.owners: Sequence[str] = [unit_of[name] for name, _ in self.numbers]
        self.places = self.on_board(self.numbers)
        self.bonds: Sequence[tuple[int, int]] = [
            (self.numbers[there.start], self.numbers[back.start]) for there, back in coupling.bonds
        ]
        self.follows_slopes = {name: description.follows_slopes for name, description in descriptions.items()}
        held = {link.start for link in links if not self.follows_slopes[link.target]}
        self.held: Sequence[bool] = [start in held for start in self.numbers]
        self.feeds = {name: [*map(self._feed, into)] for name, into in self.links_into.items()}

    def _feed(self, link: Link) -> Feed:
        return Feed(link.source, self._board_places[link.start], self.number_of(link), link)

    def on_board(self, ports: Iterable[Port]) -> list[tuple[str, int]]:
        """The places of outputs on the board: participant, and place among the values that are read of it."""
        return [(name, self._board_places[name, output]) for name, output in ports]

    def number_of(self, link: Link) -> int:
        """The number of the output of a connection; -1 if it is not in the interface."""
        return self.numbers.get(link.start, -1)

    def follows_lines(self, name: str) -> bool:
        """Whether inputs of a participant can run along lines of the interface."""
        return self.follows_slopes[name] and any(feed.interface_place >= 0 for feed in self.feeds[name])


class CoupledParticipants:
    """The exchange that is offered to a master algorithm.

    Parameters
    ----------
    coupling : Coupling
        With its final order; the participants are initialized.
    reads : mapping of str to sequence of str
        The variables that are read of each participant at each communication point, with all connected
        outputs.
    statistics : CoSimulationStatistics
    points : CommunicationPoints
    threads : StepThreads, optional
        For participants that can step at the same time; by default they step one after the other.
    recorded : sequence of (str, str)
        Participants and variables that are recorded: the errors of real ones are estimated.

    Attributes
    ----------
    board : dict of str to sequence
        The last values of `reads`.
    held : dict of str to sequence
        The last values of the connected inputs, in the order of `Interface.input_names`.
    events : list of EventRecord
        Early returns (cause Triggered) and requests to stop (cause Termination); the handler is the
        participant.
    inside : list of InnerValues
        Values between the communication points, of participants that report them.
    courses : dict of str to InputCourse
        The courses of the connected inputs in the last step.
    rereads_inputs : dict of str to bool
        Participants whose outputs depend directly on connected inputs: the inputs are set once more before
        the outputs are read at the end of a step.
    can_restore : bool
        Whether all participants can restore a saved state.
    stop_reason : str
        Set when a participant asked to stop.
    stops : dict of str to float
        The participants that have asked to stop, and the time (s) that each had reached.
    solved_at_start : list of str
        Closed loops whose first values Newton's method had to find.
    loops : sequence of FeedthroughLoop
        The loops that the algorithm iterates.
    interface : Interface
        The connected outputs and the inputs that they feed.
    sampled : SampledPorts
        The outputs of which samples are taken.
    samples : CouplingSamples
        The samples of the exchanges.
    ticking : list of Ticks
        The participants whose clocks cut the steps of all.
    units : dict of str to list of str
        For each name in `order` the participants that step under it: one, or all members of the joint system,
        which has the name of its first member.
    """

    def __init__(
        self,
        coupling: Coupling,
        reads: Mapping[str, Sequence[str]],
        statistics: CoSimulationStatistics,
        points: CommunicationPoints,
        threads: StepThreads | None = None,
        recorded: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.participants: Mapping[str, cosim.Participant] = coupling.participants
        self.descriptions: Mapping[str, ParticipantDescription] = coupling.descriptions
        self.links: Sequence[Link] = coupling.links
        self.joint: JointSystem | None = coupling.joint
        self.reads, self.statistics, self.threads = reads, statistics, threads
        self.loops: Sequence[FeedthroughLoop] = ()
        self.can_restore = all(description.can_restore for description in self.descriptions.values())
        self.board: dict[str, Any] = {name: [] for name in self.participants}
        self.held: dict[str, Any] = {name: [] for name in self.participants}
        self._slopes: dict[str, Sequence[float] | None] = dict.fromkeys(self.participants)
        self.courses: dict[str, InputCourse] = {}
        self.events: list[cosim.EventRecord] = []
        self.inside: list[InnerValues] = []
        self.solved_at_start: list[str] = []
        self.stop_reason = ""
        self.stops: dict[str, float] = {}
        self.time = math.nan
        self._points = points
        self._index: int | None = None  # None before the first step, in which all take part
        self.step_multiple = {name: coupling.step_multiple.get(name, 1) for name in self.participants}
        self._unit_of = {name: name for name in self.participants}
        if self.joint is not None:
            self._unit_of |= dict.fromkeys(self.joint.names, self.joint.names[0])
        self.units: dict[str, list[str]] = {self._unit_of[name]: [] for name in coupling.order}
        for name in self.participants:
            self.units[self._unit_of[name]].append(name)
        self.order: Sequence[str] = list(self.units)
        self.interface = Interface(coupling, reads, self._unit_of)
        self.rereads_inputs = self._find_rereading()
        self.sampled = SampledPorts(
            coupling, self.interface.numbers, self.interface.on_board, reads, recorded, self._unit_of
        )
        self.samples = self._create_samples(coupling)
        self._find_ticking()
        self._inside_of = {
            name: p.inside for name, p in self.participants.items() if isinstance(p, TellsInside)
        }
        statistics.participant_time.update(dict.fromkeys(self.participants, 0.0))

    def members(self, names: Iterable[str]) -> list[str]:
        """The participants that step as one go under each of these names."""
        return [member for name in names for member in self.units[name]]

    def _find_rereading(self) -> dict[str, bool]:
        """Find the participants whose inputs are set twice in a step, see `rereads_inputs`."""
        links_out_of = links_from(self.links) if self.links else {}
        return {
            name: bool(into) and passes_through(self.descriptions[name], into, links_out_of[name])
            for name, into in self.interface.links_into.items()
        }

    def _create_samples(self, coupling: Coupling) -> CouplingSamples:
        inputs = sampled_inputs(self.interface.links_into, self.interface.numbers)
        place_of = {sampled.name: i for i, sampled in enumerate(inputs)}
        pairs = [(place_of[str(there)], place_of[str(back)]) for there, back in coupling.bonds]
        steps_of_one = math.lcm(*self.step_multiple.values())
        return CouplingSamples(inputs, len(self.sampled.ports), steps_of_one, pairs, self.sampled.jumping)

    def _find_ticking(self) -> None:
        """Find the participants whose clocks cut the steps, if all can make steps of any length."""
        can_cut = all(description.variable_step for description in self.descriptions.values())
        can_cut = can_cut and all(multiple == 1 for multiple in self.step_multiple.values())
        ticking = {
            name: p
            for name, p in self.participants.items()
            if can_cut and isinstance(p, Ticks) and p.ticks_by_time
        }
        self.ticking: list[Ticks] = list(ticking.values())
        self.ticking_by_inputs = [
            name
            for name, p in ticking.items()
            if self.interface.feeds[name] and isinstance(p, WaitsForInputs) and p.ticks_follow_inputs
        ]

    def start_step(self, index: int) -> None:
        """Set the number of the communication step that begins."""
        self._index = index

    @property
    def step_index(self) -> int:
        """The number of the present communication step; 0 before the first one."""
        return 0 if self._index is None else self._index

    def step_ends(self, name: str, index: int) -> bool:
        """Whether a step of a participant ends with the communication step `index`; the last one ends all."""
        reached = index + 1
        return reached % self.step_multiple[name] == 0 or reached == self._points.count

    def length(self, name: str, time: float, size: float) -> float:
        """The length of a participant's step in this communication step, s."""
        multiple = self.step_multiple[name]
        if multiple == 1 or self._index is None:
            return size
        return self._points.time(min(self._index + multiple, self._points.count)) - time

    def rests(self, name: str) -> bool:
        """Whether a participant with a longer step does not begin one in this communication step."""
        return self._index is not None and self._index % self.step_multiple[name] != 0

    def set_inputs(self, name: str, course: Course | None = None) -> None:
        """Write the connected inputs from the board, or from a course; only finite values are passed on."""
        for member in self.units[name]:
            self.set_member_inputs(member, course)

    def set_member_inputs(self, name: str, course: Course | None) -> None:
        """Write the connected inputs of one participant, which may be a member of the joint system."""
        feeds = self.interface.feeds[name]
        if feeds and not self.rests(name):
            values = self._converted(name, None if course is None else self._values_to_set(name, course))
            self.held[name], self._slopes[name] = values, None
            self.guarded(name, self.participants[name].set, self.interface.input_names[name], values)
            if course is not None and self.interface.follows_slopes[name]:
                self._set_slopes(name, course)

    def slopes(self, name: str) -> list[float]:
        """Slopes of the connected inputs of a participant in the present step, per s."""
        slopes = self._slopes[name]
        return [0.0] * len(self.interface.input_names[name]) if slopes is None else list(slopes)

    def start_courses(self, name: str, time: float) -> None:
        """Store the courses of the inputs in a step that begins at a time (s)."""
        for member in self.units[name]:
            self.courses[member] = InputCourse(time, list(self.held[member]), self._slopes[member])

    def has_ended(self, name: str) -> bool:
        """Whether one of the participants that step under this name has asked to stop."""
        return not self.stops.keys().isdisjoint(self.units[name])

    def store_slopes(self, name: str, slopes: Sequence[float] | None) -> None:
        """Store the slopes (per s) of inputs that were set elsewhere, to the values in `held`."""
        self._slopes[name] = slopes

    def values(self) -> list[float]:
        """The values of the interface."""
        return [self.board[name][place] for name, place in self.interface.places]

    def sampled_values(self) -> list[float]:
        """The values of which samples are taken."""
        return [float(self.board[name][place]) for name, place in self.sampled.places]

    def derivatives(self) -> Vector | None:
        """Derivatives of the interface by itself, from directional derivatives; None if not known."""
        if self.joint is not None:  # derivatives of one member by inputs of another are not known
            return None
        links = [feed.link for feeds in self.interface.feeds.values() for feed in feeds]
        return interface_derivatives(
            self.participants, self.descriptions, links, self.interface.numbers, self.guarded
        )

    def watch(self, where: str) -> None:
        """Let the participants report the values that are read of them, at "events" or inner "steps"."""
        for name, participant in self.participants.items():
            if isinstance(participant, Watches):
                self.guarded(name, participant.watch, () if where == "nothing" else self.reads[name], where)

    def collect(self) -> None:
        """Collect the values between communication points that participants report."""
        for name in self._inside_of:
            self.collect_of(name)

    def collect_of(self, name: str) -> None:
        """Collect the values between communication points that one participant reports."""
        inside = self._inside_of.get(name)
        for point in self.guarded(name, _checked, inside) if inside is not None else ():
            course = self.courses.get(name)
            inputs = self.held[name] if course is None else course.at(point.time)
            self.inside.append(InnerValues(name, point, list(inputs)))

    def clear_inner_values(self) -> None:
        """Discard the values that were collected during initialization."""
        self.collect()
        self.inside = []

    def next_tick(self, time: float, end: float) -> float:
        """The next tick of a participant's clock in the step from `time` to `end` (s), where the step is cut.

        If there is none, the end of the step.
        """
        if not self.ticking:
            return end
        rounding = SHORT * (end - time)
        ticks = (p.next_tick for p in self.ticking)
        return min((tick for tick in ticks if time + rounding < tick < end - rounding), default=end)

    def pop_inner_values(self) -> list[InnerValues]:
        """The collected values between communication points, which are removed here."""
        values, self.inside = self.inside, []
        return values

    def marks(self) -> Marks:
        """The present counts of events, inner values and stops."""
        return Marks(len(self.events), self.stop_reason, dict(self.stops), len(self.inside))

    def revert_to(self, marks: Marks) -> None:
        """Undo all records since these marks."""
        del self.inside[marks.inside :]
        del self.events[marks.events :]
        self.statistics.events = marks.events
        self.stop_reason, self.stops = marks.stop_reason, dict(marks.stops)

    def _values_to_set(self, name: str, course: Course) -> Vector:
        """The values of a course to set: at its start if inputs then follow its slope, else the middle."""
        if self.interface.follows_slopes[name]:
            return course.middle - 0.5 * course.size * course.slope
        return course.middle

    def _set_slopes(self, name: str, course: Course) -> None:
        names, slopes = [], []
        for feed in self.interface.feeds[name]:
            if feed.interface_place >= 0:
                names.append(feed.link.input)
                slopes.append(feed.link.factor * float(course.slope[feed.interface_place]))
        if names:
            self.guarded(name, self.participants[name].set_slopes, names, slopes)
            slope_of = dict(zip(names, slopes, strict=True))
            self._slopes[name] = [slope_of.get(input, 0.0) for input in self.interface.input_names[name]]

    def read_outputs(self, name: str, end: Vector | None = None) -> None:
        """Read the outputs of a participant onto the board, with `end` as its inputs if it is given."""
        for member in self.units[name]:
            self.read_member_outputs(member, end)

    def read_member_outputs(self, name: str, end: Vector | None) -> None:
        """Read the outputs of one participant, which may be a member of the joint system."""
        names = self.reads[name]
        if self._index is not None and not self.step_ends(name, self._index):
            return
        if end is not None and self.interface.feeds[name]:
            values = self._converted(name, end)
            self.held[name], self._slopes[name] = values, None
            if self.rereads_inputs[name]:
                self.guarded(name, self.participants[name].set, self.interface.input_names[name], values)
        if names:
            self.board[name] = self.get(name, names)
            if self._index is None:
                self.guarded(name, check_values, self.descriptions[name], names, self.board[name])

    def _converted(self, name: str, interface: Vector | None) -> list[Any]:
        """The values of the connected inputs, from the board or the interface; an error if not finite."""
        values = []
        lines = None if interface is None else interface.tolist()
        for source, place, interface_place, link in self.interface.feeds[name]:
            if lines is None or interface_place < 0:
                value = self.board[source][place]
            else:
                value = lines[interface_place]
            value = link.convert(value)
            if fault := link.fault(value):
                if any(abs(exchanged) > LARGEST for exchanged in self.values()):
                    fault += f": the exchange is unstable; {ADVICE}"
                raise CoSimulationError(self.time, fault, link.source)
            values.append(value)
        return values

    def get(self, name: str, names: Sequence[str]) -> list[Any]:
        """Values of a participant, one for each name."""

        def checked() -> list[Any]:
            values = self.participants[name].get(names)
            listed = values.tolist() if hasattr(values, "tolist") else list(values)
            if len(listed) != len(names) or any(value is None for value in listed):
                raise ValueError(
                    f"get returned {values!r} for {', '.join(names)}: one value for each is needed"
                )
            return listed

        values: list[Any] = self.guarded(name, checked)
        return values

    def stop(self, name: str, request: StopRequested) -> None:
        """Record that a participant asked to stop."""
        name = request.participant or name
        self.stops[name] = request.time
        self.stop_reason = (
            self.stop_reason or f"{name} asked to stop at {request.time:.9g} s: {request.reason}"
        )
        self.record_event(cosim.EventCause.TERMINATION, request.time, name, request.reason)

    def guarded(self, name: str, action: Callable[..., Any], *arguments: Any) -> Any:
        """Call a participant; its exceptions become an error that names it."""
        try:
            return action(*arguments)
        except (StopRequested, CoSimulationError):
            raise
        except Exception as error:
            text = str(error) if isinstance(error, cosim.CosimError) else f"{type(error).__name__}: {error}"
            raise CoSimulationError(self.time, text, name) from error

    def guarded_algorithm(self, algorithm: object, action: Callable[..., Any], *arguments: Any) -> None:
        """Call the master algorithm; a mistake in it is an error that names it."""
        try:
            action(*arguments)
        except (StopRequested, cosim.CosimError):
            raise
        except Exception as error:
            text = f"the master algorithm {type(algorithm).__name__} failed: {type(error).__name__}: {error}"
            if isinstance(error, KeyError):
                text += f" (participants: {', '.join(self.participants)})"
            raise CoSimulationError(self.time, text) from error

    def record_event(self, cause: cosim.EventCause, time: float, name: str, text: str) -> None:
        """Record an event of a participant at a time (s)."""
        self.statistics.events += 1
        self.events.append(cosim.EventRecord(time, cause, "publish", name, (time, time), message=text))


def _checked(inside: Callable[[], Sequence[InnerPoint]]) -> list[InnerPoint]:
    """The instants that a participant reports, checked."""
    points = [InnerPoint(float(time), tuple(names), list(values)) for time, names, values in inside()]
    for point in points:
        if not math.isfinite(point.time) or len(point.names) != len(point.values):
            raise ValueError(f"inside returned {point!r}: a time and one value for each name are needed")
    return points


def _is_continuous(link: Link, descriptions: Mapping[str, ParticipantDescription]) -> bool:
    """Whether a connection is of real variables, and not to a parameter, which can only jump."""
    source = descriptions[link.source].variables[link.output]
    target = descriptions[link.target].variables[link.input]
    return source.type == "real" and target.causality != "parameter"
