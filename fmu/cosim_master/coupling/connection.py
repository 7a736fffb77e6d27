"""A connection as it is written, and the link that it becomes when it has been checked."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_master.coupling.convert_value import conversion_of, convert_value

KEYS = ("from", "to", "factor", "offset", "convert", "map")
ARROW = "->"
Pairs = tuple[tuple[Any, Any], ...]


@dataclass(frozen=True)
class Connection:
    """From an output to an input, with a linear transformation on the way.

    The input gets ``factor * value + offset``, converted to its unit.

    Attributes
    ----------
    start, end : str
        ``"plant.felt"``, ``"controller.speed"``. With one ``*`` in each it is a bus: all outputs
        that match go to the inputs of the same names, ``"plant.axle[*]"`` to ``"brakes.speed[*]"``.
    factor : float
    offset : float
        In the unit of the output.
    converts : bool
        Whether physical units are converted; without it factor and offset give the number of the input.
    mapping : tuple of (object, object)
        What values of a boolean, an integer or an enumeration become, before factor and offset; others stay
        as they are. Items of enumerations may be given by their names. An integer feeds a boolean with a map.
    reads_any : bool
        Whether it may begin at a variable that is not an output: a local, a constant.
    """

    start: str
    end: str
    factor: float = 1.0
    offset: float = 0.0
    converts: bool = True
    mapping: Pairs = ()
    reads_any: bool = False

    @classmethod
    def of(cls, given: Any) -> Connection:
        """From ``"plant.felt -> controller.speed"``, a pair of names, a table (`KEYS`) or a Connection.

        Raises
        ------
        ValueError
            With a sentence that says what it needs.
        """
        if isinstance(given, Connection):
            return given
        if isinstance(given, str):
            ends = [end.strip() for end in given.replace("→", ARROW).split(ARROW)]
            if len(ends) != 2 or not all(ends):
                raise ValueError(f'is "{given}", needs two names: "plant.felt {ARROW} controller.speed"')
            given = ends
        if isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 2:
            given = {"from": given[0], "to": given[1]}
        missing = [key for key in ("from", "to") if isinstance(given, Mapping) and key not in given]
        if missing:
            raise ValueError(
                f'has no "{missing[0]}": it needs from = "plant.felt" and to = "controller.speed"'
            )
        shown = (given.get("from"), given.get("to")) if isinstance(given, Mapping) else given
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in shown):
            raise ValueError(f'is {shown!r}, needs two names: ("plant.felt", "controller.speed")')
        for key in given:
            if key not in KEYS:
                raise ValueError(str(cosim.LookUpError("key", key, KEYS)))
        numbers = [given.get("factor", 1.0), given.get("offset", 0.0)]
        for key, number in zip(("factor", "offset"), numbers, strict=True):
            if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
                raise ValueError(f"{key} is {number!r}, needs a finite number")
        converts, mapping = given.get("convert", True), given.get("map", {})
        if not isinstance(converts, bool):
            raise ValueError(f"convert is {converts!r}, needs true or false: whether units are converted")
        if not isinstance(mapping, Mapping):
            raise ValueError(f"map is {mapping!r}, needs a table of values: {{ 1 = 10, 2 = 20 }}")
        factor, offset = map(float, numbers)
        return cls(given["from"], given["to"], factor, offset, converts, tuple(mapping.items()))

    @property
    def is_bus(self) -> bool:
        """Whether it stands for many connections."""
        return "*" in self.start or "*" in self.end

    def expanded(self, outputs: Iterable[str], inputs: Iterable[str]) -> list[Connection]:
        """The single connections of a bus, in the order of the outputs.

        Parameters
        ----------
        outputs, inputs : iterable of str
            Paths of all that there are.

        Raises
        ------
        ValueError
            When the pattern has not one ``*`` on each side, matches nothing, or an input is missing.
        """
        if self.start.count("*") != 1 or self.end.count("*") != 1:
            raise ValueError("a bus needs one * in each of its names: from plant.axle[*] to brakes.speed[*]")
        known = set(inputs)
        before, after = self.start.split("*")
        single = []
        for path in outputs:
            if len(path) > len(before) + len(after) and path.startswith(before) and path.endswith(after):
                end = self.end.replace("*", path[len(before) : len(path) - len(after)])
                if end not in known:
                    raise ValueError(f"{path} would go to {end}, but there is no such input")
                single.append(replace(self, start=path, end=end))
        if not single:
            raise ValueError(f"no output matches {self.start}")
        return single


UNCHECKED, ONLY_BOOLEANS, ONLY_EXACT = range(3)
"""What an input takes (`Link.check`)."""
EXACT = 2.0**53
"""From here on integers are not exact among reals."""


@dataclass(frozen=True)
class Link:
    """From an output of one participant to an input of another, or of the same one.

    Attributes
    ----------
    source, output, target, input : str
        ``source.output`` is written to ``target.input``.
    factor, offset : float
        value in the input's unit = factor * value in the output's unit + offset; the transformation of the
        connection is in it.
    kind : type
        Of the values that the input takes: float, int, bool; any other for what is passed on as it is.
    table : mapping of object to object or None
        What values of booleans, integers and enumerations become; others stay as they are. It comes before
        factor and offset.
    """

    source: str
    output: str
    target: str
    input: str
    factor: float = 1.0
    offset: float = 0.0
    kind: type = float
    table: Mapping[Any, Any] | None = field(default=None, hash=False)

    @property
    def start(self) -> tuple[str, str]:
        """Participant and output."""
        return self.source, self.output

    @property
    def end(self) -> tuple[str, str]:
        """Participant and input."""
        return self.target, self.input

    def convert(self, value: Any) -> Any:
        """The value that the input gets; what its type does not take stays a number (`fault`)."""
        if self.kind not in (float, int, bool):
            return value
        number = float(convert_value(float(value), self._pairs, self.factor, self.offset))
        if self.kind is bool and number in (0.0, 1.0):
            return bool(number)
        return int(number) if self.kind is not float and number.is_integer() else number

    @property
    def check(self) -> int:
        """What is refused beside what is not finite: `UNCHECKED`, or a rule of `fault`."""
        if self.kind is bool and self.table is not None:
            return ONLY_BOOLEANS
        return ONLY_EXACT if self.kind is int else UNCHECKED

    @cached_property
    def _pairs(self) -> NDArray[np.float64]:
        return np.array(self.pairs, dtype=np.float64)

    @property
    def pairs(self) -> list[float]:
        """Values of the table, each with what it becomes, as numbers."""
        return [float(number) for pair in (self.table or {}).items() for number in pair]

    def add_conversion(self, scales: list[float], pairs: list[float]) -> tuple[int, int]:
        """Add factor and offset, and the pairs of the table, to those of other links (`convert_value`).

        Returns
        -------
        (int, int)
            The first of its pairs, and how many there are.
        """
        first = len(pairs) // 2
        scales += self.factor, self.offset
        pairs += self.pairs
        return first, len(self.pairs) // 2

    def fault(self, value: Any) -> str:
        """Why a converted value is not passed on, as a sentence; empty when it is."""
        if isinstance(value, float) and not math.isfinite(value):
            return f"{self.output} is {value}: not passed on to {self.target}.{self.input}"
        if self.check == ONLY_EXACT and abs(value) >= EXACT:
            why = "from 2**53 on integers are not exact among reals, and are not passed on"
            return f"{self.output} becomes {value:.0f}: {why}"
        if self.check == ONLY_BOOLEANS and not isinstance(value, bool):
            end = f"{self.target}.{self.input}"
            number = int(value) if value == int(value) else value
            return f"{self.output} becomes {number}, but {end} is boolean: map it to false or true"
        return ""

    def __str__(self) -> str:
        return f"{self.source}.{self.output} → {self.target}.{self.input}"


def links_from(links: Iterable[Link]) -> Mapping[str, list[Link]]:
    """The links that begin at each participant, in their order; none for one that is not there."""
    by_source: defaultdict[str, list[Link]] = defaultdict(list)
    for link in links:
        by_source[link.source].append(link)
    return by_source


def links_into(links: Iterable[Link]) -> Mapping[str, list[Link]]:
    """The links that end at each participant, in their order; none for one that is not there."""
    by_target: defaultdict[str, list[Link]] = defaultdict(list)
    for link in links:
        by_target[link.target].append(link)
    return by_target


class InputCourse(NamedTuple):
    """What the connected inputs of a participant do over a step.

    Attributes
    ----------
    time : float
        When the step began, s.
    values : sequence
        Then, in the order of the inputs.
    slopes : sequence of float or None
        Per s; None when all are held.
    """

    time: float
    values: Sequence[Any]
    slopes: Sequence[float] | None = None

    def at(self, time: float) -> Sequence[Any]:
        """The inputs at a time of the step (s)."""
        if self.slopes is None:
            return self.values
        past = time - self.time
        return [v + s * past if s else v for v, s in zip(self.values, self.slopes, strict=True)]


End = tuple[str, ParticipantVariable]
Items = Sequence[tuple[str, int]]
KINDS: dict[str, type] = {"real": float, "integer": int, "boolean": bool, "clock": bool}
WIDENED = {("integer", "real"), ("boolean", "real"), ("boolean", "integer")}
"""Types of an output and of an input that go together without a map, though they differ."""
MAPPED = {("integer", "boolean")}
"""What needs a map to go together: not every integer is a boolean."""
BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


def make_link(
    descriptions: Mapping[str, ParticipantDescription], start: End, end: End, connection: Connection
) -> Link:
    """The link from one variable to another.

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    start, end : tuple
        Participant and variable.
    connection : Connection
        Its transformation.

    Raises
    ------
    ValueError
        Types, items of enumerations or physical units do not go together.
    """
    (source, output), (target, read) = start, end
    names = f"{source}.{output.name}", f"{target}.{read.name}"
    kinds = (output.type, read.type)
    kind = KINDS.get(read.type, object)
    if output.type != read.type and kinds not in WIDENED and not (connection.mapping and kinds in MAPPED):
        hint = ", or a map says what each value becomes" if kinds in MAPPED else ""
        raise ValueError(
            f"{names[0]} is {output.type}, {names[1]} is {read.type}: the types have to agree{hint}"
        )
    transform, shift = connection.factor, connection.offset
    if (transform, shift) != (1.0, 0.0) and read.type != "real":
        raise ValueError(f"{names[1]} is {read.type}: only real inputs take a factor and an offset")
    items = [descriptions[name].enumerations.get(variable.name) for name, variable in (start, end)]
    if connection.mapping:
        table = _table(names, (output, read), items, connection.mapping)
        return Link(source, output.name, target, read.name, transform, shift, kind, table)
    if None not in items and items[0] != items[1]:
        listed = [", ".join(f"{item} = {number}" for item, number in known or ()) for known in items]
        raise ValueError(
            f"{names[0]} is an enumeration of {listed[0]}; {names[1]} of {listed[1]}: they have to agree"
        )
    factor, offset = 1.0, 0.0
    if output.type == read.type == "real" and connection.converts:
        try:
            factor, offset = conversion_of(output.unit, descriptions[source], read.unit, descriptions[target])
        except cosim.UnitError as error:
            raise ValueError(
                f"{names[0]} [{output.unit}] cannot feed {names[1]} [{read.unit}]: {error}"
            ) from None
    scale = (factor, offset)
    if (transform, shift) != (1.0, 0.0):
        scale = (factor * transform, factor * shift + offset)
    return Link(source, output.name, target, read.name, *scale, kind)


def _table(
    names: tuple[str, str],
    variables: tuple[ParticipantVariable, ParticipantVariable],
    items: Sequence[Items | None],
    mapping: Sequence[tuple[Any, Any]],
) -> dict[Any, Any]:
    """What each value becomes, in the types of the two variables."""
    kinds = [variable.type for variable in variables]
    if kinds[0] not in ("boolean", "integer"):
        raise ValueError(f"{names[0]} is {kinds[0]}: only booleans, integers and enumerations are mapped")
    table = {
        _value(names[0], kinds[0], items[0], key): _value(names[1], kinds[1], items[1], value)
        for key, value in mapping
    }
    known = dict(items[1] or ()).values()
    wrong = next((value for value in table.values() if known and value not in known), None)
    if wrong is not None:
        raise ValueError(f"{wrong} is not an item of {names[1]}, which has {', '.join(map(str, known))}")
    return table


def _value(name: str, kind: str, items: Items | None, given: Any) -> Any:
    """A value of a map as the variable has it."""
    text = str(given).strip()
    if kind == "boolean" and text.lower() in BOOLEANS:
        return BOOLEANS[text.lower()]
    if kind == "integer" and not isinstance(given, bool):
        known = dict(items or ())
        if text in known:
            return known[text]
        try:
            return int(text)
        except ValueError:
            if known:
                raise ValueError(str(cosim.LookUpError(f"item of {name}", text, known))) from None
    if kind == "real" and isinstance(given, (int, float)) and not isinstance(given, bool):
        return float(given)
    raise ValueError(f"{given!r} is not a value of {name}, which is {kind}")
