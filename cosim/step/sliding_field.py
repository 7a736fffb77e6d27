"""Kernel functions: the derivatives of a system while witnesses are held at their zero.

A witness is held in one of three ways. Where its handlers have *pushed* the state (a reset in the direction
r_i), the limit of infinitely many small resets is a continuous push: y' = f + sum lambda_i r_i, with
lambda_i >= 0 such that the held witnesses stay at zero: W'' = -2 k W' - k^2 W. Where they have *set back* the
witness itself, and have left its rate, such a push changes W', and lambda_i follows from W' = -k W. What
constraints forbid is taken out of r_i first, in the metric of the mass matrix. Where its handlers have
*switched* discrete variables, it is Filippov's: y' = f + sum lambda_i (f_i - f), with 0 <= lambda_i <= 1 such
that W' = -k W; f_i has the variables of witness i switched over. All lambda_i are found together.

The block comes after all others of an evaluation. Its row holds what `realize.prepare_sliding_field` writes
there; the numbers that it works with follow the cache of the State.
"""

from __future__ import annotations

from typing import NamedTuple

from cosim.run_data.records.holds import IN_SWITCH_D, IN_SWITCH_K, PUSHED, SWITCHED
from cosim.run_data.run import Integers, Reals
from cosim.walker import call_block, call_tangent
from cosim_compiler.derivatives.own_tangents import tangent_of
from cosim_compiler.record import Record, Rows, rows_of, width_of

SPACING = 1e-4  # s, and of a push: over which derivatives along the solution are taken
FAR = 1048576.0  # s, and of a push: so far away constants in a straight witness are nothing
SIDES = 2  # numbers for each witness, at the end of the cache
RETURN_RATE = 8.0  # 1/s, of a held witness to zero, where rounding has carried it away


class SlidingRow(Record):
    """The row of the block; places are those in `ints`. Behind it the blocks of an evaluation."""

    states: int  # how many
    witnesses: int  # how many there are
    held: int  # how many of these are held
    pushed: int  # how many of those are PUSHED
    blocks: int  # of an evaluation
    corrections: int  # blocks that take what constraints forbid out of a push
    witnesses_at: int  # the `HeldWitness`es
    switches_at: int  # lists of `Switched`
    corrections_at: int  # `ListedBlock`s
    rates_at: int  # a `ListedBlock` for each witness, held or not: its rate; address 0 where there is none
    cache_size: int  # slots of the State's cache


class ListedBlock(Record):
    """A block of the schedule."""

    address: int  # of its function
    start: int  # of its rows in `ints`
    rows: int


class HeldWitness(Record):
    """A witness that is held: where in the cache its value and its rate lie (-1: nowhere), and how."""

    value: int
    rate: int
    kind: int
    straight_block: int  # which of the listed blocks computes it, where it is straight; else -1
    rate_block: int  # which block computes its rate, where none is declared and one exists; else -1
    is_first: int  # whether no witness before it has the same block
    side: int  # that to which a push of it goes: 1 or -1
    shown_state: int  # the state that it is; -1: it is something else


class Switched(Record):
    """A variable that a held witness switches; each list of them begins with how many there are."""

    array: int
    offset: int
    sides_at: int  # where its two values lie in `FieldNumbers.sides`


ROW_WIDTH, BLOCK_WIDTH, HELD_WIDTH, SWITCHED_WIDTH = map(
    width_of, (SlidingRow, ListedBlock, HeldWitness, Switched)
)


class Held(NamedTuple):
    """The arguments of a walk with holds; the row of the block begins at `first` in `ints`."""

    p: Reals
    d: Reals
    k: Integers
    h: Reals
    ints: Integers
    first: int


class FieldNumbers(NamedTuple):
    """The numbers of the block, behind the cache of the State."""

    multipliers: Reals  # of the held witnesses
    pushes: Reals  # a vector of states for each of them: how it is pushed,
    directions: Reals  # and how that changes the derivatives
    matrix: Reals  # of the equations of the multipliers, a row for each held witness
    first_rates: Reals  # of the held witnesses, as they were computed last
    second_rates: Reals  # and before that
    equations: Reals  # as the matrix, before it is solved
    right_side: Reals
    own_rates: Reals  # those that are declared, or follow from the tangent of a witness
    flow: Reals  # the derivatives without what holds witnesses, here
    flow_there: Reals  # and at a moved state
    moved_again: Reals  # a state that is moved from there
    moved_state: Reals
    cache: Reals  # of moved states
    cache_and_rates: Reals  # the same, and behind it how fast some of these numbers change
    sides: Reals  # the two values of each variable that is switched


