"""The type, the choices and the bounds that a declaration gives, checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from cosim.component.class_line import class_line
from cosim.errors import ContractError
from cosim.value_text import quote


def check_dtype(dtype: Any, quantity: str, choices: Sequence[str] | None = None) -> None:
    """`ContractError` unless a type is one of float, int and bool, or str where there are choices."""
    if dtype not in (float, int, bool) and not (dtype is str and choices):
        type_name = getattr(dtype, "__name__", repr(dtype))
        accepted = "float, int or bool" + ("" if choices is None else ", or str with choices=('…', '…')")
        raise ContractError(f"{class_line()}: {quantity}: dtype is {type_name}, needs {accepted}")


def typed_port(
    quantity: str, unit: str | Sequence[str] | None, dtype: type, choices: Sequence[str]
) -> tuple[str | Sequence[str] | None, dict[str, Any]]:
    """Unit, and the arguments of a `Declaration` that say the type of a port."""
    check_dtype(dtype, quantity, choices)
    if choices:
        excluded = (unit, None if dtype in (float, str) else dtype)
        check_choices(choices, None, any(setting is not None for setting in excluded))
        options = choice_options(choices, dtype)
        return "1", {"dtype": int, "minimum": 1, "maximum": len(choices), "options": options}
    if dtype is bool and unit is None:
        unit = "1"
    return unit, {"dtype": dtype}


def choice_options(choices: Sequence[str], dtype: type) -> dict[str, Any]:
    """The texts that the numbers of a declaration stand for, and whether its values are text."""
    if not choices:
        return {}
    return {"words": tuple(choices), **({"text": True} if dtype is str else {})}


def check_choices(choices: Sequence[str], default: Any, has_more: bool) -> None:
    """`ContractError` unless these are words, each once, that a default is one of."""
    at = class_line()
    if isinstance(choices, str) or not all(isinstance(word, str) and word.strip() for word in choices):
        raise ContractError(f"{at}: choices={choices!r} needs texts: choices=('off', 'on')")
    if len(set(choices)) < len(choices):
        raise ContractError(f"{at}: choices={tuple(choices)!r} lists a choice twice")
    if has_more:
        raise ContractError(
            f"{at}: a variable with choices has no unit, bounds, dtype or convert: leave them out"
        )
    defaults = default if isinstance(default, (list, tuple)) else [default]
    wrong = [word for word in defaults if word is not None and word not in choices]
    if wrong:
        raise ContractError(f"{at}: default {wrong[0]!r} is not one of the choices {tuple(choices)!r}")


def check_bounds(**bounds: Any) -> None:
    """Refuse bounds that are no numbers."""
    for name, bound in bounds.items():
        if bound is None:
            continue
        if isinstance(bound, bool) or not isinstance(bound, (int, float)) or math.isnan(bound):
            raise ContractError(
                f"{class_line()}: {name} is {quote(bound)}, needs a number in the declared unit"
            )
