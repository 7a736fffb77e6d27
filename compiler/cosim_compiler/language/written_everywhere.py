"""Whether a kernel function writes its results on every way and reads none before; clean ones are kept."""

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
from cosim_compiler.language.unwritten import read_too_early, unwritten_results
from cosim_compiler.sources.clean_sources import is_known_clean, remember_clean
from cosim_compiler.sources.kernel_source import source_of

Faults = dict[str, tuple[int, int]]
"""By the name of a result: an element, and a line."""


def faults_of_results(
    function: types.FunctionType, given: tuple[Type, ...], sizes: Mapping[str, int]
) -> tuple[Faults, Faults]:
    """What is read before it is written, and what is not written on every way: see `unwritten`.

    Nothing of a function that is not of the language: whoever compiles it says why.
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
    found = read_too_early(typed, sizes), unwritten_results(typed, sizes)
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
