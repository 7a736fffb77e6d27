"""Errors as plain data, which go from one process to another."""

from __future__ import annotations

from typing import Any

import cosim
from cosim_master.coupling.errors import StepDiscardedError, StopRequested


def portable(error: Exception) -> list[Any]:
    """An error as plain data, for `restored`."""
    if isinstance(error, StopRequested):
        return ["stop", error.time, error.reason]
    if isinstance(error, cosim.FmuError):
        head = f"{error.fmu}: {error.function + ': ' if error.function else ''}"
        kind = "discarded" if isinstance(error, StepDiscardedError) else "fmu"
        return [kind, error.fmu, str(error).removeprefix(head), error.function]
    return [
        "other",
        str(error) if isinstance(error, cosim.CosimError) else f"{type(error).__name__}: {error}",
    ]


def restored(data: list[Any]) -> cosim.CosimError:
    """The error that `portable` made plain.

    Examples
    --------
    >>> str(restored(portable(cosim.FmuError("a.fmu", "ran dry", "fmi2DoStep"))))
    'a.fmu: fmi2DoStep: ran dry'
    """
    kind, *values = data
    kinds: dict[str, Any] = {
        "stop": StopRequested,
        "discarded": StepDiscardedError,
        "fmu": cosim.FmuError,
        "other": cosim.CosimError,
    }
    error: cosim.CosimError = kinds[kind](*values)
    return error
