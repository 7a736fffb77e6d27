"""The text of a tangent or of an adjoint, with what the names in it stand for."""

from __future__ import annotations

import math
import types
from typing import Any, NamedTuple

from cosim_compiler.record import rows_of
from cosim_compiler.sources.run_source import run_source
from cosim_compiler.tables import agreed, as_table, in_lanes, zeros, zeros_in_lanes

COMMON_NAMES = {
    "math": math, "rows_of": rows_of, "as_table": as_table, "zeros": zeros, "agreed": agreed,
    "in_lanes": in_lanes, "zeros_in_lanes": zeros_in_lanes, "__name__": "cosim_compiler.derivatives",
}  # fmt: skip
"""The values of names that each text may use."""

SignedFunction = tuple[types.FunctionType, str]
"""A function and its signature."""


class DerivativeText(NamedTuple):
    """A text that defines functions.

    Attributes
    ----------
    text : str
    values : dict of str to object
        The values of the names in it, besides `COMMON_NAMES`.
    signatures : dict of str to str
        By its name in the text: the signature of each function that callers use.
    """

    text: str
    values: dict[str, Any]
    signatures: dict[str, str]

    def functions(self, source: types.FunctionType, kind: str) -> list[SignedFunction]:
        """The functions, ready to run: the "tangent" or "adjoint" (`kind`) of the function `source`."""
        space = run_source(self.text, {**COMMON_NAMES, **self.values}, f"{kind} of {source.__qualname__}")
        for name in self.signatures:
            space[name].__qualname__ = space[name].__name__ = f"{source.__name__}_{name}"
            space[name].__dict__["__text__"] = self.text
        return [(space[name], signature) for name, signature in self.signatures.items()]
