"""What the functions of a version of FMI are called and take, and what is wrong with a call."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import POINTER, c_double, c_int, c_size_t, c_uint, c_void_p
from dataclasses import dataclass
from typing import Any

STATUS = ("ok", "warning", "discard", "error", "fatal", "pending")
OK, WARNING, DISCARD, ERROR, FATAL, PENDING = range(6)


class FmiError(Exception):
    """A call that failed, was not allowed, or is missing in the library.

    Attributes
    ----------
    function : str
        Name of the C function, "" where none is meant.
    status : int or None
        What it returned.
    """

    def __init__(self, text: str, function: str = "", status: int | None = None) -> None:
        self.function, self.status = function, status
        super().__init__(text)

    @classmethod
    def of_status(cls, function: str, status: int) -> FmiError:
        """The function returned a status that is worse than a warning."""
        if status == PENDING:
            text = "returned pending, but asynchronous steps are not supported"
        else:
            text = f"failed with status {STATUS[status] if 0 <= status < len(STATUS) else status}"
        return cls(text, function, status)


def is_fatal(error: BaseException | None) -> bool:
    """Whether a call answered *fatal*: no instance of the FMU in this process is to be trusted any more."""
    while error is not None and not (isinstance(error, FmiError) and error.status == FATAL):
        error = error.__cause__
    return error is not None


class MissingFunctionError(FmiError):
    """The library does not export a function."""

    def __init__(self, function: str) -> None:
        super().__init__("the library does not export this function", function)


class CallOrderError(FmiError):
    """The standard does not allow the call in the mode that the instance is in."""

    def __init__(self, function: str, mode: str) -> None:
        super().__init__(f"is not allowed while the instance is {mode}", function)


Signature = tuple[Any, tuple[Any, ...]]


def accesses(c_types: Mapping[str, Any], *more: Any) -> dict[str, Signature]:
    """The functions that read and write variables, one of each for each type.

    Parameters
    ----------
    c_types : mapping of str to ctypes type
        `Enumeration` has no functions of its own.
    *more
        Arguments behind the values.
    """
    return {
        f"{verb}{kind}": (c_int, (c_void_p, POINTER(c_uint), c_size_t, POINTER(c_type), *more))
        for verb in ("Get", "Set")
        for kind, c_type in c_types.items()
        if kind != "Enumeration"
    }


def plain(*names: str) -> dict[str, Signature]:
    """Functions that take the instance alone."""
    return dict.fromkeys(names, (c_int, (c_void_p,)))


def vectors(*names: str) -> dict[str, Signature]:
    """Functions that take, or fill, an array of doubles."""
    return dict.fromkeys(names, (c_int, (c_void_p, POINTER(c_double), c_size_t)))


@dataclass(frozen=True)
class FunctionTable:
    """The functions of one version.

    Attributes
    ----------
    version : str
        "1.0", "2.0" or "3.0".
    prefix : str
        Of the names of functions: "fmi2".
    signatures : mapping of str to tuple
        For each name, without its prefix: the ctypes result, and those of the arguments.
    needed : mapping of str to tuple of str
        For each interface ("CoSimulation", "ModelExchange") what no library may lack.
    with_identifier : bool
        Whether the model identifier stands before each name in the library, as in FMI 1.0.
    """

    version: str
    prefix: str
    signatures: Mapping[str, Signature]
    needed: Mapping[str, tuple[str, ...]]
    with_identifier: bool = False

    def symbol(self, name: str, identifier: str) -> str:
        """What a function is called in a library."""
        return f"{identifier}_{self.prefix}{name}" if self.with_identifier else self.prefix + name
