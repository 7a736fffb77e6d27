"""The reference, generated from declarations: pages of Markdown, by their path.

`reference_pages()` asks the registry, the declarations of components, the parsers of commands and the schemas
of files, so the pages say what the installed packages do. mkdocs gets them from `hook.py`; mkdocstrings fills
in the lines that begin with ``:::``.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

import cosim
from cosim import kit, units
from cosim.command_line.command_entries import commands
from cosim.command_line.command_parser import COMMON, CommandParser
from cosim.command_line.plugins_command import PluginsCommand
from cosim.registration.kinds import declared_kinds
from cosim.unit import BASE_UNITS
from cosim_workbench.contracts import FileSchema

PACKAGES = (
    "cosim",
    "cosim.kit",
    "cosim.testing",
    "cosim_mechanics",
    "cosim_mechanics.contracts",
    "cosim_mechanics.spatial",
    "cosim_mechanics.testing",
    "cosim_dynamics",
    "cosim_integrators.kit",
    "cosim_measures.histories",
    "cosim_ensembles.kit",
    "cosim_signals.series",
    "cosim_workbench",
    "cosim_workbench.arguments",
    "cosim_workbench.contracts",
    "cosim_workbench.reports",
    "cosim_workbench.studies",
    "cosim_fmu",
    "cosim_fmu.abilities",
    "cosim_fmu.testing",
    "cosim_toml",
)
"""What others may import, as CONTRIBUTING.md says."""

DECLARED = ("parameter", "option", "attachment", "input", "output", "position", "speed", "auxiliary")
"""Kinds of declarations that users set or read; the others a component needs for itself."""


def reference_pages() -> dict[str, str]:
    """All pages, by path below the folder of the docs."""
    pages: dict[str, str] = {}
    kinds = registered()
    pages["reference/ids.md"] = _ids_page(kinds)
    for kind, entries in kinds.items():
        if kind != "command":
            pages[f"reference/{kind}.md"] = _kind_page(kind, entries)
    pages["reference/command.md"] = _commands_page(kinds["command"])
    pages["reference/hook.md"] = _hook_page(kinds)
    for entry in cosim.registry().entries("file_schema"):
        pages[f"reference/{entry.cls.name}-file.md"] = _file_page(entry.cls())
    pages["reference/units.md"] = _units_page()
    places = {
        e.cls: f"../{kind}.md#{_anchor(e)}"
        for kind, entries in kinds.items()
        for e in entries
        if kind != "command"
    }
    places |= {cosim.Register: "../hook.md", cosim.plugin_kind: "../hook.md"}
    for package in PACKAGES:
        pages[f"reference/api/{package}.md"] = _package_page(package, places)
    return pages


def registered() -> dict[str, list[kit.Entry]]:
    """Everything that the plugins of this distribution register, by its own kind."""
    by_kind: dict[str, list[kit.Entry]] = {}
    for record in cosim.registry().plugins:
        for entry in record.entries:
            if entry.distribution == "cosim-framework":
                by_kind.setdefault(entry.kind, []).append(entry)
    return {kind: sorted(entries, key=lambda entry: entry.id) for kind, entries in sorted(by_kind.items())}


def public_names(package: str) -> list[tuple[str, Any]]:
    """What a module exports, in order: what it defines, and the names that it imports as themselves."""
    module = importlib.import_module(package)
    syntax = ast.parse(inspect.getsource(module))
    imports = [node for node in ast.walk(syntax) if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in imports for alias in node.names if alias.asname == alias.name}
    own = [node.name for node in syntax.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    names.update(name for name in own if not name.startswith("_"))
    return [(name, getattr(module, name)) for name in sorted(names)]


def _ids_page(kinds: Mapping[str, Iterable[kit.Entry]]) -> str:
    """Each id in one table, with its kind and the first sentence about it, linked to its section."""
    rows = []
    for kind, entries in kinds.items():
        for entry in entries:
            place = f"cosim-{entry.cls.name}" if kind == "command" else _anchor(entry)
            title = kind.replace("_", " ")
            rows.append((f"[`{entry.id}`]({kind}.md#{place})", f"[{title}]({kind}.md)", _summary(entry.cls)))
    lines = ["# All ids", "", "What the packages of this distribution register, in order.", ""]
    return "\n".join([*lines, *_table(("id", "kind", "what it is"), sorted(rows)), ""])


def _kind_page(kind: str, entries: Iterable[kit.Entry]) -> str:
    base = _summary(declared_kinds()[kind])
    lines = [f"# {_title(kind)}", "", f"{base} Registered under these ids, with what each declares.", ""]
    for entry in entries:
        lines += [f"## {entry.id}", ""]
        if issubclass(entry.cls, cosim.Component):
            lines += _declarations(entry.cls)
        else:
            lines += _options(entry.cls)
        lines += ["", *_documented(entry.cls, members=False), ""]
    return "\n".join(lines) + "\n"


def _anchor(entry: kit.Entry) -> str:
    """Of its heading."""
    return entry.id.replace(".", "")


def _declarations(cls: type[Any]) -> list[str]:
    shown = [d for d in cls.declarations.values() if d.kind in DECLARED and not d.options.get("internal")]
    rows = [(d.name, d.kind, _values(d), d.description) for d in shown]
    return _table(("name", "kind", "value", "meaning"), rows)


def _values(declaration: Any) -> str:
    """How many numbers, of which units, between which bounds, and the default."""
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
    """Arguments of the constructor; an integrator's are declared in its class."""
    if issubclass(cls, cosim.Integrator):
        names = sorted(kit.option_names(cls))
        return ["Options: " + ", ".join(f"`{name}`" for name in names) + "."] if names else []
    rows = []
    for name, parameter in inspect.signature(cls).parameters.items():
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            rows.append(
                (name, "required" if parameter.default is parameter.empty else f"`{parameter.default!r}`")
            )
    return _table(("option", "default"), rows)


