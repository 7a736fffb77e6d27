"""The adjoint of a kernel function, as two kernel functions."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any, NamedTuple

from cosim_compiler.derivatives.derivative_text import DerivativeText
from cosim_compiler.derivatives.kept_texts import kept_text
from cosim_compiler.derivatives.notes import NoTangentError
from cosim_compiler.derivatives.own_tangents import RECORDED
from cosim_compiler.derivatives.recording_writer import RecordingWriter
from cosim_compiler.derivatives.tangent_text import as_identifier
from cosim_compiler.derivatives.tangent_values import Varying, has_reals, leaves
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
    """The two functions that stand in the text for a function, and what its result has."""

    record: str  # names in the text
    reverse: str
    result: Varying  # which reals of the result vary
    result_roots: dict[str, str]  # of views in the result: which root each lies in
    is_silent: bool  # nothing is recorded, so there is no reverse function


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
        # Which variables vary is a fixed point: one that is assigned from a varying one varies, too, and in
        # a loop that is seen after its first use. The text is written again until it finds nothing new.
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
        derivative = kept_text(function, signature, f"adjoint {sorted(fixed)}", lambda: _write_adjoint(*key))
        record, reverse = derivative.functions(function, "adjoint")
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


def _write_adjoint(function: types.FunctionType, signature: str, fixed: frozenset[int]) -> DerivativeText:
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
    rate_varies = typed.result is REAL and any(on for _, on in leaves(helpers.result))
    entry = _Entry(signature, varying, rate_varies)
    writer.texts["record"] = write_record_entry(entry, helpers)
    writer.texts["reverse"] = write_reverse_entry(entry, helpers)
    record, reverse = entry_signatures(entry)
    return writer.derivative_text({"record": record, "reverse": reverse})


class _Entry:
    """The arguments of a function whose adjoint is called from outside the text.

    Attributes
    ----------
    letters, answer : str
        The two sides of its signature.
    moving, views, reals : list of int
        Numbers of the arguments that vary; of those the views, and the reals.
    has_rate : bool
        Whether its result is a real, so that there is a tangent of it, and an adjoint.
    rate_varies : bool
        Whether that tangent is not always 0.
    """

    def __init__(self, signature: str, varying: Sequence[bool], rate_varies: bool) -> None:
        self.letters, self.answer = signature.split(">")
        kinds, result = types_of(signature)
        self.moving = [i for i, varies in enumerate(varying) if varies]
        self.views = [i for i in self.moving if isinstance(kinds[i], View)]
        self.reals = [i for i in self.moving if kinds[i] is REAL]
        self.has_rate = result is REAL
        self.rate_varies = self.has_rate and rate_varies


def write_record_entry(entry: _Entry, helpers: _AdjointNames) -> list[str]:
    """The lines of the function that records, for callers outside the text."""
    passed = [f"x{i}" for i in range(len(entry.letters))]
    passed += [f"x{i}_dot" for i in entry.moving] + [f"x{i}_at" for i in entry.views]
    parameters = [*passed, "tape", *(["rate"] if entry.has_rate else [])]
    call = f"{helpers.record}({', '.join(passed + ([] if helpers.is_silent else ['tape']))})"
    if entry.rate_varies:
        lines = [f"value, value_dot = {call}", "rate[0] = value_dot", "return value"]
    elif entry.answer == "v":
        lines = [call]
    else:
        lines = [f"value = {call}", *(["rate[0] = 0.0"] if entry.has_rate else []), "return value"]
    return [f"def record({', '.join(parameters)}):", *(f"    {line}" for line in lines)]


def write_reverse_entry(entry: _Entry, helpers: _AdjointNames) -> list[str]:
    """The lines of the function that goes back, for callers outside the text."""
    roots = [f"root{i}" for i in entry.views]
    passed = [*roots, *(["value_bar"] if entry.rate_varies else []), "tape"]
    parameters = [*roots, *(["value_bar"] if entry.has_rate else []), "tape"]
    parameters += ["bars"] if entry.reals else []
    lines = [] if helpers.is_silent else [f"{helpers.reverse}({', '.join(passed)})"]
    if entry.reals and not helpers.is_silent:
        names = [f"bar_{i}" for i in entry.reals]
        lines = [f"{', '.join(names)} = {lines[0]}"]
        lines += [f"bars[{k}] = {name}" for k, name in enumerate(names)]
    elif entry.reals:
        lines = [f"bars[{k}] = 0.0" for k in range(len(entry.reals))]
    return [f"def reverse({', '.join(parameters)}):", *(f"    {line}" for line in lines or ["pass"])]


def entry_signatures(entry: _Entry) -> tuple[str, str]:
    """The signatures of the two functions that `write_record_entry` and `write_reverse_entry` write."""
    record = entry.letters + "".join(entry.letters[i] for i in entry.moving)
    record += "i" * len(entry.views) + "F" + "F" * entry.has_rate
    reverse = "F" * len(entry.views) + "f" * entry.has_rate + "F" + "F" * bool(entry.reals)
    return f"{record}>{entry.answer}", f"{reverse}>v"
