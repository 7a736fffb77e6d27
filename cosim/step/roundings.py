"""How far witnesses move when what they are computed from is moved by rounding."""

from __future__ import annotations

import math

from cosim.run_data.run import Run
from cosim.step.block_calls import copy_cache, probed
from cosim.step.witness_values import is_condition, value, walk_watched_at

MOVED_BY = 1e-14  # of states and of the time, up to twice that: far more than dense output rounds
TURNS = 3


def relative_move(m: int, turn: int) -> float:
    """The relative move of number `m` at a turn: turn 0 moves all numbers upward, later turns either way.

    The sizes differ, so that neither sums nor differences cancel in all of them. They are the same in every
    run and in every process: they come from a hash of `m` (products modulo 2^32 with odd factors, one near
    2^32 over the golden ratio; a shift between them), of which twelve bits give the size and two the signs.
    """
    spread = (m + 1) * 2654435761 % 4294967296
    spread = (spread // 8192 + spread) * 1597334677 % 4294967296
    size = MOVED_BY * (1.0 + spread // 16 % 4096 / 4096.0)
    sign_bit = 262144 if turn == 1 else 2097152
    is_up = turn == 0 or spread // sign_bit % 2 == 1
    return size if is_up else -size


def measure_rounding(run: Run) -> None:
    """Measure into `roundings` how far the witnesses move when states and time move by rounding.

    States and time are moved in three directions, each of them forward and back: what moves a witness one
    way alone is a jump and no rounding.
    """
    count = len(run.witnesses)
    moved_state, moved_cache = probed(run)
    copy_cache(run, run.c, moved_cache)
    time = run.clock.time
    n = run.y.shape[0]
    for i in range(count):
        run.roundings[i] = 0.0
    for turn in range(TURNS):
        for i in range(count):
            run.least_distances[i] = math.inf
        for back in range(2):
            sign = 1.0 if back == 0 else -1.0
            for m in range(n):
                moved_state[m] = run.y[m] + sign * relative_move(m, turn) * run.y[m]
            t = time + sign * relative_move(n, turn) * time
            was_evaluated = evaluate_moved(run, t)
            for i in range(count):
                moved_value = moved_cache[run.probes[i].value]
                distance = abs(moved_value - value(run, i)) if was_evaluated else 0.0
                if distance < run.least_distances[i]:
                    run.least_distances[i] = distance
        for i in range(count):
            distance = run.least_distances[i]
            if not distance < math.inf or is_condition(run, i):
                distance = 0.0
            run.roundings[i] = max(distance, run.roundings[i])


def evaluate_moved(run: Run, t: float) -> bool:
    """Evaluate the witnesses at the moved states, into their cache; whether they could be evaluated."""
    y, c = probed(run)
    return walk_watched_at(run, t, y, c) == 0


def rounding(run: Run, i: int) -> float:
    """The change of a witness by rounding, as `measure_rounding` has measured it."""
    return run.roundings[i]


def error_of_accuracy(run: Run, i: int) -> float:
    """The change of a witness by errors of the accuracy in states and time, as of `measure_rounding`."""
    return max(run.options.accuracy / MOVED_BY, 1.0) * rounding(run, i)
