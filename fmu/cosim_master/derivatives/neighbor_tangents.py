"""Tangents of a participant by differences between its run and runs with slightly different values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import cosim
from cosim.kit import Finding
from cosim_fmi.binding.process_guard import same_folder
from cosim_master.abilities import InitializationMode, Resizes
from cosim_master.coupling.link import Link
from cosim_master.derivatives.participant_tangents import ParticipantTangents, ReadRecord, Reals, StepRecord

OFFSETS = (1.0, -1.0, 2.0, -2.0)
"""Offsets of the neighbors along a direction, in increments; their differences are of fourth order."""
INCREMENT = 1e-3
"""Relative to the value of a variable, or else to its nominal value: near the fifth root of the spacing."""
JUMP = 7.0 / 3.0
"""The error relative to |near - far| if the output jumps between the inner neighbors; else it is less."""
MOST_EARLY_RETURNS = 1000
"""The largest number of early returns within one step."""
MOST_SWEEPS = 100
"""Rounds in which values are passed through links at the start."""
SETTLED = 1e-15
"""A value has settled if it differs from the last round by a smaller part than this."""
BY_DIFFERENCES = "derivatives by differences"
"""The kind of the finding that says how exact they are."""
NO_DERIVATIVE = "no derivative"
"""The kind of the finding that says why there are none."""


def increment_of(value: float, nominal: float | None = None) -> float:
    """The increment of a variable with this value, in its unit; of one that is 0 by its nominal value."""
    return INCREMENT * (abs(value) if value != 0.0 else nominal or 1.0)


class _Neighbor(NamedTuple):
    """A neighbor, with the number of its direction and the distance along it."""

    direction: int
    distance: float
    participant: Any


class NeighborTangents(ParticipantTangents):
    """Differences of fourth order between four neighbors along each direction.

    A neighbor is another instance of the same participant. Its inputs are those of the participant plus an
    increment along their tangents; so its outputs are moved by this increment along the outputs' tangents.

    Parameters
    ----------
    name : str
    neighbors : sequence of sequence of Participant
        As many as `OFFSETS` for each direction (`create_neighbors`); none where nothing in it varies.
    varied : mapping of int to str
        The start values of the participant that vary, by the numbers of their directions.
    increments : sequence of float
        One for each direction, in the unit of what varies.
    initialize : callable
        Initializes a participant with start values.
    values : mapping of str to object
        The start values of the participant.
    steps : bool
        Whether neighbors are stepped; of participants that are solved jointly, only those of the first are.
    unused : str
        Why directional derivatives of the participant are not used; empty if it has none.
    """

    def __init__(
        self,
        name: str,
        neighbors: Sequence[Sequence[Any]],
        varied: Mapping[int, str],
        increments: Sequence[float],
        initialize: Callable[[cosim.Participant, Mapping[str, Any]], None],
        values: Mapping[str, Any],
        *,
        steps: bool = True,
        unused: str = "",
    ) -> None:
        self._name, self._increments, self._initialize = name, list(increments), initialize
        self._varied, self._values, self._steps, self._unused = varied, values, steps, unused
        self._neighbors = neighbors
        self._is_started = False
        self._slopes: tuple[Sequence[str], Reals | None] = (), None
        self._last_passed: dict[tuple[int, str], Any] = {}  # by neighbor and input, before the first step
        self._least_derivatives: dict[str, Reals] = {}  # of outputs: the largest so far, less its error
        self._errors: dict[str, Reals] = {}  # of outputs: the largest so far
        self._largest_moves: dict[str, Reals] = {}  # of inputs, in each direction
        self._spacing: dict[str, float] = {}  # of numbers, at the largest value of an input
        self._lost: Finding | None = None
        self._first_time = self._time = math.nan

    def _all_neighbors(self) -> list[_Neighbor]:
        return [
            _Neighbor(i, offset * self._increments[i], participant)
            for i, neighbors in enumerate(self._neighbors)
            for offset, participant in zip(OFFSETS, neighbors, strict=False)  # none where nothing varies
        ]

    def _participants(self) -> list[Any]:
        return [neighbor.participant for neighbor in self._all_neighbors()]

    def start(self, names: Sequence[str]) -> Reals:
        if not self._is_started:
            self._is_started = True
            for neighbor in self._all_neighbors():
                values = dict(self._values)
                name = self._varied.get(neighbor.direction)
                if name is not None:
                    values[name] = float(values[name]) + neighbor.distance
                self._initialize(neighbor.participant, values)
        return self._differences(names)

    def pass_on(self, link: Link, target: NeighborTangents) -> bool:
        """Pass an output of neighbors to those of another participant before the first step.

        Returns
        -------
        bool
            Whether they had these values already.
        """
        is_settled = True
        for sender, receiver in zip(self._participants(), target._participants(), strict=True):
            value = self._attempt(sender.get, [link.output])
            if value is None:
                return True
            converted = link.convert(next(iter(value)))
            last_value = target._last_passed.get((id(receiver), link.input))
            is_settled = is_settled and last_value is not None and _is_settled(last_value, converted)
            target._last_passed[id(receiver), link.input] = converted
            target._attempt(receiver.set, [link.input], [converted])
        return is_settled

    def lose(self, reason: str) -> None:
        """Record why there are no derivatives from now on; the first reason stays."""
        self._lost = self._lost or Finding(self._time, NO_DERIVATIVE, self._name, reason)

    def exit_initialization(self) -> None:
        for participant in self._participants():
            if isinstance(participant, InitializationMode):
                self._attempt(participant.exit_initialization)

    def save(self) -> Any:
        return [participant.save() for participant in self._participants()]

    def restore(self, token: Any) -> None:
        for participant, state in zip(self._participants(), token, strict=True):
            participant.restore(state)

    def memory(self) -> dict[str, Any]:
        lost = self._lost
        saved = [] if lost is not None else [p.serialize(p.save()) for p in self._participants()]
        return {
            "neighbors": saved,
            "largest": dict(self._least_derivatives),
            "errors": dict(self._errors),
            "moves": dict(self._largest_moves),
            "spacing": dict(self._spacing),
            "times": [self._first_time, self._time],
            "lost": [] if lost is None else [lost.time, lost.message],
        }

    def put_back(self, memory: Any) -> None:
        if memory["lost"]:
            time, text = memory["lost"]
            self._lost = Finding(float(time), NO_DERIVATIVE, self._name, str(text))
        else:
            for participant, data in zip(self._participants(), memory["neighbors"], strict=True):
                participant.restore(participant.deserialize(data))
        self._least_derivatives, self._errors, self._largest_moves = (
            {str(name): np.array(sizes) for name, sizes in memory[key].items()}
            for key in ("largest", "errors", "moves")
        )
        self._spacing = {str(name): float(size) for name, size in memory["spacing"].items()}
        self._first_time, self._time = map(float, memory["times"])

    def set_inputs(
        self, names: Sequence[str], values: Sequence[Any], dots: Reals, slopes: Reals | None = None
    ) -> None:
        if not names or not self._all_neighbors():
            return
        increments = np.array(self._increments)
        for name, value, moves in zip(names, values, (abs(dots).T * increments), strict=True):
            if isinstance(value, float):
                self._largest_moves[name] = np.maximum(self._largest_moves.get(name, 0.0), moves)
                self._spacing[name] = max(self._spacing.get(name, 0.0), math.ulp(value))
        for direction, distance, participant in self._all_neighbors():
            moved_values = [
                value + distance * dot if isinstance(value, float) else value
                for value, dot in zip(values, dots[direction].tolist(), strict=True)
            ]
            self._attempt(participant.set, names, moved_values)
        self._slopes = names, slopes

    def follow(self, step: StepRecord) -> None:
        self._time = step.time
        if math.isnan(self._first_time):
            self._first_time = step.time
        self._first_time = min(self._first_time, step.time)
        names, slopes = self._slopes
        for direction, distance, participant in self._all_neighbors():
            if step.slopes is not None and slopes is not None:
                slope_dots = slopes[direction].tolist()
                moved_slopes = [
                    slope + distance * dot for slope, dot in zip(step.slopes, slope_dots, strict=True)
                ]
                self._attempt(participant.set_slopes, names, moved_slopes)
            if self._steps:
                self._attempt(_step_to_end, participant, step.time, step.size)

    def read(self, names: Sequence[str], record: ReadRecord) -> Reals:
        return self._differences(names)

    def _differences(self, names: Sequence[str]) -> Reals:
        """The derivatives of outputs along all directions; NaN once they are lost."""
        differences = np.zeros((len(self._increments), len(names)))
        if not names or not self._all_neighbors():
            return differences
        for i, neighbors in enumerate(self._neighbors):
            values = [self._attempt(_numbers, neighbor, names) for neighbor in neighbors]
            if self._lost is not None:
                return np.full_like(differences, np.nan)
            increment = self._increments[i]
            near = (values[0] - values[1]) / (2.0 * increment)
            far = (values[2] - values[3]) / (4.0 * increment)
            differences[i] = near + (near - far) / 3.0
            # equal values have an exact difference, without rounding
            rounding = np.where(differences[i] == 0.0, 0.0, np.spacing(abs(values[2])) / increment)
            errors = JUMP * abs(near - far) + rounding
            self._keep_largest(self._least_derivatives, names, i, abs(differences[i]) - errors)
            self._keep_largest(self._errors, names, i, errors)
        return differences

    def _keep_largest(
        self, largest: dict[str, Reals], names: Sequence[str], direction: int, sizes: Reals
    ) -> None:
        """Raise the largest sizes of outputs so far to these sizes."""
        for name, size in zip(names, sizes.tolist(), strict=True):
            by_direction = largest.setdefault(name, np.zeros(len(self._increments)))
            by_direction[direction] = max(by_direction[direction], size)

    def _attempt(self, action: Callable[..., Any], *arguments: Any) -> Any:
        """Call a neighbor; if that fails, derivatives are lost from now on."""
        if self._lost is not None:
            return None
        try:
            with same_folder():
                return action(*arguments)
        except Exception as error:
            self.lose(f"a neighbor of it failed: {error}")
            return None

    def _error_of_outputs(self) -> float:
        """The largest error relative to the least that its derivative can be, infinite if that is 0."""
        largest = 0.0
        for name, errors in self._errors.items():
            derivatives = self._least_derivatives[name].tolist()
            for error, derivative in zip(errors.tolist(), derivatives, strict=True):
                if error > 0.0:
                    largest = max(largest, error / derivative if derivative > 0.0 else math.inf)
        return largest

    def _error_of_inputs(self) -> float:
        """The largest spacing of numbers relative to an increment of an input, which is so inexact."""
        return max(
            (
                self._spacing[name] / move
                for name, moves in self._largest_moves.items()
                for move in moves.tolist()
                if move > 0.0
            ),
            default=0.0,
        )

    @property
    def findings(self) -> list[Finding]:
        if self._lost is not None:
            return [self._lost]
        if not self._all_neighbors():
            return []
        worst = max(map(float, (self._error_of_outputs(), self._error_of_inputs(), 1e-12)))
        error = f"relative error below {worst:.1e}" if worst < 1.0 else "no digit is certain"
        text = f"differences of its own run, of fourth order: {error}"
        for i, variable in self._varied.items():
            if not any(errors[i] for errors in self._errors.values()):
                text += f"; {variable} moves its outputs by less than the rounding of these"
        if self._unused:
            text += f"; its directional derivatives are not used: {self._unused}"
        return [Finding(self._first_time, BY_DIFFERENCES, self._name, text)]

    def close(self) -> None:
        for participant in self._participants():
            participant.close()


def settle_links(links: Sequence[Link], tangents: Mapping[str, Any]) -> None:
    """Pass values between neighbors along the links of a joint system, until nothing changes.

    Parameters
    ----------
    links : sequence of Link
    tangents : mapping of str to NeighborTangents
        At least those of the members of the joint system.
    """
    for _ in range(MOST_SWEEPS):
        settled = [tangents[link.source].pass_on(link, tangents[link.target]) for link in links]
        if all(settled):
            return
    for link in links:
        tangents[link.target].lose("the loop that it is in does not settle by substitution at the start")


def _is_settled(last_value: Any, value: Any) -> bool:
    if isinstance(last_value, float) and isinstance(value, float):
        return abs(last_value - value) <= SETTLED * abs(value)
    return bool(last_value == value)


def create_neighbors(
    make: Callable[[], Mapping[str, Any]], values: Mapping[str, Mapping[str, Any]], directions: int
) -> dict[str, list[list[Any]]]:
    """Make neighbors of participants that are solved jointly, or of a single one.

    Parameters
    ----------
    make : callable
        Makes new instances of them, not initialized, by their names.
    values : mapping of str to mapping
        Their start values, by the same names.
    directions : int

    Returns
    -------
    dict of str to list of list of Participant
        For each direction as many as `OFFSETS`.

    Raises
    ------
    ModelError
        There can be no second instance of one of them.
    """
    try:
        copies = [[_configured(make(), values) for _ in OFFSETS] for _ in range(directions)]
    except Exception as error:
        text = f"no second {' and '.join(values)} can be made for differences: {error}"
        raise cosim.ModelError.of("derivatives", text) from error
    return {name: [[copy[name] for copy in of_direction] for of_direction in copies] for name in values}


def _configured(
    participants: Mapping[str, Any], values: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Any]:
    """New participants, with the sizes of their arrays set."""
    for name, participant in participants.items():
        if isinstance(participant, Resizes):
            participant.configure(values[name])
    return participants


def _numbers(participant: cosim.Participant, names: Sequence[str]) -> Reals:
    values = participant.get(names)
    return np.array([value if isinstance(value, float) else 0.0 for value in list(values)], dtype=np.float64)


def _step_to_end(participant: cosim.Participant, time: float, size: float) -> None:
    """Step a participant to the end of a step, which it may take in parts."""
    end, small = time + size, 1e-9 * size
    for _ in range(MOST_EARLY_RETURNS):
        time = participant.step(time, end - time)
        if not time < end - small:
            return
    raise cosim.SimulationError(time, f"it returned early {MOST_EARLY_RETURNS} times within one step")
