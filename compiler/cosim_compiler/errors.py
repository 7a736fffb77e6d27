"""The errors that stand lowest: `cosim` raises them as its own."""

from __future__ import annotations

from typing import ClassVar


class CosimError(Exception):
    """Base of every error that cosim raises on purpose."""


class ContractError(CosimError, TypeError):
    """A class or a function does not fulfil the contract that it claims (found when the class is made)."""


class LanesDisagreeError(CosimError):
    """What is done next differs between directions that are computed side by side."""


class FullTapeError(CosimError):
    """A tape on which a function is recorded for its adjoint has no more room."""


class NumberedError(Exception):
    """An exception that every compiled function knows by its number, and that kernel functions may catch.

    Subclasses that are raised give `number`, each another one; it is what compiled code answers.

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
                    f"{cls.__qualname__}: {registered.__qualname__} has the number {cls.number}"
                )


NUMBERED = 1 << 30
"""A status of compiled code that is larger is this and the number of a `NumberedError`."""