def _commands_page(entries: Iterable[kit.Entry]) -> str:
    lines = ["# Commands", "", "Each command explains itself with `--help`.", ""]
    registered_ids = {entry.id for entry in entries}
    for name, entry in commands().items():
        if entry.id not in registered_ids and entry.cls is not PluginsCommand:
            continue
        command = entry.cls()
        by = f" Registered as `{entry.id}`." if entry.id in registered_ids else ""
        lines += [f"## cosim {name}", "", f"{_sentence(command.summary)}{by}", ""]
        rows = []
        for action in CommandParser(command).arguments:
            if action.dest not in ("help", *COMMON) and action.help != argparse.SUPPRESS:
                names = ", ".join(action.option_strings) or action.dest
                values = action.metavar or (", ".join(map(str, action.choices)) if action.choices else "")
                rows.append((f"`{names}`", f"{values}", action.help or ""))
        lines += [*_table(("argument", "value", "meaning"), rows), ""]
        lines += [f"    {typed}{f'  # {what}' if what else ''}" for typed, what in command.examples]
        lines += ["", f"Exit status 1: {command.failure}.", ""] if command.failure else [""]
    common = [(f"`{', '.join(flags)}`", settings["help"]) for flags, settings in COMMON.values()]
    lines += ["## Options of all commands", "", *_table(("option", "meaning"), common), ""]
    return "\n".join(lines)


def _hook_page(kinds: Iterable[str]) -> str:
    listed = [f"- [{_title(kind)}]({kind}.md)" for kind in kinds]
    return "\n".join(
        [
            "# The hook",
            "",
            "A plugin has one hook. The kind of what it registers follows from its base class:",
            "",
            *listed,
            "",
            *_documented(cosim.Register, members=True),
            "",
            *_documented(cosim.plugin_kind, members=False),
            "",
        ]
    )


def _file_page(file: FileSchema) -> str:
    schema = file.schema()
    lines = [
        f"# Keys of {file.what}",
        "",
        f"`cosim schema {file.name}` writes the same as a JSON Schema.",
        "",
    ]
    for name, table in schema["properties"].items():
        if name == "variants":
            lines += [f"## {name}", "", "Tables by name, laid over the others; the same keys.", ""]
            continue
        lines += [f"## {name}", ""]
        rows = [(f"`{key}`", kind, default, text) for key, kind, default, text in _keys(table, name, schema)]
        lines += [*_table(("key", "value", "default", "meaning"), rows), ""]
    return "\n".join(lines)


