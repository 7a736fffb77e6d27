"""Rational numbers of doubles: decimals and fractions are recovered, rounded once and compared exactly."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

import pytest

from cosim.kit import compile_function
from cosim.rational import compare_fractions, nearest_time, tick_time
from cosim.rational_doubles import periodic_time, rational_time

LARGEST = (1 << 63) - 1  # the largest integer of 64 bits


def exact(number: float) -> Fraction:
    """The rational number that the kernel takes a double for."""
    whole, rest, resolution = rational_time(number)
    assert 0 <= rest < resolution <= LARGEST
    return whole + Fraction(rest, resolution)


def draw_resolution(draw: random.Random) -> int:
    """A number of parts of a second: of any size, a power of ten, or 1."""
    return draw.choice([draw.randint(1, 2 ** draw.randint(1, 63) - 1), 10 ** draw.randint(0, 18), 1])


def draw_time(draw: random.Random) -> float:
    """A time, s: any double, a fraction, a decimal, or one that cannot be counted."""
    return draw.choice([draw.uniform(-9.0, 9.0), draw.randint(-999, 999) / draw.randint(1, 999), 0.3, 1e-20])


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0.0, Fraction(0)),
        (-0.0, Fraction(0)),
        (1.0, Fraction(1)),
        (0.1, Fraction(1, 10)),
        (0.3, Fraction(3, 10)),
        (-0.3, Fraction(-3, 10)),
        (-2.5, Fraction(-5, 2)),
        (1e-3, Fraction(1, 1000)),
        (1e-18, Fraction(1, 10**18)),
        (123456.789, Fraction(123456789, 1000)),
        (0.123456789012345, Fraction(123456789012345, 10**15)),
        (1 / 3, Fraction(1, 3)),
        (-2 / 3, Fraction(-2, 3)),
        (10 / 3, Fraction(10, 3)),
        (1 / 30, Fraction(1, 30)),
        (1 / 44100, Fraction(1, 44100)),
        (2.0**-40, Fraction(1, 2**40)),
        (0.1234567890123456, Fraction(1234567890123456, 10**16)),
        (191174149046838.12, Fraction("191174149046838.12")),
        (2.0**61, Fraction(2**61)),
    ],
)
def test_a_double_is_its_shortest_decimal_or_a_fraction(number: float, expected: Fraction) -> None:
    assert exact(number) == expected and float(expected) == number


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e300, 1e-300, 5e-324])
def test_what_cannot_be_counted_has_no_resolution(number: float) -> None:
    assert rational_time(number) == (0, 0, 0)


def test_decimals_are_those_of_repr() -> None:
    draw = random.Random(3)
    for _ in range(3000):
        digits = draw.randint(1, 10 ** draw.randint(1, 15) - 1)
        number = digits / 10 ** draw.randint(0, 15)
        if -Decimal(repr(number)).normalize().as_tuple().exponent <= 18:
            assert exact(number) == Fraction(repr(number))
        number = draw.uniform(0.0, 10.0 ** draw.randint(-6, 6))
        assert float(exact(number)) == number  # whatever it is, it is no other double


def test_a_fraction_is_recovered_from_its_double() -> None:
    draw = random.Random(4)
    for _ in range(3000):
        fraction = Fraction(draw.randint(1, 3000), draw.randint(1, 100_000))
        is_decimal = len(Decimal(repr(float(fraction))).as_tuple().digits) <= 15
        assert exact(float(fraction)) == (Fraction(repr(float(fraction))) if is_decimal else fraction)


def test_times_are_rounded_once() -> None:
    draw = random.Random(5)
    for _ in range(5000):
        resolution = draw_resolution(draw)
        whole = draw.randint(-(2 ** draw.randint(0, 52)), 2 ** draw.randint(0, 52))
        rest = draw.randrange(resolution)
        assert nearest_time(whole, rest, resolution) == float(whole + Fraction(rest, resolution))
    for bits in range(1, 63):  # half way between two doubles
        for odd in (2**53 + 1, 2**53 + 3, 2**54 - 1):
            whole, rest = divmod(odd, 1 << bits)
            if whole < 2**53:
                assert nearest_time(whole, rest, 1 << bits) == float(Fraction(odd, 1 << bits))


def test_ticks_are_rounded_once_up_to_a_million_million() -> None:
    draw = random.Random(6)
    for _ in range(5000):
        resolution, index = draw_resolution(draw), draw.randint(0, 10 ** draw.randint(0, 12))
        offset_whole, offset_rest = draw.randint(-99, 99), draw.randrange(resolution)
        period_whole, period_rest = draw.randint(0, 999), draw.randrange(resolution)
        offset = offset_whole + Fraction(offset_rest, resolution)
        period = period_whole + Fraction(period_rest, resolution)
        time = tick_time(index, offset_whole, offset_rest, period_whole, period_rest, resolution)
        assert time == float(offset + index * period)


def test_compiled_times_are_those_of_plain_python() -> None:
    """Rational numbers of doubles, and the double of a time counted in them."""
    compiled = compile_function(periodic_time, "iiff>f")
    draw = random.Random(9)
    for _ in range(5000):
        offset, period = draw_time(draw), abs(draw_time(draw))
        count, divisor = draw.randint(0, 10 ** draw.randint(0, 12)), draw.randint(1, 99)
        assert compiled(count, divisor, offset, period) == periodic_time(count, divisor, offset, period)


def test_fractions_are_compared_exactly() -> None:
    """Below 1: with any other one, the nearest one of another denominator, and the one above that."""
    draw = random.Random(7)
    for _ in range(5000):
        below1, below2 = draw_resolution(draw), draw_resolution(draw)
        above1 = draw.randrange(below1)
        nearest = above1 * below2 // below1
        above2 = draw.choice([nearest, draw.randrange(below2), min(below2 - 1, nearest + 1)])
        one, two = Fraction(above1, below1), Fraction(above2, below2)
        assert compare_fractions(above1, below1, above2, below2) == (one > two) - (one < two)
