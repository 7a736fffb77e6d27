"""Names, types and arguments of registered classes in stubs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from cosim.kit import NUMERIC, Declaration, RegisteredClass, option_names

SCALAR, ARRAY, PART = "float | str", "ArrayLike | Sequence[Any]", "cosim.Component | str"
SHOWN_KINDS = (*NUMERIC, "option", "attachment")
KNOWN_TYPE = re.compile(r"(bool|int|float|str|None)( \| (bool|int|float|str|None))*")


def shown_declarations(cls: type[Any]) -> list[Declaration]:
    """The parameters, options and attachments that a user may set."""
    return [d for d in cls.declarations.values() if d.kind in SHOWN_KINDS and not d.options.get("internal")]


def keyword_arguments(cls: type[Any], star: str = "", without: Iterable[str] = ()) -> str:
    """The keyword arguments of a component, those that it needs first."""
    declared = [d for d in shown_declarations(cls) if d.name not in without]
    needed = [d for d in declared if d.kind == "parameter" and d.start is None]
    needed = [d for d in needed if not d.free_length]
    texts = [f"{d.name}: {argument_type(d)}" for d in needed]
    texts += [f"{d.name}: {argument_type(d)} = ..." for d in declared if d not in needed]
    return f"{star}, {', '.join(texts)}" if texts else ""


def argument_type(declared: Declaration) -> str:
    """The type of the argument that sets a parameter, an option or an attachment."""
    choices = declared.options.get("words") or declared.options.get("choices")
    if declared.kind == "attachment":
        return f"{PART} | None"
    if choices and all(isinstance(choice, str) for choice in choices):
        return f"Literal[{', '.join(map(repr, choices))}]"
    if declared.kind == "option":
        return "Any" if declared.start is None else f"{type(declared.start).__name__}"
    if declared.convert is not None and declared.shape:
        return "Any"
    if declared.shape and not declared.options.get("each"):
        return f"{ARRAY} | {SCALAR}"
    return "bool | float" if declared.dtype is bool else SCALAR


def attribute_type(declared: Declaration) -> str:
    """The type of the attribute that such an argument becomes."""
    if declared.kind == "attachment":
        return "Any"
    if declared.kind == "option":
        return "Any" if declared.start is None else type(declared.start).__name__
    return "NDArray[float64]" if declared.shape else "float"


def typed_options(function: Any) -> dict[str, str]:
    """The type of each option by its name: that of its signature if every stub knows its words, else Any."""
    annotated: dict[str, str] = {}
    for base in reversed(function.__mro__) if isinstance(function, type) else ():
        annotated |= getattr(vars(base).get("__init__"), "__annotations__", {})
    annotated |= {} if isinstance(function, type) else function.__annotations__
    types = {name: annotated.get(name, "Any") for name in option_names(function)}
    return {n: text if KNOWN_TYPE.fullmatch(str(text)) else "Any" for n, text in types.items()}


def typed_arguments(options_of_run: Mapping[str, str], methods: Mapping[str, Mapping[str, str]]) -> str:
    """Options of runs, and those of integrators, with their types: the order is that of a call."""
    ids = [f"{id!r}, {id.rpartition('.')[2]!r}" for id in methods]
    types = dict(options_of_run)
    for options_of_method in methods.values():
        types = {**options_of_method, **types}
    names = dict.fromkeys([*options_of_run, *types])
    types["integrator"] = f"Literal[{', '.join(ids)}] | cosim.Integrator | type[cosim.Integrator]"
    types["signals"] = "Sequence[str] | str"
    listed = [n for n in names if n not in ("cls", "self", "system", "options", "settings")]
    return ", ".join(f"{n}: {types[n].removesuffix(' | None')} | None = ..." for n in listed)


def kind_literal(entry: RegisteredClass, parts: Iterable[RegisteredClass]) -> str:
    """The type of the argument `kind` of a part: its id, and the last word of it if no other part has it."""
    last = entry.id.rpartition(".")[2]
    is_single = sum(other.id.rpartition(".")[2] == last for other in parts) == 1
    return f"Literal[{entry.id!r}{f', {last!r}' if is_single else ''}]"


def stub_name(cls: type[Any]) -> str:
    """The name of a class in stubs: parts of several plugins may have one name."""
    return f"_{cls.__module__.replace('.', '_')}_{cls.__qualname__}"


def import_lines(classes: Iterable[type[Any]]) -> list[str]:
    """The import of each class under its name in stubs."""
    return sorted({f"from {cls.__module__} import {cls.__qualname__} as {stub_name(cls)}" for cls in classes})
