"""Pages of what plugins register: all ids, the ids of each kind with their declarations, and the hook."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from page_parts import docstring_section, first_line, plural_title, table_lines

import cosim
from cosim import kit
from cosim.registration.kinds import declared_kinds

DECLARED = ("parameter", "option", "attachment", "input", "output", "position", "speed", "auxiliary")
"""Kinds of declarations that users set or read; a component needs the others for itself."""


def registered() -> dict[str, list[kit.RegisteredClass]]:
    """The entries that the plugins of this distribution register, by their kind."""
    by_kind: dict[str, list[kit.RegisteredClass]] = {}
    for record in cosim.registry().plugins:
        for entry in record.entries:
            if entry.distribution == "cosim-framework":
                by_kind.setdefault(entry.kind, []).append(entry)
    return {kind: sorted(entries, key=lambda entry: entry.id) for kind, entries in sorted(by_kind.items())}


def ids_page(kinds: Mapping[str, Iterable[kit.RegisteredClass]]) -> str:
    """A table of all ids, each with its kind and first sentence, and a link to its section."""
    rows = []
    for kind, entries in kinds.items():
        for entry in entries:
            place = f"cosim-{entry.cls.name}" if kind == "command" else anchor(entry)
            title = kind.replace("_", " ")
            rows.append(
                (f"[`{entry.id}`]({kind}.md#{place})", f"[{title}]({kind}.md)", first_line(entry.cls))
            )
    lines = ["# All ids", "", "What the packages of this distribution register, in order.", ""]
    return "\n".join([*lines, *table_lines(("id", "kind", "what it is"), sorted(rows)), ""])


def kind_page(kind: str, entries: Iterable[kit.RegisteredClass]) -> str:
    """A section for each id of a kind: declarations or options, then the docstring."""
    base = first_line(declared_kinds()[kind])
    lines = [
        f"# {plural_title(kind)}",
        "",
        f"{base} Registered under these ids, with what each declares.",
        "",
    ]
    for entry in entries:
        lines += [f"## {entry.id}", ""]
        if issubclass(entry.cls, cosim.Component):
            lines += _declarations(entry.cls)
        else:
            lines += _options(entry.cls)
        lines += ["", *docstring_section(entry.cls, has_members=False), ""]
    return "\n".join(lines) + "\n"


def anchor(entry: kit.RegisteredClass) -> str:
    """The anchor of the section of an id on the page of its kind."""
    return entry.id.replace(".", "")


def _declarations(cls: type[Any]) -> list[str]:
    """A table of the declarations of a component."""
    public = [d for d in cls.declarations.values() if d.kind in DECLARED and not d.options.get("internal")]
    rows = [(d.name, d.kind, _values(d), d.description) for d in public]
    return table_lines(("name", "kind", "value", "meaning"), rows)


def _values(declaration: Any) -> str:
    """The shape, unit, bounds and default of a declaration, as text."""
    length = declaration.free_length or " × ".join(map(str, declaration.shape))
    parts = [
        f"{length} numbers" if length else "",
        _unit(declaration),
        _bounds(declaration),
        _default(declaration),
    ]
    return "; ".join(filter(None, parts))


def _unit(declaration: Any) -> str:
    if declaration.unit_rule is not None:
        others = re.sub(r"\{(\w+)\}", r"unit of \1", declaration.unit_rule).replace(".", " · ")
        return others or "in the unit of what it is connected to"
    return ", ".join(f"`{unit}`" for unit in dict.fromkeys(declaration.units) if unit not in ("1", ""))


def _default(declaration: Any) -> str:
    if declaration.start is None:
        return "required" if declaration.kind == "parameter" else ""
    if declaration.start == "":
        return "default empty"
    numbers = np.ravel(declaration.start) if np.ndim(declaration.start) else ()
    return f"default `{', '.join(f'{n:g}' for n in numbers) or declaration.start}`"


def _bounds(declaration: Any) -> str:
    if declaration.options.get("words"):
        return f"one of {', '.join(f'`{word}`' for word in declaration.options['words'])}"
    if declaration.above is not None:
        return f"> {declaration.above:g}"
    low = "" if declaration.minimum is None else f"≥ {declaration.minimum:g}"
    high = "" if declaration.maximum is None else f"≤ {declaration.maximum:g}"
    return ", ".join(filter(None, (low, high)))


def _options(cls: type[Any]) -> list[str]:
    """A table of the arguments of a constructor; for an integrator the names of its options."""
    if issubclass(cls, cosim.Integrator):
        names = sorted(kit.option_names(cls))
        return ["Options: " + ", ".join(f"`{name}`" for name in names) + "."] if names else []
    rows = []
    for name, parameter in inspect.signature(cls).parameters.items():
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            rows.append(
                (name, "required" if parameter.default is parameter.empty else f"`{parameter.default!r}`")
            )
    return table_lines(("option", "default"), rows)


def hook_page(kinds: Iterable[str]) -> str:
    """The registration of plugins, with a link to the page of each kind."""
    links = [f"- [{plural_title(kind)}]({kind}.md)" for kind in kinds]
    return "\n".join(
        [
            "# The hook",
            "",
            "A plugin has one hook. The kind of what it registers follows from its base class:",
            "",
            *links,
            "",
            *docstring_section(cosim.Register, has_members=True),
            "",
            *docstring_section(cosim.plugin_kind, has_members=False),
            "",
        ]
    )