def field_numbers(c: Reals, held: int, states: int, cache_size: int) -> FieldNumbers:
    """The numbers of the block for so many held witnesses; `c` is the cache of the State and what follows."""
    vectors = held * states
    at_directions = cache_size + held + vectors
    at_matrix = at_directions + vectors
    at_rates = at_matrix + held * held
    at_equations = at_rates + 2 * held
    at_right = at_equations + held * held
    at_own_rates = at_right + held
    at_flow = at_own_rates + held
    at_cache = at_flow + 4 * states
    at_sides = at_cache + 2 * cache_size
    return FieldNumbers(
        c[cache_size : cache_size + held],
        c[cache_size + held : at_directions],
        c[at_directions:at_matrix],
        c[at_matrix:at_rates],
        c[at_rates : at_rates + held],
        c[at_rates + held : at_equations],
        c[at_equations:at_right],
        c[at_right:at_own_rates],
        c[at_own_rates:at_flow],
        c[at_flow : at_flow + states],
        c[at_flow + states : at_flow + 2 * states],
        c[at_flow + 2 * states : at_flow + 3 * states],
        c[at_flow + 3 * states : at_cache],
        c[at_cache : at_cache + cache_size],
        c[at_cache:at_sides],
        c[at_sides:],
    )


def row_of(a: Held) -> SlidingRow:
    """The row of the block."""
    return rows_of(SlidingRow, a.ints, a.first, 1)[0]


def blocks_of(a: Held) -> Rows[ListedBlock]:
    """The blocks of an evaluation."""
    return rows_of(ListedBlock, a.ints, a.first + ROW_WIDTH, row_of(a).blocks)


def projecting_blocks(a: Held) -> Rows[ListedBlock]:
    """The blocks that take what constraints forbid out of a push."""
    return rows_of(ListedBlock, a.ints, row_of(a).corrections_at, row_of(a).corrections)


def rate_blocks(a: Held) -> Rows[ListedBlock]:
    """The blocks that compute rates of witnesses."""
    return rows_of(ListedBlock, a.ints, row_of(a).rates_at, row_of(a).witnesses)


def held_witnesses(a: Held) -> Rows[HeldWitness]:
    """The witnesses that are held."""
    return rows_of(HeldWitness, a.ints, row_of(a).witnesses_at, row_of(a).held)


def call_listed(a: Held, block: ListedBlock, t: float, y: Reals, h: Reals, c: Reals) -> None:
    """Call a block that is listed in the row."""
    call_block(block.address, t, y, a.p, a.d, a.k, h, c, a.ints, block.start, block.rows)


@tangent_of(call_listed, with_values=True)
def follow_listed(a, block, t, y, h, c, a_dot, t_dot, y_dot, h_dot, c_dot):
    """The tangent of `call_listed` where tangents of blocks are listed."""
    call_tangent(
        block.address, t, y, a.p, a.d, a.k, h, c, a.ints, block.start, block.rows,
        t_dot, y_dot, a_dot[0], a_dot[1], h_dot, c_dot,
    )  # fmt: skip


def evaluate_derivatives(a: Held, t: float, y: Reals, c: Reals) -> None:
    """Walk all blocks of an evaluation of the derivatives."""
    for block in blocks_of(a):
        call_listed(a, block, t, y, a.h, c)


def move_along(y: Reals, amount: float, direction: Reals, moved: Reals) -> None:
    """``moved`` = `y` moved along a direction."""
    for m in range(moved.shape[0]):
        moved[m] = y[m] + amount * direction[m]


def remove_forbidden(a: Held, t: float, y: Reals, push: Reals, c: Reals, allowed: Reals) -> None:
    """``allowed`` = a push without what constraints forbid, at `y`, which `c` belongs to."""
    for m in range(allowed.shape[0]):
        allowed[m] = push[m]
    for block in projecting_blocks(a):
        # as for an error estimate: the vector in place of y, and y in place of h
        call_listed(a, block, t, allowed, y, c)


