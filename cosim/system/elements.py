"""How many elements the parts have that are written for numbers and take vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cosim.component.component import Component
from cosim.component.declaration import Declaration
from cosim.errors import CosimError
from cosim.system.signals import PATH, main_output

RESIZED = ("position", "speed", "auxiliary", "discrete", "integer", "cache", "output")
Report = Callable[[str, str], None]


def resize(parts: Mapping[str, Component], problem: Report) -> dict[str, int]:
    """Give the declarations of elementwise parts the size of their sources.

    Parameters
    ----------
    parts : mapping of str to Component
        The instances that change get declarations of their own, with the shapes that they have here.
    problem : callable
        Takes the name of a part and a sentence.

    Returns
    -------
    dict of str to int
        The number of elements of each elementwise part.
    """
    counts: dict[str, int] = {}
    for name, part in parts.items():
        if not part.elementwise:
            continue
        count = counts[name] = _count(name, parts, counts, ())
        part.__dict__["declarations"] = dict(part.values.declarations)
        if count != 1:
            resized = {n: _resized(part, d, count) for n, d in part.declarations.items()}
            part.__dict__["declarations"] = resized
        _check(name, part, parts, counts, problem)
    return counts


def _resized(part: Component, declaration: Declaration, count: int) -> Declaration:
    kind, each = declaration.kind, declaration.options.get("each")
    numbers = part.values.numbers.get(declaration.name)
    grows = kind in RESIZED or (kind == "parameter" and each and numbers is not None and numbers.size > 1)
    return replace(declaration, shape=(count,)) if grows and declaration.shape == () else declaration


def _count(name: str, parts: Mapping[str, Component], counts: dict[str, int], above: tuple[str, ...]) -> int:
    """The size of the largest source; 1 where a part is its own source, which says nothing."""
    if name in counts:
        return counts[name]
    if name in above:
        return 1
    sizes = [size_of(path, parts, counts, (*above, name)) for _, path in _sources(parts[name])]
    sizes += [n.size for d, n in _each(parts[name])]
    return max(sizes, default=1)


def size_of(
    path: str, parts: Mapping[str, Component], counts: dict[str, int], above: tuple[str, ...] = ()
) -> int:
    """Number of elements of a signal; 1 for what cannot be found (reported where it is wired)."""
    match = PATH.match(path)
    if match is None or match["part"] not in parts or match["index"] is not None:
        return 1
    part = parts[match["part"]]
    try:
        name = match["name"] or main_output(part)
    except CosimError:
        return 1
    declared = part.values.declarations.get(name)
    if declared is None:
        base = name.rpartition("_dot")[0]
        declared = part.values.declarations.get(base) if name not in part.signals else None
    if declared is None:
        return 1
    if part.elementwise and declared.kind in RESIZED and declared.shape == ():
        return _count(match["part"], parts, counts, above)
    return declared.size


def _sources(part: Component) -> list[tuple[str, str]]:
    """The attachments that are read element by element, with their paths."""
    sources = []
    for name, source in part.values.attachments.items():
        declaration = part.values.declarations[name]
        if source is not None and declaration.options["provides"] == "source" and declaration.shape == ():
            sources.append((name, source.name if isinstance(source, Component) else str(source)))
    return sources


def _each(part: Component) -> list[tuple[Declaration, NDArray[np.float64]]]:
    return [
        (d, part.values.numbers[n])
        for n, d in part.values.declarations.items()
        if d.options.get("each") and n in part.values.numbers
    ]


def _check(
    name: str, part: Component, parts: Mapping[str, Component], counts: dict[str, int], problem: Report
) -> None:
    """Everything that is taken element by element has one element or all of them."""
    count = counts[name]
    sizes = [(f"{n} = '{path}'", size_of(path, parts, counts)) for n, path in _sources(part)]
    sizes += [(d.name, n.size) for d, n in _each(part)]
    wrong = [f"{label} has {size}" for label, size in sizes if size not in (1, count)]
    if wrong:
        problem(name, f"{', '.join(wrong)} elements, the largest source {count}; give one number or {count}.")
