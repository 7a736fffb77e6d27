"""Histories for who has their arrays: the methods of `History` as functions of `entries` and `ring`.

The Step calls them, and kernel functions that ask for ``past`` and ``past_ring``. Those with a view write
``s.past.append(…)``.
"""

from __future__ import annotations

from cosim.component.history import ADDED as ADDED
from cosim.component.history import AFTER_ARRIVAL as AFTER_ARRIVAL
from cosim.component.history import AFTER_EVENT as AFTER_EVENT
from cosim.component.history import BEFORE as BEFORE
from cosim.component.history import BEGIN as BEGIN
from cosim.component.history import CAPACITY as CAPACITY
from cosim.component.history import COUNT as COUNT
from cosim.component.history import DERIVATIVE as DERIVATIVE
from cosim.component.history import END as END
from cosim.component.history import ENTRIES as ENTRIES
from cosim.component.history import FIRST as FIRST
from cosim.component.history import FULL as FULL
from cosim.component.history import INSIDE as INSIDE
from cosim.component.history import JUMP as JUMP
from cosim.component.history import KEPT as KEPT
from cosim.component.history import KEPT_BEFORE as KEPT_BEFORE
from cosim.component.history import KIND as KIND
from cosim.component.history import LOOKED as LOOKED
from cosim.component.history import NO_VALUE as NO_VALUE
from cosim.component.history import REFINED as REFINED
from cosim.component.history import RING as RING
from cosim.component.history import SAME_TIME as SAME_TIME
from cosim.component.history import START as START
from cosim.component.history import START_ORDER as START_ORDER
from cosim.component.history import TIME as TIME
from cosim.component.history import VALUE as VALUE
from cosim.component.history import WIDTH as WIDTH
from cosim.component.history import History as History
from cosim.component.history import empty_ring as empty_ring
from cosim.component.history import margin as margin
from cosim_compiler.sources.flatten import flat_method

append_to_history = flat_method(History, "append")
break_order = flat_method(History, "break_order")
break_time = flat_method(History, "break_time")
drop_later = flat_method(History, "keep_oldest")
enter_piece = flat_method(History, "enter_piece")
entry_after = flat_method(History, "time_after")
entry_count = flat_method(History, "count")
entry_kind = flat_method(History, "kind")
entry_offset = flat_method(History, "place")
entry_time = flat_method(History, "time")
find = flat_method(History, "find")
forget_after = flat_method(History, "forget_after")
has_jump_ahead = flat_method(History, "has_jump_ahead")
is_open = flat_method(History, "is_open")
last_of_piece = flat_method(History, "last_of_piece")
leave_piece = flat_method(History, "leave_piece")
mark_start = flat_method(History, "mark_start")
newest_not_after = flat_method(History, "find_between")
newest_time = flat_method(History, "newest_time")
next_break_order = flat_method(History, "next_break_order")
piece_start = flat_method(History, "piece_start")
trim_history = flat_method(History, "trim")
write_entry = flat_method(History, "write")