def compute_slopes(
    a: Held, t: float, y: Reals, direction: Reals, time_moves: float, moved: Reals, numbers: FieldNumbers
) -> None:
    """Compute into `first_rates` how the held witnesses change along a direction of the state.

    With `time_moves` = 1 time moves, too, with 0 not. Witnesses are evaluated at states that are `moved`.
    """
    if not are_straight(a):
        compute_slopes_nearby(a, t, y, direction, time_moves, moved, numbers)
    compute_straight_slopes(a, direction, time_moves, moved, numbers)


def are_straight(a: Held) -> bool:
    """Whether all held witnesses are sums of states and the time, each times a constant."""
    all_straight = True
    for witness in held_witnesses(a):
        all_straight = all_straight and witness.straight_block >= 0
    return all_straight


def compute_slopes_nearby(
    a: Held, t: float, y: Reals, direction: Reals, time_moves: float, moved: Reals, numbers: FieldNumbers
) -> None:
    """`compute_slopes` of any witnesses: central differences at two states near `y`."""
    for sign in range(2):
        amount = SPACING if sign == 0 else -SPACING
        move_along(y, amount, direction, moved)
        evaluate_derivatives(a, t + amount * time_moves, moved, numbers.cache)
        for i in range(row_of(a).held):
            value = numbers.cache[held_witnesses(a)[i].value]
            if sign == 0:
                numbers.first_rates[i] = value
            else:
                numbers.first_rates[i] = (numbers.first_rates[i] - value) / (2.0 * SPACING)


def compute_straight_slopes(
    a: Held, direction: Reals, time_moves: float, moved: Reals, numbers: FieldNumbers
) -> None:
    """`compute_slopes` of straight witnesses alone: the same everywhere, so the two states are far away.

    There the rounding of a constant, such as the height of a floor, is nothing beside the difference; nearby
    it would be all that is left of a body at rest. Only the blocks of these witnesses are called, and none
    for those that are states themselves.
    """
    computed = 0
    for i in range(row_of(a).held):
        witness = held_witnesses(a)[i]
        if witness.shown_state >= 0:
            far = FAR * direction[witness.shown_state]
            numbers.first_rates[i] = (far + far) / (2.0 * FAR)
        elif witness.straight_block >= 0:
            computed += 1
    if computed == 0:
        return
    for sign in range(2):
        amount = FAR if sign == 0 else -FAR
        for m in range(moved.shape[0]):
            moved[m] = amount * direction[m]
        for i in range(row_of(a).held):
            witness = held_witnesses(a)[i]
            if witness.straight_block < 0 or witness.shown_state >= 0:
                continue
            if witness.is_first != 0:
                block = blocks_of(a)[witness.straight_block]
                call_listed(a, block, amount * time_moves, moved, a.h, numbers.cache)
            value = numbers.cache[witness.value]
            if sign == 0:
                numbers.first_rates[i] = value
            else:
                numbers.first_rates[i] = (numbers.first_rates[i] - value) / (2.0 * FAR)


def compute_held_rates(a: Held, t: float, y: Reals, numbers: FieldNumbers) -> None:
    """Compute into `first_rates` those of the held witnesses along the solution without pushes, at `y`."""
    evaluate_derivatives(a, t, y, numbers.cache)
    own = compute_own_rates(a, t, y, numbers)
    if own < row_of(a).held:
        for m in range(row_of(a).states):
            numbers.flow_there[m] = numbers.cache[m]
        compute_slopes(a, t, y, numbers.flow_there, 1.0, numbers.moved_again, numbers)
    if own > 0:
        for i in range(row_of(a).held):
            if has_own_rate(held_witnesses(a)[i]):
                numbers.first_rates[i] = numbers.own_rates[i]


def some_rate_blocks(a: Held) -> bool:
    """Whether the rate of a held witness follows from its tangent."""
    some = False
    for witness in held_witnesses(a):
        some = some or witness.rate_block >= 0
    return some


def has_own_rate(witness: HeldWitness) -> bool:
    """Whether the rate of a witness is declared, or follows from its tangent."""
    return witness.rate >= 0 or witness.rate_block >= 0


