"""A scalar variable of an exported FMU."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import cosim

ONLY_DESCRIBED = (
    *("dependencies", "initial_dependencies", "derivative_of", "display_unit", "description"),
    *("reinit", "depends_on_time", "initially_on_time", "smallest"),
)
"""Attributes that only the model description needs."""


@dataclass(frozen=True)
class FmuVariable:
    """A scalar that the model description declares, and its place in the State.

    Attributes
    ----------
    name : str
        Structured name; elements count from 1: ``strut_left.stiffness[4]``.
    path : str
        Its path in the system; elements count from 0: ``strut_left.stiffness[3]``.
    array : str
        "y", "p", "d", "k" or "c": the array of the State that holds the value.
    offset : int
        Place in that array.
    stage : int
        The stage to which the State must be realized before a value is read.
    type : str
        "Real", "Integer", "Boolean", "Enumeration" or "String".
    causality : str
        "input", "output", "parameter" or "local".
    variability : str
        "continuous", "discrete", "tunable" or "fixed" (after the initialization).
    initial : str
        "exact" or "calculated"; empty for inputs, which the standard treats as "exact".
    unit : str
        Modelica unit expression; "1" for none.
    start : float, int, bool, str or None
    minimum, maximum : float or None
        The declared bounds.
    smallest : float or None
        The smallest accepted value, if a check of its class refuses `minimum` itself.
    description : str
    display_unit : str
        The unit for display; empty if it is the unit itself.
    dependencies : tuple of str
        For outputs and derivatives: names of the variables on which it depends at the same instant.
    initial_dependencies : tuple of str
        For outputs and derivatives: names of the variables on which its initial value depends.
    depends_on_time, initially_on_time : bool
        For outputs and derivatives: whether it, and its initial value, depend on the time directly.
    derivative_of : str
        Name of the continuous state whose derivative it is, empty for others.
    angle : int or None
        For an angle of a frame, whose twelve numbers begin at `offset`: its index (0, 1, 2).
    nominal : float or None
        Its usual magnitude.
    reinit : bool
        Whether it is a continuous state that an event may set.
    items : tuple of str
        The meanings of the numbers, from 1, of an enumeration or of text.
    """

    name: str
    path: str
    array: str
    offset: int
    stage: int
    type: str
    causality: str
    variability: str
    initial: str
    unit: str = "1"
    start: float | int | bool | str | None = None
    minimum: float | None = None
    maximum: float | None = None
    smallest: float | None = None
    description: str = ""
    display_unit: str = ""
    dependencies: tuple[str, ...] = ()
    initial_dependencies: tuple[str, ...] = ()
    derivative_of: str = ""
    nominal: float | None = None
    reinit: bool = False
    depends_on_time: bool = False
    initially_on_time: bool = False
    angle: int | None = None
    items: tuple[str, ...] = ()

    @classmethod
    def computed(cls, name: str, path: str, offset: int, **more: Any) -> FmuVariable:
        """A local real variable in the cache, which is valid once the derivatives are computed."""
        stage = int(cosim.Stage.ACCELERATION)
        return cls(name, path, "c", offset, stage, "Real", "local", "continuous", "calculated", **more)

    @property
    def lower_bound(self) -> float | None:
        """The bound in the model description."""
        return self.minimum if self.smallest is None else self.smallest

    def text(self, number: float) -> str:
        """The text of a number of an enumeration."""
        return self.items[int(number) - 1] if 1 <= number <= len(self.items) else ""

    @property
    def is_settable(self) -> bool:
        """Whether the host can set it, at least before the initialization."""
        return self.causality in ("input", "parameter") or self.initial == "exact"

    def to_dict(self) -> dict[str, Any]:
        """The arguments of the constructor that an instance needs, without those that have their default."""
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name not in ONLY_DESCRIBED and getattr(self, f.name) != f.default
        }
