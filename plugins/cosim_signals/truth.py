"""What is true in a signal: more than one half."""

from __future__ import annotations

TRUE_ABOVE = 0.5


def is_true(signal: float) -> int:
    """1 for a signal above one half, else 0.

    >>> is_true(1.0), is_true(0.0)
    (1, 0)
    """
    return 1 if signal > TRUE_ABOVE else 0
