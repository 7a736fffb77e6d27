"""Parts that are added to a model: checks of their names, classes and values."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from cosim.component.component import Component
from cosim.errors import LookUpError, ModelError, Problem
from cosim.registration.registry import registry
from cosim.value_text import quote

NAME = re.compile(r"[A-Za-z_]\w*")


def check_part_name(name: Any, kind: Any, parts: Mapping[str, Component]) -> None:
    """`ModelError` unless a part of this name can be added to these parts."""
    if not isinstance(name, str):
        raise ModelError.of("name", f"is {quote(name)}, needs text")
    if "." in name and isinstance(kind, str) and NAME.fullmatch(kind):
        raise ModelError.of(name, f"the kind comes first, then the name: write add('{name}', '{kind}', …)")
    if not NAME.fullmatch(name):
        needs = "letters, digits and underscores, one of A to Z or a to z first"
        raise ModelError.of(name, f"{quote(name)} is not a name: {needs}")
    if name in parts:
        raise ModelError.of(name, f"there is a part '{name}' already ({type(parts[name]).__name__})")


def fault_of_part(name: str, error: ModelError) -> ModelError:
    """The faults that the constructor of a part has found, with the name of the part before their places."""
    return ModelError([Problem(f"{name}.{p.where}" if p.where else name, p.text) for p in error.problems])


def check_constructed(part: Any, name: str) -> None:
    """`ModelError` for a component whose own constructor leaves out that of `Component`."""
    if not hasattr(part, "values"):
        text = f"{type(part).__name__}.__init__ has to begin with super().__init__(**values)"
        raise ModelError.of(name, text)


def check_is_free(part: Component, name: str, values: Collection[str]) -> None:
    """`ModelError` for a component that is part of a model already, or that is given values once more."""
    class_name = type(part).__name__
    if values:
        first = next(iter(values))
        raise ModelError.of(
            f"{name}.{first}",
            f"this {class_name} already has its values: write add({class_name}, '{name}', {first}=…)",
        )
    if getattr(part, "name", ""):
        raise ModelError.of(name, f"this {class_name} is part '{part.name}' already; make another")


def component_class_of(kind: str | Callable[..., Any]) -> type[Component]:
    """The class of an id, or a class as it is given."""
    if isinstance(kind, str):
        component_class: type[Component] = registry().get("component", kind)
        return component_class
    if isinstance(kind, type) and issubclass(kind, Component):
        return kind
    raise LookUpError("component", repr(kind), [], "Give an id, a Component class or a component.")


def with_whole_paths(cls: type[Component], values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The values, in which relative paths of data files begin in a folder."""
    if not (names := _file_options(cls)):
        return values
    located = dict(values)
    for name in names:
        if isinstance(value := values.get(name), (str, Path)):
            located[name] = str(folder / value)
    return located


@functools.cache
def _file_options(cls: type[Component]) -> list[str]:
    """The options of a class that are paths of data files."""
    return [name for name, declared in cls.declarations.items() if declared.options.get("file")]
