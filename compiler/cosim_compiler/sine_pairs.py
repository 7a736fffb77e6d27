"""Sine and cosine of one angle by one call: ``sincos``, which C libraries of Linux have.

It finds the quarter of the circle once, and returns the bits of ``sin`` and ``cos``.
"""

from __future__ import annotations

import ctypes
import functools
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

CALL = re.compile(r"  (%[\w.$]+) = (?:tail )?call double @(sin|cos)\(double (?:noundef )?(%[\w.$]+)\)(.*)")
LABEL = re.compile(r'[\w.$"-]+:')
ATTRIBUTES = "nounwind willreturn nobuiltin memory(argmem: write)"
DECLARED = f"\ndeclare void @sincos(double, ptr, ptr) {ATTRIBUTES}\n"
LINUX = "linux"
TRIED = 400
"""Angles for which the bits are compared."""


def with_sine_pairs(text: str) -> str:
    """LLVM's text of an optimized module for Linux, with one call where a block has both of one angle.

    Parameters
    ----------
    text : str
        Its declarations of ``sin`` and ``cos`` say that they depend on nothing else and change nothing, so
        the later call may move to the earlier one.
    """
    if "@sin(" not in text or "@cos(" not in text:
        return text
    lines = text.split("\n")
    heads: dict[int, list[str]] = {}  # behind which line of a function its memory is declared
    pairs = _pairs_in(lines)
    for number, pair in enumerate(pairs, 1):
        places = {function: f"%{function}.of.pair.{number}" for function in ("sin", "cos")}
        heads.setdefault(pair.head, []).extend(f"  {place} = alloca double" for place in places.values())
        arguments = f"double {pair.angle}, ptr {places['sin']}, ptr {places['cos']}"
        first, second = CALL.match(lines[pair.first]), CALL.match(lines[pair.second])
        assert first is not None and second is not None
        call = f"  call void @sincos({arguments}) {ATTRIBUTES}{_debug_of(first)}"
        lines[pair.first] = f"{call}\n{_loaded(first, places)}"
        lines[pair.second] = _loaded(second, places)
    for head, declared in heads.items():
        lines[head] = "\n".join([lines[head], *declared])
    return "\n".join(lines) + (DECLARED if pairs else "")


class _Pair(NamedTuple):
    """Two calls in one block: the lines of both, the line behind which memory is declared, the angle."""

    first: int
    second: int
    head: int
    angle: str


def _pairs_in(lines: Sequence[str]) -> list[_Pair]:
    """The pairs of a sine and a cosine of one angle in one block, each call in one pair at most."""
    pairs: list[_Pair] = []
    single: dict[tuple[str, str], int] = {}  # calls of the block without a partner: function and angle
    head = 0
    for i, line in enumerate(lines):
        if line.startswith("define "):
            head = i + 1 if LABEL.match(lines[i + 1]) else i
            single = {}
        elif LABEL.match(line):
            single = {}
        call = CALL.match(line)
        if call is None:
            continue
        _, function, angle, _ = call.groups()
        partner = ("cos" if function == "sin" else "sin", angle)
        if partner in single:
            pairs.append(_Pair(single.pop(partner), i, head, angle))
        else:
            single[function, angle] = i
    return pairs


def _loaded(call: re.Match[str], places: Mapping[str, str]) -> str:
    """The line that takes the place of a call: its value is read from memory."""
    name, function, _, _ = call.groups()
    return f"  {name} = load double, ptr {places[function]}{_debug_of(call)}"


def _debug_of(call: re.Match[str]) -> str:
    """The mark of the source line of a call."""
    return "".join(re.findall(r", !dbg !\d+", call[4]))


@functools.cache
def has_sine_pairs() -> bool:
    """Whether the C library of this process has ``sincos``, with the bits of ``sin`` and ``cos``."""
    if sys.platform != LINUX:
        return False
    try:
        sincos = ctypes.CDLL(None).sincos
    except (OSError, AttributeError):
        return False
    sincos.restype = None
    sincos.argtypes = [ctypes.c_double, *[ctypes.POINTER(ctypes.c_double)] * 2]
    sine, cosine = ctypes.c_double(), ctypes.c_double()
    for angle in _angles():
        sincos(angle, sine, cosine)
        if (sine.value, cosine.value) != (math.sin(angle), math.cos(angle)):
            return False
    return True


def _angles() -> Iterator[float]:
    """Small, usual and large ones."""
    return (math.ldexp(math.fmod(0.6180339887498949 * i, 1.0) - 0.5, i % 40 - 12) for i in range(1, TRIED))
