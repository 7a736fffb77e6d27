"""Adjoints of random programs: compiled against plain Python, and against their tangents."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from language_tools import compiled_together
from programs_run import SIGNATURE, Difference, are_equal, arguments
from tangents_run import CALLS, outcome, programs, with_tangents

from cosim_compiler.code import BY_LLVM, Coder
from cosim_compiler.derivatives.adjoints import Adjoint, adjoint_function
from cosim_compiler.derivatives.tangents import tangent_function

TAPE_SIZE = 100_000
TAPE_START = 2.0
"""The first free place of an empty tape, which is stored at its place 0."""


def with_tape(arguments_of_tangent: list[Any]) -> list[Any]:
    """Arguments of a recording function: those of a tangent, the offset of its view, and an empty tape."""
    tape = np.zeros(TAPE_SIZE)
    tape[0] = TAPE_START
    return [*arguments_of_tangent[:-1], np.int64(0), tape, arguments_of_tangent[-1]]


def reversed_adjoints(reverse: Any, recorded: list[Any], weights: Any) -> tuple[Any, float]:
    """The adjoints of x, t and a from weights of the result and of a, and the free place of the tape."""
    a_bar, number_bars = weights[1:].copy(), np.zeros(2)
    tape = recorded[-2]
    with np.errstate(all="ignore"):
        reverse(a_bar, np.float64(weights[0]), tape, number_bars)
    return np.concatenate([number_bars, a_bar]), float(tape[0])


def adjoint_differences(seeds: Iterable[int]) -> Iterator[Difference | None]:
    """For each call a difference, or None if the recording computes as the tangent and <w, J v> = <J' w, v>.

    w are random weights, v a random direction, J v the rates of the tangent and J' w the adjoints.
    """
    for seed, kernel in programs(seeds).items():
        adjoint, (tangent, _) = adjoint_function(kernel, SIGNATURE), tangent_function(kernel, SIGNATURE)
        draw = random.Random(seed)
        for _ in range(CALLS):
            of_tangent = with_tangents(draw, arguments(draw), 1)
            direction = np.concatenate([np.array(of_tangent[-4:-2]), of_tangent[-2]])
            recorded = with_tape([value.copy() for value in of_tangent])
            expected = outcome(tangent, of_tangent)
            if expected is None:
                continue
            actual = outcome(adjoint.record, recorded)
            if actual is None:  # a slope is infinite: Python raises an error where compiled code goes on
                continue
            # the view a, its tangents and the rate of the result
            views_of_tangent = (of_tangent[4], of_tangent[-2], of_tangent[-1])
            views_of_recording = (recorded[4], recorded[-4], recorded[-1])
            pairs = zip(views_of_tangent, views_of_recording, strict=True)
            has_equal_views = all(np.array_equal(x, y, equal_nan=True) for x, y in pairs)
            if not (has_equal_views and are_equal(expected[:3], actual[:3])):
                yield Difference(seed, expected, actual)
                continue
            if expected[0] != "returns":
                continue
            rates = np.concatenate([of_tangent[-1], of_tangent[-2]])
            weights = np.array([draw.uniform(-1.0, 1.0) for _ in range(rates.size)])
            adjoints, free_place = reversed_adjoints(adjoint.reverse, recorded, weights)
            if not (np.isfinite(rates).all() and np.isfinite(adjoints).all()):
                continue
            by_tangent, by_adjoint = float(weights @ rates), float(adjoints @ direction)
            size = float(np.abs(weights) @ np.abs(rates) + np.abs(adjoints) @ np.abs(direction)) + 1e-300
            agrees = abs(by_tangent - by_adjoint) <= 1e-9 * size and free_place == TAPE_START
            yield None if agrees else Difference(seed, (by_tangent, size), (by_adjoint, free_place))


def road_differences(seeds: Iterable[int], coder: Coder = BY_LLVM) -> Iterator[Difference | None]:
    """For each call a difference, or None if compiled and plain code give the same tape and adjoints."""
    kernels = programs(seeds)
    adjoints: dict[int, Adjoint] = {
        seed: adjoint_function(kernel, SIGNATURE) for seed, kernel in kernels.items()
    }
    first = next(iter(adjoints.values()))
    records = compiled_together([each.record for each in adjoints.values()], first.record_signature, coder)
    reverses = compiled_together([each.reverse for each in adjoints.values()], first.reverse_signature, coder)
    for (seed, adjoint), record, reverse in zip(adjoints.items(), records, reverses, strict=True):
        draw = random.Random(seed)
        for _ in range(CALLS):
            plain_arguments = with_tape(with_tangents(draw, arguments(draw), 1))
            compiled_arguments = [value.copy() for value in plain_arguments]
            expected = outcome(adjoint.record, plain_arguments)
            if expected is None:
                continue
            actual = outcome(record, compiled_arguments)
            if expected[0] == "returns" and actual is not None:
                weights = np.array([draw.uniform(-1.0, 1.0) for _ in range(1 + plain_arguments[4].size)])
                expected += tuple(reversed_adjoints(adjoint.reverse, plain_arguments, weights)[0].tolist())
                actual += tuple(reversed_adjoints(reverse, compiled_arguments, weights)[0].tolist())
            yield (
                None
                if actual and are_equal(expected, actual)
                else Difference(seed, expected[:9], actual[:9] if actual else ())
            )
