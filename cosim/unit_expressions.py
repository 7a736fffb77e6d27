"""The grammar of unit expressions: Modelica's, with parentheses around anything, and roots."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

from cosim.errors import UnitError
from cosim.unit import Unit
from cosim.unit_symbols import OFFSETS, PREFIXES, SYMBOLS

_ROOT = re.compile(r"\^\(([+-]?\d+)/(\d+)\)")
_TOKEN = re.compile(r"\^\([+-]?\d+/\d+\)|[./()]|[^\W\d_]+|%|\d+|[+-]\d+|.", re.DOTALL)


class UnreadError(Exception):
    """A part of a unit expression that cannot be read."""

    def __init__(self, what: str, part: str) -> None:
        self.what, self.part = what, part


def read_unit(text: str) -> Unit:
    """Read a unit expression; `UnreadError` for a part that is none, `UnitError` for what is out of range."""
    bare = text.strip()
    if bare in ("", "1"):
        return Unit(bare or "1", (0,) * 8, 1.0)
    if bare in OFFSETS:
        exponents, factor, _ = _symbol(bare, text)
        return Unit(bare, exponents, factor, OFFSETS[bare])
    tokens = _TOKEN.findall(bare)[::-1]  # the next one is the last
    exponents, factor, cycles = _quotient(tokens, text)
    if tokens:
        raise UnreadError(f"cannot read the rest, '{''.join(reversed(tokens))}'", tokens[-1])
    return Unit(bare, exponents, factor, 0.0, cycles)


def _quotient(tokens: list[str], text: str) -> tuple[tuple[int, ...], float, int]:
    exponents, factor, cycles = _product(tokens, text)
    if tokens and tokens[-1] == "/":
        tokens.pop()
        below, divisor, below_cycles = _factor(tokens, text)
        if tokens and tokens[-1] in "/.":
            rest = "".join(reversed(tokens))
            raise UnitError(
                f"unit '{text}': '{rest}' after a division is ambiguous: use parentheses, a/(b.c) or (a/b).c."
            )
        exponents = tuple(a - b for a, b in zip(exponents, below, strict=True))
        factor, cycles = factor / divisor, cycles - below_cycles
    return exponents, factor, cycles


def _product(tokens: list[str], text: str) -> tuple[tuple[int, ...], float, int]:
    exponents, factor, cycles = _factor(tokens, text)
    while tokens and tokens[-1] == ".":
        tokens.pop()
        more, times, more_cycles = _factor(tokens, text)
        exponents = tuple(a + b for a, b in zip(exponents, more, strict=True))
        factor, cycles = factor * times, cycles + more_cycles
    return exponents, factor, cycles


def _factor(tokens: list[str], text: str) -> tuple[tuple[int, ...], float, int]:
    if not tokens:
        raise UnitError(f"unit '{text}' ends too early: a unit is missing at its end.")
    token = tokens.pop()
    if token == "(":
        exponents, factor, cycles = _quotient(tokens, text)
        if not tokens or tokens.pop() != ")":
            raise UnitError(f"unit '{text}': a parenthesis is not closed.")
    else:
        exponents, factor, cycles = _symbol(token, text)
    if token != "1" and tokens and re.fullmatch(r"[+-]?\d+", tokens[-1]):
        power = int(tokens.pop())
        if abs(power) > 99:
            raise UnitError(f"unit '{text}': exponent {power} is out of range, at most 99.")
        exponents, factor, cycles = tuple(e * power for e in exponents), _power(factor, power), cycles * power
    elif tokens and (root := _ROOT.fullmatch(tokens[-1])):
        tokens.pop()
        exponents, factor, cycles = _rooted(exponents, factor, cycles, text, root)
    return exponents, factor, cycles


def _rooted(
    exponents: tuple[Any, ...], factor: float, cycles: Any, text: str, root: re.Match[str]
) -> tuple[tuple[Any, ...], float, Any]:
    """A factor to the power of a fraction."""
    if int(root[2]) == 0 or abs(int(root[1])) > 99:
        raise UnitError(f"unit '{text}': exponent {root[0][2:-1]} is out of range.")
    power = Fraction(int(root[1]), int(root[2]))
    raised = [_whole(exponent * power) for exponent in (*exponents, cycles)]
    factor = math.sqrt(factor) if power == Fraction(1, 2) else factor ** float(power)
    return tuple(raised[:-1]), factor, raised[-1]


def _whole(exponent: Fraction) -> Any:
    """An integer where a fraction is one."""
    return int(exponent) if exponent.denominator == 1 else exponent


def _power(factor: float, power: int) -> float:
    """A power that is exact where the factor is the inverse of an integer (mm2, mm3)."""
    try:
        return float(factor**power) if factor >= 1.0 or power < 0 else 1.0 / float((1.0 / factor) ** power)
    except OverflowError:
        raise UnitError(f"a unit of size {factor:g} to the power {power} is out of range.") from None


def _symbol(token: str, text: str) -> tuple[tuple[int, ...], float, int]:
    entry = find_symbol(token)
    if entry is None:
        raise UnreadError(f"unknown part '{token}'", token)
    name, scale = entry
    exponents, factor, _ = SYMBOLS[name]
    return exponents + (0,) * (8 - len(exponents)), scale * factor, int(name == "Hz")


def find_symbol(token: str) -> tuple[str, float] | None:
    """A symbol as it stands, else with a prefix: ``min`` is a minute, ``mm`` a millimetre."""
    if token in SYMBOLS:
        return token, 1.0
    for length in (1, 2):
        name = token[length:]
        if token[:length] in PREFIXES and name in SYMBOLS and SYMBOLS[name][2]:
            return name, PREFIXES[token[:length]]
    return None
