"""The tangents of operators and of functions of `math` as text; longer rules are functions of `rates`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from cosim_compiler.derivatives import rates
from cosim_compiler.derivatives.tangent_values import NO_TANGENT, Dual, Tangents


def operator_tangents(writer: Any, sign: str, value: str, left: Dual, right: Dual) -> Tangents:
    """The tangents of an operator of two reals, at least one of which varies.

    The texts of the operands, and of the value of the operator, are names or numbers.
    """
    (x, x_dots), (y, y_dots) = left, right
    texts = [
        _operator_rate(writer, sign, value, x, y, _along(x_dots, k), _along(y_dots, k))
        for k in range(writer.writer.directions)
    ]
    return NO_TANGENT if any(text is None for text in texts) else texts  # type: ignore[return-value]


def _operator_rate(
    writer: Any, sign: str, value: str, x: str, y: str, dx: str | None, dy: str | None
) -> str | None:
    """The tangent of an operator along one direction; `dx` and `dy` are None if the operand does not vary."""
    if sign == "//":
        return None
    if sign == "+":
        return f"({dx} + {dy})" if dx and dy else dx or dy
    if sign == "-":
        return f"({dx} - {dy})" if dx and dy else dx or f"(-{dy})"
    if sign == "*":
        parts = [f"{a} * {b}" for a, b in ((dx, y), (x, dy)) if a and b]
        return f"({' + '.join(parts)})"
    if sign == "/":
        if dy is None:
            return f"({dx} / {y})" if _is_nonzero(y) else _call(writer, rates.ratio_by, dx, y)
        return _call(writer, rates.quotient_rate, value, y, dx or "0.0", dy)
    if sign == "%":
        return dx if dy is None else _call(writer, rates.remainder_rate, f"({x} // {y})", dx or "0.0", dy)
    raise writer.refuse(f"`{sign}` is not differentiated")


def function_tangents(writer: Any, name: str, value: str, arguments: Sequence[Dual]) -> Tangents:
    """The tangents of a function of `math`, at least one of whose arguments varies."""
    if name in OF_TWO_ARGUMENTS:
        return _tangents_of_two(writer, name, value, arguments)
    (x, dots), *others = arguments
    if dots is None:
        return NO_TANGENT
    assert isinstance(dots, list)
    if name == "fabs":
        return [_call(writer, rates.size_rate, x, dx) for dx in dots]
    if name in ("floor", "ceil", "trunc", "rint"):
        return NO_TANGENT
    if name == "ldexp":
        return [f"math.ldexp({dx}, {others[0][0]})" for dx in dots]
    if name == "frexp":
        return [f"math.ldexp({dx}, -{value}[1])" for dx in dots], NO_TANGENT
    if name == "modf":
        return dots, NO_TANGENT
    if name in FACTORS:
        factor = writer.held(FACTORS[name](x, value))
        return [f"({factor} * {dx})" for dx in dots]
    if name in SLOPES:
        slope = writer.held(SLOPES[name](x, value))
        return [_call(writer, rates.ratio, dx, slope) for dx in dots]
    raise writer.refuse(f"math.{name} is not differentiated")


OF_TWO_ARGUMENTS = ("min", "max", "pow", "hypot", "atan2", "fmod", "copysign")


def _tangents_of_two(writer: Any, name: str, value: str, arguments: Sequence[Dual]) -> Tangents:
    """The tangents of a function of two arguments."""
    (x, x_dots), (y, y_dots) = arguments
    rules = {
        "min": (rates.least_rate, (x, y)),
        "max": (rates.greatest_rate, (x, y)),
        "pow": (rates.power_rate, (x, y, value)),
        "hypot": (rates.length_rate, (x, y, value)),
        "atan2": (rates.angle_rate, (x, y)),
        "fmod": (rates.fmod_rate, (x, y)),
    }
    tangents = []
    for k in range(writer.writer.directions):
        dx, dy = _along(x_dots, k) or "0.0", _along(y_dots, k) or "0.0"
        if name == "copysign":
            tangents.append(_call(writer, rates.signed_size_rate, x, y, dx))
        else:
            rule, values = rules[name]
            tangents.append(_call(writer, rule, *values, dx, dy))
    return NO_TANGENT if name == "copysign" and x_dots is None else tangents


FACTORS: dict[str, Callable[[str, str], str]] = {
    "sin": lambda x, f: f"math.cos({x})",
    "cos": lambda x, f: f"(-math.sin({x}))",
    "tan": lambda x, f: f"(1.0 + {f} * {f})",
    "exp": lambda x, f: f,
    "expm1": lambda x, f: f"({f} + 1.0)",
    "sinh": lambda x, f: f"math.cosh({x})",
    "cosh": lambda x, f: f"math.sinh({x})",
    "tanh": lambda x, f: f"((1.0 - {f}) * (1.0 + {f}))",
    "erf": lambda x, f: f"({2.0 / math.sqrt(math.pi)!r} * math.exp(-({x} * {x})))",
    "erfc": lambda x, f: f"({-2.0 / math.sqrt(math.pi)!r} * math.exp(-({x} * {x})))",
}
"""By function: the text that the tangent of the argument is multiplied by, from argument and value."""
SLOPES: dict[str, Callable[[str, str], str]] = {
    "sqrt": lambda x, f: f"(2.0 * {f})",
    "log": lambda x, f: x,
    "log2": lambda x, f: f"({x} * {math.log(2.0)!r})",
    "log10": lambda x, f: f"({x} * {math.log(10.0)!r})",
    "log1p": lambda x, f: f"(1.0 + {x})",
    "asin": lambda x, f: f"math.sqrt((1.0 - {x}) * (1.0 + {x}))",
    "acos": lambda x, f: f"(-math.sqrt((1.0 - {x}) * (1.0 + {x})))",
    "atan": lambda x, f: f"(1.0 + {x} * {x})",
    "asinh": lambda x, f: f"math.sqrt(1.0 + {x} * {x})",
    "acosh": lambda x, f: f"math.sqrt(({x} - 1.0) * ({x} + 1.0))",
    "atanh": lambda x, f: f"((1.0 - {x}) * (1.0 + {x}))",
}
"""By function: the text that the tangent of the argument is divided by, from the same."""


def _along(tangents: Tangents, k: int) -> str | None:
    return tangents[k] if isinstance(tangents, list) else None


def _call(writer: Any, rule: Any, *arguments: str | None) -> str:
    return f"{writer.writer.names.name(rule, rule.__name__)}({', '.join(map(str, arguments))})"


def _is_nonzero(text: str) -> bool:
    try:
        return float(text) != 0.0
    except ValueError:
        return False
