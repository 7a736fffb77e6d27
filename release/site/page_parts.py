"""Pieces of Markdown that several pages of the reference have."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from public_names import import_names


def table_lines(titles: Iterable[str], rows: Iterable[Iterable[Any]]) -> list[str]:
    """The lines of a table; none without rows."""
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    if not cells:
        return []
    titles = list(titles)
    return ["| " + " | ".join(row) + " |" for row in (titles, ["---"] * len(titles), *cells)]


def plural_title(kind: str) -> str:
    """The title of the page of a kind: ``Force elements``."""
    plural = kind.replace("_", " ").capitalize()
    return plural[:-1] + "ies" if plural.endswith("ry") else plural + "s"


def first_line(thing: Any) -> str:
    """The first line of the docstring of a class or function; its name if it has none."""
    return (inspect.getdoc(thing) or thing.__name__).split("\n")[0]


def docstring_section(thing: Any, *, has_members: bool, heading: str = "") -> list[str]:
    """The lines that mkdocstrings replaces by the docstring of a class or function.

    Parameters
    ----------
    thing : object
    has_members : bool
        Whether the members of a class are listed, with those of bases that are not public.
    heading : str
        A heading of level 2 with an entry in the contents. By default the section continues the one above it,
        and its title is the name that users import.
    """
    lines = [f"::: {thing.__module__}.{thing.__qualname__}", "    options:"]
    title = heading or import_names().get(thing, f"{thing.__module__}.{thing.__qualname__}")
    lines += [f'      heading: "{title}"']
    if heading:
        lines += [f'      toc_label: "{heading}"', "      heading_level: 2"]  # in quotes: "on" is a name
    if not has_members:
        return [*lines, "      members: []"]
    inherited = _inherited_members(thing) if inspect.isclass(thing) else []
    return [*lines, f"      inherited_members: [{', '.join(inherited)}]"] if inherited else lines


def _inherited_members(cls: type) -> list[str]:
    """Members that a public class inherits from classes that are not public."""
    bases = [b for b in cls.__mro__[1:] if b.__module__.startswith("cosim.") and b not in import_names()]
    return sorted({name for base in bases for name in vars(base) if not name.startswith("_")} - {*vars(cls)})