def compute_own_rates(a: Held, t: float, y: Reals, numbers: FieldNumbers) -> int:
    """Compute `own_rates` at `y`, which the cache of moved states belongs to; how many there are."""
    own = 0
    for i in range(row_of(a).held):
        witness = held_witnesses(a)[i]
        own += 1 if has_own_rate(witness) else 0
        if witness.rate >= 0:
            numbers.own_rates[i] = numbers.cache[witness.rate]
        elif witness.rate_block >= 0:
            if witness.is_first != 0:
                call_listed(a, rate_blocks(a)[witness.rate_block], t, y, a.h, numbers.cache_and_rates)
            numbers.own_rates[i] = numbers.cache_and_rates[row_of(a).cache_size + witness.value]
    return own


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
            swap_equations(matrix, right, n, i, pivot)
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


def swap_equations(matrix: Reals, right: Reals, n: int, i: int, other: int) -> None:
    """Exchange two of `n` equations."""
    for m in range(n):
        swapped = matrix[i * n + m]
        matrix[i * n + m] = matrix[other * n + m]
        matrix[other * n + m] = swapped
    swapped = right[i]
    right[i] = right[other]
    right[other] = swapped


def switch_variables(a: Held, at: int, sides: Reals, side: int) -> None:
    """Give the variables that a witness switches their values of one side (0 or 1)."""
    for switched in rows_of(Switched, a.ints, at + 1, a.ints[at]):
        value = sides[switched.sides_at + side]
        if switched.array == IN_SWITCH_D:
            a.d[switched.offset] = value
        elif switched.array == IN_SWITCH_K:
            a.k[switched.offset] = int(value)
        else:
            a.p[switched.offset] = value


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
    """The block: adds to ``c[0:n]`` what keeps the held witnesses where they are.

    The lambda_i solve one linear equation for each held witness: `fill_equations` writes the effect of each
    direction on each witness into `matrix`, and what the system alone does, negative, into `multipliers`,
    which `solve` makes the solution.
    """
    a = Held(p, d, k, h, ints, first)
    row = row_of(a)
    n = row.states
    numbers = field_numbers(c, row.held, n, row.cache_size)
    for m in range(row.cache_size):
        numbers.cache[m] = c[m]
    if some_rate_blocks(a):
        for m in range(row.cache_size):
            numbers.cache_and_rates[row.cache_size + m] = 0.0
    for m in range(n):
        numbers.flow[m] = c[m]
    find_push_directions(a, t, y, numbers)
    find_switch_directions(a, t, y, numbers)
    fill_equations(a, t, y, numbers.flow, 1.0, -1, numbers)
    for j in range(row.held):
        fill_equations(a, t, y, numbers.directions[j * n : j * n + n], 0.0, j, numbers)
    turn_pushes(a, numbers)
    add_return(a, t, y, c, numbers)
    solve_within_bounds(a, c, numbers)
    for i in range(row.held):
        for m in range(n):
            c[m] += numbers.multipliers[i] * numbers.directions[i * n + m]


def turn_pushes(a: Held, numbers: FieldNumbers) -> None:
    """Let each push go to the side from which its witness came: one that goes back would hold by a pull.

    Where rounding has decided about an event, its handler may have pushed the other way.
    """
    held = row_of(a).held
    n = row_of(a).states
    for j in range(held):
        witness = held_witnesses(a)[j]
        if witness.kind == PUSHED and numbers.matrix[j * held + j] * witness.side < 0.0:
            for i in range(held):
                numbers.matrix[i * held + j] = -numbers.matrix[i * held + j]
            for m in range(j * n, j * n + n):
                numbers.directions[m] = -numbers.directions[m]


def solve_within_bounds(a: Held, c: Reals, numbers: FieldNumbers) -> None:
    """Solve the equations. A multiplier that would leave its bounds is at a bound, and the others follow."""
    held = row_of(a).held
    for m in range(held * held):
        numbers.equations[m] = numbers.matrix[m]
    for i in range(held):
        numbers.right_side[i] = numbers.multipliers[i]
    solve(numbers.matrix, numbers.multipliers, held)
    store_sides(a, numbers.multipliers, c)
    for _ in range(held):
        changed = False
        for i in range(held):
            bound = bounded(held_witnesses(a)[i], numbers.multipliers[i])
            if bound != numbers.multipliers[i]:
                changed = True
                numbers.right_side[i] = bound
                for j in range(held):
                    numbers.equations[i * held + j] = 1.0 if i == j else 0.0
        if not changed:
            return
        for m in range(held * held):
            numbers.matrix[m] = numbers.equations[m]
        for i in range(held):
            numbers.multipliers[i] = numbers.right_side[i]
        solve(numbers.matrix, numbers.multipliers, held)
    for i in range(held):
        numbers.multipliers[i] = bounded(held_witnesses(a)[i], numbers.multipliers[i])


