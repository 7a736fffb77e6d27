"""A connection as it is asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cosim

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
        Whether it may begin at a variable that is no output: a local, a constant.
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
        found = []
        for path in outputs:
            if len(path) > len(before) + len(after) and path.startswith(before) and path.endswith(after):
                end = self.end.replace("*", path[len(before) : len(path) - len(after)])
                if end not in known:
                    raise ValueError(f"{path} would go to {end}, but there is no such input")
                found.append(replace(self, start=path, end=end))
        if not found:
            raise ValueError(f"no output matches {self.start}")
        return found
