"""Variables: what of a system people can name."""

from __future__ import annotations

from typing import NamedTuple

from cosim.stage import Stage
from cosim.system.schedule import Slot


class Variable(NamedTuple):
    """A named quantity of a system.

    Attributes
    ----------
    path : str
        ``"mount_left.stiffness"``; elements are ``path[i]``, counted from 0.
    kind : str
        "parameter", "position", "speed", "auxiliary", "discrete", "integer", "signal", "input",
        "output", "measure" or "cache".
    slot : Slot
        Where it lies in the State.
    shape : tuple of int
    units : tuple of str
    stage : Stage
        At which it can be read; for a variable that can be written, the stage that a write invalidates.
    start : tuple of float
        Value in the default State; empty for what is computed.
    minimum, maximum : float or None
    description : str
    nominal : float or None
        Its usual magnitude.
    dtype : type
        float, int (a count) or bool (a switch).
    diagnostic : bool
        Whether it tells how well the computation goes rather than what is computed.
    words : tuple of str
        What its numbers, from 1, stand for; empty where they are numbers.
    elements : tuple of str
        What each element is; empty where that is not said.
    """

    path: str
    kind: str
    slot: Slot
    shape: tuple[int, ...]
    units: tuple[str, ...]
    stage: Stage
    start: tuple[float, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    description: str = ""
    nominal: float | None = None
    dtype: type = float
    diagnostic: bool = False
    words: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()

    def unit(self, index: int = 0) -> str:
        """Unit of one element."""
        return self.units[index] if len(self.units) > 1 else self.units[0]
