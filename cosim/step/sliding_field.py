"""Kernel functions: the derivatives of a system while witnesses are held at their zero.

A witness is held in one of two ways. Where its handlers have *pushed* the state (a reset in the direction
r_i), the limit of infinitely many small resets is a continuous push: y' = f + sum lambda_i r_i, with
lambda_i >= 0 such that the held witnesses stay at zero: W'' = -2 k W' - k^2 W. What constraints forbid is
taken out of r_i first, in the metric of the mass matrix. Where its handlers have *switched* discrete
variables, it is Filippov's: y' = f + sum lambda_i (f_i - f), with 0 <= lambda_i <= 1 such that W' = -k W; f_i
has the variables of witness i switched over. Where both kinds are held, all lambda_i are found together.

The block comes after all others of an evaluation. Its row holds what `holds.set_up` writes there; the
numbers that it works with follow the cache of the State.
"""

from __future__ import annotations

from typing import NamedTuple

from cosim.step.arrays import Integers, Reals
from cosim.walker import call_block

PUSHED, SWITCHED = 0, 1
SPACING = 1e-4  # s, and of a push: over which derivatives along the solution are taken
RETURN_RATE = 8.0  # 1/s, of a held witness to zero, where rounding has carried it away

# The row: states, held witnesses, those of them that are pushed, blocks of an evaluation, blocks that take
# what constraints forbid out of a push, then where these tables start. Of a witness: value, rate, kind.
STATES, HELD, PUSHES, BLOCKS, CORRECTIONS, WITNESS_AT, SWITCH_AT, CORRECTIONS_AT = range(8)
NUMBERS_AT, CACHE_SIZE, TABLE_AT = 8, 9, 10
BLOCK_ADDRESS, BLOCK_START, BLOCK_ROWS, BLOCK_WIDTH = range(4)  # of a block: also where in `ints`, how many
HELD_VALUE, HELD_RATE, HELD_KIND, HELD_WIDTH = range(4)
# Behind how many variables a witness switches, for each: which array, where in it, where its two values lie.
SWITCHED_IN, SWITCHED_AT, SIDES_AT, SWITCHED_WIDTH = range(4)


class Held(NamedTuple):
    """What a walk needs beside time, states and cache; the row of the block begins at `first` in `ints`."""

    p: Reals
    d: Reals
    k: Integers
    h: Reals
    ints: Integers
    first: int


def call_listed(a: Held, at: int, t: float, y: Reals, h: Reals, c: Reals) -> None:
    """Call a block that is listed in the row."""
    call_block(
        a.ints[at + BLOCK_ADDRESS], t, y, a.p, a.d, a.k, h, c, a.ints, a.ints[at + BLOCK_START],
        a.ints[at + BLOCK_ROWS],
    )  # fmt: skip


def evaluate(a: Held, t: float, y: Reals, c: Reals) -> None:
    """Walk all blocks of an evaluation of the derivatives."""
    for i in range(a.ints[a.first + BLOCKS]):
        call_listed(a, a.first + TABLE_AT + BLOCK_WIDTH * i, t, y, a.h, c)


def shifted(y: Reals, amount: float, direction: Reals, out: Reals) -> None:
    """``out`` = `y` moved along a direction."""
    for m in range(out.shape[0]):
        out[m] = y[m] + amount * direction[m]


def allowed(a: Held, t: float, y: Reals, push: Reals, c: Reals, out: Reals) -> None:
    """``out`` = a push without what constraints forbid, at `y`, which `c` belongs to."""
    for m in range(out.shape[0]):
        out[m] = push[m]
    for i in range(a.ints[a.first + CORRECTIONS]):
        # as for an error estimate: the vector in place of y, and y in place of h
        call_listed(a, a.ints[a.first + CORRECTIONS_AT] + BLOCK_WIDTH * i, t, out, y, c)


def values_along(
    a: Held,
    t: float,
    y: Reals,
    direction: Reals,
    flows: float,
    scratch_y: Reals,
    scratch_c: Reals,
    out: Reals,
) -> None:
    """Rates of the held witnesses along a direction of the state; with `flows` = 1 time moves, too.

    Where a component declares the rate itself, and the direction is the solution's, it is read.
    """
    for sign in range(2):
        amount = SPACING if sign == 0 else -SPACING
        shifted(y, amount, direction, scratch_y)
        evaluate(a, t + amount * flows, scratch_y, scratch_c)
        for i in range(a.ints[a.first + HELD]):
            value = scratch_c[a.ints[a.ints[a.first + WITNESS_AT] + HELD_WIDTH * i + HELD_VALUE]]
            if sign == 0:
                out[i] = value
            else:
                out[i] = (out[i] - value) / (2.0 * SPACING)


def rates_at(a: Held, t: float, y: Reals, flow: Reals, spare_y: Reals, scratch_c: Reals, out: Reals) -> None:
    """Rates of the held witnesses along the solution through `y` (without pushes)."""
    evaluate(a, t, y, scratch_c)
    declared = True
    for i in range(a.ints[a.first + HELD]):
        rate = a.ints[a.ints[a.first + WITNESS_AT] + HELD_WIDTH * i + HELD_RATE]
        if rate < 0:
            declared = False
        else:
            out[i] = scratch_c[rate]
    if declared:
        return
    for m in range(a.ints[a.first + STATES]):
        flow[m] = scratch_c[m]
    values_along(a, t, y, flow, 1.0, spare_y, scratch_c, out)


