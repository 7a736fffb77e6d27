"""Witnesses: their values and rates, how far rounding moves them, where their memory lies."""

from __future__ import annotations

import math

from cosim.run_data.records.witnesses import BOTH, FALLING, NO_DIRECTION, RISING
from cosim.run_data.run import Reals, Run, Variables
from cosim.step.block_calls import copy_cache, probed
from cosim.step.failures import BlockFailed
from cosim.walker import walk

RATE_SPACING = 1e-6  # s
MOST_REPEATS = 10  # that many in a row are chattering, or pile up at an instant
MOVED_BY = 1e-14  # of states and of the time, up to twice that: far more than dense output rounds
TURNS = 3  # directions in which states are moved by rounding


def is_timed(run: Run, i: int) -> bool:
    """Whether it is computed from the time."""
    return run.witness_kinds[i].is_timed != 0


def value(run: Run, i: int) -> float:
    """Present value of a witness."""
    return run.c[run.probes[i].value]


def direction_of(run: Run, i: int) -> int:
    """The direction in which a witness has to cross, whether it is held or not."""
    return run.witness_kinds[i].direction


def has_events(run: Run, i: int) -> bool:
    """Whether a witness crosses in any direction: one that is held does not, and its values are rounding."""
    return run.probes[i].direction != NO_DIRECTION


def falling_triggers(direction: int) -> bool:
    """Whether going down through zero is an event of a witness with this direction."""
    return direction in (FALLING, BOTH)


def rising_triggers(direction: int) -> bool:
    """Whether going up through zero is an event of a witness with this direction."""
    return direction in (RISING, BOTH)


def is_condition(run: Run, i: int) -> bool:
    """Whether it is true or false instead of a number that varies."""
    return run.witness_kinds[i].is_condition != 0


def is_moved(run: Run, i: int) -> bool:
    """Whether it changes with the states or the time; else it jumps where variables are written."""
    return run.witness_kinds[i].is_moved != 0


def shortest_pulse(run: Run) -> float:
    """The shortest time for which any witness stays on the other side of zero, s."""
    shortest = math.inf
    for options in run.witness_options:
        shortest = min(shortest, options.shortest_pulse)
    return shortest


def level(run: Run, i: int) -> float:
    """The value that counts as zero."""
    return run.levels[i].zero


def value_above_level(run: Run, i: int, number: float) -> float:
    """A value of a witness above its level, 0 where that is rounding: see `cosim.step.zeros`."""
    distance = number - level(run, i)
    band = run.levels[i].band
    return 0.0 if abs(distance) <= band else distance


def compute_rates(run: Run, spacing: float) -> None:
    """Compute the rates of the witnesses along the solution, into `rates_now`; NaN where one is not known."""
    rates_along(run, present_variables(run), run.c, spacing, run.rates_now)


def present_variables(run: Run) -> Variables:
    """The variables themselves, in the form of a copy."""
    return Variables(run.y, run.p, run.d, run.k)


def rates_along(run: Run, at: Variables, c: Reals, spacing: float, rates: Reals) -> None:
    """Compute `rates` of the witnesses along the solution through given variables; NaN: not known.

    Central differences, where a rate is not declared: the curvature of the solution drops out. ``c[0:n]`` is
    the derivative of `y`.
    """
    is_declared = True
    for probe in run.probes:
        is_declared = is_declared and probe.rate >= 0
    if is_declared:
        for i in range(len(run.witnesses)):
            rates[i] = c[run.probes[i].rate]
        return
    _, moved_cache = probed(run)
    copy_watched(run, c, moved_cache)
    later = run.clock.time + spacing
    earlier = run.clock.time - spacing
    was_evaluated = evaluate_on_tangent(run, later, at, c)
    if was_evaluated:
        for i in range(len(run.witnesses)):
            rates[i] = moved_cache[run.probes[i].value]
        was_evaluated = evaluate_on_tangent(run, earlier, at, c)
    for i in range(len(run.witnesses)):
        rate = run.probes[i].rate
        if not was_evaluated:
            rates[i] = math.nan
        elif rate >= 0:
            rates[i] = c[rate]
        elif later == earlier:
            rates[i] = 0.0
        else:
            value_earlier = moved_cache[run.probes[i].value]
            rates[i] = (rates[i] - value_earlier) / (later - earlier)


def evaluate_on_tangent(run: Run, t: float, at: Variables, c: Reals) -> bool:
    """Evaluate the witnesses at another time, on the tangent of the solution; whether that is possible."""
    y, moved_cache = probed(run)
    for m in range(y.shape[0]):
        y[m] = at.y[m] + (t - run.clock.time) * c[m]
    return walk_watched_with(run, t, at, y, moved_cache) == 0


def copy_watched(run: Run, source: Reals, target: Reals) -> None:
    """Copy the cache to the one in which the blocks of witnesses are called, if any are."""
    if run.plan.show_states == 0:
        copy_cache(run, source, target)


def walk_watched_with(run: Run, t: float, at: Variables, y: Reals, c: Reals) -> int:
    """Compute the witnesses at `y` with other variables; 0, or 1 + the place of the block that failed.

    Where each of them is a state itself, no block has to say so.
    """
    if run.plan.show_states != 0:
        for i in range(len(run.witnesses)):
            c[run.probes[i].value] = y[run.witness_kinds[i].shown_state]
        return 0
    return walk(run.watched, run.ints, 0, len(run.watched_blocks), t, y, at.p, at.d, at.k, run.h, c)


def walk_watched_at(run: Run, t: float, y: Reals, c: Reals) -> int:
    """Compute the witnesses at `y`; 0, or one more than the place of the block that failed."""
    return walk_watched_with(run, t, present_variables(run), y, c)


def walk_watched(run: Run, t: float, y: Reals, c: Reals) -> None:
    """Walk the rows of watched witnesses; raises if a block fails."""
    status = walk_watched_at(run, t, y, c)
    if status != 0:
        run.failure.block = run.watched_blocks[status - 1]
        raise BlockFailed()


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
    _, moved_cache = probed(run)
    copy_watched(run, run.c, moved_cache)
    for i in range(len(run.witnesses)):
        run.roundings[i] = 0.0
    for turn in range(TURNS):
        for i in range(len(run.witnesses)):
            run.least_distances[i] = math.inf
        measure_moved(run, turn, 1.0)
        measure_moved(run, turn, -1.0)
        for i in range(len(run.witnesses)):
            distance = run.least_distances[i]
            if not distance < math.inf or is_condition(run, i):
                distance = 0.0
            run.roundings[i] = max(distance, run.roundings[i])


def measure_moved(run: Run, turn: int, sign: float) -> None:
    """Measure how far the witnesses move with states and time at a turn; `least_distances` has the least."""
    moved_state, moved_cache = probed(run)
    n = run.y.shape[0]
    time = run.clock.time
    for m in range(n):
        moved_state[m] = run.y[m] + sign * relative_move(m, turn) * run.y[m]
    was_evaluated = evaluate_moved(run, time + sign * relative_move(n, turn) * time)
    for i in range(len(run.witnesses)):
        moved_value = moved_cache[run.probes[i].value]
        distance = abs(moved_value - value(run, i)) if was_evaluated else 0.0
        if distance < run.least_distances[i]:
            run.least_distances[i] = distance


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
