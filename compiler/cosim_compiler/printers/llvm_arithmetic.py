"""Operators and functions of numbers as LLVM's instructions, with one rule for each edge case.

Reals follow IEEE 754; integers wrap around at 64 bits. Processors differ in the following cases, which have
one answer here: an integer divided by zero is 0; the least integer divided by -1 is itself; a shift by 64 or
more moves all bits out; a real beyond the 64-bit integers is converted to the least one. These are NumPy's
answers, so plain Python has them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from cosim_compiler.kept_loops import WRITTEN_OUT_IF_KNOWN
from cosim_compiler.language.builtins import OF_C_LIBRARY
from cosim_compiler.language.types import (
    REAL,
    TRUTH,
    WHOLE,
    Number,
    Type,
    is_for_lanes,
    is_truth_for_lanes,
    truth_beside,
)
from cosim_compiler.printers.llvm_types import llvm_type, real, zero_of

LEAST = -(2**63)
WHOLE_OF_REAL = "cosim.whole_of_real"
HEAD = f"define internal i64 @{WHOLE_OF_REAL}(double %a) nounwind alwaysinline {{\n"
IN_EACH_PROCESSOR = f"""{HEAD}  %low = fcmp oge double %a, 0xC3E0000000000000
  %high = fcmp olt double %a, 0x43E0000000000000
  %fits = and i1 %low, %high
  %whole = fptosi double %a to i64
  %found = select i1 %fits, i64 %whole, i64 {LEAST}
  ret i64 %found
}}"""
IN_X86 = f"""declare i64 @llvm.x86.sse2.cvttsd2si64(<2 x double>)
{HEAD}  %pair = insertelement <2 x double> undef, double %a, i32 0
  %whole = call i64 @llvm.x86.sse2.cvttsd2si64(<2 x double> %pair)
  ret i64 %whole
}}"""
"""A real as an integer; one instruction of these processors also gives the least integer for all others."""
INTRINSICS = {"sqrt": 1, "fabs": 1, "floor": 1, "ceil": 1, "trunc": 1, "rint": 1, "copysign": 2}
"""Functions that LLVM has itself, and every processor rounds in the same way, with their arguments."""
OF_REALS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
OF_WHOLE = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
COMPARED = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}


class Out(Protocol):
    """The interface through which instructions are written."""

    def value(self, instruction: str) -> str:
        """Write an instruction; the name of its value."""

    def room(self, kind: str) -> str:
        """Reserve memory in the frame of the function; its name."""

    def pack(self, *parts: str) -> str:
        """A value that consists of these parts."""

    def declare(self, name: str, line: str) -> None:
        """Declare a function that lies outside of the module."""


def is_known(text: str) -> bool:
    """Whether an operand is a constant."""
    return not text.startswith("%")


def binary(out: Out, sign: str, type_: Type, a: str, b: str) -> str:
    """An operator of two numbers of one type."""
    if is_for_lanes(type_):
        return out.value(f"{OF_REALS[sign]} {llvm_type(type_)} {a}, {b}")
    if type_ is REAL:
        if sign == "%":
            return _real_remainder(out, a, b)
        if sign == "//":
            return _real_quotient(out, a, b)
        return out.value(f"{OF_REALS[sign]} double {a}, {b}")
    if sign in ("//", "%"):
        return _whole_quotient(out, sign, a, b)
    if sign in ("<<", ">>"):
        return _shift(out, sign, a, b)
    return out.value(f"{OF_WHOLE[sign]} {llvm_type(type_)} {a}, {b}")


def compare(out: Out, sign: str, type_: Type, a: str, b: str) -> str:
    """A comparison; one with NaN is false, but for ``!=``."""
    name = COMPARED[sign]
    if type_ is REAL or is_for_lanes(type_):
        return out.value(f"fcmp {'u' if name == 'ne' else 'o'}{name} {llvm_type(type_)} {a}, {b}")
    return out.value(f"icmp {name if name in ('eq', 'ne') else 's' + name} i64 {a}, {b}")


def negative(out: Out, sign: str, type_: Type, a: str) -> str:
    """``-x``, ``~x`` or ``not x``."""
    if sign == "not" and is_truth_for_lanes(type_):
        return out.value(f"xor {llvm_type(type_)} {a}, {convert(out, TRUTH, type_, 'true')}")
    if sign == "not":
        return out.value(f"xor i1 {a}, true")
    if sign == "~":
        return out.value(f"xor i64 {a}, -1")
    return out.value(f"sub i64 0, {a}" if type_ is WHOLE else f"fneg {llvm_type(type_)} {a}")


def convert(out: Out, kind: Type, wanted: Type, a: str) -> str:
    """A number of one kind as one of another."""
    if kind == wanted:
        return a
    if isinstance(wanted, Number) and wanted.lanes > 1:
        return _in_all_lanes(out, wanted, convert(out, kind, REAL, a) if is_for_lanes(wanted) else a)
    if wanted is REAL:
        return out.value(f"sitofp i64 {a} to double" if kind is WHOLE else f"uitofp i1 {a} to double")
    if wanted is TRUTH:
        return out.value(f"icmp ne i64 {a}, 0" if kind is WHOLE else f"fcmp une double {a}, 0.0")
    if kind is TRUTH:
        return out.value(f"zext i1 {a} to i64")
    out.declare(WHOLE_OF_REAL, IN_EACH_PROCESSOR)
    return out.value(f"call i64 @{WHOLE_OF_REAL}(double {a})")


def _in_all_lanes(out: Out, wanted: Number, a: str) -> str:
    """The same number in each lane."""
    kind, item = llvm_type(wanted), "double" if is_for_lanes(wanted) else "i1"
    first = out.value(f"insertelement {kind} undef, {item} {a}, i32 0")
    return out.value(f"shufflevector {kind} {first}, {kind} undef, <{wanted.lanes} x i32> zeroinitializer")


def select(out: Out, kind: Type, condition: str, yes: str, no: str) -> str:
    """One of two numbers; of numbers for each lane, lane by lane."""
    truths = llvm_type(truth_beside(kind) if isinstance(kind, Number) else TRUTH)
    return out.value(f"select {truths} {condition}, {llvm_type(kind)} {yes}, {llvm_type(kind)} {no}")


def _real_remainder(out: Out, a: str, b: str) -> str:
    """Python's ``%``: its sign is that of the divisor, also where it is zero."""
    remainder = call_c(out, "fmod", (a, b))
    other_sign = out.value(
        f"xor i1 {out.value(f'fcmp olt double {remainder}, 0.0')}, {out.value(f'fcmp olt double {b}, 0.0')}"
    )
    moved = out.value(f"fadd double {remainder}, {b}")
    moved = out.value(f"select i1 {other_sign}, double {moved}, double {remainder}")
    nothing = call_intrinsic(out, "copysign", (real(0.0), b))
    is_zero = out.value(f"fcmp oeq double {remainder}, 0.0")
    return out.value(f"select i1 {is_zero}, double {nothing}, double {moved}")