def store_sides(a: Held, multipliers: Reals, c: Reals) -> None:
    """Store, at the end of the cache, how far each multiplier is inside its bounds: a hold ends at zero.

    The derivatives have a kink there (`HeldSystem.slots_named`).
    """
    count = row_of(a).witnesses
    first = c.shape[0] - SIDES * count
    for i in range(row_of(a).held):
        c[first + i] = multipliers[i]
        c[first + count + i] = 1.0 - multipliers[i] if held_witnesses(a)[i].kind == SWITCHED else 1.0


def bounded(witness: HeldWitness, multiplier: float) -> float:
    """A multiplier within its bounds: nothing pulls, and no more than all of a switch is switched."""
    multiplier = max(multiplier, 0.0)
    return min(multiplier, 1.0) if witness.kind == SWITCHED else multiplier


def find_push_directions(a: Held, t: float, y: Reals, numbers: FieldNumbers) -> None:
    """The direction of a witness that is not held by a switch is its push, as far as constraints allow it."""
    n = row_of(a).states
    for j in range(row_of(a).held):
        if held_witnesses(a)[j].kind != SWITCHED:
            push = numbers.pushes[j * n : j * n + n]
            remove_forbidden(a, t, y, push, numbers.cache, numbers.directions[j * n : j * n + n])


def find_switch_directions(a: Held, t: float, y: Reals, numbers: FieldNumbers) -> None:
    """The direction of a hold that switches variables: the difference of both flows, f_i - f."""
    n = row_of(a).states
    at = row_of(a).switches_at
    for j in range(row_of(a).held):
        if held_witnesses(a)[j].kind == SWITCHED:
            switch_variables(a, at, numbers.sides, 1)
            evaluate_derivatives(a, t, y, numbers.cache)
            switch_variables(a, at, numbers.sides, 0)
            for m in range(n):
                numbers.directions[j * n + m] = numbers.cache[m] - numbers.flow[m]
            at += 1 + SWITCHED_WIDTH * a.ints[at]


def fill_equations(
    a: Held, t: float, y: Reals, direction: Reals, time_moves: float, j: int, numbers: FieldNumbers
) -> None:
    """Write the effect of a direction on the held witnesses: column `j` of the matrix; -1: the right side.

    Of one that is PUSHED that is W'': the change, along the direction, of W' along the solution. Of others it
    is W', along the direction.
    """
    held = row_of(a).held
    pushed = row_of(a).pushed
    if pushed < held:
        compute_slopes(a, t, y, direction, time_moves, numbers.moved_state, numbers)
        for i in range(held):
            if held_witnesses(a)[i].kind != PUSHED:
                fill_number(numbers, held, i, j, numbers.first_rates[i])
    if pushed == 0:
        return
    for sign in range(2):
        amount = SPACING if sign == 0 else -SPACING
        move_along(y, amount, direction, numbers.moved_state)
        compute_held_rates(a, t + amount * time_moves, numbers.moved_state, numbers)
        for i in range(held):
            if sign == 0:
                numbers.second_rates[i] = numbers.first_rates[i]
            elif held_witnesses(a)[i].kind == PUSHED:
                slope = (numbers.second_rates[i] - numbers.first_rates[i]) / (2.0 * SPACING)
                fill_number(numbers, held, i, j, slope)


def fill_number(numbers: FieldNumbers, held: int, i: int, j: int, effect: float) -> None:
    """Write the effect of the `j`-th direction on a witness; at -1 that of the system, on the right side."""
    if j < 0:
        numbers.multipliers[i] = -effect
    else:
        numbers.matrix[i * held + j] = effect


def add_return(a: Held, t: float, y: Reals, c: Reals, numbers: FieldNumbers) -> None:
    """Add to the right side what lets the witnesses return to zero: -k W, or -2 k W' - k^2 W."""
    if row_of(a).pushed > 0:
        compute_held_rates(a, t, y, numbers)
    for i in range(row_of(a).held):
        witness = held_witnesses(a)[i]
        value = c[witness.value]
        if witness.kind == PUSHED:
            rate = numbers.first_rates[i]
            numbers.multipliers[i] -= RETURN_RATE * (2.0 * rate + RETURN_RATE * value)
        else:
            numbers.multipliers[i] -= RETURN_RATE * value
