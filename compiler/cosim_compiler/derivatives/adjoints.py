"""The adjoint of a kernel function, as two kernel functions."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any, NamedTuple

from cosim_compiler.derivatives.kept_texts import Written, kept_text
from cosim_compiler.derivatives.notes import NoTangentError
from cosim_compiler.derivatives.own_tangents import RECORDED
from cosim_compiler.derivatives.recording_writer import RecordingWriter
from cosim_compiler.derivatives.tangent_text import as_identifier
from cosim_compiler.derivatives.tangent_values import Varying, has_reals, leaves
from cosim_compiler.derivatives.tape_ends import HEAD
from cosim_compiler.derivatives.writer import TangentWriter
from cosim_compiler.errors import ContractError
from cosim_compiler.language.program import Program
from cosim_compiler.language.typed_form import Function
from cosim_compiler.language.types import REAL, Tuple, Type, View, types_of

NONE: frozenset[int] = frozenset()
_adjoints: dict[tuple[types.FunctionType, str, frozenset[int]], Adjoint] = {}


class Adjoint(NamedTuple):
    """Two kernel functions with their signatures: one that records, one that goes back."""

    record: Any
    record_signature: str
    reverse: Any
    reverse_signature: str


class _AdjointNames(NamedTuple):
    """The two functions of a helper in the text."""

    name: str
    reverse: str
    result: Varying
    result_roots: dict[str, str]
    is_silent: bool


class AdjointWriter(TangentWriter):
    """Writes the adjoints of functions of one program, each once for what varies among its arguments."""

    def __init__(self, program: Program) -> None:
        super().__init__(program, 1)
        self._adjoints: dict[tuple[int, Varying], _AdjointNames] = {}

    def adjoint(self, function: Function, given: Varying) -> _AdjointNames:
        """The adjoint of a function in the text.

        The recording function takes the arguments, the tangents of what varies, for each view that varies
        where in its root it begins, and the tape. It returns the result, the tangents of what varies of it,
        and for each view in it where it begins. The reverse one takes the roots of the views, the adjoints
        of the reals of the result, and the tape; it returns the adjoints of the reals that were given.
        """
        key = id(function), given
        if key in self._adjoints:
            return self._adjoints[key]
        recorded = RECORDED.get(function.author)
        if recorded is not None:
            names = [self.names.name(part, "recorded") for part in recorded]
            self._adjoints[key] = _AdjointNames(names[0], names[1], False, {}, False)
            return self._adjoints[key]
        varying_names: dict[str, Varying] = {}
        result: Varying = False
        writing: RecordingWriter | None = None
        while True:
            before = writing
            writing = RecordingWriter(self, function, given, varying_names, result, before)
            lines = writing.write()
            is_settled = (writing.varying, writing.result) == (varying_names, result)
            roots = (before.roots, before.result_roots, before.is_straight) if before else None
            if is_settled and roots == (writing.roots, writing.result_roots, writing.is_straight):
                break
            varying_names, result = writing.varying, writing.result
        stem = f"{len(self.texts)}_{as_identifier(function.author.__name__)}"
        name, reverse = f"record_{stem}", f"reverse_{stem}"
        self.texts[name] = [f"def {name}({', '.join(writing.parameters)}):", *lines]
        if not writing.is_silent:
            self.texts[reverse] = writing.reverse(reverse)
        self._adjoints[key] = _AdjointNames(name, reverse, result, writing.result_roots, writing.is_silent)
        return self._adjoints[key]


def adjoint_function(function: types.FunctionType, signature: str, fixed: frozenset[int] = NONE) -> Adjoint:
    r"""The adjoint of a kernel function: how a number that depends on its results changes with its arguments.

    `record` is the tangent along one direction with a tape: it takes the arguments, the tangents of those
    that vary, for each view that varies where in its root it begins (0), the tape, and a view for the
    tangent of a result that is a real. The tape is a view of reals that begins with ``2.0, 0.0``: how much
    of it is used, and whether it was full. `reverse` takes for each view that varies its root, in which the
    adjoints lie when the function has ended, and leaves in it those of the start; the adjoint of a result
    that is a real; the tape, from which it takes what `record` has put there; and, if reals vary, a view to
    which it writes their adjoints.

    Arguments and errors are those of `tangents.tangent_function`.

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
        written = kept_text(function, signature, f"adjoint {sorted(fixed)}", lambda: _write_adjoint(*key))
        record, reverse = written.functions(function, "adjoint")
        _adjoints[key] = Adjoint(*record, *reverse)
    return _adjoints[key]


def adjoint_refusal(function: types.FunctionType, kinds: Sequence[Type]) -> str:
    r"""Why a function that has a tangent has no adjoint; empty where it has one.

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


def _write_adjoint(function: types.FunctionType, signature: str, fixed: frozenset[int]) -> Written:
    letters, answer = signature.split(">")
    kinds, result = types_of(signature)
    program = Program()
    typed = program.root(function, signature)
    if isinstance(typed.result, Tuple):
        raise ContractError(
            f"{function.__qualname__} returns a tuple: its adjoint is called by helpers alone"
        )
    varying = tuple(has_reals(kind) and i not in fixed for i, kind in enumerate(kinds))
    writer = AdjointWriter(program)
    adjoint = writer.adjoint(typed, varying)
    values = [f"x{i}" for i in range(len(kinds))]
    moving = [i for i, varies in enumerate(varying) if varies]
    views = [i for i in moving if isinstance(kinds[i], View)]
    reals = [i for i in moving if kinds[i] is REAL]
    has_rate = result is REAL
    rate_varies = has_rate and typed.result is REAL and any(on for _, on in leaves(adjoint.result))
    passed = [*values, *(f"x{i}_dot" for i in moving), *(f"x{i}_at" for i in views)]
    heads = [*passed, "tape", *(["rate"] if has_rate else [])]
    call = f"{adjoint.name}({', '.join(passed + ([] if adjoint.is_silent else ['tape']))})"
    if rate_varies:
        lines = [f"value, value_dot = {call}", "rate[0] = value_dot", "return value"]
    elif answer == "v":
        lines = [call]
    else:
        lines = [f"value = {call}", *(["rate[0] = 0.0"] if has_rate else []), "return value"]
    roots = [f"root{i}" for i in views]
    back = [*roots, *(["value_bar"] if rate_varies else []), "tape"]
    back_heads = [*roots, *(["value_bar"] if has_rate else []), "tape", *(["bars"] if reals else [])]
    back_lines = [] if adjoint.is_silent else [f"{adjoint.reverse}({', '.join(back)})"]
    if reals and not adjoint.is_silent:
        names = [f"bar_{i}" for i in reals]
        back_lines = [f"{', '.join(names)} = {back_lines[0]}"]
        back_lines += [f"bars[{k}] = {name}" for k, name in enumerate(names)]
    elif reals:
        back_lines = [f"bars[{k}] = 0.0" for k in range(len(reals))]
    writer.texts["record"] = [f"def record({', '.join(heads)}):", *(f"    {line}" for line in lines)]
    writer.texts["reverse"] = [
        f"def reverse({', '.join(back_heads)}):",
        *(f"    {line}" for line in back_lines or ["pass"]),
    ]
    record_letters = letters + "".join(letters[i] for i in moving) + "i" * len(views) + "F" + "F" * has_rate
    reverse_letters = "".join("F" for _ in views) + "f" * has_rate + "F" + "F" * bool(reals)
    return writer.written({"record": f"{record_letters}>{answer}", "reverse": f"{reverse_letters}>v"})


__all__ = ["HEAD", "Adjoint", "adjoint_function", "adjoint_refusal"]
