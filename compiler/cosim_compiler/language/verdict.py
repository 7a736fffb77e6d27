"""Faults in what a kernel function reads and writes; their absence is stored for other processes.

The modules that type functions are imported only when one has to be checked.
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
    unwritten : mapping
        Elements of results that are not written on every path, each with the line of a ``return`` behind it.
    read_before_written : mapping
        Elements of results that are read before they are written.
    out_of_bounds : mapping
        Accesses to elements that a view does not have.
    changed : mapping
        Views that may only be read, each with the line that writes to it.
    """

    unwritten: Elements = field(default_factory=dict)
    read_before_written: Elements = field(default_factory=dict)
    out_of_bounds: Mapping[str, OutOfBounds] = field(default_factory=dict)
    changed: Mapping[str, int] = field(default_factory=dict)


def find_faults(
    function: types.FunctionType,
    kinds: tuple[Type, ...],
    results: Mapping[str, int],
    views: Mapping[str, int],
    read_only: frozenset[str],
) -> Verdict:
    """The faults of a function for arguments of these types.

    A function outside the language has no faults here: compiling it raises an error that says why.

    Parameters
    ----------
    function : function
    kinds : tuple of Type
        Of the arguments.
    results, views : mapping of str to int
        Sizes of the results, and of all views whose sizes are known, by the names of the arguments.
    read_only : frozenset of str
        Names of views that the function is not known to write.
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
