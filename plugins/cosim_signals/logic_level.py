"""The truth of a signal: more than one half."""

from __future__ import annotations

TRUE_ABOVE = 0.5
CERTAIN = 0.25


def is_true(signal: float) -> int:
    """1 for a signal above one half, else 0.

    >>> is_true(1.0), is_true(0.0)
    (1, 0)
    """
    return 1 if signal > TRUE_ABOVE else 0


def logic_level(signal: float, before: int) -> int:
    """Whether a signal is true, 1 or 0; near one half what it was at the last event.

    A signal that passes one half smoothly changes at an event, so that nothing jumps inside a step. One that
    jumps, from 0 to 1, counts at once: witnesses do not see what others do at the same instant.

    >>> logic_level(1.0, 0), logic_level(0.51, 0), logic_level(0.51, 1), logic_level(0.0, 1)
    (1, 0, 1, 0)
    """
    return before if abs(signal - TRUE_ABOVE) < CERTAIN else is_true(signal)