def _real_quotient(out: Out, a: str, b: str) -> str:
    """Python's ``//``, computed from the remainder as Python does."""
    remainder = call_c(out, "fmod", (a, b))
    other_sign = out.value(
        f"xor i1 {out.value(f'fcmp olt double {remainder}, 0.0')}, {out.value(f'fcmp olt double {b}, 0.0')}"
    )
    has_remainder = out.value(f"fcmp une double {remainder}, 0.0")
    down = out.value(f"and i1 {other_sign}, {has_remainder}")
    ratio = out.value(f"fdiv double {out.value(f'fsub double {a}, {remainder}')}, {b}")
    lower = out.value(f"fsub double {ratio}, {real(1.0)}")
    ratio = out.value(f"select i1 {down}, double {lower}, double {ratio}")
    floor = call_intrinsic(out, "floor", (ratio,))
    above = out.value(f"fcmp ogt double {out.value(f'fsub double {ratio}, {floor}')}, {real(0.5)}")
    next_one = out.value(f"fadd double {floor}, {real(1.0)}")
    floor = out.value(f"select i1 {above}, double {next_one}, double {floor}")
    exact_ratio = out.value(f"fdiv double {a}, {b}")
    nothing = call_intrinsic(out, "copysign", (real(0.0), exact_ratio))
    is_zero = out.value(f"fcmp oeq double {ratio}, 0.0")
    floor = out.value(f"select i1 {is_zero}, double {nothing}, double {floor}")
    by_zero = out.value(f"fcmp oeq double {b}, 0.0")
    return out.value(f"select i1 {by_zero}, double {exact_ratio}, double {floor}")


