"""The past of a signal, kept in the State: entries, pieces, and growing.

A *break* is two entries at one time, and nothing is ever interpolated across it: the past consists of smooth
*pieces*. The entries of a history lie in a stretch of numbers, which is a ring: where it is full, the next
entry takes the place of the oldest, which has been forgotten.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from cosim_compiler.derivatives.own_tangents import tangent_of
from cosim_compiler.record import Record, rows_of, width_of, words_of
from cosim_compiler.sources.views import bundle

ENTRIES = 16  # room that a new history has
KEPT = 6  # what is never forgotten: a cubic through values needs four
KEPT_BEFORE = 4  # entries up to the delayed time: the points of one step
JUMP = 1.0  # kind of an entry at which the value itself jumps
SAME_TIME = 1e-14  # times closer than this, relative to the present, are one instant
BEFORE, AFTER_EVENT, AFTER_ARRIVAL = 0.0, 1.0, 2.0  # sides of an instant
INSIDE, REFINED = -1.0, -0.5  # kinds of entries inside a step
LOOKED = -0.25  # a side: whether an entry is needed there is all that is asked
MOVED = -0.125  # a side: states are moved by their tolerances, and the floor of the value shows
FULL, ADDED, NO_VALUE, MEASURED = 1, 2, 4, 8  # flags of a ring
ORDINARY = 1e-3  # errors of a signal that has been as large are relative to this, at least
LARGE = 0  # in place of the exponent of the size of such a signal
RESOLVED = 3  # how much larger than its floor a signal has been that is more than rounding: the exponent of 2
LOWERED = 4  # by which power of 2 a floor is lowered from step to step
ZERO, UNKNOWN = -1074, 0  # the exponents of a size of 0, and of a floor that was not measured


class HistoryEntry(Record):
    """The entry of a history for one time."""

    time: float
    """In s."""
    kind: float
    """0 for a value at the end of a step, before the events of that instant; `INSIDE` for a value inside a
    step, taken from the dense output of the integrator; `REFINED` for one that was added because the others
    do not say where the signal is there (`cosim.step.histories`); and 1 + the order of the lowest derivative
    that jumps for the value after the events, a break."""
    value: float
    """Of the signal."""
    derivative: float
    """Of the signal by time, NaN when unknown."""


class Ring(Record):
    """The place of the entries of a history, and the piece in which the delayed time lies."""

    start: int
    """Where its stretch begins among the numbers of all histories."""
    capacity: int
    """How many entries the stretch has room for."""
    oldest: int
    """The place in the stretch of the oldest entry."""
    count: int
    """How many entries there are."""
    flags: int
    """`FULL`: an entry was refused, since there was no room; `ADDED`, `NO_VALUE`, `MEASURED`: what a
    check inside a step has found, or measured."""
    piece_begin: int
    """The first entry of the piece; -1: the time lies before the first entry of all."""
    piece_end: int
    """The last entry of the piece; -1: the newest one, however many come."""
    start_order: int
    """Order of the break at the start of the history; -1 when that has been forgotten."""
    size_exponent: int
    """Binary exponent of the largest value so far, rounded down; `LARGE` from `ORDINARY` on."""
    floor_exponent: int
    """Binary exponent of the floor, rounded up, while the signal is small: how far the absolute tolerances of
    the states move a value."""

    @property
    def stop(ring):
        """The end of the stretch of entries."""
        return ring.start + ENTRY_WIDTH * ring.capacity

    def is_possible(ring, numbers):
        """Whether a run may have such a ring, where all histories together have so many numbers.

        Compiled code relies on it, so that a ring from outside is checked.
        """
        last = max(ring.count, 1) - 1
        is_inside = 0 <= ring.start <= numbers and 0 < ring.capacity <= numbers and ring.stop <= numbers
        is_filled = 0 <= ring.oldest < ring.capacity and 0 <= ring.count <= ring.capacity
        has_piece = -1 <= ring.piece_begin <= last and (ring.piece_end == -1 or 0 <= ring.piece_end < last)
        has_size = ZERO <= ring.size_exponent <= LARGE and ZERO <= ring.floor_exponent <= UNKNOWN
        is_between_steps = ring.flags in (0, FULL) and -1 <= ring.start_order <= 2
        return is_inside and is_filled and has_piece and has_size and is_between_steps


ENTRY_WIDTH, RING = width_of(HistoryEntry), width_of(Ring)


def empty_ring(start: int) -> list[int]:
    """The integers of a history without entries whose stretch starts at `start`."""
    ring = Ring(
        start=start, capacity=ENTRIES, piece_begin=-1, piece_end=-1, start_order=-1, size_exponent=ZERO
    )
    return words_of(ring)


def margin(t):
    """The largest difference of two times that count as one instant, s."""
    return SAME_TIME * max(1.0, abs(t))


def exponent_of_size(value):
    """The binary exponent of the size of a value, rounded down; `LARGE` from `ORDINARY` on."""
    size = abs(value)
    if size == 0.0 or size - size != 0.0:
        return ZERO
    if size >= ORDINARY:
        return LARGE
    _, exponent = math.frexp(size)
    return exponent - 1


def exponent_of_floor(floor):
    """The binary exponent of a floor, rounded up; `UNKNOWN` if it is as large, or no number."""
    if not floor < 1.0:
        return UNKNOWN
    if floor == 0.0:
        return ZERO
    _, exponent = math.frexp(floor)
    return exponent


@tangent_of(exponent_of_size, with_values=True)
def exponent_of_this_size(value, value_dot):
    """The exponent; that the value varies does not count."""
    return exponent_of_size(value)


@tangent_of(exponent_of_floor, with_values=True)
def exponent_of_this_floor(floor, floor_dot):
    """The exponent; that the floor varies does not count."""
    return exponent_of_floor(floor)


def is_same(left, right):
    """Whether two numbers are the same."""
    return left == right


@tangent_of(is_same, with_values=True)
def is_same_number(left, right, left_dot, right_dot):
    """Whether two numbers are one entry, or no jump; their tangents do not count."""
    return left == right


@bundle
class History(NamedTuple):
    """The past of a signal, as kernel functions see it: ``s.past`` of a view, where `past` is declared.

    The piece is chosen between steps, so that a step sees one smooth function even where it looks a little
    beyond a break. Methods allocate nothing: `cosim.step.histories` makes room before a step. Entries are
    counted from 0, the oldest.

    Attributes
    ----------
    numbers : view of reals
        Where the entries of all histories lie.
    integers : view of whole numbers
        Those of the `ring` of this one.
    """

    numbers: Any
    integers: Any

    @property
    def ring(self):
        """The place of the entries, and the present piece."""
        return rows_of(Ring, self.integers, 0, 1)[0]

    # entries

    @property
    def count(self):
        """The number of entries."""
        return self.ring.count

    def entry(self, index):
        """An entry; the index is no more than the capacity."""
        ring = self.ring
        place = ring.oldest + index
        if place >= ring.capacity:  # a remainder would take longer than all else here
            place -= ring.capacity
        return rows_of(HistoryEntry, self.numbers, ring.start + ENTRY_WIDTH * place, 1)[0]

    def time(self, index):
        """Time of an entry, s."""
        return self.entry(index).time

    def kind(self, index):
        """Kind of an entry: -1 inside a step, 0 at its end, more after a break."""
        return self.entry(index).kind

    def value(self, index):
        """Value of an entry."""
        return self.entry(index).value

    def derivative(self, index):
        """Derivative of an entry, NaN where none is known."""
        return self.entry(index).derivative

    def is_inside(self, index):
        """Whether an entry is a point inside a step, from dense output."""
        return self.kind(index) == INSIDE

    @property
    def newest_time(self):
        """Time of the newest entry, s; there has to be one."""
        return self.time(self.count - 1)

    def time_after(self, t):
        """Time of the oldest entry after `t`, s; infinite when there is none."""
        index = self.find(t) + 1
        return self.time(index) if index < self.count else math.inf

    def find(self, t):
        """Index of the newest entry that is not later than `t`; -1 when all are later."""
        last = self.count - 1
        if last < 0 or self.time(last) <= t:
            return last
        # most look-ups are in the last step
        if last > 0 and self.time(last - 1) <= t:
            return last - 1
        return self.find_between(-1, last - 1, t)

    def find_between(self, low, high, t):
        """Index of the newest entry from `low` to `high` not later than `t`; `low` when all others are.

        Where the steps are about equal the first guess is right.
        """
        if low >= 0 and high - low > 3:
            begin, end = self.time(low), self.time(high)
            if begin <= t < end:
                guess = low + int((t - begin) / (end - begin) * (high - low))
                if self.time(guess) <= t:
                    if self.time(guess + 1) > t:
                        return guess
                    low = guess + 1  # no later than `end`, which is after `t`
                    if self.time(low + 1) > t:
                        return low
                else:
                    high = guess - 1
                    if guess - 1 > low and self.time(guess - 1) <= t:
                        return guess - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self.time(middle) <= t:
                low = middle
            else:
                high = middle - 1
        return low

    # the piece that the delayed time lies in

    @property
    def piece_begin(self):
        """The first entry of the present piece; -1 before the first entry of all."""
        return self.ring.piece_begin

    @property
    def piece_end(self):
        """The last entry of the present piece; the newest entry if the piece is open."""
        return self.ring.piece_end if self.ring.piece_end >= 0 else self.count - 1

    @property
    def start_order(self):
        """Order of the break at the start of the history; -1 when that has been forgotten."""
        return self.ring.start_order

    # appending and forgetting

    def append(self, t, side, smoothness, value, derivative):
        """Remember a value; again for the same time and side it replaces what was there.

        Entries that are later (of a run that was taken back) are dropped; a point inside a step (side -1)
        that is there already is replaced and leaves them. A value on the other side of an instant is kept
        only if something jumps there. When there is no room, the flag `FULL` is set and nothing else changes.

        Parameters
        ----------
        side : float
            -1 inside a step, 0 before the events of this instant, 1 after them, 2 after the arrival of a
            delayed break.
        smoothness : float
            For side 1: the order of the derivative that may jump although value and derivative do not;
            for side 2: that of the lowest derivative that does jump. Infinite when none does.
        """
        ring = self.ring
        count = ring.count
        if side < 0.0:
            index = count - 1
            while index >= 0 and self.time(index) > t:
                index -= 1
            if index >= 0 and is_same(self.time(index), t) and self.kind(index) < 0.0:
                self.write(index, t, INSIDE, value, derivative)
                return
        former_order = math.inf
        while count > 0:
            newest = self.entry(count - 1)
            if newest.time < t or (is_same(newest.time, t) and newest.kind <= 0.0 < side):
                break
            if is_same(newest.time, t) and side > 0.0:
                former_order = newest.kind - 1.0
            count -= 1
        kind = min(side, 0.0)
        if side > 0.0 and count > 0 and is_same(self.time(count - 1), t):
            order = min(former_order, self.break_order(count - 1, side, smoothness, value, derivative))
            if order == math.inf:
                self.limit_oldest(count)
                return
            kind = 1.0 + order
        if count == ring.capacity:
            ring.flags = FULL
            return
        self.limit_oldest(count)
        self.write(count, t, kind, value, derivative)
        if self.is_small:
            ring.size_exponent = max(ring.size_exponent, exponent_of_size(value))
        ring.count = count + 1
        if kind > 0.0 and self.is_open:
            ring.piece_end = count - 1
        if count == 0:
            ring.start_order = 2 if derivative == 0.0 else 1

    def insert(self, index, t, value, derivative):
        """Store a value inside a step before the entry with this index; there has to be room."""
        ring = self.ring
        for i in range(ring.count, index, -1):
            moved = self.entry(i - 1)
            self.write(i, moved.time, moved.kind, moved.value, moved.derivative)
        self.write(index, t, REFINED, value, derivative)
        ring.count += 1
        if ring.piece_begin >= index:
            ring.piece_begin += 1
        if ring.piece_end >= index:
            ring.piece_end += 1

    @property
    def is_full(self):
        """Whether there is no room for another entry."""
        return self.count == self.ring.capacity

    def report_added(self):
        """Tell the Step that an entry was added inside a step, or is needed there."""
        self.ring.flags |= ADDED

    def report_no_value(self):
        """Tell the Step that the signal is not a number inside a step."""
        self.ring.flags |= NO_VALUE

    def write(self, index, t, kind, value, derivative):
        """Store the four numbers of an entry."""
        entry = self.entry(index)
        entry.time = t
        entry.kind = kind
        entry.value = value
        entry.derivative = derivative

    # small signals

    @property
    def is_small(self):
        """Whether all values so far were smaller than `ORDINARY`."""
        return self.ring.size_exponent < LARGE

    def set_floor(self, floor):
        """Set the floor, which is known."""
        self.ring.floor_exponent = exponent_of_floor(floor)

    def lower_floor(self):
        """Lower the floor before it is measured again: one measurement may not show all of it."""
        known = self.ring.floor_exponent < UNKNOWN
        self.ring.floor_exponent = max(self.ring.floor_exponent - LOWERED, ZERO) if known else ZERO

    def raise_floor(self, floor):
        """Raise the floor to what was measured, if that is more."""
        self.ring.flags |= MEASURED
        self.ring.floor_exponent = max(self.ring.floor_exponent, exponent_of_floor(floor))

    def error_of_small(self, difference, size):
        """The error of a value that is off by `difference`, relative to the signal; 0 if it was not small.

        `size` is that of the values around. The largest value so far counts if it is larger. The part that is
        not above the floor does not count.
        """
        if not self.is_small or self.ring.size_exponent < self.ring.floor_exponent + RESOLVED:
            return 0.0
        size = max(size, math.ldexp(1.0, self.ring.size_exponent))
        beyond = difference - math.ldexp(1.0, self.ring.floor_exponent)
        return beyond / size if beyond > 0.0 else 0.0

    def mark_start(self, value, derivative):
        """Note how smoothly the history goes on from a function with these values (NaN: from none)."""
        if self.count == 1 and value == value:
            self.ring.start_order = 2
            if not is_same(self.value(0), value):
                self.ring.start_order = 0
            elif not is_same(self.derivative(0), derivative):
                self.ring.start_order = 1

    def forget_after(self, t):
        """Drop the entries later than `t`."""
        count = self.count
        while count > 0 and self.time(count - 1) > t:
            count -= 1
        if count < self.count:
            self.limit_oldest(count)

    def limit_oldest(self, count):
        """Keep the oldest `count` entries; a piece that ended behind them is open again."""
        ring = self.ring
        ring.count = count
        if ring.piece_end >= count - 1:
            ring.piece_end = -1
        if ring.piece_begin >= count:
            ring.piece_begin = -1

    def trim(self, t, t_delayed):
        """Forget what is not needed for times from `t_delayed` on, seen from the present `t`.

        The entries of the step around `t_delayed`, and six in all, are kept. Once `t_delayed` has reached
        a break, everything before it goes: from then on the value is the one after it.
        """
        now = t_delayed + margin(t)
        jump = 0
        index = 1
        before = self.time(0)
        while index < self.count:
            time = self.time(index)
            if not time <= now:
                break
            if is_same(before, time):
                jump = index
            before = time
            index += 1
        drop = max(jump, min(index - KEPT_BEFORE, self.count - KEPT))
        if drop > 0:
            ring = self.ring
            oldest = ring.oldest + drop
            ring.oldest = oldest if oldest < ring.capacity else oldest - ring.capacity
            ring.count -= drop
            ring.start_order = -1
            if ring.piece_begin >= 0:
                ring.piece_begin = max(ring.piece_begin - drop, 0)
            if ring.piece_end >= 0:
                ring.piece_end -= drop

    # pieces and breaks

    @property
    def is_open(self):
        """Whether the present piece reaches to the newest entry."""
        return self.ring.piece_begin >= 0 and self.ring.piece_end < 0

    def enter_piece(self, t, t_delayed):
        """Move on to the piece that begins at `t_delayed` or before; never back."""
        now = t_delayed + margin(t)
        ring = self.ring
        if ring.piece_begin < 0:
            if ring.count == 0 or (ring.start_order >= 0 and self.time(0) > now):
                return
            ring.piece_begin = 0
            ring.piece_end = self.last_of_piece(0)
        while ring.piece_end >= 0 and self.time(ring.piece_end + 1) <= now:
            ring.piece_begin = ring.piece_end + 1
            ring.piece_end = self.last_of_piece(ring.piece_begin)

    def restart_piece(self):
        """Let `enter_piece` begin at the oldest entry again: the delay itself has changed."""
        self.ring.piece_begin = -1
        self.ring.piece_end = -1

    def last_of_piece(self, begin):
        """Index of the last entry of the piece that begins there; -1 when it is the newest of all."""
        for index in range(begin, self.count - 1):
            if is_same(self.time(index), self.time(index + 1)):
                return index
        return -1

    def piece_start(self, t):
        """Where the polynomial begins that ends at the entry at `t`, s."""
        index = self.find(t) - 1
        while index > 0 and self.is_inside(index):
            index -= 1
        return self.time(max(index, 0))

    @property
    def break_time(self):
        """When the present piece ends, s: the time of the next break; infinite when none is remembered."""
        if self.count == 0:
            return math.inf
        if self.ring.piece_begin < 0:
            return self.time(0)
        return self.time(self.ring.piece_end + 1) if self.ring.piece_end >= 0 else math.inf

    @property
    def next_break_order(self):
        """Order of the lowest derivative that jumps where the present piece ends."""
        if self.count == 0 or self.is_open:
            return math.inf
        order = math.inf
        index = self.ring.piece_end + 1
        if self.ring.piece_begin < 0:
            order = float(self.ring.start_order)
            index = 1
        # several at one instant, with nothing between them
        while index < self.count and is_same(self.time(index), self.break_time):
            order = min(order, self.kind(index) - 1.0)
            index += 1
        return order

    @property
    def has_jump_ahead(self):
        """Whether one of the breaks that are still to be reached is a jump."""
        if self.count == 0 or self.is_open:
            return False
        jumps = False
        first = self.ring.piece_end + 1
        if self.ring.piece_begin < 0:
            jumps = self.ring.start_order == 0
            first = 1
        for index in range(first, self.count):
            jumps = jumps or self.kind(index) == JUMP
        return jumps

    def break_order(self, index, side, smoothness, value, derivative):
        """Order of the lowest derivative that jumps from an entry to these numbers; infinite for none.

        What an event changes is seen in the numbers themselves; of a delayed break that arrives the order
        is known, and differences are rounding.
        """
        if side == AFTER_ARRIVAL:
            return smoothness
        entry = self.entry(index)
        if not is_same(entry.value, value):
            return 0.0
        unknown = derivative != derivative or entry.derivative != entry.derivative
        if not unknown and not is_same(entry.derivative, derivative):
            return 1.0
        if unknown and smoothness < math.inf:
            return 1.0
        return smoothness


def history_at(h, k, place):
    """The history among those of a system whose ring begins at a place in `k`."""
    return History(h, rows_of(int, k, place, RING))
