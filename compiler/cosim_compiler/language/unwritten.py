"""Elements of results that some path through a kernel function leaves unwritten, found in its typed form.

Such an element keeps what an earlier evaluation left in the cache. The cache does not belong to the State, so
that a resumed run would go on with another value.
"""

from __future__ import annotations

from collections.abc import Mapping

from cosim_compiler.language.followed_views import argument_views
from cosim_compiler.language.typed_form import Function
from cosim_compiler.language.written_paths import ElementAtLine, PathWalk, WrittenPaths, nothing_written


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


def unwritten_results(paths: WrittenPaths, sizes: Mapping[str, int]) -> dict[str, ElementAtLine]:
    """The least element of each result that some path leaves unwritten, and the line where that path ends."""
    unwritten: dict[str, ElementAtLine] = {}
    for name, size in sizes.items():
        for path_end in paths.exits:
            missing = frozenset(range(size)) - path_end.written[name]
            if missing:
                unwritten.setdefault(name, ElementAtLine(min(missing), path_end.line))
    return unwritten
