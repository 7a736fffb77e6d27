"""What extrapolation continues, in words, and which orders there are."""

from __future__ import annotations

import cosim

HIGHEST_ORDER = 2


def check_order(order: int) -> None:
    """Refuse another degree of the polynomial than 0 to 2.

    Raises
    ------
    ModelError
    """
    if isinstance(order, bool) or order not in range(HIGHEST_ORDER + 1):
        raise cosim.ModelError.of("extrapolation", f"is {order!r}, needs 0, 1 or 2")


def continued(order: int) -> str:
    """What is continued, in words."""
    name = {1: "line", 2: "parabola"}.get(order, "value")
    return f"the {name} through the values at the last {order + 1} communication points, continued"