def _whole_quotient(out: Out, sign: str, a: str, b: str) -> str:
    """Python's ``//`` and ``%`` of whole numbers, which round down; by zero they are 0."""
    if is_known(b) and int(b) > 0 and int(b) & (int(b) - 1) == 0:  # a power of 2 divides by moving bits
        if sign == "%":
            return out.value(f"and i64 {a}, {int(b) - 1}")
        return out.value(f"ashr i64 {a}, {int(b).bit_length() - 1}")
    divisor = b
    is_safe = is_known(b) and b not in ("0", "-1")
    if not is_safe:  # divide by 1 instead: by 0 nothing can be divided, by -1 not the least integer
        is_zero, is_minus_one = out.value(f"icmp eq i64 {b}, 0"), out.value(f"icmp eq i64 {b}, -1")
        unsafe = out.value(f"or i1 {is_zero}, {is_minus_one}")
        divisor = out.value(f"select i1 {unsafe}, i64 1, i64 {b}")
    quotient = out.value(f"sdiv i64 {a}, {divisor}")
    remainder = out.value(f"sub i64 {a}, {out.value(f'mul i64 {quotient}, {divisor}')}")
    signs = out.value(f"icmp slt i64 {out.value(f'xor i64 {a}, {divisor}')}, 0")
    down = out.value(f"and i1 {signs}, {out.value(f'icmp ne i64 {remainder}, 0')}")
    if sign == "//":
        lower = out.value(f"sub i64 {quotient}, 1")
        floored = out.value(f"select i1 {down}, i64 {lower}, i64 {quotient}")
        if not is_safe:
            minus = out.value(f"sub i64 0, {a}")
            floored = out.value(f"select i1 {is_minus_one}, i64 {minus}, i64 {floored}")
            floored = out.value(f"select i1 {is_zero}, i64 0, i64 {floored}")
        return floored
    moved = out.value(f"add i64 {remainder}, {divisor}")
    return out.value(f"select i1 {down}, i64 {moved}, i64 {remainder}")  # by 0 and by -1: 0


def _shift(out: Out, sign: str, a: str, b: str) -> str:
    """A shift; by 64 or more, or by a negative number, everything is moved out."""
    name = "shl" if sign == "<<" else "ashr"
    if is_known(b) and 0 <= int(b) < 64:
        return out.value(f"{name} i64 {a}, {b}")
    fits = out.value(f"icmp ult i64 {b}, 64")
    if sign == "<<":
        by = out.value(f"select i1 {fits}, i64 {b}, i64 0")
        return out.value(f"select i1 {fits}, i64 {out.value(f'shl i64 {a}, {by}')}, i64 0")
    by = out.value(f"select i1 {fits}, i64 {b}, i64 63")
    return out.value(f"ashr i64 {a}, {by}")


# ---- functions


def call_c(out: Out, name: str, arguments: Sequence[str]) -> str:
    """A function of reals of the C library; LLVM may not replace it by one that rounds otherwise."""
    kinds = ", ".join(["double"] * len(arguments))
    out.declare(name, f"declare double @{name}({kinds}) #0")
    return out.value(f"call double @{name}({', '.join(f'double {a}' for a in arguments)}) #0")


def call_intrinsic(out: Out, name: str, arguments: Sequence[str], kind: Type = REAL) -> str:
    """A function that the processor computes, or LLVM with the same bits."""
    assert isinstance(kind, Number)
    symbol = f"llvm.{name}.{'f64' if kind is REAL else f'v{kind.lanes}f64'}"
    number = llvm_type(kind)
    out.declare(symbol, f"declare {number} @{symbol}({', '.join([number] * len(arguments))})")
    return out.value(f"call {number} @{symbol}({', '.join(f'{number} {a}' for a in arguments)})")


