"""A scalar variable of an exported FMU."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, fields
from typing import Any

import cosim


def smallest_accepted(
    system: cosim.System, start: cosim.State, path: str, offset: int, minimum: float
) -> float | None:
    """The number above its declared minimum, where a check refuses a parameter that is the minimum itself.

    The check may allow the minimum in other models: a delay of 0 where the part was added with it. All other
    parameters are as they start, so what depends on them as well (one end of a range) shows nothing here.

    Parameters
    ----------
    system, start : System, State
    path : str
        The path of the scalar.
    offset : int
        Its place in `p`.
    minimum : float
    """
    looked_at = any(offset in slot.elements for check in system.checks for slot in check.reads)
    if not looked_at or _is_taken(start, path, minimum):
        return None
    above = sys.float_info.min if minimum == 0.0 else math.nextafter(minimum, math.inf)
    return above if _is_taken(start, path, above) else None


def _is_taken(start: cosim.State, path: str, value: float) -> bool:
    trial = start.copy()
    trial[path] = value
    try:
        trial.realize(cosim.Stage.INSTANCE)
    except cosim.SimulationError:
        return False
    return True


ONLY_DESCRIBED = (
    *("dependencies", "initial_dependencies", "derivative_of", "display_unit", "description"),
    *("reinit", "depends_on_time", "initially_on_time", "smallest"),
)


@dataclass(frozen=True)
class FmuVariable:
    """A scalar that the model description declares, and where it lies in the State.

    Attributes
    ----------
    name : str
        Structured name; elements count from 1: ``strut_left.stiffness[4]``.
    path : str
        Its path in the system; elements count from 0: ``strut_left.stiffness[3]``.
    array : str
        "y", "p", "d", "k" or "c": the State's array that a value is read from.
    offset : int
        Place in that array.
    stage : int
        The stage that the State has to be realized to before a value is read.
    type : str
        "Real", "Integer", "Boolean", "Enumeration" or "String".
    causality : str
        "input", "output", "parameter" or "local".
    variability : str
        "continuous", "discrete", "tunable" or "fixed" (until the initialization is over).
    initial : str
        "exact" or "calculated"; empty for inputs, for which the standard fixes it.
    unit : str
        Modelica unit expression; "1" for none.
    start : float, int, bool, str or None
    minimum, maximum : float or None
        As they are declared.
    smallest : float or None
        The smallest value that is taken, where a check of its class refuses `minimum` itself.
    description : str
    display_unit : str
        The unit for display; empty if it is the unit itself.
    dependencies : tuple of str
        Names of the variables that it depends on at the same instant (of outputs and derivatives).
    initial_dependencies : tuple of str
        Names of what it depends on when the simulation is initialized (of the same).
    depends_on_time, initially_on_time : bool
        Whether it depends on the time at once, and when the simulation is initialized (of the same).
    derivative_of : str
        Name of the continuous state whose derivative it is, empty for others.
    angle : int or None
        Of an angle of a frame, whose twelve numbers begin at `offset`: which (0, 1, 2).
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
        """A local number of the cache, which is valid after the derivatives."""
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
        """Whether the FMU takes a value for it at some time."""
        return self.causality in ("input", "parameter") or self.initial == "exact"

    def to_dict(self) -> dict[str, Any]:
        """The arguments of the constructor that an instance needs, without defaults."""
        rows = {
            f.name: (getattr(self, f.name), f.default) for f in fields(self) if f.name not in ONLY_DESCRIBED
        }
        return {name: value for name, (value, default) in rows.items() if value != default}
