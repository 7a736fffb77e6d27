"""A physical unit that has been read."""

from __future__ import annotations

from dataclasses import dataclass, field

BASE_UNITS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


@dataclass(frozen=True)
class Unit:
    """A unit in terms of the base units of FMI: ``number_in_base = factor * number + offset``.

    Attributes
    ----------
    text : str
        As it was written; not part of the comparison: ``J`` equals ``N.m``.
    exponents : tuple of 8 int
        Of kg, m, s, A, K, mol, cd, rad, in this order, as FMI's ``BaseUnit`` has them; where a root was taken
        fractions, which FMI has not.
    factor, offset : float
    cycles : int
        How often Hz is in it: what is counted in cycles is not what is counted in radians.

    References
    ----------
    FMI 3.0.1, section 2.4.3 (definition of units).
    """

    text: str = field(compare=False)
    exponents: tuple[int, ...]
    factor: float
    offset: float = 0.0
    cycles: int = 0

    def is_compatible(self, other: Unit) -> bool:
        """Whether numbers in the two units can be converted into each other.

        An angle counts as a plain number (``N.m`` and ``N.m/rad`` are compatible), but Hz and rad/s,
        which differ by 2π, are not.
        """
        if self.exponents[:7] != other.exponents[:7]:
            return False
        return self.cycles == other.cycles or self.exponents == other.exponents

    @property
    def base(self) -> str:
        """The unit of the same quantity that is made of base units alone: ``kg.m2/s2``."""
        above = [_power(n, e) for n, e in zip(BASE_UNITS, self.exponents, strict=True) if e > 0]
        below = [_power(n, -e) for n, e in zip(BASE_UNITS, self.exponents, strict=True) if e < 0]
        divisor = f"({'.'.join(below)})" if len(below) > 1 else "".join(below)
        return (".".join(above) or "1") + (f"/{divisor}" if divisor else "")

    @property
    def described(self) -> str:
        """The text, and the base units where they say more."""
        return self.text if self.text == self.base else f"{self.text} ({self.base})"


def _power(name: str, exponent: int) -> str:
    if exponent == int(exponent):
        return name if exponent == 1 else f"{name}{exponent}"
    return f"{name}^({exponent})"
