"""The number of elements of parts that are written for numbers and take vectors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

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
        The instances that change get other declarations, with the shapes that they have here. Parts of one
        class that grow alike share them.
    problem : callable
        Takes the name of a part and a sentence.

    Returns
    -------
    dict of str to int
        The number of elements of each elementwise part.
    """
    counts: dict[str, int] = {}
    resized: dict[tuple[int, int, tuple[str, ...]], dict[str, Declaration]] = {}
    for name, part in parts.items():
        if not part.elementwise:
            continue
        listed = part.values.declarations
        if not part.values.attachments and all(size == 1 for _, size in _each(part)):
            counts[name] = 1
        else:
            counts[name] = count = _count(name, parts, counts, ())
            if count != 1:
                growing = tuple(n for n, d in listed.items() if _grows(part, d))
                key = id(listed), count, growing
                if key not in resized:
                    resized[key] = _with_sizes(listed, growing, count)
                listed = resized[key]
            _check(name, part, parts, counts, problem)
        part.__dict__["declarations"] = listed
    return counts


def _with_sizes(
    declarations: Mapping[str, Declaration], growing: Sequence[str], count: int
) -> dict[str, Declaration]:
    """Declarations in which the growing quantities have so many elements."""
    sizes = dict.fromkeys(growing, (count,))
    return {name: replace(d, shape=sizes.get(name, d.shape)) for name, d in declarations.items()}


def _grows(part: Component, declaration: Declaration) -> bool:
    """Whether a quantity has as many elements as the sources of its part."""
    if declaration.shape != ():
        return False
    if declaration.kind == "parameter" and declaration.options.get("each"):
        return part.values.numbers[declaration.name].size > 1
    return declaration.kind in RESIZED


@functools.cache
def _each_names(cls: type[Component]) -> list[str]:
    """The parameters that may have a number for each element."""
    return [name for name, declared in cls.declarations.items() if declared.options.get("each")]


def _count(name: str, parts: Mapping[str, Component], counts: dict[str, int], above: tuple[str, ...]) -> int:
    """The size of the largest source; 1 where a part is its own source, which says nothing."""
    if name in counts:
        return counts[name]
    if name in above:
        return 1
    part = parts[name]
    sizes = [size for _, size in _each(part)]
    if part.values.attachments:
        sizes += [size_of(path, parts, counts, (*above, name)) for _, path in _sources(part)]
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


def _each(part: Component) -> list[tuple[str, int]]:
    """The parameters that may have a number for each element, with how many they have."""
    names, numbers = _each_names(type(part)), part.values.numbers
    return [(name, numbers[name].size) for name in names if name in numbers] if names else []


def _check(
    name: str, part: Component, parts: Mapping[str, Component], counts: dict[str, int], problem: Report
) -> None:
    """Everything that is taken element by element has one element or all of them."""
    count, sizes = counts[name], _each(part)
    if part.values.attachments:
        sizes = [(f"{n} = '{path}'", size_of(path, parts, counts)) for n, path in _sources(part)] + sizes
    wrong = [f"{label} has {size}" for label, size in sizes if size not in (1, count)]
    if wrong:
        problem(name, f"{', '.join(wrong)} elements, the largest source {count}; give one number or {count}.")
