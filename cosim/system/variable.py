"""Variable: a quantity of a system that has a name."""

from __future__ import annotations

from typing import NamedTuple

from cosim.component.declaration import Declaration
from cosim.component.read_numbers import choices_of
from cosim.stage import Stage
from cosim.system.blocks import Slot

ALIAS = Declaration("cache")
"""The declaration of a variable that is a name for one element of another; it declares nothing itself."""


class Variable(NamedTuple):
    """A named quantity of a system.

    What all variables of one declaration have in common is read from that: large systems have many.

    Attributes
    ----------
    path : str
        ``"mount_left.stiffness"``; elements are ``path[i]``, counted from 0.
    kind : str
        "parameter", "position", "speed", "auxiliary", "discrete", "integer", "signal", "input",
        "output", "measure" or "cache".
    slot : Slot
        Where it lies in the State.
    units : tuple of str
    stage : Stage
        At which it can be read; for a variable that can be written, the stage that a write invalidates.
    start : tuple of float
        Value in the default State; empty for what is computed.
    description : str
    declaration : Declaration
    """

    path: str
    kind: str
    slot: Slot
    units: tuple[str, ...]
    stage: Stage
    start: tuple[float, ...] = ()
    description: str = ""
    declaration: Declaration = ALIAS

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the values."""
        return self.declaration.shape

    @property
    def minimum(self) -> float | None:
        """Lower bound."""
        return self.declaration.minimum

    @property
    def maximum(self) -> float | None:
        """Upper bound."""
        return self.declaration.maximum

    @property
    def nominal(self) -> float | None:
        """The usual magnitude of the values."""
        return self.declaration.nominal

    @property
    def dtype(self) -> type:
        """float, int (a count) or bool (a switch)."""
        declared = self.declaration.dtype
        return int if self.kind == "integer" and declared is float else declared

    @property
    def diagnostic(self) -> bool:
        """Whether it shows how well the computation goes rather than what is computed."""
        return self.declaration.diagnostic

    @property
    def words(self) -> tuple[str, ...]:
        """The texts that the numbers from 1 on stand for; empty for numbers."""
        return choices_of(self.declaration)

    @property
    def is_text(self) -> bool:
        """Whether its words are text of any kind, and not the items of an enumeration."""
        return bool(self.declaration.options.get("text"))

    @property
    def elements(self) -> tuple[str, ...]:
        """The names of the elements; empty if they have none."""
        return self.declaration.elements

    def unit(self, index: int = 0) -> str:
        """Unit of one element."""
        return self.units[index] if len(self.units) > 1 else self.units[0]
