"""The grammar of unit expressions: Modelica's, with parentheses around anything, and roots."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any, NamedTuple

from cosim.errors import UnitError
from cosim.unit import Unit
from cosim.unit_symbols import OFFSETS, PREFIXES, SYMBOLS

_ROOT = re.compile(r"\^\(([+-]?\d+)/(\d+)\)")
_TOKEN = re.compile(r"\^\([+-]?\d+/\d+\)|[./()]|[^\W\d_]+|%|\d+|[+-]\d+|.", re.DOTALL)

LARGEST_POWER = 99


class UnreadError(Exception):
    """A part of a unit expression that cannot be read."""

    def __init__(self, fault: str, part: str) -> None:
        self.what, self.part = fault, part


class Factor(NamedTuple):
    """A part of a unit expression."""

    exponents: tuple[Any, ...]  # of the base units; integers, or fractions of a root
    factor: float  # to SI
    cycles: Any  # the power of a cycle (Hz, rev), in which it is counted


def read_unit(text: str) -> Unit:
    """Read a unit expression; `UnreadError` for a part that is none, `UnitError` for what is out of range."""
    bare = text.strip()
    if bare in ("", "1"):
        return Unit(bare or "1", (0,) * 8, 1.0)
    if bare in OFFSETS:
        symbol = _symbol(bare)
        return Unit(bare, symbol.exponents, symbol.factor, OFFSETS[bare])
    tokens = _TOKEN.findall(bare)[::-1]  # the next one is the last
    unit = _quotient(tokens, text)
    if tokens:
        raise UnreadError(f"cannot read the rest, '{''.join(reversed(tokens))}'", tokens[-1])
    return Unit(bare, unit.exponents, unit.factor, 0.0, unit.cycles)


def _quotient(tokens: list[str], text: str) -> Factor:
    """Read a product, or a product over a factor."""
    above = _product(tokens, text)
    if not tokens or tokens[-1] != "/":
        return above
    tokens.pop()
    below = _factor(tokens, text)
    if tokens and tokens[-1] in "/.":
        unread = "".join(reversed(tokens))
        raise UnitError(
            f"unit '{text}': '{unread}' after a division is ambiguous: use parentheses, a/(b.c) or (a/b).c."
        )
    exponents = tuple(a - b for a, b in zip(above.exponents, below.exponents, strict=True))
    return Factor(exponents, above.factor / below.factor, above.cycles - below.cycles)


def _product(tokens: list[str], text: str) -> Factor:
    """Read factors with dots between them."""
    product = _factor(tokens, text)
    while tokens and tokens[-1] == ".":
        tokens.pop()
        right = _factor(tokens, text)
        exponents = tuple(a + b for a, b in zip(product.exponents, right.exponents, strict=True))
        product = Factor(exponents, product.factor * right.factor, product.cycles + right.cycles)
    return product


def _factor(tokens: list[str], text: str) -> Factor:
    """A symbol or an expression in parentheses, with its power."""
    if not tokens:
        raise UnitError(f"unit '{text}' ends too early: a unit is missing at its end.")
    token = tokens.pop()
    if token == "(":
        base = _quotient(tokens, text)
        if not tokens or tokens.pop() != ")":
            raise UnitError(f"unit '{text}': a parenthesis is not closed.")
    else:
        base = _symbol(token)
    if token != "1" and tokens and re.fullmatch(r"[+-]?\d+", tokens[-1]):
        power = int(tokens.pop())
        if abs(power) > LARGEST_POWER:
            raise UnitError(f"unit '{text}': exponent {power} is out of range, at most {LARGEST_POWER}.")
        exponents = tuple(exponent * power for exponent in base.exponents)
        return Factor(exponents, _power(base.factor, power), base.cycles * power)
    if tokens and (root := _ROOT.fullmatch(tokens[-1])):
        tokens.pop()
        return _rooted(base, text, root)
    return base


def _rooted(base: Factor, text: str, root: re.Match[str]) -> Factor:
    """A factor to the power of a fraction."""
    if int(root[2]) == 0 or abs(int(root[1])) > LARGEST_POWER:
        raise UnitError(f"unit '{text}': exponent {root[0][2:-1]} is out of range.")
    power = Fraction(int(root[1]), int(root[2]))
    *exponents, cycles = (_integer_if_one(exponent * power) for exponent in (*base.exponents, base.cycles))
    factor = math.sqrt(base.factor) if power == Fraction(1, 2) else base.factor ** float(power)
    return Factor(tuple(exponents), factor, cycles)


def _integer_if_one(exponent: Fraction) -> Any:
    """An integer where a fraction is one."""
    return int(exponent) if exponent.denominator == 1 else exponent


def _power(factor: float, power: int) -> float:
    """A power that is exact where the factor is the inverse of an integer (mm2, mm3)."""
    try:
        return float(factor**power) if factor >= 1.0 or power < 0 else 1.0 / float((1.0 / factor) ** power)
    except OverflowError:
        raise UnitError(f"a unit of size {factor:g} to the power {power} is out of range.") from None


def _symbol(token: str) -> Factor:
    """The factor of a symbol with its prefix."""
    entry = find_symbol(token)
    if entry is None:
        raise UnreadError(f"unknown part '{token}'", token)
    name, scale = entry
    exponents, factor, _ = SYMBOLS[name]
    return Factor(exponents + (0,) * (8 - len(exponents)), scale * factor, int(name == "Hz"))


def find_symbol(token: str) -> tuple[str, float] | None:
    """A symbol as it stands, else with a prefix: ``min`` is a minute, ``mm`` a millimetre."""
    if token in SYMBOLS:
        return token, 1.0
    for length in (1, 2):
        name = token[length:]
        if token[:length] in PREFIXES and name in SYMBOLS and SYMBOLS[name][2]:
            return name, PREFIXES[token[:length]]
    return None
