"""Errors of the compiler, which `cosim` raises too, and exceptions that kernel functions may raise."""

from __future__ import annotations

from typing import ClassVar


class CosimError(Exception):
    """Base of every error that cosim raises on purpose."""


class ContractError(CosimError, TypeError):
    """A class or a function does not fulfil the contract that it claims (found when the class is made)."""


class LanesDisagreeError(CosimError):
    """A branch goes different ways for directions that are computed side by side."""


class NoTangentError(Exception):
    """A function has no tangent that can be followed; the text says why and where."""


class FullTapeError(CosimError):
    """A tape on which a function is recorded for its adjoint has no more room."""


class NumberedError(Exception):
    """An exception that kernel functions may raise and catch: compiled code returns its number as a status.

    Each subclass that is raised gives a `number` of its own.

    Attributes
    ----------
    number : int
        Of the class.
    numbered : dict of int to type
        All classes that have given a number.

    Examples
    --------
    >>> class Overfull(NumberedError):
    ...     number = 1_000_001
    >>> NumberedError.numbered[1_000_001].__name__
    'Overfull'
    """

    number: ClassVar[int] = 0
    numbered: ClassVar[dict[int, type[NumberedError]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "number" in cls.__dict__:
            registered = NumberedError.numbered.setdefault(cls.number, cls)
            if (registered.__module__, registered.__qualname__) != (cls.__module__, cls.__qualname__):
                raise ContractError(
                    f"{cls.__qualname__}: {registered.__qualname__} has the number {cls.number}; give another"
                )


NUMBERED = 1 << 30
"""Added to the number of a `NumberedError`, so that its status differs from those of single functions."""
