"""Declarations as JSON Schema."""

from __future__ import annotations

import inspect
import math
from typing import Any

from cosim.kit import NUMERIC, Declaration, choices_of

Schema = dict[str, Any]


def component_schema(cls: type[Any]) -> Schema:
    """The schema of a component's table, without its type.

    Parameters
    ----------
    cls : type
        A component.

    Returns
    -------
    dict
        An object with its parameters, start values, options and attachments; bounds, defaults, units and
        descriptions are those of the declarations.
    """
    properties: Schema = {}
    required: list[str] = []
    for name, declaration in cls.declarations.items():
        if declaration.kind in NUMERIC:
            properties[name] = _numbers(declaration)
            if declaration.start is None:
                required.append(name)
        elif declaration.kind == "option":
            properties[name] = _described(_option(declaration), declaration)
        elif declaration.kind == "attachment":
            properties[name] = _described({"type": "string"}, declaration)
    summary = (inspect.getdoc(cls) or "").split("\n")[0]
    return {
        "type": "object",
        "description": summary,
        "properties": properties,
        "required": required,
        "additionalProperties": cls.takes_more,
    }


def _numbers(declaration: Declaration) -> Schema:
    """A number, a text with a unit, or lists of them; anything for a declaration that converts by itself."""
    if declaration.convert is not None:
        return _described({}, declaration)
    number: Schema = {"type": "number"}
    choices = choices_of(declaration)
    for key, bound in (("minimum", declaration.minimum), ("maximum", declaration.maximum)):
        if bound is not None and math.isfinite(bound):
            number[key] = bound
    texts = [{"type": "string"}]
    if declaration.kind in ("integer", "discrete") or declaration.dtype is bool:
        texts.append({"type": "boolean"})
    scalar: Schema = {"anyOf": [{"enum": list(choices)}, number] if choices else [number, *texts]}
    schema: Schema = scalar
    if declaration.shape or declaration.free_length or declaration.options.get("each"):
        schema = {"type": "array"}
        if len(declaration.shape) < 2:
            schema["items"] = scalar
            if declaration.size:
                schema.update(minItems=declaration.size, maxItems=declaration.size)
        if _takes_scalar(declaration):
            schema = {"anyOf": [schema, scalar]}
    return _described(schema, declaration)


def _takes_scalar(declaration: Declaration) -> bool:
    """Whether one number may be given for a vector."""
    if declaration.kind != "parameter" or declaration.options.get("each"):
        return True
    return declaration.size == 1 or bool(declaration.free_length)


def _option(declaration: Declaration) -> Schema:
    choices = declaration.options.get("choices")
    if choices is not None:
        return {"enum": list(choices)}
    kinds: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}
    kind = kinds.get(type(declaration.start))
    return {"type": kind} if kind is not None else {}


def _described(schema: Schema, declaration: Declaration) -> Schema:
    units = [unit for unit in dict.fromkeys(declaration.units) if unit not in ("1", "")]
    text = declaration.description + (f" [{', '.join(units)}]" if units else "")
    described = {**schema, "description": text.strip()} if text.strip() else dict(schema)
    if isinstance(declaration.start, (bool, int, float, str)) and math.isfinite(_size(declaration.start)):
        described["default"] = declaration.start
    return described


def _size(value: Any) -> float:
    return 0.0 if isinstance(value, str) else float(value)
