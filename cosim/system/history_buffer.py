"""The past of a signal, kept in the State: entries, pieces, and growing.

An entry is four doubles in the array `past`: time, kind, value, derivative (NaN when unknown). The kind is
0 for a value at the end of a step, before the events of that instant; -1 for a value inside a step,
taken from the dense output of the integrator, -1/2 for one that was added because the others do not say
where the signal is there (`cosim.step.between`); and 1 + the order of the lowest derivative that jumps for
the value after the events, a *break*. A break is two entries at one time, and nothing is ever
interpolated across it: the past consists of smooth *pieces*.

Where the entries lie is said by `ring`, eight integers: where the stretch starts in `past`, its
capacity in entries, which entry is the oldest, how many there are, and a flag that an entry was refused
because the stretch is full; then the piece that the delayed time lies in: its first entry (-1: before
the first entry of all) and its last (-1: the newest one, however many come); and the order of the break
at the start of the history (-1 when that has been forgotten).

The piece is chosen between steps, so that a step sees one smooth function even where it looks a little
beyond a break. Helpers allocate nothing: `cosim.step.histories` makes room before a step.
"""

from __future__ import annotations

import math

from cosim.component.declarations import RING as RING

WIDTH = 4
ENTRIES = 16  # room that a new history has
START, CAPACITY, FIRST, COUNT, FULL, BEGIN, END, START_ORDER = 0, 1, 2, 3, 4, 5, 6, 7
TIME, KIND, VALUE, DERIVATIVE = 0, 1, 2, 3  # of an entry
KEPT = 6  # what is never forgotten: a cubic through values needs four
KEPT_BEFORE = 4  # entries up to the delayed time: the points of one step
JUMP = 1.0  # kind of an entry at which the value itself jumps
SAME_TIME = 1e-14  # times closer than this, relative to the present, are one instant
BEFORE, AFTER_EVENT, AFTER_ARRIVAL = 0.0, 1.0, 2.0  # sides of an instant
INSIDE, REFINED = -1.0, -0.5  # kinds of entries inside a step
LOOKED = -0.25  # a side: whether an entry is needed there is all that is asked
ADDED, NO_VALUE = 2, 4  # what a check inside a step leaves in ``ring[FULL]``


def empty_ring(start: int) -> list[int]:
    """The integers of a history without entries whose stretch starts at `start`."""
    return [start, ENTRIES, 0, 0, 0, -1, -1, -1]


def entry_count(ring):
    """How many entries a history has."""
    return ring[COUNT]


def entry_offset(ring, index):
    """Where the entry with this index (0 is the oldest, no more than the capacity) starts in `past`."""
    place = ring[FIRST] + index
    if place >= ring[CAPACITY]:  # a remainder would take longer than all else here
        place -= ring[CAPACITY]
    return ring[START] + WIDTH * place


def entry_time(past, ring, index):
    """Time of an entry, s."""
    return past[entry_offset(ring, index) + TIME]


def entry_kind(past, ring, index):
    """Kind of an entry: -1 inside a step, 0 at its end, more after a break."""
    return past[entry_offset(ring, index) + KIND]


def is_open(ring):
    """Whether the present piece reaches to the newest entry."""
    return ring[BEGIN] >= 0 and ring[END] < 0


def margin(t):
    """How far two times may differ and still be one instant, s."""
    return SAME_TIME * max(1.0, abs(t))


