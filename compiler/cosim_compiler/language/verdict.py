"""Faults in what a kernel function reads and writes; their absence is stored for other processes.

What reads functions is imported only when one has to be read.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cosim_compiler.errors import ContractError
from cosim_compiler.fingerprint import fingerprint
from cosim_compiler.language.types import Type
from cosim_compiler.sources.clean_sources import is_known_clean, remember_clean
from cosim_compiler.sources.kernel_source import source_of

if TYPE_CHECKING:
    from cosim_compiler.language.out_of_bounds import OutOfBounds

Elements = Mapping[str, tuple[int, int]]
"""An element, and a line; by the name of the argument."""


@dataclass(frozen=True)
class Verdict:
    """The faults, by the names of arguments.

    Attributes
    ----------
    unwritten, early : mapping
        Elements of results that are not written on every path, and where the function is left; that are read
        before they are written.
    outside : mapping
        Places that views do not have.
    changed : mapping
        The line where a view that may be read only is written.
    """

    unwritten: Elements = field(default_factory=dict)
    early: Elements = field(default_factory=dict)
    outside: Mapping[str, OutOfBounds] = field(default_factory=dict)
    changed: Mapping[str, int] = field(default_factory=dict)


def verdict_on(
    function: types.FunctionType,
    kinds: tuple[Type, ...],
    results: Mapping[str, int],
    views: Mapping[str, int],
    read_only: frozenset[str],
) -> Verdict:
    """The faults of a function for arguments of these types.

    Nothing is said of a function that is not of the language: whoever compiles it says why.

    Parameters
    ----------
    function : function
    kinds : tuple of Type
        Of the arguments.
    results, views : mapping of str to int
        Sizes of the results, and of all views whose sizes are known, by the names of the arguments.
    read_only : frozenset of str
        Those that it is not known to write.
    """
    described = repr((kinds, sorted(results.items()), sorted(views.items()), sorted(read_only)))
    source, key = source_of(function), fingerprint(function, "verdict", described)
    if is_known_clean(source, key):
        return Verdict()

    from cosim_compiler.language.out_of_bounds import places_in_views
    from cosim_compiler.language.program import Program
    from cosim_compiler.language.unwritten import paths_through, unwritten_results

    try:
        typed = Program().function(function, kinds)
    except ContractError:
        return Verdict()
    paths, places = paths_through(typed, results), places_in_views(typed, views)
    verdict = Verdict(
        unwritten_results(paths, results),
        paths.early,
        places.found,
        {name: line for name, line in places.written.items() if name in read_only},
    )
    if verdict == Verdict():
        remember_clean(source, key)
    return verdict
