"""The digest of a code object: bytecode, names and constants."""

from __future__ import annotations

import dis
import inspect
import marshal
import sys
import types
from typing import Any, NamedTuple

from cosim_compiler.debugging import lines_are_shown
from cosim_compiler.digest_pieces import DigestPieces

HAS_DOCSTRING = 0x4000000
"""The flag of a code object whose first constant is its docstring, from Python 3.14 on."""
FIRST_CONSTANT = {(dis.opmap[name], 0) for name in ("LOAD_CONST", "RETURN_CONST") if name in dis.opmap}
"""Instructions that use the first constant of a code object."""
COUNTS = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags")
NAMES = ("co_names", "co_varnames", "co_freevars", "co_cellvars")
PLAIN_MARSHAL = 2
"""The version of `marshal` whose bytes depend on values alone, not on which of them are one object."""


class _CodeWithDigest(NamedTuple):
    """A code object with its digest; held, so that no other object gets its id."""

    code: types.CodeType
    digest: bytes


_digests: dict[int, _CodeWithDigest] = {}
"""By ids of code objects."""


def code_digest(code: types.CodeType) -> bytes:
    """Digest of bytecode, names and constants, those of nested code too.

    Lines and files count where machine code knows them.
    """
    known = _digests.get(id(code))
    if known is None:
        known = _digests[id(code)] = _CodeWithDigest(code, _digest_of(code))
    return known.digest


def _digest_of(code: types.CodeType) -> bytes:
    pieces = DigestPieces()
    # nested code counts by its digest, since marshal would add files and lines
    constants = [_plain_constant(constant) for constant in _constants(code)]
    nested = [i for i, constant in enumerate(code.co_consts) if isinstance(constant, types.CodeType)]
    counted = [getattr(code, name) for name in (*COUNTS, *NAMES)]
    content = code.co_code, code.co_exceptiontable, counted, nested
    pieces.put("code", marshal.dumps(content, PLAIN_MARSHAL))
    pieces.put("constants", marshal.dumps(constants, PLAIN_MARSHAL))
    if lines_are_shown() and code.co_filename.endswith(".py"):
        pieces.put("lines", f"{code.co_filename}:{code.co_firstlineno}:".encode() + code.co_linetable)
    return bytes(pieces.hash.digest())


def _plain_constant(constant: Any) -> Any:
    """A constant as `marshal` takes it: a slice, which is one from Python 3.14 on, as a list."""
    if isinstance(constant, types.CodeType):
        return code_digest(constant)
    if isinstance(constant, slice):
        return [constant.start, constant.stop, constant.step]  # no constant is a list
    if isinstance(constant, tuple):
        return tuple(map(_plain_constant, constant))
    return constant


def _constants(code: types.CodeType) -> tuple[Any, ...]:
    """The constants of a function, its docstring left out: that changes nothing."""
    has_docstring = bool(code.co_flags & HAS_DOCSTRING)
    if sys.version_info < (3, 14):
        is_function = bool(code.co_flags & inspect.CO_OPTIMIZED) and not code.co_name.startswith("<")
        has_docstring = is_function and isinstance(next(iter(code.co_consts), None), str)
    instructions = zip(code.co_code[::2], code.co_code[1::2], strict=True)
    # an instruction may use the same text as the docstring
    if not has_docstring or not FIRST_CONSTANT.isdisjoint(instructions):
        return code.co_consts
    return (None, *code.co_consts[1:])
