"""Infer the units of undeclared quantities over the whole diagram."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from cosim.component.argument_names import known_names
from cosim.component.attachment import Attachment
from cosim.component.component import Component
from cosim.component.declaration import Declaration
from cosim.component.unit_rules import read_rule
from cosim.errors import CosimError, UnitError
from cosim.system.alike_parts import Alike, OfDeclarations, alike_parts, parts_with
from cosim.system.signals import Place
from cosim.unit_text import coherent, unit_product
from cosim.units import conversion

Key = tuple[str, str]
Units = tuple[str, ...]
Find = Callable[[str], Place]
Report = Callable[[str, str], None]


@dataclass(frozen=True)
class _Operand:
    """A quantity in an equation: the node whose unit it has, times ``1/s`` as often as `rates` says."""

    key: Key
    element: int | None = None
    rates: int = 0


@dataclass(frozen=True)
class _Equation:
    """The unit of `target` is the product of those above, by those below."""

    target: _Operand
    above: tuple[_Operand, ...]
    below: tuple[_Operand, ...] = ()
    units_above: Units = ()
    units_below: Units = ()

    @property
    def operands(self) -> tuple[_Operand, ...]:
        return (self.target, *self.above, *self.below)


class InferredUnits(dict[Key, Units]):
    """Units by (part, name); those of a part in `copies` are those of its original, and stored once.

    Attributes
    ----------
    copies : mapping of str to str
        From names of parts to the name of the part for which the units were found.
    """

    copies: Mapping[str, str] = MappingProxyType({})

    def __missing__(self, key: Key) -> Units:
        part, name = key
        if part not in self.copies:
            raise KeyError(key)
        return self[self.copies[part], name]

    def get(self, key: Key, default: Any = None) -> Any:
        """The units of a quantity, or `default`."""
        part, name = key
        return dict.get(self, (self.copies.get(part, part), name), default)


class UnitInference:
    """The unit of each quantity that declares none.

    What is declared, or given with a unit (``amplitude="400 N"``), comes first and goes forward, from
    sources to what follows them; then backward, from inputs to what feeds them. What is left is
    dimensionless.

    Parameters
    ----------
    parts : mapping of str to Component
    links : iterable of (source path, part, name, unit)
        What feeds an input or a source of a part, with the unit of a factor on the way.
    find : callable
        From a path to its place.
    report : callable
        Takes the path of a value that does not fit, and a sentence.

    Attributes
    ----------
    units : InferredUnits
    taken_from : dict of (part, name) to str
        The input or source from which a quantity has its unit backward.
    """

    def __init__(
        self,
        parts: Mapping[str, Component],
        links: Iterable[tuple[str, str, str, str]],
        find: Find,
        report: Report,
    ) -> None:
        self.units = InferredUnits()
        self.taken_from: dict[Key, str] = {}
        self._parts, self._find = parts, find
        self._open: list[Key] = []
        self._equations: list[_Equation] = []
        self._own: dict[Key, _Equation] = {}
        self._links: dict[int, str] = {}
        links = list(links)
        copies = _unconnected_copies(alike_parts(parts), links)
        self._solved = {name: part for name, part in parts.items() if name not in copies}
        rules_of = OfDeclarations(_rules)
        for name, part in self._solved.items():
            self._collect(name, part, rules_of(part))
        for source, name, port, unit in links:
            self._link(source, (name, port), unit)
        self._using: dict[Key, list[int]] = {}
        for number, equation in enumerate(self._equations):
            for operand in equation.operands:
                self._using.setdefault(operand.key, []).append(number)
        self._solve()
        self.units.copies = copies
        self._convert(report)

    def _collect(self, name: str, part: Component, rules: Iterable[tuple[str, str]]) -> None:
        """The open quantities of a part, and its own rules."""
        for quantity, rule in rules:
            self._open.append((name, quantity))
            if rule:
                self._add_rule((name, quantity), rule, part)

    def _add_rule(self, key: Key, text: str, part: Component) -> None:
        """Add the equation of a rule that a class has for the unit of a quantity."""
        rule = read_rule(text)
        try:
            above, below = (
                tuple(self._named(part, name) for name in names) for names in (rule.above, rule.below)
            )
        except CosimError:
            return  # reported where it is wired
        equation = _Equation(_Operand(key), above, below, rule.units_above, rule.units_below)
        self._own[key] = equation
        self._equations.append(equation)

    def _named(self, part: Component, name: str) -> _Operand:
        """A name in a rule: a quantity of the part, or what an attachment offers."""
        if name in part.declarations:
            return _Operand((part.name, name))
        argument = known_names(part.declarations)[name]
        source = part.values.attachments.get(argument.of)
        path = source.name if isinstance(source, Component) else str(source)
        kind: Attachment = part.declarations[argument.of].options["attachment"]
        return self._operand(self._find(kind.path(path, argument.slot)))

    def _link(self, source: str, port: Key, unit: str) -> None:
        """Add the equation of a connection: what is read has the unit of its source, times a factor's."""
        try:
            place = self._find(source)
        except CosimError:
            return  # reported where it is wired
        if place.unit:
            if port in self._open:
                self.units.setdefault(port, (place.unit,))
            return
        self._links[len(self._equations)] = f"{port[0]}.{port[1]}"
        above = (unit,) if unit != "1" else ()
        self._equations.append(_Equation(_Operand(port), (self._operand(place),), (), above))

    def _operand(self, place: Place) -> _Operand:
        rates = int(place.declaration.name != place.name)
        return _Operand((place.part, place.declaration.name), place.element, rates)

    # solving

    def _solve(self) -> None:
        """Find all units, those that are said first: by options, with numbers, by what is around, by none."""
        self._is_open = set(self._open)
        self._set_named_units()
        for name, quantity, unit in self._units_with_numbers():
            if (name, quantity) not in self._own:
                self._set((name, quantity), (unit,))
        self._follow(range(len(self._equations)), backward=False)
        for name, quantity, unit in self._units_with_numbers():
            if (name, quantity) in self._own and (name, quantity) not in self.units:
                self._set((name, quantity), (unit,))
                self._follow(self._using.get((name, quantity), ()), backward=True, local=name)
        self._follow(range(len(self._equations)), backward=False)
        self._follow(range(len(self._equations)), backward=True)
        self._set_dimensionless()

    def _set_named_units(self) -> None:
        """Set the units that options name."""
        named_units = OfDeclarations(_named_units)
        for name, part in self._solved.items():
            for option, of in named_units(part):
                if part.values.options[option]:
                    self._set((name, of), (part.values.options[option],))

    def _units_with_numbers(self) -> Iterator[tuple[str, str, str]]:
        """Part, quantity and unit of each number that was given with a unit."""
        for name, part in self._solved.items():
            for quantity, unit in part.values.given_units.items():
                yield name, quantity, unit

    def _set_dimensionless(self) -> None:
        """Give what is left the unit 1: one quantity after the other, parameters without a rule first."""
        kinds = {key: self._parts[key[0]].declarations[key[1]].kind for key in self._open}
        for key in sorted(self._open, key=lambda key: (key in self._own, kinds[key] != "parameter")):
            if key not in self.units:
                self._set(key, ("1",))
                self._follow(self._using.get(key, ()), backward=True)

    def _set(self, key: Key, units: Units) -> None:
        """Set the units of an open quantity that has none yet."""
        if key in self._is_open and key not in self.units:
            self.units[key] = units

    def _follow(self, numbers: Iterable[int], backward: bool, local: str = "") -> None:
        """Equations one after the other, forward as long as that says something, then one backward."""
        forward, back = deque(numbers), deque(numbers)
        while forward or (backward and back):
            number, goes_back = (forward.popleft(), False) if forward else (back.popleft(), True)
            equation = self._equations[number]
            if local and equation.target.key[0] != local:
                continue
            determined = self._backward(number) if goes_back else self._forward(number)
            if determined is not None:
                forward.extend(self._using.get(determined, ()))
                back.extend(self._using.get(determined, ()))

    def _forward(self, number: int, ruled: bool = False) -> Key | None:
        """The target, where everything else is known; what has a rule of its own takes no other's unit."""
        equation = self._equations[number]
        key = equation.target.key
        if key in self.units or key not in self._is_open:
            return None
        if number in self._links and key in self._own and not ruled:
            return None
        above, below = ([self._units_of(o) for o in some] for some in (equation.above, equation.below))
        if None in above or None in below:
            return None
        self.units[key] = _product(
            (*above, *_each(equation.units_above)), (*below, *_each(equation.units_below))
        )
        return key

    def _backward(self, number: int) -> Key | None:
        """The one operand of an equation whose unit is not known, from all the others."""
        equation = self._equations[number]
        target = self._units_of(equation.target)
        if target is None and number in self._links and equation.target.key in self._own:
            return self._forward(number, ruled=True)  # a term of a sum says what the sum is
        unknown = [o for o in (*equation.above, *equation.below) if self._units_of(o) is None]
        if target is None or len(unknown) != 1 or unknown[0].key not in self._is_open:
            return None
        (operand,) = unknown
        above = [self._units_of(o) for o in equation.above if o is not operand]
        below = [self._units_of(o) for o in equation.below if o is not operand]
        sides = (target, *below, *_each(equation.units_below)), (*above, *_each(equation.units_above))
        top, bottom = sides if operand in equation.above else sides[::-1]
        # what is a plain number somewhere is one in SI
        units = tuple(map(coherent, _product(top, (*bottom, *[("1/s",)] * operand.rates))))
        if operand.element is not None and len(set(units)) > 1:
            return None
        self.units[operand.key] = units
        if number in self._links:
            self.taken_from[operand.key] = self._links[number]
        return operand.key

    def _units_of(self, operand: _Operand) -> Units | None:
        """The units of an operand, None where they are not known yet."""
        declaration = self._parts[operand.key[0]].declarations[operand.key[1]]
        units = self.units.get(operand.key) if operand.key in self._is_open else _declared(declaration)
        if units is None:
            return None
        if operand.element is not None and len(units) > 1:
            units = (units[operand.element],)
        return _product((units,), (("s",),)) if operand.rates else units

    def _convert(self, report: Report) -> None:
        """Convert numbers that were given in another unit than the inferred one."""
        for name, part in self._parts.items():
            for quantity, unit in part.values.given_units.items():
                numbers, inferred = part.values.typed[quantity], self.units.get((name, quantity), (unit,))
                units = inferred * numbers.size if len(inferred) == 1 else inferred
                try:
                    scales = [conversion(unit, target_unit) for target_unit in units]
                except UnitError as error:
                    report(f"{name}.{quantity}", f"{quantity} is given in {unit}, {error}")
                    continue
                if all(scale == (1.0, 0.0) for scale in scales):
                    part.values.numbers[quantity] = numbers.copy()
                    continue
                part.values.numbers[quantity] = np.array(
                    [n * factor + offset for n, (factor, offset) in zip(numbers, scales, strict=False)]
                )


