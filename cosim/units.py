"""Physical units: Modelica unit expressions, read into the base units of FMI.

The grammar is Modelica's (Modelica Language Specification 3.6, chapter 19): ``.`` multiplies, ``/`` divides
once, an exponent is an integer behind its symbol, prefixes are those of the SI: ``N.m/rad``, ``kg.m2``,
``m/s2``, ``N.s/(m.rad)``, ``kg.m.s-2``, ``1``. Beyond it a parenthesis may hold any expression.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable
from fractions import Fraction

from cosim.errors import UnitError, nearest
from cosim.rational import rational_time
from cosim.unit import Unit

__all__ = [
    "Unit",
    "conversion",
    "exact_quantity",
    "parse_quantity",
    "parse_unit",
    "unit_of_quantity",
    "unit_symbols",
]

_PREFIXES = {
    "Y": 1e24, "Z": 1e21, "E": 1e18, "P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "h": 1e2, "da": 1e1,
    "d": 1e-1, "c": 1e-2, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15, "a": 1e-18,
    "z": 1e-21, "y": 1e-24,
}  # fmt: skip

# symbol: (exponents of kg m s A K mol cd rad, factor, whether it takes a prefix)
_SYMBOLS: dict[str, tuple[tuple[int, ...], float, bool]] = {
    "1": ((), 1.0, False),
    "g": ((1,), 1e-3, True),
    "m": ((0, 1), 1.0, True),
    "s": ((0, 0, 1), 1.0, True),
    "A": ((0, 0, 0, 1), 1.0, True),
    "K": ((0, 0, 0, 0, 1), 1.0, True),
    "mol": ((0, 0, 0, 0, 0, 1), 1.0, True),
    "cd": ((0, 0, 0, 0, 0, 0, 1), 1.0, True),
    "rad": ((0, 0, 0, 0, 0, 0, 0, 1), 1.0, True),
    "sr": ((0, 0, 0, 0, 0, 0, 0, 2), 1.0, True),
    "deg": ((0, 0, 0, 0, 0, 0, 0, 1), math.pi / 180.0, False),
    "rev": ((0, 0, 0, 0, 0, 0, 0, 1), 2.0 * math.pi, False),
    "rpm": ((0, 0, -1, 0, 0, 0, 0, 1), 2.0 * math.pi / 60.0, False),
    "Hz": ((0, 0, -1), 1.0, True),
    "N": ((1, 1, -2), 1.0, True),
    "Pa": ((1, -1, -2), 1.0, True),
    "bar": ((1, -1, -2), 1e5, True),
    "J": ((1, 2, -2), 1.0, True),
    "W": ((1, 2, -3), 1.0, True),
    "C": ((0, 0, 1, 1), 1.0, True),
    "V": ((1, 2, -3, -1), 1.0, True),
    "F": ((-1, -2, 4, 2), 1.0, True),
    "Ohm": ((1, 2, -3, -2), 1.0, True),
    "S": ((-1, -2, 3, 2), 1.0, True),
    "Wb": ((1, 2, -2, -1), 1.0, True),
    "T": ((1, 0, -2, -1), 1.0, True),
    "H": ((1, 2, -2, -2), 1.0, True),
    "lm": ((0, 0, 0, 0, 0, 0, 1, 2), 1.0, True),
    "lx": ((0, -2, 0, 0, 0, 0, 1, 2), 1.0, True),
    "l": ((0, 3), 1e-3, True),
    "t": ((1,), 1e3, False),
    "min": ((0, 0, 1), 60.0, False),
    "h": ((0, 0, 1), 3600.0, False),
    "d": ((0, 0, 1), 86400.0, False),
    "%": ((), 1e-2, False),
    "degC": ((0, 0, 0, 0, 1), 1.0, False),
    "degF": ((0, 0, 0, 0, 1), 5.0 / 9.0, False),
}
_OFFSETS = {"degC": 273.15, "degF": 459.67 * 5.0 / 9.0}
_WORDS = {
    "sec": "s", "second": "s", "seconds": "s", "minute": "min", "hour": "h", "hr": "h", "meter": "m",
    "metre": "m", "newton": "N", "kelvin": "K", "celsius": "degC", "degree": "deg", "degrees": "deg",
    "radian": "rad", "radians": "rad", "pascal": "Pa", "joule": "J", "watt": "W", "volt": "V", "ampere": "A",
    "hertz": "Hz", "ohm": "Ohm", "Ω": "Ohm", "kph": "km/h", "kmh": "km/h", "gram": "g", "percent": "%",
    "litre": "l", "L": "l",
}  # fmt: skip
_COMMON = [
    "kg", "mm", "cm", "km", "ms", "us", "kN", "MN", "N.m", "N/m", "kW", "kHz", "MPa", "kPa", "mbar", "N/mm",
    "N.m/rad", "rad/s", "m/s", "m/s2", "kg.m2", "km/h", "N.s/m",
]  # fmt: skip
_TOKEN = re.compile(r"[./()]|[^\W\d_]+|%|\d+|[+-]\d+|.", re.DOTALL)
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?:/\s*(0*[1-9]\d*)(?![\d.])\s*)?")


@functools.lru_cache(maxsize=1024)
def parse_unit(text: str) -> Unit:
    """Read a Modelica unit expression.

    Parameters
    ----------
    text : str
        ``"N.m/rad"``, ``"kg.m2"``, ``"degC"``, ``"1"``; an empty text is the unit of a plain number.

    Returns
    -------
    Unit

    Raises
    ------
    UnitError
        Naming the part that cannot be read and the nearest unit that can.

    Notes
    -----
    A temperature scale inside a product (``"W/degC"``) means temperature differences: its zero is dropped.

    Examples
    --------
    >>> parse_unit("N/mm").factor
    1000.0
    >>> parse_unit("N/mm").base
    'kg/s2'
    >>> parse_unit("Nm")
    Traceback (most recent call last):
    ...
    cosim.errors.UnitError: unit 'Nm': unknown part 'Nm'. A product is written with a dot: N.m.
    """
    bare = text.strip()
    if bare in ("", "1"):
        return Unit(bare or "1", (0,) * 8, 1.0)
    if bare in _OFFSETS:
        exponents, factor, _ = _symbol(bare, text)
        return Unit(bare, exponents, factor, _OFFSETS[bare])
    tokens = _TOKEN.findall(bare)[::-1]  # the next one is the last
    exponents, factor, cycles = _quotient(tokens, text)
    if tokens:
        raise _fault(text, f"cannot read on from '{''.join(reversed(tokens))}'", tokens[-1])
    return Unit(bare, exponents, factor, 0.0, cycles)


def conversion(from_unit: str, to_unit: str) -> tuple[float, float]:
    """Factor and offset that turn a number in one unit into the number in another.

    Parameters
    ----------
    from_unit, to_unit : str
        Unit expressions.

    Returns
    -------
    (float, float)
        ``number_in_to = factor * number_in_from + offset``.

    Raises
    ------
    UnitError
        When they do not measure the same thing; names both.

    Examples
    --------
    >>> conversion("kN", "N")
    (1000.0, 0.0)
    >>> conversion("N/m", "N.m")
    Traceback (most recent call last):
    ...
    cosim.errors.UnitError: N/m (kg/s2) cannot be converted to N.m (kg.m2/s2): not the same quantity.
    """
    source, target = parse_unit(from_unit), parse_unit(to_unit)
    if not source.is_compatible(target):
        why = "not the same quantity"
        if source.exponents[:7] == target.exponents[:7]:
            why = "a frequency and an angular speed differ by 2π"
        raise UnitError(f"{source.described} cannot be converted to {target.described}: {why}.")
    if source == target:
        return 1.0, 0.0
    return source.factor / target.factor, (source.offset - target.offset) / target.factor


def parse_quantity(value: str | float, unit: str) -> float:
    """A number with its unit, as a number in the unit that is wanted.

    Parameters
    ----------
    value : str or number
        ``"120 N/mm"``, ``"-300 mm"``, ``"1/3 s"``, ``"5e-3"``, ``2.5``. Without a unit it is in `unit`
        already.
    unit : str
        Unit expression of the result.

    Returns
    -------
    float

    Raises
    ------
    UnitError
        When the text is no number with a unit, the unit is unknown, or the units do not measure the same.

    Examples
    --------
    >>> parse_quantity("120 N/mm", "N/m")
    120000.0
    >>> parse_quantity("20 degC", "K")
    293.15
    >>> parse_quantity(3, "m")
    3.0
    """
    if not isinstance(value, str):
        return float(value)
    match = _NUMBER.match(value)
    if match is None:
        wanted = "a number" if unit == "1" else f"a number and a unit, such as '12 {unit}'"
        raise UnitError(f"'{value}' is no quantity: write {wanted}.")
    number, rest = float(_fraction(match)) if match[2] else float(match[1]), value[match.end() :].strip()
    _check_point(value, rest)
    if not rest:
        return number
    try:
        source, target = parse_unit(rest), parse_unit(unit)
        factor, offset = conversion(rest, unit)
    except UnitError as error:
        raise UnitError(f"'{value.strip()}': {error}{_meant(number, rest, unit)}") from None
    if offset == 0.0 and target.factor == 1.0:
        return _scaled(float(match[1]), source.factor, int(match[2] or 1))
    return factor * number + offset


def exact_quantity(value: str | float | Fraction, unit: str) -> Fraction:
    """A number with its unit, as the rational number that it is on paper, in the unit that is wanted.

    Parameters
    ----------
    value : str or number
        As for `parse_quantity`. A float is its shortest decimal; one with more than 15 digits may be a
        fraction that was computed (`cosim.rational.rational_time`).
    unit : str
        Unit expression of the result.

    Returns
    -------
    Fraction

    Raises
    ------
    UnitError
        As `parse_quantity`; and for numbers that are not finite, or too large or too small for 64 bits.

    Examples
    --------
    >>> exact_quantity("900 ms", "s"), exact_quantity("1/3 s", "s"), exact_quantity(0.3, "s")
    (Fraction(9, 10), Fraction(1, 3), Fraction(3, 10))
    """
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    if not isinstance(value, str):
        return _exact(float(value))
    number = parse_quantity(value, unit)  # raises what there is to be said
    match = _NUMBER.match(value)
    assert match is not None
    rest = value[match.end() :].strip()
    if not rest:
        return _fraction(match)
    factor, offset = conversion(rest, unit)
    return _exact(number) if offset else _fraction(match) * _exact(factor)


def _fraction(match: re.Match[str]) -> Fraction:
    """The number of a quantity, exactly."""
    return Fraction(match[1]) / int(match[2] or 1)


def _exact(number: float) -> Fraction:
    """The rational number that a double stands for."""
    whole, rest, resolution = rational_time(number)
    if resolution == 0:
        raise UnitError(f"{number!r} is no number that can be counted exactly in 64 bits.")
    return whole + Fraction(rest, resolution)


def _meant(number: float, given: str, wanted: str) -> str:
    """What to write for a frequency where an angular speed is wanted, and the reverse."""
    try:
        source, target = parse_unit(given), parse_unit(wanted)
    except UnitError:
        return ""
    angular = parse_unit("rad/s").exponents
    if source.exponents == parse_unit("Hz").exponents and target.exponents == angular:
        hertz = number * source.factor
        return (
            f" For {hertz:g} cycles a second write '{hertz:g} rev/s'; '{hertz:g} rad/s' is 2π times slower."
        )
    if source.exponents == angular and target.exponents == parse_unit("Hz").exponents:
        return f" {number:g} {given} are '{number * source.factor / (2.0 * math.pi):.9g} Hz'."
    return ""


def unit_of_quantity(text: str) -> str:
    """The unit that a number is written with, empty where there is none or no number before it.

    Examples
    --------
    >>> unit_of_quantity("120 N/mm"), unit_of_quantity("3")
    ('N/mm', '')
    """
    match = _NUMBER.match(text)
    unit = text[match.end() :].strip() if match else ""
    _check_point(text, unit)
    if unit:
        try:
            parse_unit(unit)
        except UnitError as error:
            raise UnitError(f"'{text.strip()}': {error}") from None
    return unit


def _check_point(text: str, rest: str) -> None:
    """Refuse a comma in a number; `rest` is what stands behind the digits before it."""
    if re.match(r",\d", rest):
        raise UnitError(f"'{text.strip()}': numbers have a point: '{text.strip().replace(',', '.', 1)}'.")


def unit_symbols() -> dict[str, bool]:
    """The symbols that unit expressions are made of, and whether a prefix may stand before each.

    Examples
    --------
    >>> unit_symbols()["N"], unit_symbols()["min"]
    (True, False)
    """
    return {symbol: prefixed for symbol, (_, _, prefixed) in _SYMBOLS.items()}


def _scaled(number: float, factor: float, divisor: int = 1) -> float:
    """Product, rounded once where the factor is one over an integer: 5 ms is 0.005 s, to the last bit."""
    inverse = 1.0 / factor
    whole = float(round(inverse))
    if factor < 1.0 and abs(inverse - whole) < 1e-9 * inverse:
        return number / (whole * divisor)
    return number * factor / divisor


def _quotient(tokens: list[str], text: str) -> tuple[tuple[int, ...], float, int]:
    exponents, factor, cycles = _product(tokens, text)
    if tokens and tokens[-1] == "/":
        tokens.pop()
        below, divisor, below_cycles = _factor(tokens, text)
        if tokens and tokens[-1] in "/.":
            rest = "".join(reversed(tokens))
            raise UnitError(
                f"unit '{text}': '{rest}' behind a division can be meant in two ways: "
                "use parentheses, a/(b.c) or (a/b).c."
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
    return exponents, factor, cycles


def _power(factor: float, power: int) -> float:
    """A power that is exact where the factor is the inverse of an integer (mm2, mm3)."""
    try:
        return float(factor**power) if factor >= 1.0 or power < 0 else 1.0 / float((1.0 / factor) ** power)
    except OverflowError:
        raise UnitError(f"a unit of size {factor:g} to the power {power} is out of range.") from None


def _symbol(token: str, text: str) -> tuple[tuple[int, ...], float, int]:
    found = _find_symbol(token)
    if found is None:
        raise _fault(text, f"unknown part '{token}'", token)
    name, scale = found
    exponents, factor, _ = _SYMBOLS[name]
    return exponents + (0,) * (8 - len(exponents)), scale * factor, int(name == "Hz")


def _find_symbol(token: str) -> tuple[str, float] | None:
    """A symbol as it stands, else with a prefix: ``min`` is a minute, ``mm`` a millimetre."""
    if token in _SYMBOLS:
        return token, 1.0
    for length in (1, 2):
        name = token[length:]
        if token[:length] in _PREFIXES and name in _SYMBOLS and _SYMBOLS[name][2]:
            return name, _PREFIXES[token[:length]]
    return None


def _fault(text: str, what: str, part: str) -> UnitError:
    """The error with what to do next."""
    likely = _WORDS.get(part) or next((known for known in _known() if known.lower() == part.lower()), None)
    split = _split_product(part)
    plain = text.translate({ord("²"): "2", ord("³"): "3"})
    if plain != text:
        hint = f"A power is written with plain digits: {plain}."
    elif likely:
        hint = f"Nearest: {likely}."
    elif part in ("*", "·", "⋅", " ") or split:
        hint = f"A product is written with a dot: {split or text.strip().replace(part, '.')}."
    elif part == "^":
        hint = f"A power is written without a sign: {text.replace('^', '')}."
    elif part == "°":
        hint = "Angles are in deg or rad, temperatures in degC or K."
    else:
        near = nearest(part, _known()) or nearest(text, _known())
        hint = f"Nearest: {near}." if near else "Units are written like N.m/rad, kg.m2, m/s2, mm, kN."
    return UnitError(f"unit '{text}': {what}. {hint}")


def _split_product(part: str) -> str | None:
    """``N.m`` for ``Nm``, None when the part is no product of known units."""
    for at in range(len(part) - 1, 0, -1):
        if _find_symbol(part[:at]) and _find_symbol(part[at:]):
            return f"{part[:at]}.{part[at:]}"
    return None


def _known() -> Iterable[str]:
    return [*_SYMBOLS, *_COMMON]
