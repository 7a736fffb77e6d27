"""Docstrings of components as readers see them: with the sections that follow from the declarations."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from cosim.component.declaration import Declaration

GIVEN = {
    "parameter": "",
    "option": "option",
    "attachment": "attachment",
    "position": "start value",
    "speed": "start value",
    "auxiliary": "start value",
    "discrete": "start value",
    "integer": "start value",
    "input": "input",
}
COMPUTED = ("output", "cache")
GENERATED = ("Parameters", "Returns")
BEHIND = ("Raises", "Stage", "Energy", "Notes", "References", "Examples")
"""Sections that stand behind the generated ones."""
ENDLESS = 1e300
"""A parameter at least that large stands for "no bound"."""
IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]


@functools.cache
def documented(cls: type[Any]) -> str | None:
    """The docstring of a component with what it declares: parameters, units, bounds, defaults, results.

    An explanation that was written below a name in a ``Parameters`` section of its own is added to that of
    the declaration. None where the class has no docstring.

    Examples
    --------
    >>> import cosim
    >>> class Spring(cosim.Component):
    ...     '''A spring.'''
    ...     stiffness = cosim.parameter(unit="N/m", minimum=0.0, default=2.0, description="force by length")
    >>> (documented(Spring) or "").splitlines()[-2:]
    ['stiffness : N/m, at least 0, default 2', '    force by length']
    """
    docstring = vars(cls).get("__doc__")
    declarations: dict[str, Declaration] = cls.declarations
    if not isinstance(docstring, str) or not declarations:
        return docstring
    opening, sections = _sections(inspect.cleandoc(docstring))
    written = {name: text for title in GENERATED for name, text in _entries(sections.get(title, ""))}
    shown = [d for d in declarations.values() if not d.options.get("internal")]
    generated = {
        "Parameters": [_entry(d, written.get(d.name, "")) for d in shown if d.kind in GIVEN],
        "Returns": [_entry(d, written.get(d.name, "")) for d in shown if d.kind in COMPUTED],
    }
    titles_in_front = [title for title in sections if title not in (*BEHIND, *GENERATED)]
    titles_behind = [title for title in sections if title in BEHIND]
    texts = {title: "\n".join(entries) for title, entries in generated.items()}
    order = [*titles_in_front, *GENERATED, *titles_behind]
    bodies = {**sections, **texts}
    parts = [f"{title}\n{'-' * len(title)}\n{bodies[title]}" for title in order if bodies.get(title)]
    return "\n\n".join(filter(None, [opening, *parts]))


def declared_values(declared: Declaration) -> str:
    """The size, the unit, the bounds and the default of a declaration, in words.

    Examples
    --------
    >>> import cosim
    >>> declared_values(cosim.parameter(unit="m", shape=3, default=(0, 0, 0)))
    '3 numbers, m, default 0'
    >>> declared_values(cosim.parameter(choices=["up", "down"], default="up"))
    "one of 'up', 'down', default 'up'"
    """
    length = " x ".join(
        name or str(size)
        for name, size in zip(
            declared.free_length or ("",) * len(declared.shape), declared.shape, strict=True
        )
    )
    units = dict.fromkeys(unit for unit in declared.units if unit not in ("1", ""))
    parts = [
        f"{length} number{'s' * (length != '1')}" if length else "",
        _unit(declared, units),
        declared_bounds(declared),
    ]
    return ", ".join(filter(None, [*parts, declared_default(declared)]))


def _unit(declared: Declaration, units: Iterable[str]) -> str:
    if declared.unit_rule:
        return re.sub(r"\{(\w+)\}", r"unit of \1", declared.unit_rule)
    return " and ".join(units)


def declared_bounds(declared: Declaration) -> str:
    """The bounds of a declared quantity, or its choices, in words; empty if it has neither."""
    words = declared.options.get("words") or declared.options.get("choices")
    if words:
        return f"one of {', '.join(map(repr, words))}"
    if declared.dtype is bool:
        return "True or False"
    low = "" if declared.minimum is None else f"at least {declared.minimum:g}"
    if declared.above is not None:
        low = f"more than {declared.above:g}"
    high = "" if declared.maximum is None else f"at most {declared.maximum:g}"
    return ", ".join(filter(None, [low, high]))


def declared_default(declared: Declaration) -> str:
    """The default, or that it has to be given; empty for what is computed."""
    start = declared.start
    if declared.kind not in GIVEN or declared.kind == "attachment":
        return ""
    if start is None:
        return "has to be given" if declared.kind == "parameter" else ""
    words = declared.options.get("words")
    if isinstance(start, str) or words:
        return f"default {start!r}" if start else ""
    if isinstance(start, bool) or declared.dtype is bool:
        return f"default {bool(start)}"
    if declared.kind == "option":
        return f"default {start}"
    try:
        numbers = np.ravel(np.asarray(start, dtype=float)).tolist()
    except (TypeError, ValueError):
        return f"default {start}"
    if numbers == IDENTITY:
        return "default identity"
    if any(abs(number) >= ENDLESS for number in numbers):
        return "none by default"
    shown = [f"{number:g}" for number in (numbers[:1] if len(set(numbers)) == 1 else numbers)]
    return f"default {shown[0]}" if len(shown) == 1 else f"default ({', '.join(shown)})"


def _entry(declared: Declaration, written: str) -> str:
    """A line with the name and its values, and what it means below."""
    values = ", ".join(filter(None, [GIVEN.get(declared.kind, ""), declared_values(declared)]))
    meaning = [declared.description] if declared.description else []
    if written and written.rstrip(".").lower() != declared.description.rstrip(".").lower():
        meaning.append(written)
    return "\n".join([f"{declared.name} : {values}" if values else declared.name, *_indented(meaning)])


def _indented(texts: Iterable[str]) -> list[str]:
    return [f"    {line}" for text in texts for line in text.splitlines()]


def _sections(text: str) -> tuple[str, dict[str, str]]:
    """The text before the first section of a docstring, and the sections by title."""
    pieces = re.split(r"^([A-Z][^\n]*)\n(-{3,})[ ]*$\n?", text, flags=re.MULTILINE)
    titles, bodies = pieces[1::3], pieces[3::3]
    return pieces[0].strip(), {t: b.strip("\n").rstrip() for t, b in zip(titles, bodies, strict=True)}


def _entries(section: str) -> Iterable[tuple[str, str]]:
    """The names of a section, each with what is written below it."""
    for piece in re.split(r"^(?=\S)", section, flags=re.MULTILINE):
        first, _, below = piece.partition("\n")
        text = inspect.cleandoc(below)
        for name in first.partition(" : ")[0].split(","):
            if name.strip().isidentifier() and text:
                yield name.strip(), text
