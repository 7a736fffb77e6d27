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
    from cosim_compiler.language.written_paths import ElementAtLine


@dataclass(frozen=True)
class Verdict:
    """The faults of a function, by the names of its arguments.

    Attributes
    ----------
    unwritten : mapping of str to ElementAtLine
        An element of a result that some path does not write, with the line where that path ends.
    read_before_written : mapping of str to ElementAtLine
        An element of a result that is read before it is written.
    out_of_bounds : mapping of str to OutOfBounds
        An access to an element that a view does not have.
    changed : mapping of str to int
        The line that writes to a view that may only be read.
    """

    unwritten: Mapping[str, ElementAtLine] = field(default_factory=dict)
    read_before_written: Mapping[str, ElementAtLine] = field(default_factory=dict)
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
    arguments = repr((kinds, sorted(results.items()), sorted(views.items()), sorted(read_only)))
    source, key = source_of(function), fingerprint(function, "verdict", arguments)
    if is_known_clean(source, key):
        return Verdict()

    from cosim_compiler.language.out_of_bounds import check_bounds
    from cosim_compiler.language.program import Program
    from cosim_compiler.language.unwritten import paths_through, unwritten_results

    try:
        typed = Program().function(function, kinds)
    except ContractError:
        return Verdict()
    paths, accesses = paths_through(typed, results), check_bounds(typed, views)
    verdict = Verdict(
        unwritten=unwritten_results(paths, results),
        read_before_written=paths.read_before_written,
        out_of_bounds=accesses.out_of_bounds,
        changed={name: line for name, line in accesses.written.items() if name in read_only},
    )
    if verdict == Verdict():
        remember_clean(source, key)
    return verdict