def _unconnected_copies(
    all_alike: Sequence[Alike], links: Iterable[tuple[str, str, str, str]]
) -> dict[str, str]:
    """Parts that read nothing and are read by nothing, with the first one of the same kind.

    The units of both follow from the same declarations: very many constants are solved once.
    """
    connected = _connected_parts(all_alike, links)
    originals: dict[tuple[Any, ...], str] = {}
    copies: dict[str, str] = {}
    identities = OfDeclarations(lambda listed: tuple(map(id, listed.values())))
    for listed, names, alike in all_alike:
        identity = identities.of(listed)
        units_named_by = [d.name for d in listed.values() if "unit_of" in d.options]
        for name, part in zip(names, alike, strict=True):
            if name in connected:
                continue
            named_units = map(part.values.options.__getitem__, units_named_by)
            kind = (identity, *named_units, None, *part.values.given_units.items())
            if kind in originals:
                copies[name] = originals[kind]
            else:
                originals[kind] = name
    return copies


def _connected_parts(all_alike: Sequence[Alike], links: Iterable[tuple[str, str, str, str]]) -> set[str]:
    """The names of parts at either end of a link, or of an attachment."""
    connected: set[str] = set()
    for source, name, *_ in links:
        connected |= {_head(source), name}
    for name, part, attachments in parts_with(all_alike, _attachments):
        attached = [value for at in attachments if (value := part.values.attachments.get(at)) is not None]
        if attached:
            connected.add(name)
        for value in attached:
            for path in value if isinstance(value, (list, tuple)) else [value]:
                connected.add(path.name if isinstance(path, Component) else _head(str(path)))
    return connected