def _keys(schema: dict[str, Any], path: str, root: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Path, kind of value, default and description of all keys, as deep as they go."""
    schema = _resolved(schema, root)
    choices = _choices(schema)
    default = f"`{schema['default']}`" if "default" in schema else ""
    yield path, _value(schema), default, schema.get("description", "")
    ids = sorted({id for choice in choices for id in _ids(choice)})
    if ids:
        kinds = [kind for kind, entries in registered().items() if {entry.id for entry in entries} & set(ids)]
        links = ", ".join(f"[{_title(kind).lower()}]({kind}.md)" for kind in kinds)
        yield f"{path}.type", "id", "", f"{links}; the other keys are those that the class declares"
        return
    for inner in [schema, *choices]:
        for name, below in inner.get("properties", {}).items():
            yield from _keys(below, f"{path}.{name}", root)
        for step, key in ((".NAME", "additionalProperties"), ("[]", "items")):
            below = inner.get(key)
            if isinstance(below, dict) and (_choices(below) or below.get("properties")):
                yield from _keys(below, f"{path}{step}", root)


def _resolved(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """The schema that a reference leads to."""
    while "$ref" in schema:
        node: Any = root
        for key in schema["$ref"].removeprefix("#/").split("/"):
            node = node[key]
        schema = {**node, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def _ids(schema: dict[str, Any]) -> list[str]:
    """Registered ids, where a table is one of a type."""
    kind = schema.get("properties", {}).get("type", {})
    return [id for id in kind.get("enum", [kind.get("const", "")]) if "." in id]


def _choices(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [c for key in ("oneOf", "anyOf") for c in schema.get(key, []) if "properties" in c or "items" in c]


def _value(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return " or ".join({"object": "table", "string": "text", "array": "list"}.get(n, n) for n in names)
    kinds = [_value(choice) for key in ("anyOf", "oneOf") for choice in schema.get(key, [])]
    return " or ".join(dict.fromkeys(filter(None, kinds)))


def _units_page() -> str:
    lines = [
        "# Units",
        "",
        'Unit expressions are Modelica\'s: `N.m/rad`, `kg.m2`, `m/s2`; text with a number has one: `"5 kN"`.',
        "",
    ]
    rows = []
    for name, prefixed in units.unit_symbols().items():
        unit = units.parse_unit(name)
        powers = zip(BASE_UNITS, unit.exponents, strict=True)
        product = (
            ".".join(f"{symbol}{power if power != 1 else ''}" for symbol, power in powers if power) or "1"
        )
        rows.append(
            (
                f"`{name}`",
                f"{unit.factor:.10g}",
                f"`{product}`",
                f"{unit.offset:g}" if unit.offset else "",
                "yes" if prefixed else "",
            )
        )
    return "\n".join([*lines, *_table(("symbol", "factor", "in base units", "offset", "prefixes"), rows), ""])


def _package_page(package: str, places: dict[Any, str]) -> str:
    """What a package exports; what another page has already is a link to it."""
    lines = [
        f"# {package}",
        "",
        (inspect.getdoc(importlib.import_module(package)) or "").split("\n\n")[0],
        "",
    ]
    constants = []
    for name, thing in public_names(package):
        if not _has_definition(thing):
            constants.append(f"`{name}`")
        elif thing in places:
            lines += [f"## {name}", "", f"[{_summary(thing)}]({places[thing]})", ""]
        else:
            places[thing] = f"{package}.md#{thing.__module__}.{thing.__qualname__}"
            lines += [*_documented(thing, members=inspect.isclass(thing), heading=name), ""]
    if constants:
        lines += ["## Other names", "", ", ".join(constants), ""]
    return "\n".join(lines)


def _has_definition(thing: Any) -> bool:
    """Whether a class or function is defined in its module under its name, not returned by a call."""
    if not (inspect.isclass(thing) or inspect.isfunction(thing)) or thing is Any:
        return False
    definition: Any = importlib.import_module(thing.__module__)
    for name in thing.__qualname__.split("."):
        definition = getattr(definition, name, None)
    return definition is not None and not inspect.ismodule(definition)


def _summary(thing: Any) -> str:
    return (inspect.getdoc(thing) or thing.__name__).split("\n")[0]


def _documented(thing: Any, members: bool, heading: str = "") -> list[str]:
    """The docstring, by mkdocstrings; below a heading of its own, or below the name that users import."""
    lines = [f"::: {thing.__module__}.{thing.__qualname__}", "    options:"]
    title = heading or _public().get(thing, f"{thing.__module__}.{thing.__qualname__}")
    lines += [f'      heading: "{title}"']
    if heading:
        lines += [f'      toc_label: "{heading}"', "      heading_level: 2"]  # in quotes: "on" is a name
    if not members:
        return [*lines, "      members: []"]
    inherited = _inherited(thing) if inspect.isclass(thing) else []
    return [*lines, f"      inherited_members: [{', '.join(inherited)}]"] if inherited else lines


@functools.cache
def _public() -> dict[Any, str]:
    """Classes that packages export, with the names under which they are imported."""
    objects = [(thing, f"{package}.{name}") for package in PACKAGES for name, thing in public_names(package)]
    return {thing: name for thing, name in reversed(objects) if inspect.isclass(thing)}


def _inherited(cls: type) -> list[str]:
    """Members that a public class has from a base that is none."""
    bases = [b for b in cls.__mro__[1:] if b.__module__.startswith("cosim.") and b not in _public()]
    return sorted({name for base in bases for name in vars(base) if not name.startswith("_")} - {*vars(cls)})


def _table(titles: Iterable[str], rows: Iterable[Iterable[Any]]) -> list[str]:
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    if not cells:
        return []
    titles = list(titles)
    lines = ["| " + " | ".join(row) + " |" for row in (titles, ["---"] * len(titles), *cells)]
    return lines


def _title(kind: str) -> str:
    plural = kind.replace("_", " ").capitalize()
    return plural[:-1] + "ies" if plural.endswith("ry") else plural + "s"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


if __name__ == "__main__":
    for name, text in reference_pages().items():
        print(f"{len(text):8d}  {name}")
