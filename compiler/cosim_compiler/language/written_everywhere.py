"""Whether results of a kernel function follow from this evaluation alone; kept for other processes."""

from __future__ import annotations

import functools
import hashlib
import types
from collections.abc import Mapping
from pathlib import Path

from cosim_compiler.errors import ContractError
from cosim_compiler.fingerprint import fingerprint
from cosim_compiler.language.program import Program
from cosim_compiler.language.types import Type
from cosim_compiler.language.unwritten import results_read_early, unwritten_results
from cosim_compiler.sources.clean_sources import is_known_clean, remember_clean
from cosim_compiler.sources.kernel_source import source_of

Found = dict[str, tuple[int, int]]
"""An element of a result, and a line; by the name of the result."""


def left_over_elements(
    function: types.FunctionType, given: tuple[Type, ...], sizes: Mapping[str, int]
) -> tuple[Found, Found]:
    """Elements that keep what an earlier evaluation left: not written on every way; read before they are.

    See `unwritten`. None of a function that is not of the language: whoever compiles it says why.

    Parameters
    ----------
    function : function
    given : tuple of Type
        Of the arguments.
    sizes : mapping of str to int
        Of the results, by the names of the arguments.
    """
    source, key = (
        source_of(function),
        fingerprint(function, _reader(), repr(given), repr(sorted(sizes.items()))),
    )
    if is_known_clean(source, key):
        return {}, {}
    try:
        typed = Program().function(function, given)
    except ContractError:
        return {}, {}
    found = unwritten_results(typed, sizes), results_read_early(typed, sizes)
    if not any(found):
        remember_clean(source, key)
    return found


@functools.cache
def _reader() -> str:
    """What reads functions, and looks at what they write, as a digest."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()
