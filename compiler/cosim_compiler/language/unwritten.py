"""Which elements of a result are not written on every way through a kernel function, by its typed form.

Such an element keeps what an earlier evaluation left in the cache, outside of the State: a run that is
resumed goes on with another value.
"""

from __future__ import annotations

from collections.abc import Mapping

from cosim_compiler.language.typed_form import Function
from cosim_compiler.language.ways import Walk, Ways, nothing_of, parts_of


def ways_through(function: Function, sizes: Mapping[str, int]) -> Ways:
    """The ways through a function, with what is written of its results, and read before.

    Parameters
    ----------
    function : Function
    sizes : mapping of str to int
        Of the results, by the names of the arguments.
    """
    if not sizes:
        return Ways()
    return Walk(parts_of(function, sizes), {}, sizes, 0).through(function, nothing_of(sizes))


def unwritten_results(ways: Ways, sizes: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """For each result with an element that is not written on some way: the least such element, and a line."""
    unwritten: dict[str, tuple[int, int]] = {}
    for name, size in sizes.items():
        for line, written in ways.exits:
            missing = frozenset(range(size)) - written[name]
            if missing:
                unwritten.setdefault(name, (min(missing), line))
    return unwritten
