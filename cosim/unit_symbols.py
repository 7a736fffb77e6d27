"""The symbols that unit expressions are made of, and the words that people type for them.

Factors of units outside the SI: NIST Special Publication 811 (2008), appendix B.8.
"""

import math

PREFIXES = {
    "Y": 1e24, "Z": 1e21, "E": 1e18, "P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "h": 1e2, "da": 1e1,
    "d": 1e-1, "c": 1e-2, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15, "a": 1e-18,
    "z": 1e-21, "y": 1e-24,
}  # fmt: skip

# symbol: (exponents of kg m s A K mol cd rad, factor, whether it takes a prefix)
SYMBOLS: dict[str, tuple[tuple[int, ...], float, bool]] = {
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
    "arcmin": ((0, 0, 0, 0, 0, 0, 0, 1), math.pi / 10800.0, False),
    "arcsec": ((0, 0, 0, 0, 0, 0, 0, 1), math.pi / 648000.0, False),
    "rps": ((0, 0, -1, 0, 0, 0, 0, 1), 2.0 * math.pi, False),
    "in": ((0, 1), 0.0254, False),
    "ft": ((0, 1), 0.3048, False),
    "yd": ((0, 1), 0.9144, False),
    "mi": ((0, 1), 1609.344, False),
    "nmi": ((0, 1), 1852.0, False),
    "thou": ((0, 1), 2.54e-5, False),
    "mph": ((0, 1, -1), 0.44704, False),
    "kn": ((0, 1, -1), 1852.0 / 3600.0, False),
    "gal": ((0, 3), 3.785411784e-3, False),
    "lb": ((1,), 0.45359237, False),
    "oz": ((1,), 0.028349523125, False),
    "slug": ((1,), 0.45359237 * 9.80665 / 0.3048, False),
    "lbf": ((1, 1, -2), 4.4482216152605, False),
    "ozf": ((1, 1, -2), 0.27801385095378125, False),
    "kgf": ((1, 1, -2), 9.80665, False),
    "psi": ((1, -1, -2), 4.4482216152605 / 0.0254**2, False),
    "ksi": ((1, -1, -2), 4448.2216152605 / 0.0254**2, False),
    "atm": ((1, -1, -2), 101325.0, False),
    "Torr": ((1, -1, -2), 101325.0 / 760.0, False),
    "mmHg": ((1, -1, -2), 133.322387415, False),
    "hp": ((1, 2, -3), 550.0 * 4.4482216152605 * 0.3048, False),
    "Wh": ((1, 2, -2), 3600.0, True),
    "Ah": ((0, 0, 1, 1), 3600.0, True),
    "eV": ((1, 2, -2), 1.602176634e-19, True),
}
OFFSETS = {"degC": 273.15, "degF": 459.67 * 5.0 / 9.0}
RUN_TOGETHER = ("N", "V", "W", "A", "J", "Pa", "lbf", "lb", "ft", "in")
"""Symbols that people write without a dot before the next one: Nm, Pas, ftlbf."""
WORDS = {
    "sec": "s", "second": "s", "seconds": "s", "minute": "min", "hour": "h", "hr": "h", "meter": "m",
    "metre": "m", "newton": "N", "kelvin": "K", "celsius": "degC", "degree": "deg", "degrees": "deg",
    "radian": "rad", "radians": "rad", "pascal": "Pa", "joule": "J", "watt": "W", "volt": "V", "ampere": "A",
    "hertz": "Hz", "ohm": "Ohm", "Ω": "Ohm", "kph": "km/h", "kmh": "km/h", "gram": "g", "percent": "%",
    "litre": "l", "liter": "l", "L": "l", "hrs": "h", "mins": "min", "secs": "s", "day": "d", "inch": "in",
    "inches": "in", "foot": "ft", "feet": "ft", "yard": "yd", "mile": "mi", "knot": "kn", "kts": "kn",
    "pound": "lb", "lbm": "lb", "lbs": "lb", "ounce": "oz", "poundforce": "lbf", "horsepower": "hp",
    "micron": "um", "millimeter": "mm", "millimetre": "mm", "centimeter": "cm", "kilometer": "km",
    "kilogram": "kg", "tonne": "t", "amp": "A", "revolution": "rev", "turn": "rev", "cc": "cm3", "ccm": "cm3",
    "mil": "thou", "fahrenheit": "degF", "henry": "H", "tesla": "T", "farad": "F", "kgs": "kg",
}  # fmt: skip
COMMON = [
    "kg", "mm", "cm", "km", "ms", "us", "kN", "MN", "N.m", "N/m", "kW", "kHz", "MPa", "kPa", "mbar", "N/mm",
    "N.m/rad", "rad/s", "m/s", "m/s2", "kg.m2", "km/h", "N.s/m",
]  # fmt: skip
