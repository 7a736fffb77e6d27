"""Tangents of random programs: compiled against plain Python, and against finite differences."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from language_tools import compiled_together
from programs_run import RAISED, SIGNATURE, Difference, Outcome, are_equal, arguments, is_too_large
from random_programs import SIZE, random_program

from cosim_compiler.code import BY_LLVM, Coder
from cosim_compiler.derivatives.tangents import tangent_function
from cosim_compiler.sources.run_source import run_source

CALLS = 4
LARGEST = 1e6
"""The largest value at which finite differences have enough digits."""


def programs(seeds: Iterable[int]) -> dict[int, Any]:
    """Programs that fit into 64 bits, by their seeds."""
    kernels = {seed: run_source(random_program(seed), label=f"program {seed}")["kernel"] for seed in seeds}
    return {seed: kernel for seed, kernel in kernels.items() if not is_too_large(kernel)}


def with_tangents(draw: random.Random, values: list[Any], directions: int) -> list[Any]:
    """Arguments of a tangent: those of the program, random directions, and a result."""
    a = np.array([draw.uniform(-1.0, 1.0) for _ in range(directions * values[4].size)])
    numbers = [np.array([draw.uniform(-1.0, 1.0) for _ in range(directions)]) for _ in range(2)]
    if directions == 1:
        return [*values, *(np.float64(x[0]) for x in numbers), a, np.zeros(1)]
    return [*values, *numbers, a, np.zeros(directions)]


def outcome(function: Any, values: list[Any]) -> Outcome | None:
    """The result of a call and its arrays after it; None if only plain Python raises this exception."""
    try:
        with np.errstate(all="ignore"):
            result: tuple[Any, ...] = ("returns", float(function(*values)))
    except (ValueError, ArithmeticError) as error:
        if str(error) not in RAISED:
            return None
        return "raises", type(error).__name__, str(error)
    except MemoryError:
        return None
    return (
        *result,
        *(x for array in values for x in np.ravel(array).tolist() if isinstance(array, np.ndarray)),
    )


def differences(seeds: Iterable[int], directions: int, coder: Coder = BY_LLVM) -> Iterator[Difference | None]:
    """For each call a difference, or None if compiled and plain code give the same values and tangents."""
    kernels = programs(seeds)
    tangents = {seed: tangent_function(kernel, SIGNATURE, directions) for seed, kernel in kernels.items()}
    signature = next(iter(tangents.values()))[1]
    called = compiled_together([tangent for tangent, _ in tangents.values()], signature, coder)
    for (seed, (tangent, _)), machine_code in zip(tangents.items(), called, strict=True):
        draw = random.Random(seed)
        for _ in range(CALLS):
            plain_arguments = with_tangents(draw, arguments(draw), directions)
            compiled_arguments = [value.copy() for value in plain_arguments]
            expected = outcome(tangent, plain_arguments)
            if expected is None:
                continue
            actual = outcome(machine_code, compiled_arguments)
            yield None if actual and are_equal(expected, actual) else Difference(seed, expected, actual or ())


def value_differences(seeds: Iterable[int]) -> Iterator[Difference | None]:
    """For each call a difference, or None if a tangent along zeros computes the same values."""
    for seed, kernel in programs(seeds).items():
        tangent, _ = tangent_function(kernel, SIGNATURE)
        draw = random.Random(seed)
        for _ in range(CALLS):
            plain_arguments = arguments(draw)
            copies = [value.copy() for value in plain_arguments]
            expected = outcome(kernel, plain_arguments)
            if expected is None:
                continue
            zeros = [np.zeros_like(value) for value in with_tangents(draw, copies, 1)[len(copies) :]]
            actual = outcome(tangent, [*copies, *zeros]) or ()
            actual = actual[: len(expected)]
            yield None if are_equal(expected, actual) else Difference(seed, expected, actual)


def _moved(values: list[Any], direction: list[Any], step: float) -> list[Any]:
    """The arguments, moved by a step along a direction."""
    x, t, n, m, a, k, w = (value.copy() for value in values)
    return [x + step * direction[0], t + step * direction[1], n, m, a + step * direction[2], k, w]


def _reals(returned: Outcome | None) -> Any:
    """The result of a call and its view of reals; None if it raised."""
    if returned is None or returned[0] != "returns":
        return None
    return np.array([returned[1], *returned[2:6]])


def slopes(kernel: Any, values: list[Any], direction: list[Any], step: float) -> Any:
    """Finite differences of sixth order along a direction; None if the program raises at a point."""
    total: Any = 0.0
    for i, weight in ((1, 45.0), (2, -9.0), (3, 1.0)):
        ahead = _reals(outcome(kernel, _moved(values, direction, i * step)))
        back = _reals(outcome(kernel, _moved(values, direction, -i * step)))
        if ahead is None or back is None:
            return None
        with np.errstate(all="ignore"):
            total = total + weight * (ahead - back) / (60.0 * step)
    return total


def slope_differences(seeds: Iterable[int]) -> Iterator[Difference | None]:
    """For each tangent that differences of three steps agree on: a difference, or None if it agrees, too."""
    for seed, kernel in programs(seeds).items():
        tangent, _ = tangent_function(kernel, SIGNATURE)
        draw = random.Random(seed)
        for _ in range(CALLS):
            point = arguments(draw)
            point[0], point[1] = (np.float64(draw.uniform(-3.0, 3.0)) for _ in range(2))
            point[4] = np.array([draw.uniform(-3.0, 3.0) for _ in range(SIZE)])
            direction = [draw.uniform(-1.0, 1.0), draw.uniform(-1.0, 1.0)]
            direction.append(np.array([draw.uniform(-1.0, 1.0) for _ in range(SIZE)]))
            rate, a_dot = np.zeros(1), direction[2].copy()
            copies = [value.copy() for value in point]
            values = _reals(outcome(lambda *x: tangent(*x, *direction[:2], a_dot, rate), copies))  # noqa: B023
            if values is None:
                continue
            actual = np.concatenate([rate, a_dot])
            steps = [slopes(kernel, point, direction, step) for step in (1e-3, 4e-4, 1e-4)]
            if any(step is None for step in steps):
                continue
            for value, actual_rate, *rates in zip(values, actual, *steps, strict=True):
                size = 1.0 + abs(rates[0])
                settled = np.isfinite(rates).all() and np.ptp(rates) < 1e-8 * size
                if settled and abs(value) < LARGEST and size < LARGEST:
                    agrees = abs(actual_rate - rates[1]) < 1e-7 * size
                    yield None if agrees else Difference(seed, tuple(rates), (actual_rate,))
