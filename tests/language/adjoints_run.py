"""Adjoints of random programs: their values, on each road, and against their tangents."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from language_tools import compiled_together
from programs_run import SIGNATURE, Difference, are_equal, arguments
from tangents_run import CALLS, outcome, programs, with_tangents

from cosim_compiler.code import BY_LLVM, Coder
from cosim_compiler.derivatives.adjoints import Adjoint, adjoint_function
from cosim_compiler.derivatives.tangents import tangent_function

ROOM = 100_000
VIEWS = 1
"""Of the views of a program those of reals."""


class Recorded(NamedTuple):
    """What both functions leave behind."""

    values: Any
    tape: Any
    used: float
    adjoints: Any
    left: float


def with_tape(given: list[Any]) -> list[Any]:
    """Arguments of a recording function: those of a tangent, where its view begins, and a tape."""
    tape = np.zeros(ROOM)
    tape[0] = 2.0
    return [*given[:-1], np.int64(0), tape, given[-1]]


def go_back(reverse: Any, given: list[Any], weights: Any) -> tuple[Any, float]:
    """The adjoints of x, t and a, from weights of the result and of a."""
    root, bars = weights[1:].copy(), np.zeros(2)
    with np.errstate(all="ignore"):
        reverse(root, np.float64(weights[0]), given[-2], bars)
    return np.concatenate([bars, root]), float(given[-2][0])


def adjoint_differences(seeds: Iterable[int]) -> Iterator[Difference | None]:
    """Of each call: whether <w, J v> = <J' w, v>, where values and tangents are those of the tangent."""
    for seed, kernel in programs(seeds).items():
        adjoint, (tangent, _) = adjoint_function(kernel, SIGNATURE), tangent_function(kernel, SIGNATURE)
        draw = random.Random(seed)
        for _ in range(CALLS):
            given = with_tangents(draw, arguments(draw), 1)
            direction = np.concatenate([np.array(given[-4:-2]), given[-2]])
            sizes = np.abs(direction)
            recorded = with_tape([value.copy() for value in given])
            expected = outcome(tangent, given)
            if expected is None:
                continue
            found = outcome(adjoint.record, recorded)
            if found is None:  # a slope is infinite, and Python raises what compiled code goes on with
                continue
            left = (given[4], given[-2], given[-1])
            again = (recorded[4], recorded[-4], recorded[-1])
            same = (
                found is not None
                and are_equal(expected[:3], found[:3])
                and all(np.array_equal(x, y, equal_nan=True) for x, y in zip(left, again, strict=True))
            )
            if not same:
                yield Difference(seed, expected, found or ())
                continue
            if expected[0] != "returns":
                continue
            rates = np.concatenate([given[-1], given[-2]])
            weights = np.array([draw.uniform(-1.0, 1.0) for _ in range(rates.size)])
            bars, top = go_back(adjoint.reverse, recorded, weights)
            if not (np.isfinite(rates).all() and np.isfinite(bars).all()):
                continue
            one, other = float(weights @ rates), float(bars @ direction)
            size = float(np.abs(weights) @ np.abs(rates) + np.abs(bars) @ sizes) + 1e-300
            agrees = abs(one - other) <= 1e-9 * size and top == 2.0
            yield None if agrees else Difference(seed, (one, size), (other, top))


def road_differences(seeds: Iterable[int], coder: Coder = BY_LLVM) -> Iterator[Difference | None]:
    """Of each call: whether compiled code and plain Python leave the same tape and the same adjoints."""
    kernels = programs(seeds)
    made: dict[int, Adjoint] = {seed: adjoint_function(kernel, SIGNATURE) for seed, kernel in kernels.items()}
    first = next(iter(made.values()))
    records = compiled_together([each.record for each in made.values()], first.record_signature, coder)
    reverses = compiled_together([each.reverse for each in made.values()], first.reverse_signature, coder)
    for (seed, adjoint), record, reverse in zip(made.items(), records, reverses, strict=True):
        draw = random.Random(seed)
        for _ in range(CALLS):
            given = with_tape(with_tangents(draw, arguments(draw), 1))
            copies = [value.copy() for value in given]
            expected = outcome(adjoint.record, given)
            if expected is None:
                continue
            found = outcome(record, copies)
            if expected[0] == "returns" and found is not None:
                weights = np.array([draw.uniform(-1.0, 1.0) for _ in range(1 + given[4].size)])
                expected += tuple(go_back(adjoint.reverse, given, weights)[0].tolist())
                found += tuple(go_back(reverse, copies, weights)[0].tolist())
            yield (
                None
                if found and are_equal(expected, found)
                else Difference(seed, expected[:9], found[:9] if found else ())
            )
