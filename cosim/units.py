"""Physical units: Modelica unit expressions, read into the base units of FMI.

The grammar is Modelica's (Modelica Language Specification 3.6, chapter 19): ``.`` multiplies, ``/`` divides
once, an exponent is an integer behind its symbol, prefixes are those of the SI: ``N.m/rad``, ``kg.m2``,
``m/s2``, ``N.s/(m.rad)``, ``kg.m.s-2``, ``1``. Beyond it a parenthesis may hold any expression, and an
exponent may be a fraction: ``m/s^(1/2)``. A quantity that is typed may have its unit as people write it
(`cosim.unit_spellings`).
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable
from fractions import Fraction

from cosim.errors import UnitError, nearest
from cosim.rational_doubles import rational_time
from cosim.unit import Unit
from cosim.unit_expressions import UnreadError, find_symbol, read_unit
from cosim.unit_spellings import other_cases, written_unit
from cosim.unit_symbols import COMMON, SYMBOLS, WORDS

__all__ = [
    "Unit",
    "conversion",
    "exact_quantity",
    "parse_quantity",
    "parse_unit",
    "unit_of_quantity",
    "unit_symbols",
]

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
    try:
        return read_unit(text)
    except UnreadError as error:
        raise _fault(text, error.what, error.part) from None


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
        already. The unit may be written as people do: ``"3 kg*m^2"``, ``"2 inch"``, ``"30 lbf ft"``.
    unit : str
        Unit expression of the result.

    Returns
    -------
    float

    Raises
    ------
    UnitError
        When the text is not a number with a unit, the unit is unknown, or the units do not measure the same.

    Examples
    --------
    >>> parse_quantity("120 N/mm", "N/m")
    120000.0
    >>> parse_quantity("20 degC", "K")
    293.15
    >>> parse_quantity("2 feet", "m"), parse_quantity("10 m/s^2", "m/s2"), parse_quantity("30 deg/s", "rad/s")
    (0.6096, 10.0, 0.5235987755982988)
    >>> parse_quantity(3, "m")
    3.0
    """
    if not isinstance(value, str):
        return float(value)
    match = _NUMBER.match(value)
    if match is None:
        needed = "a number" if unit == "1" else f"a number and a unit, such as '12 {unit}'"
        raise UnitError(f"'{value}' is not a quantity: write {needed}.")
    number, unit_text = float(_fraction(match)) if match[2] else float(match[1]), value[match.end() :].strip()
    _check_point(value, unit_text)
    if not unit_text:
        return number
    unit_text = written_unit(unit_text)
    try:
        source, target = parse_unit(unit_text), parse_unit(unit)
        factor, offset = conversion(unit_text, unit)
    except UnitError as error:
        raise UnitError(f"'{value.strip()}': {error}{_meant(number, unit_text, unit)}") from None
    if offset == 0.0 and target.factor == 1.0:
        return _scaled(float(match[1]), source.factor, int(match[2] or 1))
    return factor * number + offset


def exact_quantity(value: str | float | Fraction, unit: str) -> Fraction:
    """A number with its unit, as the rational number that it is on paper, in the unit that is wanted.

    Parameters
    ----------
    value : str or number
        As for `parse_quantity`. A float is its shortest decimal; one with more than 15 digits may be a
        fraction that was computed (`cosim.rational_doubles.rational_time`).
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
    rest = written_unit(value[match.end() :].strip())
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
        raise UnitError(f"{number!r} is not a number that can be counted exactly in 64 bits.")
    return whole + Fraction(rest, resolution)


def _meant(number: float, given_unit: str, needed_unit: str) -> str:
    """A hint for a frequency in place of an angular speed, and vice versa."""
    try:
        source, target = parse_unit(given_unit), parse_unit(needed_unit)
    except UnitError:
        return ""
    if (forces := _as_force(given_unit)) and parse_unit(forces).is_compatible(target):
        return f" A force is written '{number:g} {forces}'."
    angular = parse_unit("rad/s").exponents
    if source.exponents == parse_unit("Hz").exponents and target.exponents == angular:
        hertz = number * source.factor
        return (
            f" For {hertz:g} cycles a second write '{hertz:g} rev/s'; '{hertz:g} rad/s' is 2π times slower."
        )
    if source.exponents == angular and target.exponents == parse_unit("Hz").exponents:
        return f" {number:g} {given_unit} are '{number * source.factor / (2.0 * math.pi):.9g} Hz'."
    return ""


def _as_force(unit: str) -> str:
    """The unit with weights in place of masses: lbf for lb; empty where there are none."""
    weights = re.sub(r"\b(lb|oz|kg)\b", r"\1f", unit)
    return weights if weights != unit else ""


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
    unit = written_unit(unit)
    if unit:
        try:
            parse_unit(unit)
        except UnitError as error:
            raise UnitError(f"'{text.strip()}': {error}") from None
    return unit


def _check_point(text: str, rest: str) -> None:
    """Refuse a comma in a number; `rest` is what stands behind the digits before it."""
    if re.match(r",\d", rest):
        raise UnitError(f"'{text.strip()}': write a decimal point: '{text.strip().replace(',', '.', 1)}'.")


def unit_symbols() -> dict[str, bool]:
    """The symbols that unit expressions are made of, and whether a prefix may stand before each.

    Examples
    --------
    >>> unit_symbols()["N"], unit_symbols()["min"]
    (True, False)
    """
    return {symbol: prefixed for symbol, (_, _, prefixed) in SYMBOLS.items()}


def _scaled(number: float, factor: float, divisor: int = 1) -> float:
    """Product, rounded once where the factor is one over an integer: 5 ms is 0.005 s, to the last bit."""
    inverse = 1.0 / factor
    integer = float(round(inverse))
    if factor < 1.0 and abs(inverse - integer) < 1e-9 * inverse:
        return number / (integer * divisor)
    return number * factor / divisor


def _fault(text: str, fault: str, part: str) -> UnitError:
    """The error with what to do next."""
    meant, split = written_unit(text), _split_product(part)
    likely = WORDS.get(part) or ("" if split and meant != text else ", ".join(other_cases(part)[:3]))
    plain = text.translate({ord("²"): "2", ord("³"): "3"})
    if plain != text:
        hint = f"A power is written with plain digits: {plain}."
    elif likely:
        hint = f"Nearest: {likely}."
    elif part in ("*", "·", "⋅", " ") or split:
        dotted = meant if meant != text else split or text.strip().replace(part, ".")
        hint = f"A product is written with a dot: {dotted}."
    elif part == "^":
        is_root = meant != text and "^" in meant
        hint = f"A root is written with a fraction: {meant}."
        if not is_root:
            hint = f"A power is written without a sign: {meant if meant != text else text.replace('^', '')}."
    elif meant != text and part in ("sqrt", "5"):  # sqrt(Pa), Pa0.5
        hint = f"A root is written with a fraction: {meant}."
    elif part == "°":
        hint = "Angles are in deg or rad, temperatures in degC or K."
    else:
        near = nearest(part, _known()) or nearest(text, _known())
        hint = f"Nearest: {near}." if near else "Units are written like N.m/rad, kg.m2, m/s2, mm, kN."
    return UnitError(f"unit '{text}': {fault}. {hint}")


def _split_product(part: str) -> str | None:
    """``N.m`` for ``Nm``, None when the part is not a product of known units."""
    for at in range(len(part) - 1, 0, -1):
        if find_symbol(part[:at]) and find_symbol(part[at:]):
            return f"{part[:at]}.{part[at:]}"
    return None


def _known() -> Iterable[str]:
    return [*SYMBOLS, *COMMON]