def append_to_history(past, ring, t, side, smoothness, value, derivative):
    """Remember a value; again for the same time and side it replaces what was there.

    Entries that are later (of a run that was taken back) are dropped; a point inside a step (side -1)
    that is there already is replaced and leaves them. A value on the other side of an instant is kept
    only if something jumps there. When there is no room, ``ring[FULL]`` is set and nothing else changes.

    Parameters
    ----------
    side : float
        -1 inside a step, 0 before the events of this instant, 1 after them, 2 after the arrival of a
        delayed break.
    smoothness : float
        For side 1: the order of the derivative that may jump although value and derivative do not;
        for side 2: that of the lowest derivative that does jump. Infinite when none does.
    """
    count = ring[COUNT]
    if side < 0.0:
        index = count - 1
        while index >= 0 and entry_time(past, ring, index) > t:
            index -= 1
        if index >= 0 and entry_time(past, ring, index) == t and past[entry_offset(ring, index) + KIND] < 0.0:
            write_entry(past, entry_offset(ring, index), t, -1.0, value, derivative)
            return
    known = math.inf
    while count > 0:
        at = entry_offset(ring, count - 1)
        if past[at + TIME] < t or (past[at + TIME] == t and past[at + KIND] <= 0.0 < side):
            break
        if past[at + TIME] == t and side > 0.0:
            known = past[at + KIND] - 1.0
        count -= 1
    kind = min(side, 0.0)
    if side > 0.0 and count > 0 and entry_time(past, ring, count - 1) == t:
        at = entry_offset(ring, count - 1)
        order = min(known, break_order(past, at, side, smoothness, value, derivative))
        if order == math.inf:
            drop_later(ring, count)
            return
        kind = 1.0 + order
    if count == ring[CAPACITY]:
        ring[FULL] = 1
        return
    drop_later(ring, count)
    write_entry(past, entry_offset(ring, count), t, kind, value, derivative)
    ring[COUNT] = count + 1
    if kind > 0.0 and is_open(ring):
        ring[END] = count - 1
    if count == 0:
        ring[START_ORDER] = 2 if derivative == 0.0 else 1


def write_entry(past, at, t, kind, value, derivative):
    """Store the four numbers of an entry."""
    past[at + TIME] = t
    past[at + KIND] = kind
    past[at + VALUE] = value
    past[at + DERIVATIVE] = derivative


def forget_after(past, ring, t):
    """Drop the entries later than `t`."""
    count = ring[COUNT]
    while count > 0 and entry_time(past, ring, count - 1) > t:
        count -= 1
    if count < ring[COUNT]:
        drop_later(ring, count)


def drop_later(ring, count):
    """Keep the oldest `count` entries; a piece that ended behind them is open again."""
    ring[COUNT] = count
    if ring[END] >= count - 1:
        ring[END] = -1
    if ring[BEGIN] >= count:
        ring[BEGIN] = -1


def break_order(past, at, side, smoothness, value, derivative):
    """Order of the lowest derivative that jumps between an entry and these numbers; infinite for none.

    What an event changes is seen in the numbers themselves; of a delayed break that arrives the order
    is known, and differences are rounding.
    """
    if side == AFTER_ARRIVAL:
        return smoothness
    if past[at + VALUE] != value:
        return 0.0
    unknown = derivative != derivative or past[at + DERIVATIVE] != past[at + DERIVATIVE]
    if not unknown and past[at + DERIVATIVE] != derivative:
        return 1.0
    if unknown and smoothness < math.inf:
        return 1.0
    return smoothness


def mark_start(past, ring, value, derivative):
    """Note how smoothly the history begins after a function with this value and derivative (NaN: none)."""
    if ring[COUNT] == 1 and value == value:
        at = entry_offset(ring, 0)
        ring[START_ORDER] = 2
        if past[at + VALUE] != value:
            ring[START_ORDER] = 0
        elif past[at + DERIVATIVE] != derivative:
            ring[START_ORDER] = 1


def trim_history(past, ring, t, t_delayed):
    """Forget what is not needed for times from `t_delayed` on, seen from the present `t`.

    The entries of the step around `t_delayed`, and six in all, are kept. Once `t_delayed` has reached
    a break, everything before it goes: from then on the value is the one after it.
    """
    now = t_delayed + margin(t)
    jump = 0
    index = 1
    before = past[ring[START] + WIDTH * ring[FIRST]]
    while index < ring[COUNT]:
        time = entry_time(past, ring, index)
        if not time <= now:
            break
        if before == time:
            jump = index
        before = time
        index += 1
    drop = max(jump, min(index - KEPT_BEFORE, ring[COUNT] - KEPT))
    if drop > 0:
        first = ring[FIRST] + drop
        ring[FIRST] = first if first < ring[CAPACITY] else first - ring[CAPACITY]
        ring[COUNT] -= drop
        ring[START_ORDER] = -1
        if ring[BEGIN] >= 0:
            ring[BEGIN] = max(ring[BEGIN] - drop, 0)
        if ring[END] >= 0:
            ring[END] -= drop


