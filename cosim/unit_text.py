"""Units made from other units, as text that people read."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from cosim.unit import Unit
from cosim.units import parse_unit

_READABLE = (
    "m", "s", "kg", "A", "K", "rad", "N", "N.m", "N.m/rad", "N/m", "N.s/m", "N.m.s/rad", "m/s", "m/s2",
    "m/s3", "m2", "m3", "rad/s", "rad/s2", "W", "Pa", "V", "C", "Ohm", "kg.m2", "1/s", "1/s2", "1/m", "N/s",
    "N.m/s", "1",
)  # fmt: skip


@functools.lru_cache(maxsize=4096)
def unit_product(above: tuple[str, ...], below: tuple[str, ...] = ()) -> str:
    """The unit of a product and quotient of quantities.

    Parameters
    ----------
    above, below : tuple of str
        Unit expressions in the numerator and in the denominator.

    Examples
    --------
    >>> unit_product(("N/m", "m")), unit_product(("N",), ("m", "s")), unit_product(("kN",), ("mm",))
    ('N', 'N/(m.s)', 'kN/mm')
    """
    remaining = [unit for unit in above if unit != "1"]
    divisors = []
    for unit in below:
        if unit in remaining:
            remaining.remove(unit)
        elif unit != "1":
            divisors.append(unit)
    if len(remaining) == 1 and not divisors:
        return remaining[0]
    text = _joined(remaining) or "1"
    if divisors:
        divisor = _joined(divisors)
        text += f"/({divisor})" if "." in divisor else f"/{divisor}"
    product = parse_unit(text)
    return _readable().get((product.exponents, product.factor, product.cycles), text)


@functools.lru_cache(maxsize=4096)
def coherent(unit: str) -> str:
    """The unit of the same quantity in which plain numbers are: without prefixes, zero points and the like.

    Examples
    --------
    >>> coherent("kN"), coherent("N/mm"), coherent("degC"), coherent("N.m/rad"), coherent("rpm")
    ('N', 'N/m', 'K', 'N.m/rad', 'rad/s')
    """
    parsed = parse_unit(unit)
    if (parsed.factor, parsed.offset) == (1.0, 0.0) or parsed.cycles:
        return unit
    return _readable().get((parsed.exponents, 1.0, 0), parsed.base)


def _joined(units: Sequence[str]) -> str:
    return ".".join(f"({unit})" if "/" in unit else unit for unit in units)


@functools.cache
def _readable() -> dict[tuple[tuple[int, ...], float, int], str]:
    texts: dict[tuple[tuple[int, ...], float, int], str] = {}
    for text in _READABLE:
        unit: Unit = parse_unit(text)
        texts.setdefault((unit.exponents, unit.factor, unit.cycles), text)
    return texts
