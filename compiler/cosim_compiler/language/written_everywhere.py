"""Whether a kernel function writes its results on every way, kept from one process to the next."""

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
from cosim_compiler.language.unwritten import unwritten_results
from cosim_compiler.sources.clean_sources import is_known_clean, remember_clean
from cosim_compiler.sources.kernel_source import source_of


def unwritten_elements(
    function: types.FunctionType, given: tuple[Type, ...], sizes: Mapping[str, int]
) -> dict[str, tuple[int, int]]:
    """As `unwritten.unwritten_results`, of a function for arguments of these types.

    None of a function that is not of the language: whoever compiles it says why.
    """
    source, key = (
        source_of(function),
        fingerprint(function, _reader(), repr(given), repr(sorted(sizes.items()))),
    )
    if is_known_clean(source, key):
        return {}
    try:
        found = unwritten_results(Program().function(function, given), sizes)
    except ContractError:
        return {}
    if not found:
        remember_clean(source, key)
    return found


@functools.cache
def _reader() -> str:
    """What reads functions, and looks at what they write, as a digest."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()
