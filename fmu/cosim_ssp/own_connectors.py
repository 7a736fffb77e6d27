"""The results that connectors of the system itself show, and the series that they take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.coupling.connection import Connection
from cosim_master.coupling.derived_signal import DerivedSignal
from cosim_master.participants.timed_inputs import TimedInputs
from cosim_ssp.network import WHOLE, Leg, Network, Place, Point, Route, conversion_along, routes, unit_of
from cosim_ssp.package import problem_of
from cosim_ssp.start_values import elements_of, leg_to

Descriptions = Mapping[Place, ParticipantDescription]
INPUTS = "inputs"
"""The participant that gives values over time."""


def derived_signals(
    network: Network,
    descriptions: Descriptions,
    names: Mapping[Place, str],
    say: Callable[[str, str], None],
) -> dict[str, DerivedSignal]:
    """The signals of results with the names of the system's own connectors.

    Parameters
    ----------
    network : Network
    descriptions : mapping of tuple to ParticipantDescription
        The descriptions of the components.
    names : mapping of tuple to str
        The names of their participants.
    say : callable
        Takes the place and the reason where a connector cannot be shown.
    """
    signals: dict[str, DerivedSignal] = {}
    for point in network.hops:
        if point[0] not in descriptions:
            continue
        for route in routes(network, point):
            if route.end[0] == ():
                try:
                    signals.update(_derive_signals(network, descriptions, names, route))
                except ValueError as error:
                    fault = problem_of(str(error), route.hops[-1].place)
                    say(fault.where, f"'{route.end[1]}' is not recorded: {fault.text}")
    return signals


def _derive_signals(
    network: Network, descriptions: Descriptions, names: Mapping[Place, str], route: Route
) -> Iterator[tuple[str, DerivedSignal]]:
    """The scalars of a connector that a value arrives at.

    Raises
    ------
    ValueError
        Units on the way do not go together, or a transformation does not fit.
    """
    source, output = route.hops[0].start
    description = descriptions[source]
    starts = elements_of(description, output, route.taken)
    if not starts:
        return
    kind = description.variables[starts[0]].type
    first, *legs = _legs(network, descriptions, route)
    conversion = conversion_along(legs, (kind, "real" if kind in WHOLE else kind), first.unit, first.items)
    units = [leg.unit.name for leg in (first, *legs) if leg.unit is not None]
    for start in starts:
        element_indices = start[len(output) + 1 : -1].split(",") if start != output else []
        indices = [*map(str, route.given), *element_indices[len(route.taken) :]]
        name = route.end[1] + (f"[{','.join(indices)}]" if indices else "")
        yield (
            name,
            DerivedSignal(
                (names[source], start),
                units[-1] if units else "1",
                conversion.factor,
                conversion.offset,
                conversion.table,
            ),
        )


Target = tuple[str, str, list[Leg]]
"""The path of a variable, its type, and the way of a signal to it."""


class SystemInputs:
    """Values over time for the inputs of an SSP.

    Parameters
    ----------
    series : path, Result, mapping or TimedInputs
        What `TimedInputs` takes. Its signals have the names of the system's own connectors, or of
        variables of components: ``"plant.force"``.
    network : Network
    descriptions : mapping of tuple to ParticipantDescription
    names : mapping of tuple to str

    Attributes
    ----------
    name : str
        The name of the participant.
    participant : TimedInputs
    connections : list of Connection

    Raises
    ------
    ModelError
        A signal that leads nowhere, or whose unit or type does not fit.
    """

    def __init__(
        self, series: Any, network: Network, descriptions: Descriptions, names: Mapping[Place, str]
    ) -> None:
        self._network, self._descriptions, self._names = network, descriptions, names
        inputs = series if isinstance(series, TimedInputs) else TimedInputs(series)
        self.name = INPUTS
        while self.name in names.values():
            self.name += "_"
        problems: list[cosim.Problem] = []
        targets = self._find_targets(inputs, problems)
        types = {signal: self._type(ends) for signal, ends in targets.items()}
        if not isinstance(series, TimedInputs) and not problems:
            inputs = TimedInputs(series, types={s: kind for s, kind in types.items() if kind != "real"})
        self.participant = inputs
        self.connections = self._connect(inputs, targets, problems)
        if problems:
            raise cosim.ModelError(problems)

    def _find_targets(self, inputs: TimedInputs, problems: list[cosim.Problem]) -> dict[str, list[Target]]:
        """Where each signal leads to; one that leads nowhere is a problem."""
        targets: dict[str, list[Target]] = {}
        for signal in inputs.describe().variables:
            try:
                targets[signal] = self._targets(signal)
            except ValueError as error:  # the document names what a component does not have
                problems.append(problem_of(str(error), f"inputs.{signal}"))
                continue
            if not targets[signal]:
                problems.append(cosim.Problem(f"inputs.{signal}", self._unknown(signal)))
        return targets

    def _connect(
        self, inputs: TimedInputs, targets: Mapping[str, list[Target]], problems: list[cosim.Problem]
    ) -> list[Connection]:
        """The connections from the signals to the variables that they lead to."""
        connections: list[Connection] = []
        description = inputs.describe()
        for signal, ends in targets.items():
            for path, kind, legs in ends:
                kinds = description.variables[signal].type, kind
                try:
                    conversion = conversion_along(legs, kinds, unit_of(description, signal), {})
                except ValueError as error:
                    problems.append(cosim.Problem(f"inputs.{signal}", str(error)))
                    continue
                start, scale = f"{self.name}.{signal}", (conversion.factor, conversion.offset)
                table = tuple(conversion.table.items())
                connections.append(Connection(start, path, *scale, converts=False, mapping=table))
        return connections

    def _targets(self, signal: str) -> list[Target]:
        """Paths of the variables that a signal leads to, their types, and the way there.

        Raises
        ------
        ValueError
            A connection leads to what a component does not have, with its place.
        """
        targets = []
        if signal in {name for place, name in self._network.connectors if place == ()}:
            point: Point = (), signal
            first = Leg(
                self._network.unit(point), self._network.items(point), False, None, f"inputs.{signal}"
            )
            for route in routes(self._network, point):
                if route.end[0] in self._descriptions:
                    legs = [first, *_legs(self._network, self._descriptions, route)[1:]]
                    try:
                        ends = elements_of(self._descriptions[route.end[0]], route.end[1], route.given)
                    except ValueError as error:
                        raise ValueError(f"{route.hops[-1].place}: {error}") from None
                    targets += [(*self._variable(route.end[0], end), legs) for end in ends]
            return targets
        for place, name in self._names.items():
            variable = signal.removeprefix(f"{name}.")
            description = self._descriptions.get(place)
            if variable != signal and description is not None and variable in description.variables:
                leg = Leg(unit_of(description, variable), {}, False, None, f"inputs.{signal}")
                return [(*self._variable(place, variable), [leg])]
        return []

    def _variable(self, place: Place, name: str) -> tuple[str, str]:
        return f"{self._names[place]}.{name}", self._descriptions[place].variables[name].type

    def _unknown(self, signal: str) -> str:
        """Why a signal leads nowhere."""
        connectors = [name for place, name in self._network.connectors if place == ()]
        if signal in connectors:
            return f"'{signal}' is a connector of the system, but leads to no component"
        inputs = [
            f"{self._names[place]}.{variable.name}"
            for place, description in self._descriptions.items()
            for variable in description.variables.values()
            if variable.causality == "input"
        ]
        return str(
            cosim.LookUpError("connector of the system or input of a component", signal, connectors + inputs)
        )

    @staticmethod
    def _type(ends: list[Target]) -> str:
        """The type of a signal that feeds variables of these types."""
        kinds = {kind for _, kind, _ in ends}
        return kinds.pop() if len(kinds) == 1 and kinds <= set(WHOLE) else "real"


def _legs(network: Network, descriptions: Descriptions, route: Route) -> list[Leg]:
    """The leg to the beginning of a route, without a transformation, and those of its hops."""
    hop = route.hops[0]
    first = leg_to(network, descriptions, hop.start, hop)
    begin = Leg(first.unit, first.items, suppresses_units=False, transformation=None, place=hop.place)
    return [begin, *(leg_to(network, descriptions, hop.end, hop) for hop in route.hops)]
