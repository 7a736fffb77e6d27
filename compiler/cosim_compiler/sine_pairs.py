"""Sine and cosine of one angle by one call: ``sincos``, which C libraries of Linux have.

It finds the quarter of the circle once, and returns the bits of ``sin`` and ``cos``.
"""

from __future__ import annotations

import ctypes
import functools
import math
import re
import sys
from collections.abc import Iterator

CALL = re.compile(r"  (%[\w.$]+) = (?:tail )?call double @(sin|cos)\(double (?:noundef )?(%[\w.$]+)\)(.*)")
LABEL = re.compile(r'[\w.$"-]+:')
ATTRIBUTES = "nounwind willreturn nobuiltin memory(argmem: write)"
DECLARED = f"\ndeclare void @sincos(double, ptr, ptr) {ATTRIBUTES}\n"
LINUX = "linux"
TRIED = 400


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
    pairs = 0
    first_of: dict[tuple[str, str], int] = {}  # in this block: the function and its angle
    head = 0  # the line behind which memory of the frame is declared
    memory: dict[int, list[str]] = {}
    for i, line in enumerate(lines):
        if line.startswith("define "):
            head = i + 1 if LABEL.match(lines[i + 1]) else i
            first_of = {}
        elif LABEL.match(line):
            first_of = {}
        call = CALL.match(line)
        if call is None:
            continue
        name, function, angle, behind = call.groups()
        other = ("cos" if function == "sin" else "sin", angle)
        if other not in first_of:
            first_of[function, angle] = i
            continue
        at = first_of.pop(other)
        pairs += 1
        places = {which: f"%{which}.of.pair.{pairs}" for which in ("sin", "cos")}
        memory.setdefault(head, []).extend(f"  {place} = alloca double" for place in places.values())
        earlier = CALL.match(lines[at])
        assert earlier is not None
        debug = "".join(re.findall(r", !dbg !\d+", behind))
        debug_earlier = "".join(re.findall(r", !dbg !\d+", earlier[4]))
        arguments = f"double {angle}, ptr {places['sin']}, ptr {places['cos']}"
        lines[at] = (
            f"  call void @sincos({arguments}) {ATTRIBUTES}{debug_earlier}\n"
            f"  {earlier[1]} = load double, ptr {places[other[0]]}{debug_earlier}"
        )
        lines[i] = f"  {name} = load double, ptr {places[function]}{debug}"
    for at, declared in memory.items():
        lines[at] = "\n".join([lines[at], *declared])
    return "\n".join(lines) + (DECLARED if pairs else "")


@functools.cache
def has_sine_pairs() -> bool:
    """Whether the C library of this process has ``sincos``, with the bits of ``sin`` and ``cos``."""
    if sys.platform != LINUX:
        return False
    try:
        both = ctypes.CDLL(None).sincos
    except (OSError, AttributeError):
        return False
    both.restype = None
    both.argtypes = [ctypes.c_double, *[ctypes.POINTER(ctypes.c_double)] * 2]
    sine, cosine = ctypes.c_double(), ctypes.c_double()
    for angle in _angles():
        both(angle, sine, cosine)
        if (sine.value, cosine.value) != (math.sin(angle), math.cos(angle)):
            return False
    return True


def _angles() -> Iterator[float]:
    """Small, usual and large ones."""
    return (math.ldexp(math.fmod(0.6180339887498949 * i, 1.0) - 0.5, i % 40 - 12) for i in range(1, TRIED))
