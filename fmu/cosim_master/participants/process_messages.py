"""What goes from one process to another, and errors on their way.

`Connection.send` hands a view of a buffer on. Where it raises, the traceback keeps that view, and the
search for garbage then meets a fault of CPython (github.com/python/cpython/issues/111049 and 111331):
3.12.0 and 3.12.1 crash, others complain on standard error. Bytes have no such views.
"""

from __future__ import annotations

import pickle
from typing import Any

import cosim
from cosim_master.coupling.errors import StepDiscardedError, StopRequested


def send(connection: Any, value: Any) -> None:
    """Plain data, for `receive`."""
    connection.send_bytes(pickle.dumps(value))


def receive(connection: Any) -> Any:
    """What the process at the other end, which is one of ours, has sent."""
    return pickle.loads(connection.recv_bytes())


def portable(error: Exception) -> tuple[Any, ...]:
    """An error as plain data, for `restored`."""
    if isinstance(error, StopRequested):
        return "stop", error.time, error.reason
    if isinstance(error, cosim.FmuError):
        head = f"{error.fmu}: {error.function + ': ' if error.function else ''}"
        kind = "discarded" if isinstance(error, StepDiscardedError) else "fmu"
        return kind, error.fmu, str(error).removeprefix(head), error.function
    return "other", str(error) if isinstance(error, cosim.CosimError) else f"{type(error).__name__}: {error}"


def restored(data: tuple[Any, ...]) -> cosim.CosimError:
    """The error again.

    Examples
    --------
    >>> str(restored(portable(cosim.FmuError("a.fmu", "ran dry", "fmi2DoStep"))))
    'a.fmu: fmi2DoStep: ran dry'
    """
    kind, *values = data
    kinds: dict[str, Any] = {
        **{"stop": StopRequested, "discarded": StepDiscardedError},
        **{"fmu": cosim.FmuError, "other": cosim.CosimError},
    }
    made: cosim.CosimError = kinds[kind](*values)
    return made
