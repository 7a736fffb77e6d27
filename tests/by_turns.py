"""Selects the cases of parametrized tests that a short run leaves out.

Of combinations marked ``by_turns`` a short run has each value of each parameter once; of cases marked
``few(n)`` it has n.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import pytest


def off_the_diagonal(combinations: Sequence[Mapping[str, Hashable]]) -> list[bool]:
    """Which combinations a short run leaves out.

    It runs as many as the longest parameter has values: the first value of each parameter, then the second of
    each, and so on; a shorter parameter starts again.

    Parameters
    ----------
    combinations : sequence of mapping
        All combinations in their order: values by the names of parameters.
    """
    values = {name: list(dict.fromkeys(c[name] for c in combinations)) for name in dict(*combinations[:1])}
    longest = max(map(len, values.values()), default=0)
    chosen = [{name: levels[n % len(levels)] for name, levels in values.items()} for n in range(longest)]
    return [dict(combination) not in chosen for combination in combinations]


def values_of(item: Any) -> dict[str, Hashable]:
    """The identities of the values of a parametrized test, by the names in its decorators and fixtures."""
    arguments = [marker.args[0] for marker in item.iter_markers("parametrize")]
    groups = [tuple(n.strip() for n in (a.split(",") if isinstance(a, str) else a)) for a in arguments]
    params = item.callspec.params
    of_fixtures = [(name,) for name in params if not any(name in group for group in groups)]
    return {",".join(group): tuple(id(params[name]) for name in group) for group in [*groups, *of_fixtures]}


def not_among_few(length: int, count: int) -> list[bool]:
    """Which cases a short run leaves out: it runs the first, the last, and others evenly between."""
    chosen = {round(n * (length - 1) / max(count - 1, 1)) for n in range(min(count, length))}
    return [n not in chosen for n in range(length)]


def mark_cases(items: Iterable[Any]) -> None:
    """Mark as thorough the cases of tests marked ``by_turns`` or ``few`` that a short run leaves out."""
    functions: dict[tuple[object, ...], list[Any]] = {}
    for item in items:
        is_marked = item.get_closest_marker("by_turns") or item.get_closest_marker("few")
        if is_marked and not item.get_closest_marker("thorough"):
            functions.setdefault((item.path, item.cls, item.originalname), []).append(item)
    for cases in functions.values():
        few = cases[0].get_closest_marker("few")
        left_out = (
            not_among_few(len(cases), few.args[0]) if few else off_the_diagonal([*map(values_of, cases)])
        )
        for item, is_left_out in zip(cases, left_out, strict=True):
            if is_left_out:
                item.add_marker(pytest.mark.thorough)
