"""Why an event happens, after Simbody's ``Event::Cause``."""

from __future__ import annotations

from enum import EnumMeta, IntEnum
from typing import Any


class _DefaultsToInvalid(EnumMeta):
    """Lets ``EventCause()`` be the invalid cause, as the default constructor of the original is."""

    def __call__(cls, value: Any = -1, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(value, *args, **kwargs)


class EventCause(IntEnum, metaclass=_DefaultsToInvalid):
    """All possible causes of events, in the order in which simultaneous ones are handled.

    ``int(cause)`` gives the number, ``EventCause(2)`` the cause, ``EventCause()`` the invalid one.

    References
    ----------
    Simbody 3.3 API documentation, class ``SimTK::Event::Cause``.

    Examples
    --------
    >>> EventCause().is_valid, EventCause.TRIGGERED.is_valid, int(EventCause.SIGNALED)
    (False, True, 5)
    """

    INITIALIZATION = 1
    TRIGGERED = 2
    SCHEDULED = 3
    TIME_ADVANCED = 4
    SIGNALED = 5
    TERMINATION = 6
    INVALID = -1

    @property
    def is_valid(self) -> bool:
        """Whether this is one of the six real causes."""
        return self is not EventCause.INVALID