def _attachments(listed: Mapping[str, Declaration]) -> list[str]:
    return [d.name for d in listed.values() if d.kind == "attachment"]


def _head(path: str) -> str:
    """The name of the part in a path."""
    return path.partition(".")[0].partition("[")[0]


def _rules(listed: Mapping[str, Declaration]) -> list[tuple[str, str]]:
    """The open quantities with the rules of their units."""
    return [(d.name, rule) for d in listed.values() if (rule := _rule_of(d)) is not None]


def _named_units(listed: Mapping[str, Declaration]) -> list[tuple[str, str]]:
    """Options that name a unit, each with the quantity that has it."""
    return [(d.name, of) for d in listed.values() if (of := d.options.get("unit_of"))]


def _rule_of(declaration: Declaration) -> str | None:
    """The rule by which a unit is inferred; "" if the unit is open, None if it is declared."""
    if declaration.kind == "attachment" and declaration.options["provides"] == "source":
        unit = declaration.options["unit"]
        return "" if unit is None else unit if "{" in unit else None
    return declaration.unit_rule


def _declared(declaration: Declaration) -> Units:
    if declaration.kind == "attachment":
        return (declaration.options["unit"],)
    return declaration.units


def _each(units: Units) -> list[Units]:
    """Written units, as factors."""
    return [(unit,) for unit in units]


def _product(above: Sequence[Units | None], below: Sequence[Units | None]) -> Units:
    """Element by element; one unit stands for all elements."""
    tops, bottoms = [u for u in above if u], [u for u in below if u]
    size = max(map(len, (*tops, *bottoms)), default=1)
    return tuple(
        unit_product(tuple(u[i % len(u)] for u in tops), tuple(u[i % len(u)] for u in bottoms))
        for i in range(size)
    )
