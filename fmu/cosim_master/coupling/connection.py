"""A connection as a user writes it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cosim

KEYS = ("from", "to", "factor", "offset", "convert", "map")
ARROW = "->"
TWO_NAMES = 'needs two names: ("plant.felt", "controller.speed")'
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
        Values of a boolean, an integer or an enumeration with their replacements, before factor and offset;
        values without one are passed on. Items of enumerations may be written by name. An integer can feed a
        boolean only with a map.
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
    def of(cls, written: Any) -> Connection:
        """The connection that ``"plant.felt -> controller.speed"``, a pair or a table (`KEYS`) describes.

        Raises
        ------
        ValueError
            With a sentence that says what it needs.
        """
        if isinstance(written, Connection):
            return written
        if isinstance(written, str):
            return cls(*_ends_of_text(written))
        if isinstance(written, Mapping):
            return cls._of_table(written)
        if not isinstance(written, Sequence) or len(written) != 2:
            raise ValueError(f"is {written!r}, {TWO_NAMES}")
        start, end = written
        return cls._of_table({"from": start, "to": end})

    @classmethod
    def _of_table(cls, table: Mapping[str, Any]) -> Connection:
        for key in ("from", "to"):
            if key not in table:
                raise ValueError(f'has no "{key}": it needs from = "plant.felt" and to = "controller.speed"')
        start, end = table["from"], table["to"]
        if not isinstance(start, str) or not isinstance(end, str):
            raise ValueError(f"is {(start, end)!r}, {TWO_NAMES}")
        for key in table:
            if key not in KEYS:
                raise ValueError(str(cosim.LookUpError("key", key, KEYS)))
        factor, offset = _finite_number(table, "factor", 1.0), _finite_number(table, "offset", 0.0)
        converts, mapping = table.get("convert", True), table.get("map", {})
        if not isinstance(converts, bool):
            raise ValueError(f"convert is {converts!r}, needs true or false: whether units are converted")
        if not isinstance(mapping, Mapping):
            raise ValueError(f"map is {mapping!r}, needs a table of values: {{ 1 = 10, 2 = 20 }}")
        return cls(start, end, factor, offset, converts, tuple(mapping.items()))

    @property
    def is_bus(self) -> bool:
        """Whether it is the pattern of many connections."""
        return "*" in self.start or "*" in self.end

    def expanded(self, outputs: Iterable[str], inputs: Iterable[str]) -> list[Connection]:
        """The single connections of a bus, in the order of the outputs.

        Parameters
        ----------
        outputs, inputs : iterable of str
            Paths of all outputs and inputs of the coupling.

        Raises
        ------
        ValueError
            When the pattern has not one ``*`` on each side, matches nothing, or an input is missing.
        """
        if self.start.count("*") != 1 or self.end.count("*") != 1:
            raise ValueError("a bus needs one * in each of its names: from plant.axle[*] to brakes.speed[*]")
        known_inputs = set(inputs)
        before, after = self.start.split("*")
        single = []
        for path in outputs:
            if len(path) > len(before) + len(after) and path.startswith(before) and path.endswith(after):
                end = self.end.replace("*", path[len(before) : len(path) - len(after)])
                if end not in known_inputs:
                    raise ValueError(f"{path} would go to {end}, but there is no such input")
                single.append(replace(self, start=path, end=end))
        if not single:
            raise ValueError(f"no output matches {self.start}")
        return single


def _ends_of_text(text: str) -> tuple[str, str]:
    """The two names of ``"plant.felt -> controller.speed"``; the arrow may be → as well."""
    names = [name.strip() for name in text.replace("→", ARROW).split(ARROW)]
    if len(names) != 2 or not all(names):
        raise ValueError(f'is "{text}", needs two names: "plant.felt {ARROW} controller.speed"')
    start, end = names
    return start, end


def _finite_number(table: Mapping[str, Any], key: str, default: float) -> float:
    number = table.get(key, default)
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
        raise ValueError(f"{key} is {number!r}, needs a finite number")
    return float(number)
