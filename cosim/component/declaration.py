"""One declared quantity of a component."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from cosim.stage import Stage


@dataclass(frozen=True)
class Declaration:
    """One declared quantity of a component.

    Attributes
    ----------
    kind : str
        "parameter", "position", "speed", "auxiliary", "discrete", "integer", "cache", "input",
        "output", "attachment", "collect", "history", "signal" or "option".
    shape : tuple of int
        Of a class 0 in each axis that has a free length; an instance has the real shape.
    free_length : tuple of str
        Where an axis is as long as what is given: for each axis the name of its length, empty for a fixed
        one. All that have the name are equally long; ``"name+1"`` is one longer.
    units : tuple of str
        One unit, or one for each element.
    start : object
        Default of a parameter (None: it has to be given), start value of a state or an input.
    nominal : float, optional
        Its usual magnitude, > 0, for those who scale tolerances or axes by it.
    dtype : type
        Of a parameter, discrete variable or port: float, int (a count) or bool (a switch).
    above : float, optional
        Exclusive lower bound; `minimum` is the next number that is allowed.
    diagnostic : bool
        Whether it tells how well the computation goes rather than what is computed: an FMU shows it
        only if its export names it.
    elements : tuple of str
        What each element is; empty where that is not said.
    declared_at : str
        File and line, of a parameter.
    unit_rule : str, optional
        None where `units` say the unit. Else the unit is found when a system is built: from the units of
        other quantities of the component (``"{value}/s"``), or, where this is empty, from what it is
        connected to.
    """

    kind: str
    name: str = ""
    shape: tuple[int, ...] = ()
    units: tuple[str, ...] = ("1",)
    start: Any = None
    minimum: float | None = None
    maximum: float | None = None
    convert: Callable[[Any], Any] | None = None
    description: str = ""
    invalidates: Stage | str = Stage.TIME
    accumulates: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    free_length: tuple[str, ...] = ()
    nominal: float | None = None
    unit_rule: str | None = None
    dtype: type = float
    above: float | None = None
    diagnostic: bool = False
    elements: tuple[str, ...] = ()
    declared_at: str = field(default="", compare=False, repr=False)

    @cached_property
    def size(self) -> int:
        """Number of scalars."""
        return math.prod(self.shape)

    def unit(self, index: int = 0) -> str:
        """The unit of one element."""
        return self.units[index] if len(self.units) > 1 else self.units[0]

    def named(self, name: str) -> Declaration:
        """A copy of the declaration with a name."""
        return replace(self, name=name)
