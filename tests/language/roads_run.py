"""A process: computes with every component, option and integrator of the product, by one compiler.

Writes a line for each block of each model, at its start and at random states, with a digest of the bytes that
it writes into the cache, and a line for each integrator with a digest of the State after some steps.
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Iterator

import numpy as np
from corpus import FIXED_STEP, models, runs

import cosim

DRAWS = 3
STEPS = 4


def digest(*pieces: bytes) -> str:
    """A short digest of bytes."""
    return hashlib.sha256(b"".join(pieces)).hexdigest()[:16]


def move(state: cosim.State, number: int, most: float) -> cosim.State:
    """Add random numbers of at most `most` to the states."""
    draw = random.Random(number)
    state.set_y(state.y + np.array([draw.uniform(-most, most) for _ in state.y]))
    return state


def random_state(system: cosim.System, number: int) -> cosim.State:
    """The default State for number 0, else one at another time with random states."""
    state = system.default_state()
    if number:
        state.set_time(2.0 * number / DRAWS)
        move(state, number, 0.7)
    return state


def blocks_of(system: cosim.System, number: int) -> Iterator[str]:
    """A line for each block: its label and a digest of the slots that it writes."""
    state = random_state(system, number)
    try:
        state.realize()
    except cosim.CosimError as error:
        yield f"{type(error).__name__}: {error}"
        return
    cache = system.arrays(state)[-1]
    for block in system.blocks:
        slots = [slot for slot in (*block.writes, *block.adds) if slot.array == "c"]
        written_bytes = [cache[slot.offset : slot.offset + slot.size].tobytes() for slot in slots]
        yield f"{block.label} {digest(*written_bytes)}"


def lines_of_models() -> Iterator[str]:
    """The lines of all blocks of all models at all states."""
    for i, model in enumerate(models()):
        system = model.build()
        for number in range(1 + DRAWS):
            for line in blocks_of(system, number):
                yield f"model {i}, state {number}: {line}"


def lines_of_runs() -> Iterator[str]:
    """A line for each integrator: a digest of its final State."""
    for simulator in runs():
        name = type(simulator.integrator).__name__
        move(simulator.state, 1, 0.3)
        try:
            simulator.advance_to(STEPS * FIXED_STEP)
        except cosim.CosimError as error:
            yield f"{name}: {type(error).__name__}: {error}"
        else:
            yield f"{name}: {digest(simulator.state.to_bytes())}"


if __name__ == "__main__":
    for line in itertools.chain(lines_of_models(), lines_of_runs()):
        print(line, flush=True)