def solve(matrix: Reals, right: Reals, n: int) -> None:
    """Gauss's elimination with pivoting, in place: `right` becomes the solution, 0 where there is none."""
    for i in range(n):
        pivot = i
        for r in range(i + 1, n):
            if abs(matrix[r * n + i]) > abs(matrix[pivot * n + i]):
                pivot = r
        if matrix[pivot * n + i] == 0.0:
            right[i] = 0.0
            continue
        if pivot != i:
            for m in range(n):
                kept = matrix[i * n + m]
                matrix[i * n + m] = matrix[pivot * n + m]
                matrix[pivot * n + m] = kept
            kept = right[i]
            right[i] = right[pivot]
            right[pivot] = kept
        for r in range(i + 1, n):
            factor = matrix[r * n + i] / matrix[i * n + i]
            for m in range(i, n):
                matrix[r * n + m] -= factor * matrix[i * n + m]
            right[r] -= factor * right[i]
    for i in range(n - 1, -1, -1):
        if matrix[i * n + i] != 0.0:
            for m in range(i + 1, n):
                right[i] -= matrix[i * n + m] * right[m]
            right[i] /= matrix[i * n + i]


def switch(a: Held, at: int, numbers: Reals, side: int) -> None:
    """Give the variables that a witness switches their values of one side (0 or 1)."""
    for j in range(a.ints[at]):
        row = at + 1 + SWITCHED_WIDTH * j
        kind = a.ints[row + SWITCHED_IN]
        offset = a.ints[row + SWITCHED_AT]
        value = numbers[a.ints[row + SIDES_AT] + side]
        if kind == 0:
            a.d[offset] = value
        elif kind == 1:
            a.k[offset] = int(value)
        else:
            a.p[offset] = value


def sliding_field(
    t: float,
    y: Reals,
    p: Reals,
    d: Reals,
    k: Integers,
    h: Reals,
    c: Reals,
    ints: Integers,
    first: int,
    count: int,
) -> None:
    """The block: adds to ``c[0:n]`` what keeps the held witnesses where they are."""
    a = Held(p, d, k, h, ints, first)
    n = ints[first + STATES]
    held = ints[first + HELD]
    cache_size = ints[first + CACHE_SIZE]
    numbers = c[ints[first + NUMBERS_AT] :]
    multipliers = numbers[:held]
    at = held
    pushes = numbers[at : at + held * n]
    at += held * n
    directions = numbers[at : at + held * n]
    at += held * n
    matrix = numbers[at : at + held * held]
    at += held * held
    first_rates = numbers[at : at + held]
    at += held
    second_rates = numbers[at : at + held]
    at += held
    flow = numbers[at : at + n]
    at += n
    spare = numbers[at : at + n]
    at += n
    spare2 = numbers[at : at + n]
    at += n
    shifted_y = numbers[at : at + n]
    at += n
    scratch_c = numbers[at : at + cache_size]
    for m in range(cache_size):
        scratch_c[m] = c[m]
    for m in range(n):
        flow[m] = c[m]
    witness_at = ints[first + WITNESS_AT]
    at = ints[first + SWITCH_AT]
    for j in range(held):
        direction = directions[j * n : j * n + n]
        if ints[witness_at + HELD_WIDTH * j + HELD_KIND] == PUSHED:
            allowed(a, t, y, pushes[j * n : j * n + n], scratch_c, direction)
    for j in range(held):
        if ints[witness_at + HELD_WIDTH * j + HELD_KIND] == SWITCHED:
            switch(a, at, numbers, 1)
            evaluate(a, t, y, scratch_c)
            switch(a, at, numbers, 0)
            for m in range(n):
                directions[j * n + m] = scratch_c[m] - flow[m]
            at += 1 + SWITCHED_WIDTH * ints[at]
    pushed = ints[first + PUSHES]
    for j in range(-1, held):
        direction = flow if j < 0 else directions[j * n : j * n + n]
        moving = 1.0 if j < 0 else 0.0
        if pushed < held:
            values_along(a, t, y, direction, moving, shifted_y, scratch_c, first_rates)
            for i in range(held):
                if ints[witness_at + HELD_WIDTH * i + HELD_KIND] == SWITCHED:
                    if j < 0:
                        multipliers[i] = -first_rates[i]
                    else:
                        matrix[i * held + j] = first_rates[i]
        for sign in range(2 if pushed > 0 else 0):
            amount = SPACING if sign == 0 else -SPACING
            shifted(y, amount, direction, shifted_y)
            rates_at(a, t + amount * moving, shifted_y, spare, spare2, scratch_c, first_rates)
            for i in range(held):
                if sign == 0:
                    second_rates[i] = first_rates[i]
                elif ints[witness_at + HELD_WIDTH * i + HELD_KIND] == PUSHED:
                    slope = (second_rates[i] - first_rates[i]) / (2.0 * SPACING)
                    if j < 0:
                        multipliers[i] = -slope
                    else:
                        matrix[i * held + j] = slope
    if pushed > 0:
        rates_at(a, t, y, spare, spare2, scratch_c, first_rates)
    for i in range(held):
        value = c[ints[witness_at + HELD_WIDTH * i + HELD_VALUE]]
        if ints[witness_at + HELD_WIDTH * i + HELD_KIND] == PUSHED:
            multipliers[i] -= RETURN_RATE * (2.0 * first_rates[i] + RETURN_RATE * value)
        else:
            multipliers[i] -= RETURN_RATE * value
    solve(matrix, multipliers, held)
    for i in range(held):
        multipliers[i] = max(multipliers[i], 0.0)
        if ints[witness_at + HELD_WIDTH * i + HELD_KIND] == SWITCHED:
            multipliers[i] = min(multipliers[i], 1.0)
    for i in range(held):
        for m in range(n):
            c[m] += multipliers[i] * directions[i * n + m]
