"""The tangents of operators and of functions of `math`, as text; longer ones are in `rates`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from cosim_compiler.derivatives import rates
from cosim_compiler.derivatives.tangent_values import NO_TANGENT, Tangents

Dual = tuple[str, Tangents]
"""The value of an operand, a name or a number, and its tangents."""


def operator_tangents(writer: Any, sign: str, value: str, left: Dual, right: Dual) -> Tangents:
    """The tangents of an operator of two reals, one of which varies at least."""
    (x, xs), (y, ys) = left, right
    n = writer.writer.directions
    texts = [_operator_rate(writer, sign, value, x, y, _at(xs, k), _at(ys, k)) for k in range(n)]
    return NO_TANGENT if any(text is None for text in texts) else texts  # type: ignore[return-value]


def _operator_rate(
    writer: Any, sign: str, value: str, x: str, y: str, dx: str | None, dy: str | None
) -> str | None:
    """The rate of an operator's value along one direction; rates of operands are None where they stay."""
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
    """The tangents of a function, one of whose arguments varies at least."""
    n = writer.writer.directions
    texts = [text for text, _ in arguments]
    if name in ("min", "max", "pow", "hypot", "atan2", "fmod", "copysign"):
        rules = {
            "min": (rates.least_rate, ()),
            "max": (rates.greatest_rate, ()),
            "pow": (rates.power_rate, (value,)),
            "hypot": (rates.length_rate, (value,)),
            "atan2": (rates.angle_rate, ()),
            "fmod": (rates.fmod_rate, ()),
        }
        (_, xs), (_, ys) = arguments
        rates_of_directions = []
        for k in range(n):
            dx, dy = _at(xs, k) or "0.0", _at(ys, k) or "0.0"
            if name == "copysign":
                rates_of_directions.append(_call(writer, rates.signed_size_rate, *texts, dx))
                continue
            rule, more = rules[name]
            rates_of_directions.append(_call(writer, rule, *texts, *more, dx, dy))
        return NO_TANGENT if name == "copysign" and xs is None else rates_of_directions
    (x, xs), *others = arguments
    if xs is None:
        return NO_TANGENT
    assert isinstance(xs, list)
    if name == "fabs":
        return [_call(writer, rates.size_rate, x, dx) for dx in xs]
    if name in ("floor", "ceil", "trunc", "rint"):
        return NO_TANGENT
    if name == "ldexp":
        return [f"math.ldexp({dx}, {others[0][0]})" for dx in xs]
    if name == "frexp":
        return [f"math.ldexp({dx}, -{value}[1])" for dx in xs], NO_TANGENT
    if name == "modf":
        return xs, NO_TANGENT
    if name in FACTORS:
        factor = writer.held(FACTORS[name](x, value))
        return [f"({factor} * {dx})" for dx in xs]
    if name in SLOPES:
        slope = writer.held(SLOPES[name](x, value))
        return [_call(writer, rates.ratio, dx, slope) for dx in xs]
    raise writer.refuse(f"math.{name} is not differentiated")


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
"""By function what a rate of the argument x is multiplied by, from x and the value f."""
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
"""By function what a rate of the argument is divided by, likewise."""


def _at(tangents: Tangents, k: int) -> str | None:
    return tangents[k] if isinstance(tangents, list) else None


def _call(writer: Any, rule: Any, *arguments: str | None) -> str:
    return f"{writer.writer.names.name(rule, rule.__name__)}({', '.join(map(str, arguments))})"


def _is_nonzero(text: str) -> bool:
    try:
        return float(text) != 0.0
    except ValueError:
        return False
