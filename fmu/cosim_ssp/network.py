"""The ways of values through the connectors of nested systems.

A `Network` has all connectors and, between them, the connections as hops; a `Route` is a chain of hops from
a point to a component. A `Conversion` says how values change on a route: `conversion_along` composes it of
the units and transformations of its legs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.coupling.unit_conversion import definition_of, scale_between
from cosim_ssp.structure import (
    SINKS,
    SOURCES,
    Component,
    Connector,
    DictionaryReference,
    Node,
    System,
    Transformation,
    Unit,
    Wire,
)

BOOLEANS = {"true": 1, "false": 0}
WHOLE = ("boolean", "integer")
"""Types of variables that are mapped: false is 0, true is 1, an item of an enumeration its number."""
Items = Mapping[str, int]


@dataclass(frozen=True)
class Leg:
    """The part of a way between two connectors.

    Attributes
    ----------
    unit : Unit or None
        At its end; None leaves the unit that came.
    items : mapping of str to int
        The items of the enumeration at its end; empty if there is none.
    suppresses_units : bool
    transformation : Transformation or None
    place : str
    """

    unit: Unit | None
    items: Items
    suppresses_units: bool
    transformation: Transformation | None
    place: str


@dataclass(frozen=True)
class Conversion:
    """A conversion of values: first by the table, then ``factor * value + offset``.

    Attributes
    ----------
    factor, offset : float
        In the unit at the end.
    table : mapping of int to int
        Whole numbers with their replacements; others stay as they are.
    """

    factor: float = 1.0
    offset: float = 0.0
    table: Mapping[int, int] = field(default_factory=dict)

    @property
    def is_linear(self) -> bool:
        """Whether numbers are scaled or shifted."""
        return (self.factor, self.offset) != (1.0, 0.0)

    def scaled(self, factor: float, offset: float) -> Conversion:
        """The conversion that goes on with ``factor * value + offset``."""
        return replace(self, factor=factor * self.factor, offset=factor * self.offset + offset)

    def mapped(self, entries: Mapping[int, int]) -> Conversion:
        """The conversion that goes on with a table; nothing has been scaled before."""
        table = {**entries, **{source: entries.get(value, value) for source, value in self.table.items()}}
        return replace(self, table=table)


def unit_of(description: ParticipantDescription, variable: str) -> Unit | None:
    """The unit of a variable of a component, or of an array; None when there is none."""
    name = _first(description, variable)
    if name is None:
        return None
    unit = description.variables[name].unit
    definition = definition_of(unit, description)
    return None if definition is None else Unit(unit, definition)


def items_of(description: ParticipantDescription, variable: str) -> Items:
    """The items of the enumeration of a variable of a component, or of an array."""
    name = _first(description, variable)
    return {} if name is None else dict(description.enumerations.get(name, ()))


def conversion_along(
    legs: Sequence[Leg], kinds: tuple[str, str], unit: Unit | None, items: Items
) -> Conversion:
    """The conversion of all legs, one after the other.

    Parameters
    ----------
    legs : sequence of Leg
    kinds : tuple of str
        Types of the variables at both ends: "real", "integer", "boolean" …
    unit : Unit or None
        At the beginning; None takes that at the end of the first leg.
    items : mapping of str to int
        The items of the enumeration at the beginning.

    Raises
    ------
    ValueError
        With the place of the leg whose units do not go together, or whose transformation does not go with
        the values there.
    """
    conversion = Conversion()
    for leg in legs:
        if kinds[1] == "real" and leg.unit is not None and unit is not None and not leg.suppresses_units:
            conversion = conversion.scaled(*_unit_scale(unit, leg.unit, leg.place))
        unit = leg.unit if leg.unit is not None else unit
        change = leg.transformation
        if change is not None and change.entries:
            conversion = conversion.mapped(_entries(change, leg, items, kinds[0], conversion))
        elif change is not None:
            if kinds[1] != "real" and (change.factor, change.offset) != (1.0, 0.0):
                raise ValueError(f"{leg.place}: a linear transformation applies to real values only")
            conversion = conversion.scaled(change.factor, change.offset)
        items = leg.items or items
    return conversion


def _unit_scale(unit: Unit, target: Unit, place: str) -> tuple[float, float]:
    """Factor and offset from one unit to another."""
    try:
        return scale_between(unit.name, unit.definition, target.name, target.definition)
    except cosim.UnitError as error:
        hint = 'mend the units, or say suppressUnitConversion="true"'
        raise ValueError(f"{place}: {error}: {hint}") from None


def _entries(
    change: Transformation, leg: Leg, items: Items, kind: str, conversion: Conversion
) -> dict[int, int]:
    """The numbers that a mapping replaces, of values of a type that come through a conversion."""
    if kind not in WHOLE or conversion.is_linear:
        refused = f"{kind} values" if kind not in WHOLE else "values that were scaled before"
        raise ValueError(
            f"{leg.place}: {refused} cannot be mapped: only booleans, integers and enumerations can"
        )
    return {
        _number(source, items, change.names_items, leg): _number(
            target, leg.items or items, change.names_items, leg
        )
        for source, target in change.entries
    }


def _first(description: ParticipantDescription, variable: str) -> str | None:
    """The first scalar of a variable; None when there is none of that name."""
    first = description.arrays.get(variable, ((), (variable,)))[1][:1]
    return first[0] if first and first[0] in description.variables else None


def _number(text: str, items: Items, names_items: bool, leg: Leg) -> int:
    """The number of an entry of a mapping; files in use name items in tables of integers, too."""
    numbers = {**BOOLEANS, **items}
    if names_items and text in numbers:
        return numbers[text]
    try:
        return int(text)
    except ValueError:
        if text in numbers:
            return numbers[text]
    raise ValueError(f"{leg.place}: " + str(cosim.LookUpError("value to map", text, numbers)))


Place = tuple[str, ...]
"""The path of a node in the tree of systems: names of the elements, without that of the top."""
Point = tuple[Place, str]
"""A connector, by the place of its component, system or dictionary."""
MOST_ROUTES = 100_000
GIVES, TAKES, BOTH = "gives", "takes", "both"


def text_of(point: Point) -> str:
    """The text of a point: ``plant.mass``."""
    return ".".join([*point[0], point[1]])


@dataclass(frozen=True)
class Hop:
    """A connection in the direction of the data.

    Attributes
    ----------
    start, end : tuple
    start_indices, end_indices : tuple of int
    transformation : Transformation or None
    suppresses_units : bool
    place : str
    """

    start: Point
    end: Point
    start_indices: tuple[int, ...]
    end_indices: tuple[int, ...]
    transformation: Transformation | None
    suppresses_units: bool
    place: str


@dataclass
class Network:
    """All connectors and connections below a system.

    Attributes
    ----------
    components : dict of tuple to Component
        Those with an implementation.
    connectors : dict of tuple to Connector
    hops : dict of tuple to list of Hop
        By the point that they begin at.
    faults, findings : list of Problem
    """

    components: dict[Place, Component] = field(default_factory=dict)
    connectors: dict[Point, Connector] = field(default_factory=dict)
    hops: dict[Point, list[Hop]] = field(default_factory=dict)
    faults: list[cosim.Problem] = field(default_factory=list)
    findings: list[cosim.Problem] = field(default_factory=list)

    @classmethod
    def of(cls, top: System) -> Network:
        """The network of a system."""
        network = cls()
        network._add(top, (), {})
        network._check_sources()
        return network

    def unit(self, point: Point) -> Unit | None:
        """The unit that a connector declares."""
        connector = self.connectors.get(point)
        return None if connector is None else connector.unit

    def items(self, point: Point) -> Mapping[str, int]:
        """The items of the enumeration that a connector names; none unless it does."""
        connector = self.connectors.get(point)
        return {} if connector is None else connector.items or {}

    def _check_sources(self) -> None:
        """Check that each connector, or each part of an array, has one source."""
        first_hops: dict[tuple[Point, tuple[int, ...]], Hop] = {}
        for hop in (hop for hops in self.hops.values() for hop in hops):
            first = first_hops.setdefault((hop.end, hop.end_indices), hop)
            if first is not hop:
                text = f"'{text_of(hop.end)}' has a source already, in {first.place}: it takes one"
                self.faults.append(cosim.Problem(hop.place, text))

    def _add(self, system: System, place: Place, dictionaries: dict[str, Place]) -> None:
        """`dictionaries` are those that can be seen here, with the place of each."""
        inner_dictionaries = {name: (*place, f"dictionary {name}") for name in system.dictionaries}
        visible = {**dictionaries, **inner_dictionaries}
        self.connectors.update({(place, name): c for name, c in system.connectors.items()})
        for name, element in system.elements.items():
            inner = (*place, name)
            if isinstance(element, System):
                self._add(element, inner, visible)
            elif isinstance(element, Component):
                self.connectors.update({(inner, c.name): c for c in element.connectors.values()})
                if element.file:
                    self.components[inner] = element
            elif isinstance(element, DictionaryReference) and element.dictionary not in visible:
                text = str(cosim.LookUpError("signal dictionary", element.dictionary, visible))
                self.faults.append(cosim.Problem(element.place, text))
        for wire in system.wires:
            self._add_wire(system, place, visible, wire)

    def _add_wire(self, system: System, place: Place, dictionaries: dict[str, Place], wire: Wire) -> None:
        ends = []
        for end in (wire.start, wire.end):
            node: Node | None = system.elements.get(end.element) if end.element else system
            if node is None:
                text = str(cosim.LookUpError("element of this system", end.element, system.elements))
                self.faults.append(cosim.Problem(wire.place, text))
                return
            point = (place if node is system else (*place, end.element)), end.connector
            if isinstance(node, DictionaryReference):
                point = dictionaries.get(node.dictionary, place), end.connector
            elif end.connector not in node.connectors and not isinstance(node, Component):
                connector_kind = f"connector of {end.element or 'this system'}"
                fault = cosim.LookUpError(connector_kind, end.connector, node.connectors)
                self.faults.append(cosim.Problem(wire.place, str(fault)))
                return
            elif end.connector not in node.connectors:
                text = f"'{end}' is not declared as a connector; the FMU's description is used"
                self.findings.append(cosim.Problem(wire.place, text))
            ends.append((point, end.indices, _role(node, end.connector, inside=node is system)))
        giver, taker = ends
        if giver[2] == taker[2] != BOTH:
            text = f"'{wire.start}' and '{wire.end}' both {'give' if giver[2] == GIVES else 'take'} a value"
            self.faults.append(cosim.Problem(wire.place, text))
            return
        if giver[2] == TAKES or taker[2] == GIVES:
            giver, taker = taker, giver
            text = f"start and end are exchanged: the value flows from '{wire.end}' to '{wire.start}'"
            self.findings.append(cosim.Problem(wire.place, text))
        way = wire.transformation, wire.suppresses_units, wire.place
        self.hops.setdefault(giver[0], []).append(Hop(giver[0], taker[0], giver[1], taker[1], *way))


@dataclass(frozen=True)
class Route:
    """The way of a value from a point to a component.

    Attributes
    ----------
    hops : tuple of Hop
    taken : tuple of int
        Which part of the array at its start.
    given : tuple of int
        Which part of the array at its end.
    """

    hops: tuple[Hop, ...]
    taken: tuple[int, ...] = ()
    given: tuple[int, ...] = ()

    @property
    def end(self) -> Point:
        """The point at which the route ends."""
        return self.hops[-1].end


def routes(network: Network, start: Point) -> Iterator[Route]:
    """All ways from a point to components and to connectors of the top, through systems and dictionaries.

    Raises
    ------
    ValueError
        Far too many.
    """
    count = 0
    first = reversed(network.hops.get(start, []))
    waiting = [Route((hop,), hop.start_indices, hop.end_indices) for hop in first]
    while waiting:
        route = waiting.pop()
        count += 1
        if count > MOST_ROUTES:
            raise ValueError(f"{route.hops[0].place}: values from here take more than {MOST_ROUTES} routes")
        if route.end[0] in network.components:
            yield route
            continue
        if route.end[0] == ():
            yield route
        passed = {hop.end for hop in route.hops}
        for hop in reversed(network.hops.get(route.end, [])):
            if hop.end not in passed:
                longer = _longer(route, hop)
                if longer is not None:
                    waiting.append(longer)


def _longer(route: Route, hop: Hop) -> Route | None:
    """A route with one more hop; None when the hop takes another part of an array."""
    have, want = route.given, hop.start_indices
    common = min(len(have), len(want))
    if have[:common] != want[:common]:
        return None
    hops = (*route.hops, hop)
    return Route(hops, route.taken + want[common:], hop.end_indices + have[common:])


def _role(node: Node, connector: str, *, inside: bool) -> str:
    """Whether a connector gives or takes values, seen from the connections of a system.

    Parameters
    ----------
    inside : bool
        The connector is that of the system itself: what it takes from outside it gives to the inside.
    """
    port = node.connectors.get(connector)
    kind = "unspecified" if port is None else port.kind
    if kind in SOURCES:
        return TAKES if inside else GIVES
    if kind in SINKS:
        return GIVES if inside else TAKES
    return BOTH
