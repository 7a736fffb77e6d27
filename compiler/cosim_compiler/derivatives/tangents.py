"""The tangent of a kernel function, as a kernel function."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from cosim_compiler.derivatives.derivative_text import DerivativeText
from cosim_compiler.derivatives.kept_texts import kept_text
from cosim_compiler.derivatives.notes import Note
from cosim_compiler.derivatives.tangent_entry import TangentEntry, entry_signature, write_tangent_entry
from cosim_compiler.derivatives.tangent_values import has_reals, varies_any
from cosim_compiler.derivatives.writer import TangentWriter
from cosim_compiler.errors import ContractError, NoTangentError
from cosim_compiler.language.program import Program
from cosim_compiler.language.typed_form import Variable, walk
from cosim_compiler.language.types import REAL, Tuple, Type, types_of

NONE: frozenset[int] = frozenset()
_tangents: dict[tuple[Any, ...], tuple[types.FunctionType, str]] = {}


def tangent_function(
    function: types.FunctionType,
    signature: str,
    directions: int = 1,
    fixed: frozenset[int] = NONE,
    unread: frozenset[int] = NONE,
    refuses_jumps: bool = False,
    lanes: int = 0,
) -> tuple[Any, str]:
    r"""The tangent of a kernel function along some directions, and its signature.

    It computes what the function computes, and the tangents of what is written and returned. Values are the
    same to the last bit, unless a branch by ``==`` is not taken because equal numbers move apart.

    It takes the arguments of the function. Behind them come the tangents of each real and of each view of
    reals: along one direction a number or a view of the same shape; along several directions a view, with the
    tangents of one direction after those of another. If the result is a real, the last argument is a view for
    its tangents.

    Parameters
    ----------
    function : function
    signature : str
    directions : int
    fixed : frozenset of int
        The arguments that do not vary; they have no tangents.
    unread : frozenset of int
        The arguments that do not vary although there are tangents for them in the signature.
    refuses_jumps : bool
        Whether the tangent raises a `ValueError` exactly at a jump: where a number that varies is rounded, or
        decides a branch. There a derivative exists on either side only.
    lanes : int
        How many directions it computes side by side, one of `types.LANE_COUNTS`, with instructions that
        compute several reals at once; 0 for none of this. Each of its tangents is then a view, in which the
        tangents of a number along all directions lie side by side. Each direction has the bytes that it has
        alone. Such a tangent has to be compiled.

    Raises
    ------
    ContractError
        The function is not of the language.
    NoTangentError
        The function has no tangent; the message says where and why. In lanes, it has none either if a branch
        depends on tangents, which differ from lane to lane.

    Examples
    --------
    >>> import numpy
    >>> from cosim_compiler.sources.run_source import run_source
    >>> f = run_source("def f(x, out):\n    out[0] = x * x\n    return 3.0 * x")["f"]
    >>> tangent, signature = tangent_function(f, "fF>f")
    >>> out, out_dot, rate = numpy.zeros(1), numpy.zeros(1), numpy.zeros(1)
    >>> signature, tangent(2.0, out, 1.0, out_dot, rate), float(out_dot[0]), float(rate[0])
    ('fFfFF>f', 6.0, 4.0, 3.0)
    """
    key = function, signature, directions, fixed, unread, refuses_jumps, lanes
    if key not in _tangents:
        options = f"tangent {directions} {sorted(fixed)} {sorted(unread)} {refuses_jumps} {lanes}"
        derivative = kept_text(function, signature, options, lambda: _write_tangent(*key))
        (_tangents[key],) = derivative.functions(function, "tangent")
    return _tangents[key]


def derivative_notes(function: types.FunctionType, kinds: Sequence[Type]) -> list[Note]:
    """The places at which the tangent of a function is incomplete, with their lines.

    Raises
    ------
    ContractError
        The function is not of the language.
    NoTangentError
        The function has no tangent.
    """
    program = Program()
    writer = TangentWriter(program, 1)
    writer.tangent(program.function(function, tuple(kinds)), tuple(map(has_reals, kinds)))
    return list(writer.notes)


def _write_tangent(
    function: types.FunctionType,
    signature: str,
    directions: int,
    fixed: frozenset[int],
    unread: frozenset[int],
    refuses_jumps: bool,
    lanes: int,
) -> DerivativeText:
    """Write the text of a tangent; see `tangent_function`."""
    kinds, result = types_of(signature)
    program = Program()
    typed = program.root(function, signature)
    has_tangents = tuple(has_reals(kind) and i not in fixed for i, kind in enumerate(kinds))
    read = {node.name for node in walk(*typed.body) if isinstance(node, Variable)}
    varying = tuple(
        has_tangents[i] and i not in unread and name in read for i, (name, _) in enumerate(typed.parameters)
    )
    writer = TangentWriter(program, directions, refuses_jumps, lanes)
    name, varying_result = writer.tangent(typed, varying)
    if isinstance(typed.result, Tuple):
        raise ContractError(
            f"{function.__qualname__} returns a tuple: only other kernel functions can call its tangent"
        )
    result_varies = varies_any(varying_result)
    if lanes > 0 and (result_varies or REAL in (result, typed.result)):
        raise NoTangentError(f"{function.__qualname__}: in lanes it would return a number for each of them")
    rate_varies = result is REAL and typed.result is REAL and result_varies
    entry = TangentEntry(signature, has_tangents, varying, rate_varies, directions, lanes)
    writer.texts["tangent"] = write_tangent_entry(entry, name)
    derivative = writer.derivative_text({"tangent": entry_signature(entry)})
    if lanes > 0:
        _check_lanes(*derivative.functions(function, "tangent")[0])
    return derivative


def _check_lanes(tangent: types.FunctionType, signature: str) -> None:
    """Refuse a tangent in which a branch depends on numbers for each lane."""
    try:
        Program().root(tangent, signature)
    except ContractError as fault:
        raise NoTangentError(f"{tangent.__qualname__} cannot compute in lanes: {fault}") from fault


__all__ = ["NoTangentError", "Note", "derivative_notes", "tangent_function"]
