"""Which elements of a result are not written on every path through a kernel function, by its typed form.

Such an element keeps what an earlier evaluation left in the cache, outside of the State: a run that is
resumed goes on with another value.
"""

from __future__ import annotations

from collections.abc import Mapping

from cosim_compiler.language.typed_form import Function
from cosim_compiler.language.written_paths import PathWalk, WrittenPaths, argument_views, nothing_written


def paths_through(function: Function, sizes: Mapping[str, int]) -> WrittenPaths:
    """The paths through a function, with the elements of its results that are written, and read before.

    Parameters
    ----------
    function : Function
    sizes : mapping of str to int
        Of the results, by the names of the arguments.
    """
    if not sizes:
        return WrittenPaths()
    return PathWalk(argument_views(function, sizes), {}, sizes, 0).follow(function, nothing_written(sizes))


def unwritten_results(paths: WrittenPaths, sizes: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """The least element of each result that some path leaves unwritten, and the line where that path ends."""
    unwritten: dict[str, tuple[int, int]] = {}
    for name, size in sizes.items():
        for line, written in paths.exits:
            missing = frozenset(range(size)) - written[name]
            if missing:
                unwritten.setdefault(name, (min(missing), line))
    return unwritten
