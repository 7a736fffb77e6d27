"""The reference, generated from declarations: pages of Markdown, by their path.

`reference_pages()` asks the registry, the declarations of components, the parsers of commands and the schemas
of files, so the pages agree with the installed packages. mkdocs gets them from `hook.py`; mkdocstrings fills
in the lines that begin with ``:::``.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from command_page import command_page
from file_pages import file_page
from kind_pages import anchor, hook_page, ids_page, kind_page, registered
from page_parts import docstring_section, first_line
from public_names import PACKAGES, has_definition, public_names
from unit_page import unit_page

import cosim


def reference_pages() -> dict[str, str]:
    """All pages, by path below the folder of the docs."""
    kinds = registered()
    pages = {"reference/ids.md": ids_page(kinds)}
    pages |= {f"reference/{kind}.md": kind_page(kind, kinds[kind]) for kind in kinds if kind != "command"}
    pages["reference/command.md"] = command_page(kinds["command"])
    pages["reference/hook.md"] = hook_page(kinds)
    for entry in cosim.registry().entries("file_schema"):
        pages[f"reference/{entry.cls.name}-file.md"] = file_page(entry.cls())
    pages["reference/units.md"] = unit_page()
    places: dict[Any, str] = {
        entry.cls: f"../{kind}.md#{anchor(entry)}"
        for kind, entries in kinds.items()
        for entry in entries
        if kind != "command"
    }
    places |= {cosim.Register: "../hook.md", cosim.plugin_kind: "../hook.md"}
    for package in PACKAGES:
        sections = _sections(package, places)
        pages[f"reference/api/{package}.md"] = _package_page(package, sections, places)
        places |= {thing: f"{package}.md#{thing.__module__}.{thing.__qualname__}" for thing in sections}
    return pages


def _sections(package: str, places: Mapping[Any, str]) -> dict[Any, str]:
    """Classes and functions that have their section on the page of a package, with their names there."""
    sections: dict[Any, str] = {}
    for name, thing in public_names(package):
        if has_definition(thing) and thing not in places:
            sections.setdefault(thing, name)
    return sections


def _package_page(package: str, sections: Mapping[Any, str], places: Mapping[Any, str]) -> str:
    """The names that a package exports; those with a section on an earlier page are links to it."""
    docstring = inspect.getdoc(importlib.import_module(package)) or ""
    lines = [f"# {package}", "", docstring.split("\n\n")[0], ""]
    constants = []
    for name, thing in public_names(package):
        if not has_definition(thing):
            constants.append(f"`{name}`")
        elif sections.get(thing) == name:
            lines += [*docstring_section(thing, has_members=inspect.isclass(thing), heading=name), ""]
        else:
            place = places.get(thing, f"#{thing.__module__}.{thing.__qualname__}")
            lines += [f"## {name}", "", f"[{first_line(thing)}]({place})", ""]
    if constants:
        lines += ["## Other names", "", ", ".join(constants), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    for path, text in reference_pages().items():
        print(f"{len(text):8d}  {path}")