def enter_piece(past, ring, t, t_delayed):
    """Move on to the piece that begins at `t_delayed` or before; never back."""
    now = t_delayed + margin(t)
    if ring[BEGIN] < 0:
        if ring[COUNT] == 0 or (ring[START_ORDER] >= 0 and entry_time(past, ring, 0) > now):
            return
        ring[BEGIN] = 0
        ring[END] = last_of_piece(past, ring, 0)
    while ring[END] >= 0 and entry_time(past, ring, ring[END] + 1) <= now:
        ring[BEGIN] = ring[END] + 1
        ring[END] = last_of_piece(past, ring, ring[BEGIN])


def leave_piece(ring):
    """Let `enter_piece` begin at the oldest entry again: the delay itself has changed."""
    ring[BEGIN] = -1
    ring[END] = -1


def last_of_piece(past, ring, begin):
    """Index of the last entry of the piece that begins there; -1 when it is the newest of all."""
    for index in range(begin, ring[COUNT] - 1):
        if entry_time(past, ring, index) == entry_time(past, ring, index + 1):
            return index
    return -1


def break_time(past, ring):
    """When the present piece ends, s: the time of the next break; infinite when none is remembered."""
    if ring[COUNT] == 0:
        return math.inf
    if ring[BEGIN] < 0:
        return entry_time(past, ring, 0)
    return entry_time(past, ring, ring[END] + 1) if ring[END] >= 0 else math.inf


def next_break_order(past, ring):
    """Order of the lowest derivative that jumps where the present piece ends."""
    if ring[COUNT] == 0 or is_open(ring):
        return math.inf
    order = math.inf
    index = ring[END] + 1
    if ring[BEGIN] < 0:
        order = float(ring[START_ORDER])
        index = 1
    # several at one instant, with nothing between them
    while index < ring[COUNT] and entry_time(past, ring, index) == break_time(past, ring):
        order = min(order, past[entry_offset(ring, index) + KIND] - 1.0)
        index += 1
    return order


def has_jump_ahead(past, ring):
    """Whether one of the breaks that are still to be reached is a jump."""
    if ring[COUNT] == 0 or is_open(ring):
        return False
    found = False
    first = ring[END] + 1
    if ring[BEGIN] < 0:
        found = ring[START_ORDER] == 0
        first = 1
    for index in range(first, ring[COUNT]):
        found = found or entry_kind(past, ring, index) == JUMP
    return found


def newest_time(past, ring):
    """Time of the newest entry, s; there has to be one."""
    return entry_time(past, ring, ring[COUNT] - 1)


def entry_after(past, ring, t):
    """Time of the oldest entry after `t`, s; infinite when there is none."""
    index = find(past, ring, t) + 1
    return entry_time(past, ring, index) if index < ring[COUNT] else math.inf


def piece_start(past, ring, t):
    """Where the polynomial begins that ends at the entry at `t`, s."""
    index = find(past, ring, t) - 1
    while index > 0 and past[entry_offset(ring, index) + KIND] == INSIDE:
        index -= 1
    return entry_time(past, ring, max(index, 0))


def find(past, ring, t):
    """Index of the newest entry that is not later than `t`; -1 when all are later."""
    last = ring[COUNT] - 1
    if last < 0 or entry_time(past, ring, last) <= t:
        return last
    # most of those who ask are in the last step
    if last > 0 and entry_time(past, ring, last - 1) <= t:
        return last - 1
    return newest_not_after(past, ring, -1, last - 1, t)


def newest_not_after(past, ring, low, high, t):
    """Index of the newest entry from `low` to `high` that is not later than `t`; `low` when all others are.

    Where the steps are about equal the first guess is right.
    """
    if low >= 0 and high - low > 3:
        begin, end = entry_time(past, ring, low), entry_time(past, ring, high)
        if begin <= t < end:
            guess = low + int((t - begin) / (end - begin) * (high - low))
            if entry_time(past, ring, guess) <= t:
                if entry_time(past, ring, guess + 1) > t:
                    return guess
                low = guess + 1  # no later than `end`, which is after `t`
                if entry_time(past, ring, low + 1) > t:
                    return low
            else:
                high = guess - 1
                if guess - 1 > low and entry_time(past, ring, guess - 1) <= t:
                    return guess - 1
    while low < high:
        middle = (low + high + 1) // 2
        if entry_time(past, ring, middle) <= t:
            low = middle
        else:
            high = middle - 1
    return low
