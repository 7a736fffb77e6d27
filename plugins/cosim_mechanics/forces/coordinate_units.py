"""Text with a unit for quantities of a coordinate, which may be an angle or a length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cosim


def angle_or_length(rotation: str, translation: str) -> Callable[[Any], Any]:
    """A converter that takes text in either unit; numbers are SI of whatever the coordinate is.

    Parameters
    ----------
    rotation, translation : str
        What the quantity is for an angle and for a length.

    Examples
    --------
    >>> convert = angle_or_length("rad", "m")
    >>> convert("30 cm"), round(convert("180 deg"), 6), convert(0.2)
    (0.3, 3.141593, 0.2)
    """

    def convert(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return cosim.parse_quantity(value, translation)
        except cosim.UnitError:
            return cosim.parse_quantity(value, rotation)

    return convert
