"""One argument of a kernel function: what it means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel function.

    Attributes
    ----------
    name : str
    role : str
        "time", "side" or "smoothness" (what an update receives), "own" (a declared quantity), "derivative"
        (of a state), "next" (of a state or discrete variable), "offered" (through an attachment),
        "collected", "history", "ring", or "switch" (the parameter that turns the component off; the
        function itself does not see it).
    of : str
        Name of the declaration: the quantity itself, the state, or the attachment.
    slot : str
        For "offered": the name at the provider.
    shape : tuple of int
    effect : str
        "read", "write" or "add".
    is_free : bool
        Whether its size is that of what each instance was given; `shape` has a 0 then.
    is_table : bool
        Whether it arrives as rows by columns: it has two axes, and the function indexes it by both.
    """

    name: str
    role: str
    of: str
    slot: str
    shape: tuple[int, ...]
    effect: str
    is_free: bool = False
    is_table: bool = False

    @property
    def is_number(self) -> bool:
        """Scalars that are read arrive as numbers, everything else as a view."""
        return self.shape == () and self.effect == "read"

    @cached_property
    def size(self) -> int:
        return math.prod(self.shape)