def mathematics(out: Out, name: str, kind: Type, arguments: Sequence[str]) -> str:
    """A function of `language.builtins`; `kind` is the type of its arguments."""
    if name in INTRINSICS:
        return call_intrinsic(out, name, arguments, kind)
    if name in OF_C_LIBRARY:
        return call_c(out, name, arguments)
    return OTHERS[name](out, kind, arguments)


def _least(sign: str) -> Callable[[Out, Type, Sequence[str]], str]:
    """`min` or `max` by Python's rule: the second number if it compares less (or greater), else the first."""

    def write(out: Out, kind: Type, arguments: Sequence[str]) -> str:
        first, second = arguments
        less = compare(out, sign, kind, second, first)
        return select(out, kind, less, second, first)

    return write


def _abs(out: Out, kind: Type, arguments: Sequence[str]) -> str:
    (a,) = arguments
    minus = out.value(f"sub i64 0, {a}")
    return out.value(f"select i1 {out.value(f'icmp slt i64 {a}, 0')}, i64 {minus}, i64 {a}")


def _of_infinity(condition: str) -> Callable[[Out, Type, Sequence[str]], str]:
    def write(out: Out, kind: Type, arguments: Sequence[str]) -> str:
        size = call_intrinsic(out, "fabs", arguments, kind)
        infinite = convert(out, REAL, kind, real(float("inf")))
        return out.value(f"fcmp {condition} {llvm_type(kind)} {size}, {infinite}")

    return write


def _isnan(out: Out, kind: Type, arguments: Sequence[str]) -> str:
    return out.value(f"fcmp uno {llvm_type(kind)} {arguments[0]}, {zero_of(kind)}")


def _ldexp(out: Out, kind: Type, arguments: Sequence[str]) -> str:
    fraction, exponent = arguments
    for limit, sign in ((4096, "sgt"), (-4096, "slt")):  # beyond, the result is infinite, or 0
        beyond = out.value(f"icmp {sign} i64 {exponent}, {limit}")
        exponent = out.value(f"select i1 {beyond}, i64 {limit}, i64 {exponent}")
    out.declare("ldexp", "declare double @ldexp(double, i32) #0")
    return out.value(
        f"call double @ldexp(double {fraction}, i32 {out.value(f'trunc i64 {exponent} to i32')}) #0"
    )


def _frexp(out: Out, kind: Type, arguments: Sequence[str]) -> str:
    place = out.room("i32")
    out.declare("frexp", "declare double @frexp(double, ptr) #1")
    fraction = out.value(f"call double @frexp(double {arguments[0]}, ptr {place}) #1")
    exponent = out.value(f"sext i32 {out.value(f'load i32, ptr {place}')} to i64")
    return out.pack(fraction, exponent)


def _modf(out: Out, kind: Type, arguments: Sequence[str]) -> str:
    place = out.room("double")
    out.declare("modf", "declare double @modf(double, ptr) #1")
    fraction = out.value(f"call double @modf(double {arguments[0]}, ptr {place}) #1")
    whole_part = out.value(f"load double, ptr {place}")
    return out.pack(fraction, whole_part)


OTHERS: dict[str, Callable[[Out, Type, Sequence[str]], str]] = {
    "min": _least("<"),
    "max": _least(">"),
    "abs": _abs,
    "isfinite": _of_infinity("one"),
    "isinf": _of_infinity("oeq"),
    "isnan": _isnan,
    "ldexp": _ldexp,
    "frexp": _frexp,
    "modf": _modf,
}
LIKELY, UNLIKELY = "!prof !7", "!prof !8"
"""Behind a branch: it nearly always goes to the first label, or to the second one."""
SHORT = "!llvm.loop !9"
"""Behind the jump to the next turn of a loop: LLVM writes it out only if it knows the number of turns."""
ATTRIBUTES = (
    "attributes #0 = { nounwind willreturn nobuiltin memory(none) }",
    "attributes #1 = { nounwind willreturn nobuiltin }",
    "!0 = !{}",
    '!7 = !{!"branch_weights", i32 1000000, i32 1}',
    '!8 = !{!"branch_weights", i32 1, i32 1000000}',
    "!9 = distinct !{!9, !10}",
    f'!10 = !{{!"{WRITTEN_OUT_IF_KNOWN}"}}',
)
