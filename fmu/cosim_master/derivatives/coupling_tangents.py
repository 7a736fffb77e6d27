"""Derivatives of a co-simulation from the start of its run to its result."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Finding
from cosim_master.algorithms.programmed_algorithm import ProgrammedAlgorithm
from cosim_master.coupling.coupling import Coupling
from cosim_master.derivatives.board_tangents import BoardTangents
from cosim_master.derivatives.exchange_records import RecordedAlgorithm, RecordedExchange
from cosim_master.derivatives.exchange_tangents import ExchangeTangents
from cosim_master.derivatives.followed_exchange import FollowedExchange
from cosim_master.derivatives.linear_fixed_point import linear_fixed_point
from cosim_master.derivatives.model_exchange_tangents import ModelExchangeTangents, why_differences
from cosim_master.derivatives.neighbor_tangents import (
    NeighborTangents,
    create_neighbors,
    increment_of,
    settle_links,
)
from cosim_master.derivatives.participant_tangents import ParticipantTangents, ReadRecord
from cosim_master.derivatives.system_participant_tangents import SystemParticipantTangents
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_algorithms import ExchangeFace, exchanging_algorithm
from cosim_master.joint.joint_system import JointSystem
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant
from cosim_master.participants.system_participant import SystemParticipant
from cosim_master.recording.row_derivatives import LostDerivatives, RowDerivatives

Reals = NDArray[np.float64]


class CouplingTangents(RowDerivatives):
    """Tangents of a run of a co-simulation.

    Parameters
    ----------
    coupling : Coupling
    by : sequence of str
        Parameters, start values and free inputs: ``participant.variable``.

    Raises
    ------
    ModelError
        A part of the coupling has no derivatives, or there are none by a path.
    """

    def __init__(self, coupling: Coupling, by: Sequence[str]) -> None:
        self._coupling, self.by = coupling, list(by)
        problems = self._faults_of_coupling()
        varied: dict[str, dict[int, str]] = {name: {} for name in coupling.participants}
        starts = []
        for i, path in enumerate(self.by):
            name, _, variable = str(path).partition(".")
            fault = self._fault_of_path(name, variable)
            if fault:
                problems.append(cosim.Problem(str(path), fault))
                continue
            varied[name][i] = variable
            starts.append(self._start_of(name, variable) or 0.0)
        if problems:
            raise cosim.ModelError(problems)
        self._varied, self._starts = varied, starts
        self.units = {
            path: coupling.descriptions[path.partition(".")[0]].variables[path.partition(".")[2]].unit
            for path in self.by
        }
        self._tangents: dict[str, ParticipantTangents] = {}
        self._exchange: ExchangeTangents | None = None
        self._times: list[float] = []
        self._rows: list[Reals] = []

    def _faults_of_coupling(self) -> list[cosim.Problem]:
        """Why derivatives of this coupling cannot be computed."""
        coupling = self._coupling
        assert coupling.algorithm is not None
        algorithm = exchanging_algorithm(coupling.algorithm)
        problems = []
        is_iterated = algorithm.restores
        if isinstance(algorithm, ProgrammedAlgorithm):
            is_iterated = is_iterated or algorithm.is_iterated
        for name, participant in coupling.participants.items():
            description = coupling.descriptions[name]
            if isinstance(participant, SystemParticipant):
                continue
            if (is_iterated or coupling.loops) and not description.can_restore:
                text = "cannot save and restore its state, which derivatives by differences of it need here"
                problems.append(cosim.Problem(name, text))
        return problems

    def _fault_of_path(self, name: str, variable: str) -> str:
        """Why there are no derivatives by a variable; "" if there are."""
        coupling = self._coupling
        if name not in coupling.descriptions:
            return str(cosim.LookUpError("participant", name, coupling.descriptions))
        description = coupling.descriptions[name]
        if variable not in description.variables:
            return str(cosim.LookUpError("variable", variable, description.variables))
        declared = description.variables[variable]
        if declared.type != "real":
            return f"has the type {declared.type}: only real numbers have derivatives"
        if description.settable is not None and variable not in description.settable:
            return "has no start value that could be set"
        if any(link.end == (name, variable) for link in [*coupling.links, *coupling.parameter_links]):
            return "is connected: its value comes from another participant"
        if self._start_of(name, variable) is None:
            return "has no start value in the description: give one in `starts`"
        return ""

    def _nominal_of(self, path: str) -> float | None:
        """The nominal value of a variable, if its participant declares one."""
        name, _, variable = path.partition(".")
        return self._coupling.descriptions[name].variables[variable].nominal

    def _start_of(self, name: str, variable: str) -> float | None:
        start_value = self._coupling.start_values[name].get(variable)
        start = (
            self._coupling.descriptions[name].variables[variable].start
            if start_value is None
            else start_value
        )
        return None if start is None else float(start)

    # a run

    def prepare(self, coupled: CoupledParticipants, stop: float | None) -> None:
        """Create the tangents of all participants, before these are initialized."""
        self._coupled, coupling, count = coupled, self._coupling, len(self.by)
        self._times, self._rows, self._exchange = [], [], None
        self._increments = [
            increment_of(start, self._nominal_of(path))
            for start, path in zip(self._starts, self.by, strict=True)
        ]
        joint = [] if coupling.joint is None else coupling.joint.names
        for name, participant in coupling.participants.items():
            if isinstance(participant, SystemParticipant):
                self._tangents[name] = SystemParticipantTangents(participant, count, self._varied[name])
            elif name not in joint:
                reason = self._why_differences(name, participant, stop)
                if reason is None:
                    reads = coupled.reads[name]
                    self._tangents[name] = ModelExchangeTangents(participant, count, reads)
                else:
                    self._prepare_neighbors([name], stop, partial(_copy_of, name, participant), reason)
            elif coupling.joint is not None and name == joint[0]:
                self._prepare_neighbors(joint, stop, partial(_copies_of_members, coupling.joint))
        self._tangents = {name: self._tangents[name] for name in coupling.participants}

    def _why_differences(self, name: str, participant: Any, stop: float | None) -> str | None:
        """Why the directional derivatives of a participant are not used; None if they are.

        "" if it has none, or if nothing in it varies.
        """
        coupled, coupling = self._coupled, self._coupling
        inputs = coupled.interface.input_names[name]
        if not (isinstance(participant, ModelExchangeParticipant) and (self._varied[name] or inputs)):
            return ""
        if not coupling.descriptions[name].has_derivatives:
            return ""
        if self._varied[name]:
            return "FMI has none by parameters and start values"

        def begin(trial: cosim.Participant) -> None:
            values, tolerance = coupling.start_values[name], coupling.tolerances[name]
            trial.initialize(coupling.start, stop, values, tolerance)

        return why_differences(participant, begin, inputs, coupled.reads[name]) or None

    def _prepare_neighbors(
        self,
        names: Sequence[str],
        stop: float | None,
        make: Callable[[], Mapping[str, Any]],
        unused: str = "",
    ) -> None:
        """Make neighbors of a participant, or of those that are solved jointly."""
        coupled, coupling = self._coupled, self._coupling
        values = {
            name: {
                **coupling.start_values[name],
                **{v: self._starts[i] for i, v in self._varied[name].items()},
            }
            for name in names
        }
        varies = any(self._varied[name] or coupled.interface.input_names[name] for name in names)
        neighbors = create_neighbors(make, values, len(self.by)) if varies else {}

        def initialize(
            neighbor: cosim.Participant, values: Mapping[str, Any], tolerance: float | None
        ) -> None:
            neighbor.initialize(coupling.start, stop, values, tolerance)

        for name in names:
            self._tangents[name] = NeighborTangents(
                name,
                neighbors.get(name, [[] for _ in self.by]),
                self._varied[name],
                self._increments,
                partial(initialize, tolerance=coupling.tolerances[name]),
                values[name],
                steps=name == names[0],
                unused=unused,
            )

    def start(self, face: ExchangeFace, algorithm: cosim.MasterAlgorithm) -> RecordedAlgorithm:
        """An algorithm that also moves the tangents; the participants have just been initialized."""
        coupled, tangents, algorithm = self._coupled, self._tangents, exchanging_algorithm(algorithm)
        self._board = BoardTangents(coupled, len(self.by))
        self._columns = {path: k for k, path in enumerate(self._board.paths)}
        self._settle(
            lambda name, participant: participant.start(coupled.reads[name]), self._pass_start_values
        )
        for participant_tangents in tangents.values():
            participant_tangents.exit_initialization()
        reads = {name: ReadRecord(None, participant.at_read()) for name, participant in tangents.items()}
        self._settle(lambda name, participant: participant.read(coupled.reads[name], reads[name]))
        self._record_row(self._coupling.start)
        if not isinstance(algorithm, ProgrammedAlgorithm):
            return RecordedAlgorithm(
                algorithm,
                lambda exchange: FollowedExchange(exchange, coupled, tangents, self._board),
                lambda exchange, time: self._record_row(time),
            )
        calls = algorithm.calls(face.order, face.loops)
        self._exchange = ExchangeTangents(coupled, calls, algorithm.memory, tangents, self._board)
        return RecordedAlgorithm(
            algorithm,
            lambda exchange: RecordedExchange(
                exchange, coupled, algorithm, calls, tangents, coupled.step_index
            ),
            self._follow,
        )

    def _pass_start_values(self) -> None:
        """Pass tangents along the links of parameters and inside a joint system, used at the start only."""
        links = [link for link in self._coupling.parameter_links if link.kind is float and link.table is None]
        for link in links * len(links):  # chains in any order
            dots = link.factor * self._tangents[link.source].start([link.output])
            value = link.convert(self._coupled.get(link.source, [link.output])[0])
            self._tangents[link.target].set_inputs([link.input], [value], dots)
        settle_links(self._coupling.inner_links, self._tangents)

    def _settle(
        self, read: Callable[[str, ParticipantTangents], Reals], begin: Callable[[], None] = lambda: None
    ) -> None:
        """Pass tangents along the connections at the start, until nothing changes."""
        coupled, board = self._coupled, self._board
        values = {name: list(coupled.held[name]) for name in coupled.participants}
        for name, tangents in self._tangents.items():
            board.outputs[name][:] = read(name, tangents)

        def pass_on(interface: Reals | None) -> Reals:
            begin()
            for name in coupled.members(coupled.order):
                names = coupled.interface.input_names[name]
                dots = board.inputs[name][:] = board.input_dots(name, interface)
                self._tangents[name].set_inputs(names, values[name], dots)
                board.outputs[name][:] = read(name, self._tangents[name])
            return board.interface()

        for _ in range(len(coupled.order) + 1):
            before = {name: dots.copy() for name, dots in board.outputs.items()}
            pass_on(None)
            if all(_is_settled(before[name], dots) for name, dots in board.outputs.items()):
                return
        # closed loops of direct feedthrough
        pass_on(linear_fixed_point(pass_on, board.directions, board.size))

    def _follow(self, exchange: RecordedExchange, time: float) -> None:
        assert self._exchange is not None
        for record in exchange.records:
            self._exchange.follow(record)
        self._record_row(time)

    # rows

    def _record_row(self, time: float) -> None:
        self._times.append(float(time))
        self._rows.append(self._board.row())

    def differentiate(self, result: cosim.Result) -> None:
        """Add derivatives at each time of a result: NaN between communication points."""
        times = np.array(self._times)
        if not len(times) or not len(result):
            return
        nearest = np.abs(times[:, None] - result.time[None, :]).argmin(axis=0)
        is_communication_point = np.abs(times[nearest] - result.time) <= 1e-9 * np.maximum(
            1.0, np.abs(result.time)
        )
        rows = np.array(self._rows)[nearest]
        rows[~is_communication_point] = np.nan
        for path, values in result.signals.items():
            if path in self._columns and values.dtype == np.float64:
                dots = rows[:, :, self._columns[path]]
                result.derivatives[path] = {by: dots[:, i].copy() for i, by in enumerate(self.by)}
        result.variable_units.update(self.units)

    def discard_before(self, time: float) -> None:
        """Keep the first row, and those from a time (s) on."""
        first = next((i for i, point in enumerate(self._times) if i and point >= time), len(self._times))
        del self._times[1:first], self._rows[1:first]

    def lost(self) -> LostDerivatives:
        """NaN in place of all derivatives."""
        return LostDerivatives(self.by, self.units)

    @property
    def findings(self) -> list[Finding]:
        """Findings of the participants: when derivatives ended, and how exact differences are."""
        return [finding for tangents in self._tangents.values() for finding in tangents.findings]

    # saved and resumed

    def memory(self) -> dict[str, Any]:
        """All tangents at a communication point as numbers, text and bytes, with the rows so far."""
        courses = None if self._exchange is None else self._exchange.memory
        return {
            "participants": {name: tangents.memory() for name, tangents in self._tangents.items()},
            "board": self._board.row(),
            "courses": [] if courses is None else [courses.counts, courses.numbers, courses.table],
            "times": np.array(self._times),
            "rows": np.array(self._rows),
        }

    def put_back(self, memory: Mapping[str, Any]) -> None:
        """Continue with tangents that `memory` returned; the participants are in the states of that time."""
        for name, tangents in self._tangents.items():
            tangents.put_back(memory["participants"][name])
        self._board.put_row(memory["board"])
        if self._exchange is not None:
            courses = self._exchange.memory
            courses.counts[:], courses.numbers[:], courses.table[:] = memory["courses"]
        self._times, self._rows = memory["times"].tolist(), list(memory["rows"])

    def close(self) -> None:
        """Release the tangents of all participants at the end of the run."""
        for tangents in self._tangents.values():
            tangents.close()
        self._tangents = {}


def _copy_of(name: str, participant: cosim.Participant) -> dict[str, Any]:
    return {name: copy.deepcopy(participant)}


def _copies_of_members(system: JointSystem) -> dict[str, Any]:
    return system.another().members


def _is_settled(before: Reals, after: Reals) -> bool:
    difference, size = np.abs(after - before), np.abs(after)
    return bool(np.all((difference <= 1e-14 * size) | np.isnan(difference)))
