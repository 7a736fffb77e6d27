"""Start values of variables, from the parameter bindings of all systems and components."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_ssp.network import (
    WHOLE,
    Hop,
    Leg,
    Network,
    Place,
    Point,
    conversion_along,
    items_of,
    routes,
    unit_of,
)
from cosim_ssp.package import problem_of
from cosim_ssp.structure import REALS, Component, Node, System, Value

Descriptions = Mapping[Place, ParticipantDescription]
Starts = dict[tuple[Place, str], Any]


class StartValues:
    """Applies values in the order of the standard: inner systems first, later bindings last.

    Parameters
    ----------
    network : Network
    descriptions : mapping of tuple to ParticipantDescription
        The descriptions of the components.

    Attributes
    ----------
    starts : dict of (place, name) to object
        In the units of the variables; arrays have one entry for each element.
    faults : list of Problem
        Values that cannot be assigned.
    findings : list of Problem
        Values that are not used.
    """

    def __init__(self, network: Network, descriptions: Descriptions) -> None:
        self.network, self.descriptions = network, descriptions
        self.starts: Starts = {}
        self.faults: list[cosim.Problem] = []
        self.findings: list[cosim.Problem] = []

    def apply(self, node: Node, place: Place = ()) -> None:
        """Apply the values of a node and of everything below it."""
        if isinstance(node, System):
            for name, element in node.elements.items():
                self.apply(element, (*place, name))
        for value in node.values:
            points = list(_points(node, place, value.name, self.network, self.descriptions))
            if not points:
                text = f"there is no '{value.name}' in {'.'.join(place) or 'the system'}: not used"
                self.findings.append(cosim.Problem(value.place, text))
            for point in points:
                try:
                    self._assign(point, value)
                except ValueError as error:
                    self.faults.append(problem_of(str(error), value.place))

    def _assign(self, point: Point, value: Value) -> None:
        """Assign a value to a variable of a component, or to all that a connector of a system leads to."""
        first = self._leg(point, value)
        if point[0] in self.network.components:
            self._set(point, (), value, [first])
            return
        is_used = False
        for route in routes(self.network, point):
            if route.end[0] not in self.descriptions:
                continue
            is_used = True
            legs = [first, *(self._leg(hop.end, hop) for hop in route.hops)]
            if route.taken:
                text = f"'{value.name}' is passed on in parts, which is not done for start values: not used"
                self.findings.append(cosim.Problem(value.place, text))
                continue
            self._set(route.end, route.given, value, legs)
        if not is_used:
            text = f"'{value.name}' leads to no component: not used"
            self.findings.append(cosim.Problem(value.place, text))

    def _leg(self, point: Point, way: Value | Hop) -> Leg:
        return leg_to(self.network, self.descriptions, point, way)

    def _set(self, point: Point, indices: tuple[int, ...], value: Value, legs: list[Leg]) -> None:
        """Enter a value, as it arrives behind `legs`, for a variable of a component or a part of an array."""
        place, name = point
        description = self.descriptions[place]
        names = elements_of(description, name, indices)
        data = value.data if isinstance(value.data, list) else [value.data]
        if len(data) == 1 and len(names) > 1:
            data = data * len(names)  # one value is that of all elements
        if len(data) != len(names):
            raise ValueError(
                f"'{value.name}' has {len(data)} values, {name} has {len(names)} elements: give one value for"
                " each, or one for all"
            )
        for element, number in zip(names, data, strict=True):
            variable = description.variables[element]
            if description.settable is not None and element not in description.settable:
                text = f"{'.'.join(place)}.{element} takes no start value ({variable.causality}): not used"
                self.findings.append(cosim.Problem(value.place, text))
                continue
            self.starts[place, element] = _converted(variable, description, number, value, legs)


def leg_to(network: Network, descriptions: Descriptions, point: Point, way: Value | Hop) -> Leg:
    """The leg that ends at a connector; where that says neither unit nor items, the component does."""
    unit, items = network.unit(point), network.items(point)
    if point[0] in descriptions:
        unit = unit or unit_of(descriptions[point[0]], point[1])
        items = items or items_of(descriptions[point[0]], point[1])
    return Leg(unit, items, way.suppresses_units, way.transformation, way.place)


def elements_of(description: ParticipantDescription, name: str, indices: tuple[int, ...] = ()) -> list[str]:
    """Names of the scalars of a variable, or of a part of an array, row by row.

    Raises
    ------
    ValueError
        No such variable, or more indices than it has dimensions.
    """
    arrays = description.arrays
    if name in arrays:
        shape, names = arrays[name]
        if len(indices) > len(shape) or any(i > n for i, n in zip(indices, shape, strict=False)):
            size = "×".join(map(str, shape))
            raise ValueError(f"{name} is {size}: it has no element [{','.join(map(str, indices))}]")
        head = "".join(f"{i}," for i in indices)
        return [n for n in names if f"{n[len(name) + 1 : -1]},".startswith(head)]
    if name in description.variables:
        if indices:
            raise ValueError(f"{name} is a scalar: it has no element [{','.join(map(str, indices))}]")
        return [name]
    raise ValueError(str(cosim.LookUpError("variable", name, description.variables)))


def _points(
    node: Node, place: Place, name: str, network: Network, descriptions: Descriptions
) -> Iterator[Point]:
    """The variables and connectors that a hierarchical name means in a node."""
    if isinstance(node, System):
        if name in node.connectors:
            yield place, name
        for inner, element in node.elements.items():
            if name.startswith(f"{inner}."):
                remainder = name[len(inner) + 1 :]
                yield from _points(element, (*place, inner), remainder, network, descriptions)
    elif isinstance(node, Component) and place in descriptions:
        description = descriptions[place]
        if name in description.variables or name in description.arrays:
            yield place, name


def _converted(
    variable: ParticipantVariable,
    description: ParticipantDescription,
    data: Any,
    value: Value,
    legs: list[Leg],
) -> Any:
    """The value in the type and the unit of the variable.

    Raises
    ------
    ValueError
        It is of another type.
    """
    kind = variable.type
    if (kind == "string" and isinstance(data, str)) or (kind == "binary" and isinstance(data, bytes)):
        return data
    if kind in ("real", *WHOLE):
        declared_items = items_of(description, variable.name)
        number: Any = _number_of_item(variable.name, data, value, declared_items)
        value_kind = "real" if value.type in REALS and kind == "real" else "integer"
        if _is_number_of(value_kind, number):
            number = float(number) if value_kind == "real" else int(number)
            conversion = conversion_along(legs, (value_kind, kind), value.unit, value.items or declared_items)
            number = conversion.table.get(number, number)
            if kind == "real":
                return (
                    conversion.factor * number + conversion.offset if conversion.is_linear else float(number)
                )
            if kind == "integer":
                return number
            if number in (0, 1):
                return bool(number)
    raise ValueError(
        f"'{value.name}' is {data!r} ({value.type}), but {variable.name} is {kind}: give a value of this type"
    )


def _number_of_item(name: str, data: Any, value: Value, declared_items: Mapping[str, int]) -> Any:
    """The number of an enumeration's item that is given by its name; other data as they are."""
    if not isinstance(data, str) or not (declared_items or value.type == "Enumeration"):
        return data
    items = {**declared_items, **(value.items or {})}
    if data not in items:
        raise ValueError(str(cosim.LookUpError(f"item of {name}", data, items)))
    return items[data]


def _is_number_of(kind: str, data: Any) -> bool:
    """Whether data are a number of this kind, "real" or "integer": ``2.0`` is both."""
    if isinstance(data, float):
        return kind == "real" or data.is_integer()
    return isinstance(data, (bool, int))
