"""The methods of `History` as functions of its two arrays, for kernel functions that ask for these.

Kernel functions with ``past`` and ``past_ring`` among their arguments call them. Those with a view write
``s.past.append(…)``.
"""

from __future__ import annotations

from cosim.component.history import History
from cosim_compiler.sources.flatten import flat_method

append_to_history = flat_method(History, "append")
break_time = flat_method(History, "break_time")
enter_piece = flat_method(History, "enter_piece")
entry_count = flat_method(History, "count")
entry_kind = flat_method(History, "kind")
entry = flat_method(History, "entry")
entry_time = flat_method(History, "time")
find = flat_method(History, "find")
forget_after = flat_method(History, "forget_after")
is_open = flat_method(History, "is_open")
restart_piece = flat_method(History, "restart_piece")
mark_start = flat_method(History, "mark_start")
newest_time = flat_method(History, "newest_time")
next_break_order = flat_method(History, "next_break_order")
trim_history = flat_method(History, "trim")
