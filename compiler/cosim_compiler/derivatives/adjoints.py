"""The adjoint of a kernel function, as two kernel functions: one that records, one that goes back.

The adjoint of a number is the derivative, by this number, of another one that is computed from it. To go
back over a function is to compute the adjoints of its arguments from those of its results.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any, NamedTuple

from cosim_compiler.derivatives.adjoint_entries import (
    AdjointEntry,
    entry_signatures,
    write_record_entry,
    write_reverse_entry,
)
from cosim_compiler.derivatives.adjoint_writer import AdjointWriter
from cosim_compiler.derivatives.derivative_text import DerivativeText
from cosim_compiler.derivatives.kept_texts import kept_text
from cosim_compiler.derivatives.tangent_values import has_reals, varies_any
from cosim_compiler.errors import ContractError, NoTangentError
from cosim_compiler.language.program import Program
from cosim_compiler.language.types import REAL, Tuple, Type, types_of

NONE: frozenset[int] = frozenset()
_adjoints: dict[tuple[types.FunctionType, str, frozenset[int]], Adjoint] = {}


class Adjoint(NamedTuple):
    """Two kernel functions with their signatures: one that records, one that goes back."""

    record: Any
    record_signature: str
    reverse: Any
    reverse_signature: str


def adjoint_function(function: types.FunctionType, signature: str, fixed: frozenset[int] = NONE) -> Adjoint:
    r"""The adjoint of a kernel function.

    The tape is a view of reals. It begins with ``2.0, 0.0``: how much of it is used, and whether it was full.
    The *root* of a view is the array in which the adjoints of its elements lie.

    `record` computes the function and its tangent along one direction, and writes to the tape. It takes

    - the arguments of the function, and the tangents of those that vary,
    - for each view that varies the place in its root at which it begins: 0,
    - the tape,
    - if the result is a real, a view for its tangent.

    `reverse` goes back, and removes from the tape what `record` has written. It takes

    - for each view that varies its root: with the adjoints of the end, in place of which it leaves those of
      the start,
    - if the result is a real, its adjoint,
    - the tape,
    - if reals among the arguments vary, a view to which it writes their adjoints.

    Parameters and errors are those of `tangents.tangent_function`.

    Examples
    --------
    >>> import numpy
    >>> from cosim_compiler.sources.run_source import run_source
    >>> f = run_source("def f(x, out):\n    out[0] = x * x\n    return 3.0 * x")["f"]
    >>> adjoint = adjoint_function(f, "fF>f")
    >>> tape = numpy.array([2.0, 0.0, *8 * [0.0]])
    >>> rate, out, out_dot, out_bar, x_bar = [numpy.ones(1) for _ in range(5)]
    >>> adjoint.record(2.0, out, 1.0, out_dot, 0, tape, rate), float(out_dot[0])
    (6.0, 4.0)
    >>> adjoint.reverse(out_bar, 10.0, tape, x_bar)
    >>> float(x_bar[0]), float(out_bar[0]), adjoint.reverse_signature
    (34.0, 0.0, 'FfFF>v')
    """
    key = function, signature, fixed
    if key not in _adjoints:
        derivative = kept_text(function, signature, f"adjoint {sorted(fixed)}", lambda: _write_adjoint(*key))
        record, reverse = derivative.functions(function, "adjoint")
        _adjoints[key] = Adjoint(*record, *reverse)
    return _adjoints[key]


def adjoint_refusal(function: types.FunctionType, kinds: Sequence[Type]) -> str:
    r"""Why a function that has a tangent has no adjoint; empty if it has one.

    Examples
    --------
    >>> from cosim_compiler.sources.run_source import run_source
    >>> f = run_source("def f(x):\n    return x * x")["f"]
    >>> adjoint_refusal(f, (REAL,))
    ''
    """
    program = Program()
    try:
        AdjointWriter(program).adjoint(program.function(function, tuple(kinds)), tuple(map(has_reals, kinds)))
    except NoTangentError as fault:
        return str(fault)
    return ""


def _write_adjoint(function: types.FunctionType, signature: str, fixed: frozenset[int]) -> DerivativeText:
    """The text of an adjoint with its entries, ``record`` and ``reverse``."""
    kinds, _ = types_of(signature)
    program = Program()
    typed = program.root(function, signature)
    if isinstance(typed.result, Tuple):
        raise ContractError(
            f"{function.__qualname__} returns a tuple: only other kernel functions can call its adjoint"
        )
    varying = tuple(has_reals(kind) and i not in fixed for i, kind in enumerate(kinds))
    writer = AdjointWriter(program)
    helpers = writer.adjoint(typed, varying)
    rate_varies = typed.result is REAL and varies_any(helpers.result)
    entry = AdjointEntry(signature, varying, rate_varies)
    writer.texts["record"] = write_record_entry(entry, helpers)
    writer.texts["reverse"] = write_reverse_entry(entry, helpers)
    record, reverse = entry_signatures(entry)
    return writer.derivative_text({"record": record, "reverse": reverse})
