"""Sine and cosine of one angle become one call of the C library, with the same bits."""

from __future__ import annotations

import ctypes
import math
import random
import re
import struct
import sys

import numpy as np
import pytest
from language_tools import compiled

from cosim_compiler import machine, sine_pairs
from cosim_compiler.code import text_for_llvm
from cosim_compiler.language.program import Program
from cosim_compiler.sine_pairs import has_sine_pairs, with_sine_pairs

ON_LINUX = pytest.mark.skipif(not has_sine_pairs(), reason="this C library has no such function")
ANGLES = (
    0.0,
    -0.0,
    5e-324,
    1.0,
    -2.5,
    math.pi / 4,
    math.pi / 2,
    math.pi,
    1e5,
    1e22,
    8e307,
    math.inf,
    math.nan,
)


def uses_pairs(q, out):
    s, c = math.sin(q[0]), math.cos(q[0])
    other = math.cos(q[1]) - math.sin(q[1])
    twice = math.sin(2.0 * q[0])
    out[0], out[1], out[2], out[3] = s, c, other, s * twice


def cosine_in_a_branch(x):
    y = math.sin(x)
    if x > 1.0:
        y = y + math.cos(x)
    return y


def angle_changes_between(q, out):
    out[0] = math.sin(q[0])
    q[0] = q[0] + 1.0
    out[1] = math.cos(q[0])


def optimized(function: object, signature: str) -> str:
    program = Program()
    text = text_for_llvm(program, [("entry", program.root(function, signature), signature)])
    return with_sine_pairs(machine.optimized(text))


def call_counts(text: str) -> dict[str, int]:
    """How often each function is called."""
    names = re.findall(r"call (?:void|double) @(\w+)\(", text)
    return {name: names.count(name) for name in names}


def test_sine_and_cosine_of_one_angle_are_one_call() -> None:
    assert call_counts(optimized(uses_pairs, "FF>v")) == {"sincos": 2, "sin": 1}


def test_calls_in_a_branch_or_of_another_angle_are_not_joined() -> None:
    assert "sincos" not in optimized(cosine_in_a_branch, "f>f")
    assert "sincos" not in optimized(angle_changes_between, "FF>v")


@ON_LINUX
@pytest.mark.parametrize("function", [uses_pairs, angle_changes_between])
def test_joined_calls_have_the_bits_of_plain_python(function: object) -> None:
    called, draw = compiled(function, "FF>v"), random.Random(7)
    drawn = [draw.choice((1.0, 1e3, 1e9)) * draw.uniform(-4.0, 4.0) for _ in range(300)]
    for i, angle in enumerate((*ANGLES, *drawn)):
        compiled_arrays = [np.array([angle, drawn[i % 300], angle]), np.zeros(4)]
        plain_arrays = [values.copy() for values in compiled_arrays]
        called(*compiled_arrays)
        if not math.isfinite(angle):
            assert np.isnan(compiled_arrays[1][:2]).all()  # where Python raises
            continue
        function(*plain_arrays)  # type: ignore[operator]
        assert all(
            struct.pack("d", x) == struct.pack("d", y)
            for x, y in zip(compiled_arrays[1], plain_arrays[1], strict=True)
        )


@ON_LINUX
def test_a_library_whose_pairs_have_other_bits_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Rounded:
        """A C library whose sine is one bit off for angles above 1000."""

        class sincos:  # noqa: N801
            def __new__(cls, angle: float, sine: ctypes.c_double, cosine: ctypes.c_double) -> None:  # type: ignore[misc]
                sine.value, cosine.value = math.sin(angle), math.cos(angle)
                if angle > 1000.0:
                    sine.value = math.nextafter(sine.value, 2.0)

    monkeypatch.setattr(sine_pairs.ctypes, "CDLL", lambda name: Rounded)
    assert not has_sine_pairs.__wrapped__()
    monkeypatch.setattr(sine_pairs.ctypes, "CDLL", lambda name: object())
    assert not has_sine_pairs.__wrapped__()
    monkeypatch.undo()
    assert has_sine_pairs.__wrapped__() is (sys.platform == "linux")
