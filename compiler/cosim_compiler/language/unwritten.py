"""Which elements of a result are not written on every way through a kernel function, by its typed form.

Such an element keeps what an earlier evaluation left in the cache, outside of the State: a run that is
resumed goes on with another value.
"""

from __future__ import annotations

from collections.abc import Mapping

from cosim_compiler.language.typed_form import Function
from cosim_compiler.language.ways import Walk, Ways, nothing_of, parts_of


def unwritten_results(function: Function, sizes: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """For each result with an element that is not written on some way: the least such element, and a line.

    Parameters
    ----------
    function : Function
    sizes : mapping of str to int
        Of the results, by the names of the arguments.
    """
    ways = _ways_of(function, sizes)
    unwritten: dict[str, tuple[int, int]] = {}
    for name, size in sizes.items():
        for line, written in ways.exits:
            missing = frozenset(range(size)) - written[name]
            if missing:
                unwritten.setdefault(name, (min(missing), line))
    return unwritten


def results_read_early(function: Function, sizes: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """For each result of which an element is read before it is written: the first one, and the line."""
    return _ways_of(function, sizes).early


def _ways_of(function: Function, sizes: Mapping[str, int]) -> Ways:
    return Walk(parts_of(function, sizes), {}, sizes, 0).through(function, nothing_of(sizes))
