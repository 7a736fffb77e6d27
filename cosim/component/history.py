"""The past of a signal, kept in the State: entries, pieces, and growing.

An entry is four doubles: time, kind, value, derivative (NaN when unknown). The kind is 0 for a value at the
end of a step, before the events of that instant; -1 for a value inside a step, taken from the dense output of
the integrator, -1/2 for one that was added because the others do not say where the signal is there
(`cosim.step.histories`); and 1 + the order of the lowest derivative that jumps for the value after the
events, a *break*. A break is two entries at one time, and nothing is ever interpolated across it: the past
consists of smooth *pieces*.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from cosim.component.declarations import RING as RING
from cosim_compiler.sources.views import bundle

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


def margin(t):
    """How far two times may differ and still be one instant, s."""
    return SAME_TIME * max(1.0, abs(t))


@bundle
class History(NamedTuple):
    """The past of a signal, as kernel functions see it: ``s.past`` of a view, where `past` is declared.

    Where the entries lie is said by `ring`, eight integers: where the stretch starts in `entries`, its
    capacity, which entry is the oldest, how many there are, and a flag that an entry was refused because the
    stretch is full; then the piece that the delayed time lies in: its first entry (-1: before the first entry
    of all) and its last (-1: the newest one, however many come); and the order of the break at the start of
    the history (-1 when that has been forgotten).

    The piece is chosen between steps, so that a step sees one smooth function even where it looks a little
    beyond a break. Methods allocate nothing: `cosim.step.histories` makes room before a step. Entries are
    counted from 0, the oldest.
    """

    entries: Any
    ring: Any

    # entries

    @property
    def count(self):
        """How many entries there are."""
        return self.ring[COUNT]

    def place(self, index):
        """Where an entry starts in `entries`; the index is no more than the capacity."""
        place = self.ring[FIRST] + index
        if place >= self.ring[CAPACITY]:  # a remainder would take longer than all else here
            place -= self.ring[CAPACITY]
        return self.ring[START] + WIDTH * place

    def entry(self, index):
        """Time, value and derivative of an entry."""
        at = self.place(index)
        return self.entries[at + TIME], self.entries[at + VALUE], self.entries[at + DERIVATIVE]

    def time(self, index):
        """Time of an entry, s."""
        return self.entries[self.place(index) + TIME]

    def kind(self, index):
        """Kind of an entry: -1 inside a step, 0 at its end, more after a break."""
        return self.entries[self.place(index) + KIND]

    def value(self, index):
        """Value of an entry."""
        return self.entries[self.place(index) + VALUE]

    def derivative(self, index):
        """Derivative of an entry, NaN where none is known."""
        return self.entries[self.place(index) + DERIVATIVE]

    def is_inside(self, index):
        """Whether an entry is a point inside a step, from dense output."""
        return self.entries[self.place(index) + KIND] == INSIDE

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
        # most of those who ask are in the last step
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
        """Its first entry; -1 before the first entry of all."""
        return self.ring[BEGIN]

    @property
    def piece_end(self):
        """Its last entry; the newest one where it is open."""
        return self.ring[END] if self.ring[END] >= 0 else self.count - 1

    @property
    def start_order(self):
        """Order of the break at the start of the history; -1 when that has been forgotten."""
        return self.ring[START_ORDER]

    # appending and forgetting

    def append(self, t, side, smoothness, value, derivative):
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
        count = self.count
        if side < 0.0:
            index = count - 1
            while index >= 0 and self.time(index) > t:
                index -= 1
            if index >= 0 and self.time(index) == t and self.kind(index) < 0.0:
                self.write(self.place(index), t, -1.0, value, derivative)
                return
        known = math.inf
        while count > 0:
            at = self.place(count - 1)
            if self.entries[at + TIME] < t or (
                self.entries[at + TIME] == t and self.entries[at + KIND] <= 0.0 < side
            ):
                break
            if self.entries[at + TIME] == t and side > 0.0:
                known = self.entries[at + KIND] - 1.0
            count -= 1
        kind = min(side, 0.0)
        if side > 0.0 and count > 0 and self.time(count - 1) == t:
            at = self.place(count - 1)
            order = min(known, self.break_order(at, side, smoothness, value, derivative))
            if order == math.inf:
                self.keep_oldest(count)
                return
            kind = 1.0 + order
        if count == self.ring[CAPACITY]:
            self.ring[FULL] = 1
            return
        self.keep_oldest(count)
        self.write(self.place(count), t, kind, value, derivative)
        self.ring[COUNT] = count + 1
        if kind > 0.0 and self.is_open:
            self.ring[END] = count - 1
        if count == 0:
            self.ring[START_ORDER] = 2 if derivative == 0.0 else 1

    def insert(self, index, t, value, derivative):
        """Store a value inside a step before the entry with this index; there has to be room."""
        for i in range(self.count, index, -1):
            source = self.place(i - 1)
            target = self.place(i)
            for m in range(WIDTH):
                self.entries[target + m] = self.entries[source + m]
        self.write(self.place(index), t, REFINED, value, derivative)
        self.ring[COUNT] += 1
        if self.ring[BEGIN] >= index:
            self.ring[BEGIN] += 1
        if self.ring[END] >= index:
            self.ring[END] += 1

    @property
    def is_full(self):
        """Whether there is no room for another entry."""
        return self.count == self.ring[CAPACITY]

    def report_added(self):
        """Tell the Step that an entry was added inside a step, or is needed there."""
        self.ring[FULL] |= ADDED

    def report_no_value(self):
        """Tell the Step that the signal is no number inside a step."""
        self.ring[FULL] |= NO_VALUE

    def write(self, at, t, kind, value, derivative):
        """Store the four numbers of the entry that starts there."""
        self.entries[at + TIME] = t
        self.entries[at + KIND] = kind
        self.entries[at + VALUE] = value
        self.entries[at + DERIVATIVE] = derivative

    def mark_start(self, value, derivative):
        """Note how smoothly the history goes on from a function with these values (NaN: from none)."""
        if self.count == 1 and value == value:
            self.ring[START_ORDER] = 2
            if self.value(0) != value:
                self.ring[START_ORDER] = 0
            elif self.derivative(0) != derivative:
                self.ring[START_ORDER] = 1

    def forget_after(self, t):
        """Drop the entries later than `t`."""
        count = self.count
        while count > 0 and self.time(count - 1) > t:
            count -= 1
        if count < self.count:
            self.keep_oldest(count)

    def keep_oldest(self, count):
        """Keep the oldest `count` entries; a piece that ended behind them is open again."""
        self.ring[COUNT] = count
        if self.ring[END] >= count - 1:
            self.ring[END] = -1
        if self.ring[BEGIN] >= count:
            self.ring[BEGIN] = -1

    def trim(self, t, t_delayed):
        """Forget what is not needed for times from `t_delayed` on, seen from the present `t`.

        The entries of the step around `t_delayed`, and six in all, are kept. Once `t_delayed` has reached
        a break, everything before it goes: from then on the value is the one after it.
        """
        now = t_delayed + margin(t)
        jump = 0
        index = 1
        before = self.entries[self.ring[START] + WIDTH * self.ring[FIRST]]
        while index < self.count:
            time = self.time(index)
            if not time <= now:
                break
            if before == time:
                jump = index
            before = time
            index += 1
        drop = max(jump, min(index - KEPT_BEFORE, self.count - KEPT))
        if drop > 0:
            first = self.ring[FIRST] + drop
            self.ring[FIRST] = first if first < self.ring[CAPACITY] else first - self.ring[CAPACITY]
            self.ring[COUNT] -= drop
            self.ring[START_ORDER] = -1
            if self.ring[BEGIN] >= 0:
                self.ring[BEGIN] = max(self.ring[BEGIN] - drop, 0)
            if self.ring[END] >= 0:
                self.ring[END] -= drop

    # pieces and breaks

    @property
    def is_open(self):
        """Whether the present piece reaches to the newest entry."""
        return self.ring[BEGIN] >= 0 and self.ring[END] < 0

    def enter_piece(self, t, t_delayed):
        """Move on to the piece that begins at `t_delayed` or before; never back."""
        now = t_delayed + margin(t)
        if self.ring[BEGIN] < 0:
            if self.count == 0 or (self.ring[START_ORDER] >= 0 and self.time(0) > now):
                return
            self.ring[BEGIN] = 0
            self.ring[END] = self.last_of_piece(0)
        while self.ring[END] >= 0 and self.time(self.ring[END] + 1) <= now:
            self.ring[BEGIN] = self.ring[END] + 1
            self.ring[END] = self.last_of_piece(self.ring[BEGIN])

    def leave_piece(self):
        """Let `enter_piece` begin at the oldest entry again: the delay itself has changed."""
        self.ring[BEGIN] = -1
        self.ring[END] = -1

    def last_of_piece(self, begin):
        """Index of the last entry of the piece that begins there; -1 when it is the newest of all."""
        for index in range(begin, self.count - 1):
            if self.time(index) == self.time(index + 1):
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
        if self.ring[BEGIN] < 0:
            return self.time(0)
        return self.time(self.ring[END] + 1) if self.ring[END] >= 0 else math.inf

    @property
    def next_break_order(self):
        """Order of the lowest derivative that jumps where the present piece ends."""
        if self.count == 0 or self.is_open:
            return math.inf
        order = math.inf
        index = self.ring[END] + 1
        if self.ring[BEGIN] < 0:
            order = float(self.ring[START_ORDER])
            index = 1
        # several at one instant, with nothing between them
        while index < self.count and self.time(index) == self.break_time:
            order = min(order, self.kind(index) - 1.0)
            index += 1
        return order

    @property
    def has_jump_ahead(self):
        """Whether one of the breaks that are still to be reached is a jump."""
        if self.count == 0 or self.is_open:
            return False
        jumps = False
        first = self.ring[END] + 1
        if self.ring[BEGIN] < 0:
            jumps = self.ring[START_ORDER] == 0
            first = 1
        for index in range(first, self.count):
            jumps = jumps or self.kind(index) == JUMP
        return jumps

    def break_order(self, at, side, smoothness, value, derivative):
        """Order of the lowest derivative that jumps from the entry there to these numbers; infinite for none.

        What an event changes is seen in the numbers themselves; of a delayed break that arrives the order
        is known, and differences are rounding.
        """
        if side == AFTER_ARRIVAL:
            return smoothness
        if self.entries[at + VALUE] != value:
            return 0.0
        unknown = derivative != derivative or self.entries[at + DERIVATIVE] != self.entries[at + DERIVATIVE]
        if not unknown and self.entries[at + DERIVATIVE] != derivative:
            return 1.0
        if unknown and smoothness < math.inf:
            return 1.0
        return smoothness
