"""Runs random programs, compiled and in plain Python, with the same arguments, and compares all results."""

from __future__ import annotations

import ctypes
import itertools
import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from language_tools import compiled_together, is_same
from random_programs import SIZE, random_program

from cosim_compiler import machine
from cosim_compiler.called import Called
from cosim_compiler.calls import PLACEHOLDER
from cosim_compiler.code import BY_LLVM, Coder
from cosim_compiler.convention import SCALARS, address_of, prototype
from cosim_compiler.errors import ContractError
from cosim_compiler.language.program import Program
from cosim_compiler.printers.llvm_lowered import text_of
from cosim_compiler.sources.run_source import run_source

SIGNATURE = "ffiiFIT>f"
CALLS = 4
"""The number of calls of each program, with different arguments."""
INTERESTING = (0.0, -0.0, 1.0, -1.0, 2.5, math.inf, -math.inf, math.nan, 1e-320, 1e18, -7.25)
RAISED = ("no", "too much", "Singular matrix")
Outcome = tuple[Any, ...]


@dataclass
class Difference:
    """A call of a program with different results, compiled and in plain Python."""

    seed: int
    plain: Outcome
    compiled: Outcome

    def __str__(self) -> str:
        return f"seed {self.seed}: plain {self.plain}, compiled {self.compiled}\n{random_program(self.seed)}"


def arguments(draw: random.Random) -> list[Any]:
    """Random numbers, views and a table; reals are NumPy's, so that 1 / 0 is infinite in plain Python too."""

    def real() -> float:
        return draw.choice(INTERESTING) if draw.random() < 0.3 else draw.uniform(-3.0, 3.0)

    def whole() -> int:
        return draw.choice((0, -1, 2**62, -(2**63), 64)) if draw.random() < 0.1 else draw.randrange(-9, 60)

    a = np.array([real() for _ in range(SIZE)])
    k = np.array([whole() for _ in range(SIZE)])
    w = np.array([[whole() for _ in range(3)] for _ in range(SIZE)])
    return [np.float64(real()), np.float64(real()), np.int64(whole()), np.int64(whole()), a, k, w]


def in_plain_python(kernel: Any, values: list[Any]) -> Outcome | None:
    """The result and the arrays; None if only Python raises this exception or has larger whole numbers."""
    try:
        with np.errstate(all="ignore"):
            result: Any = ("returns", float(kernel(*values)))
    except (ValueError, ArithmeticError) as error:
        if str(error) not in RAISED:
            return None
        result = ("raises", type(error).__name__, str(error))
    except MemoryError:  # a whole number of some gigabytes
        return None
    return (*result, *_arrays(values))


def compiled_outcome(function: Called, values: list[Any]) -> Outcome:
    try:
        result: Any = ("returns", function(*values))
    except (ValueError, ArithmeticError) as error:
        result = ("raises", type(error).__name__, str(error))
    return (*result, *_arrays(values))


def _arrays(values: list[Any]) -> list[Any]:
    a, k, w = values[4:]
    return [*a.tolist(), *k.tolist(), *w.ravel().tolist()]


def are_equal(expected: Outcome, actual: Outcome) -> bool:
    """Whether two outcomes are equal to the last bit; all NaN are equal."""
    return len(expected) == len(actual) and all(map(is_same, expected, actual))


def differences(seeds: Iterable[int], coder: Coder = BY_LLVM) -> Iterator[Difference | None]:
    """For each call that can be compared: the difference, or None if there is none."""
    kernels = {seed: run_source(random_program(seed), label=f"program {seed}")["kernel"] for seed in seeds}
    kernels = {seed: kernel for seed, kernel in kernels.items() if not is_too_large(kernel)}
    for seed, called in zip(kernels, compiled_together(kernels.values(), SIGNATURE, coder), strict=True):
        draw = random.Random(seed)
        for _ in range(CALLS):
            values = arguments(draw)
            copies = [value.copy() for value in values]
            expected = in_plain_python(kernels[seed], values)
            if expected is None:
                continue
            actual = compiled_outcome(called, copies)
            yield None if are_equal(expected, actual) else Difference(seed, expected, actual)


def lowered_differences(seeds: Iterable[int]) -> Iterator[Difference | None]:
    """The same for functions as native libraries contain them, which return a status in place of a text."""
    for seed in seeds:
        kernel = run_source(random_program(seed), label=f"program {seed}")["kernel"]
        if is_too_large(kernel):
            continue
        name = f"lowered_program_{seed}"
        text = machine.optimized(text_of([(kernel, SIGNATURE)])).replace(f"{PLACEHOLDER}_0", name)
        machine.load(machine.object_of(text))
        called = prototype(SIGNATURE)(machine.address_of(name))
        draw = random.Random(seed)
        for _ in range(CALLS):
            values = arguments(draw)
            copies = [value.copy() for value in values]
            expected = in_plain_python(kernel, values)
            if expected is None:
                continue
            if expected[0] == "raises":
                expected = ("raises", *expected[3:])
            result = ctypes.c_double()
            words = [_call_words(letter, value) for letter, value in zip(SIGNATURE, copies, strict=False)]
            status = called(ctypes.addressof(result), *itertools.chain(*words))
            result_or_raise = ("returns", result.value) if status == 0 else ("raises",)
            actual = (*result_or_raise, *_arrays(copies))
            yield None if are_equal(expected, actual) else Difference(seed, expected, actual)


def _call_words(letter: str, value: Any) -> tuple[Any, ...]:
    return (value,) if letter in SCALARS else (address_of(value), *value.shape)


def is_too_large(kernel: Any) -> bool:
    """Whether a program is refused for a constant that does not fit into 64 bits, or is shifted back."""
    try:
        Program().root(kernel, SIGNATURE)
    except ContractError as error:
        if "64 bits" in str(error) or "is an error in Python" in str(error):
            return True
        raise
    return False
