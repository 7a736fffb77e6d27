"""The tangent of a kernel function, as a kernel function."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from cosim_compiler.derivatives.derivative_text import DerivativeText
from cosim_compiler.derivatives.kept_texts import kept_text
from cosim_compiler.derivatives.notes import Note
from cosim_compiler.derivatives.tangent_values import has_reals, leaves
from cosim_compiler.derivatives.writer import TangentWriter
from cosim_compiler.errors import ContractError, NoTangentError
from cosim_compiler.language.program import Program
from cosim_compiler.language.typed_form import Variable, walk
from cosim_compiler.language.types import NOTHING, REAL, Tuple, Type, View, types_of

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

    It takes the arguments of the function, and behind them for each real and each view of reals its tangents:
    with one direction a number or a view of the same shape, with several a view of the tangents of one
    direction after those of another. Where the result is a real a view for its tangents comes last. It
    computes what the function computes and the tangents of what is written and returned. Values are the same
    to the last bit, unless a branch by ``==`` is left because equal numbers move apart.

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
        Whether the tangent raises a `ValueError` where a whole number is made of what varies, or decides a
        branch, exactly where that jumps: there a derivative exists on either side only.
    lanes : int
        How many directions it computes side by side, one of `types.LANE_COUNTS`, with the instructions that
        compute several reals at once; 0: not so. Each of its tangents is a view, in which the tangents of one
        number in all directions lie side by side. Directions are independent of each other: each has the
        bytes that it has alone. Only machine code can be made of it.

    Raises
    ------
    ContractError
        The function is not of the language.
    NoTangentError
        The function has no tangent; the message says where and why. In lanes it has none either where what is
        done next depends on tangents, as they differ from lane to lane.

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
    letters, answer = signature.split(">")
    kinds, result = types_of(signature)
    program = Program()
    typed = program.root(function, signature)
    varying_arguments = tuple(has_reals(kind) and i not in fixed for i, kind in enumerate(kinds))
    read = {node.name for node in walk(*typed.body) if isinstance(node, Variable)}
    varying = tuple(
        varying_arguments[i] and i not in unread and name in read
        for i, (name, _) in enumerate(typed.parameters)
    )
    writer = TangentWriter(program, directions, refuses_jumps, lanes)
    name, varies = writer.tangent(typed, varying)
    if isinstance(typed.result, Tuple):
        raise ContractError(
            f"{function.__qualname__} returns a tuple: only other kernel functions can call its tangent"
        )
    values = [f"x{i}" for i in range(len(kinds))]
    heads, passed, lines, more = list(values), list(values), [], ""
    for i, (kind, letter) in enumerate(zip(kinds, letters, strict=True)):
        if not varying_arguments[i]:
            continue
        heads.append(f"x{i}_dot")
        more += letter if directions == 1 and lanes == 0 else "F"
        if varying[i] and lanes > 0:
            passed.append(_part_in_lanes(i, kind, lanes))
        elif varying[i]:
            passed += [_part(i, kind, k, directions) for k in range(directions)]
    if result is REAL:
        heads.append("rate")
        more += "F"
    call = f"{name}({', '.join(passed)})"
    is_on = any(on for _, on in leaves(varies))
    if lanes > 0 and (is_on or REAL in (result, typed.result)):
        raise NoTangentError(f"{function.__qualname__}: in lanes it would return a number for each of them")
    if result is NOTHING:
        lines.append(call)
    elif result is REAL and typed.result is REAL and is_on:
        lines.append(f"value, {', '.join(f'rate_{k}' for k in range(directions))} = {call}")
        lines += [f"rate[{k}] = rate_{k}" for k in range(directions)]
        lines.append("return value")
    else:
        lines.append(f"value = {call}")
        lines += [f"rate[{k}] = 0.0" for k in range(directions) if result is REAL]
        lines.append("return value")
    writer.texts["tangent"] = [f"def tangent({', '.join(heads)}):", *(f"    {line}" for line in lines)]
    derivative = writer.derivative_text({"tangent": f"{letters}{more}>{answer}"})
    if lanes > 0:
        _check_lanes(*derivative.functions(function, "tangent")[0])
    return derivative


def _check_lanes(tangent: types.FunctionType, signature: str) -> None:
    """Refuse a tangent in which what is done next depends on numbers for each lane."""
    try:
        Program().root(tangent, signature)
    except ContractError as fault:
        raise NoTangentError(f"{tangent.__qualname__} cannot compute in lanes: {fault}") from fault


def _part_in_lanes(i: int, kind: Any, lanes: int) -> str:
    """The tangents of an argument in all lanes."""
    if isinstance(kind, View) and kind.axes != 1:
        raise NoTangentError("tables have no tangents in lanes")
    view = f"in_lanes(x{i}_dot, {lanes})"
    return view if isinstance(kind, View) else f"{view}[0]"


def _part(i: int, kind: Any, k: int, directions: int) -> str:
    """The tangent of an argument in a direction."""
    if directions == 1:
        return f"x{i}_dot"
    if not isinstance(kind, View):
        return f"x{i}_dot[{k}]"
    if kind.axes == 1:
        return f"x{i}_dot[{k} * len(x{i}) : {k + 1} * len(x{i})]"
    size = f"x{i}.shape[0] * x{i}.shape[1]"
    return f"as_table(x{i}_dot[{k} * {size} : {k + 1} * {size}], x{i}.shape[0], x{i}.shape[1])"


__all__ = ["NoTangentError", "Note", "derivative_notes", "tangent_function"]
