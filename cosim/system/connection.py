"""Connection: from a signal of a model to an input, with a linear transformation."""

from __future__ import annotations

import math
from typing import NamedTuple

from cosim.errors import UnitError
from cosim.units import parse_quantity, unit_of_quantity
from cosim.value_text import quote


class Connection(NamedTuple):
    """A connection from a signal to an input, with a linear transformation.

    The input gets ``factor * signal + offset``, converted to its unit.

    Attributes
    ----------
    source, target : str
        Paths.
    factor : float or str
        A number, or one with a unit: ``"40 N/m"`` makes a force of a length.
    offset : float or str
        In the unit of ``factor * signal``, or with a unit that can be converted to it.
    """

    source: str
    target: str
    factor: float | str = 1.0
    offset: float | str = 0.0

    @property
    def factor_unit(self) -> str:
        """The unit of the factor."""
        return (unit_of_quantity(self.factor) if isinstance(self.factor, str) else "") or "1"

    def numbers(self, unit: str) -> tuple[float, float]:
        """Factor in its own unit, offset in the unit of factor times signal."""
        return parse_quantity(self.factor, self.factor_unit), parse_quantity(self.offset, unit)

    @property
    def fault(self) -> str:
        """The fault of factor or offset; "" if there is none."""
        for name, value in (("factor", self.factor), ("offset", self.offset)):
            if isinstance(value, bool) or not isinstance(value, (int, float, str)):
                return f"{name} is {quote(value)}, needs a number, or a number with a unit such as '40 N/m'"
            try:
                unit = unit_of_quantity(value) if isinstance(value, str) else ""
                if not math.isfinite(parse_quantity(value, unit or "1")):
                    return f"{name} is {quote(value)}, needs a finite number"
            except UnitError as error:
                return f"{name}: {error}"
        return ""
