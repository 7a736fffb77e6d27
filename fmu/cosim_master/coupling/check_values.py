"""Checks that values of participants have the types of their variables."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

import cosim
from cosim.kit import ParticipantDescription

PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "real": (Real,),
    "integer": (Integral,),
    "boolean": (bool, np.bool_, int),
    "clock": (bool, np.bool_, int),
    "string": (str,),
    "binary": (bytes, bytearray),
}


def check_values(description: ParticipantDescription, names: Sequence[str], values: Sequence[Any]) -> None:
    """Refuse a value that is not of the type of its variable.

    Raises
    ------
    CosimError
        With a sentence.
    """
    for name, value in zip(names, values, strict=True):
        kind = description.variables[name].type
        if not isinstance(value, PYTHON_TYPES[kind]):
            raise cosim.CosimError(f"get returned {value!r:.80} for {name}, declared as {kind}")
