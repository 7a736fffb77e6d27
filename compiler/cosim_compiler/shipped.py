"""Machine code that came with the package: one library of functions that belong to no model.

A wheel of a release carries it, for one minor version of Python and one platform, made for the plainest
processor of that platform (``release/shipping.py``). A function is found by the digest of all that it is
made from, so nothing stale can be found. The file ends with a checksum of what stands before; a damaged one
is not used.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import logging
import os
import sys
import sysconfig
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cosim_compiler import convention
from cosim_compiler.convention import FOR_C as FOR_C
from cosim_compiler.fingerprint import digest_of_compiler, fingerprint
from cosim_compiler.parts import in_process, parts_called

log = logging.getLogger("cosim.native")

PATH = Path(__file__).parent / "shipped" / f"kernels{sysconfig.get_config_var('EXT_SUFFIX') or '.none'}"
CHECKSUM = 32


def symbol(function: types.FunctionType, signature: str) -> str:
    """What a function is called in the library; the processor and the compiler have no part in it.

    The parts that it calls have: in a library they are bound to it.
    """
    bound = [_symbol_of_part(part) for part in _parts(function)]
    return f"kernel_{fingerprint(function, convention.spelled(signature), made_with(), *bound)}"


@functools.cache
def _parts(function: types.FunctionType) -> tuple[types.FunctionType, ...]:
    return tuple(parts_called(function))


@functools.cache
def _symbol_of_part(part: types.FunctionType) -> str:
    return symbol(*in_process(part))


def made_with() -> str:
    """What shipped code depends on besides the functions: neither the processor nor the version of numba."""
    return repr((sys.version_info[:2], digest_of_compiler()))


def sealed(library: bytes) -> bytes:
    """The bytes of a library with their checksum."""
    return library + hashlib.sha256(library).digest()


def content_of(path: Path) -> bytes | None:
    """What a file holds that came with the package; None where none came, or a damaged one."""
    if os.environ.get("COSIM_NO_SHIPPED", "0") not in ("", "0"):
        return None
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if sealed(content[:-CHECKSUM]) != content:
        log.warning("%s is damaged and not used: install the package again", path)
        return None
    return content[:-CHECKSUM]


@functools.cache
def _library() -> ctypes.CDLL | None:
    """What came with the package, or None where nothing did, or where it is damaged."""
    if content_of(PATH) is None:
        return None
    try:
        return ctypes.CDLL(str(PATH))
    except OSError as error:
        log.warning("%s cannot be loaded: %s", PATH, error)
        return None


def address(function: types.FunctionType, signature: str, ending: str = "") -> int:
    """Where a function that was shipped starts; 0 where it was not."""
    library = _library()
    return 0 if library is None else _place(library, symbol(function, signature) + ending)


@functools.cache
def _place(library: ctypes.CDLL, symbol: str) -> int:
    """Where a symbol of a library lies; 0 where it has none of this name."""
    found: Any = getattr(library, symbol, None)
    return ctypes.cast(found, ctypes.c_void_p).value or 0


class Shipped:
    """A function that was shipped, as Python calls it.

    Parameters
    ----------
    function : function
    signature : str
    address : int
    """

    def __init__(self, function: types.FunctionType, signature: str, address: int) -> None:
        self.address = address
        self._letters, self._answer = signature.split(">")
        self._call: Callable[..., int] = convention.OF_NUMBA.prototype(signature)(address)
        self._name = function.__qualname__
        self._takes_arrays = not set(self._letters) <= set(convention.SCALARS)

    def __call__(self, *arguments: Any) -> Any:
        words: Sequence[Any] = arguments
        if self._takes_arrays:
            words = []
            for letter, value in zip(self._letters, arguments, strict=True):
                words += convention.words_of(letter, value)
        result = ctypes.c_double() if self._answer == "f" else ctypes.c_int64()
        exception = ctypes.c_void_p()
        if self._call(ctypes.addressof(result), ctypes.addressof(exception), *words) != 0:
            raise RuntimeError(f"{self._name}: machine code has raised an exception")
        return None if self._answer == "v" else result.value
