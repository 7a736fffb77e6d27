"""Every component, option and integrator of the product, computed by the road of this process.

Writes a line for each block of each model, at its start and at drawn states, with a digest of the bytes that
it leaves in the cache, and a line for each integrator with a digest of the State behind some steps.
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
    """Of bytes, shortened."""
    return hashlib.sha256(b"".join(pieces)).hexdigest()[:16]


def move(state: cosim.State, number: int, most: float) -> cosim.State:
    """The same, at drawn states."""
    draw = random.Random(number)
    state.set_y(state.y + np.array([draw.uniform(-most, most) for _ in state.y]))
    return state


def drawn(system: cosim.System, number: int) -> cosim.State:
    """The default State, or one whose states are moved and whose time is another."""
    state = system.default_state()
    if number:
        state.set_time(2.0 * number / DRAWS)
        move(state, number, 0.7)
    return state


def blocks_of(system: cosim.System, number: int) -> Iterator[str]:
    """A line for each block: what it is, and what it has written."""
    state = drawn(system, number)
    try:
        state.realize()
    except cosim.CosimError as error:
        yield f"{type(error).__name__}: {error}"
        return
    cache = system.arrays(state)[-1]
    for block in system.blocks:
        slots = [slot for slot in (*block.writes, *block.adds) if slot.array == "c"]
        written = [cache[slot.offset : slot.offset + slot.size].tobytes() for slot in slots]
        yield f"{block.label} {digest(*written)}"


def lines_of_models() -> Iterator[str]:
    """What blocks write."""
    for i, model in enumerate(models()):
        system = model.build()
        for number in range(1 + DRAWS):
            for line in blocks_of(system, number):
                yield f"model {i}, state {number}: {line}"


def lines_of_runs() -> Iterator[str]:
    """Where integrators come to."""
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
