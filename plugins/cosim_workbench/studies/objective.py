"""The stored number of each point of a study, as users write it."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import cosim

NAMED = re.compile(r"^\s*(?P<name>[A-Za-z_]\w*)\s*=(?P<rest>.*)$", re.DOTALL)
FUNCTION = re.compile(r"^\s*(?P<module>[\w.]+):(?P<function>\w+)\s*(?:\((?P<signals>.*)\))?\s*$")

Reductions = dict[str, Any]
Functions = dict[str, Callable[[cosim.Result], float]]


def read_objectives(objectives: Sequence[Any] | Mapping[str, Any]) -> tuple[Reductions, Functions]:
    """Reductions as `cosim.Ensemble` takes them, and functions of a whole `Result`, by name.

    Parameters
    ----------
    objectives : sequence or mapping
        ``"max(engine.z)"``, ``"peak=max(engine.z)"``, ``"module:function"`` (called with the `Result` of
        a point), ``"module:function(engine.z)"`` (a kernel function of times and signals); functions in
        place of their names; a function with its signals.
    """
    reductions: Reductions = {}
    functions: Functions = {}
    listed = objectives.items() if isinstance(objectives, Mapping) else [("", item) for item in objectives]
    for name, item in listed:
        if isinstance(item, str):
            name, item = _read_text(name, item)
        if not name:
            name = item.replace(" ", "") if isinstance(item, str) else _name_of(item)
        if name in reductions or name in functions:
            raise cosim.ModelError.of("objective", f"two are called '{name}': write \"other={name}\"")
        if callable(item):
            functions[name] = item
        else:
            reductions[name] = item
    return reductions, functions


def _read_text(name: str, text: str) -> tuple[str, Any]:
    """The name and the objective of a text, such as ``peak=max(engine.z)``; a name outside of it counts."""
    named = NAMED.match(text)
    if named is not None:
        name, text = name or named["name"], named["rest"].strip()
    call = FUNCTION.match(text)
    if call is None:
        return name, text
    function = _function(call["module"], call["function"])
    name = name or call["function"]
    if not call["signals"]:
        return name, function
    return name, (function, *(signal.strip() for signal in call["signals"].split(",")))


def _name_of(item: Any) -> str:
    function = item[0] if isinstance(item, (tuple, list)) and item else item
    name: str = getattr(function, "__name__", str(function))
    return name


def _function(module: str, name: str) -> Any:
    try:
        function = getattr(importlib.import_module(module), name, None)
    except Exception as error:
        raise cosim.ModelError.of(
            "objective", f"module {module} cannot be imported: {type(error).__name__}: {error}"
        ) from None
    if not callable(function):
        raise cosim.ModelError.of("objective", f"module {module} has no function {name}")
    return function
