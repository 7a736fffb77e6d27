"""A history in a view has the methods of its functions, and its parts may be handed to functions."""

from __future__ import annotations

import math

import numpy as np
from view_source import class_with

from cosim.component.history import ENTRIES, ENTRY_WIDTH, empty_ring
from cosim.kit import History, history_buffer


def test_the_methods_of_a_history_are_its_functions() -> None:
    """The methods on arrays, as Python calls them, and the functions on arrays of their own."""
    numbers, ring = (np.zeros(ENTRY_WIDTH * ENTRIES), np.array(empty_ring(0)))
    history = History(np.zeros(ENTRY_WIDTH * ENTRIES), np.array(empty_ring(0)))
    for t, side, value, slope in ((0.0, 0.0, 1.0, 2.0), (1.0, 0.0, 3.0, 2.0), (1.0, 1.0, 5.0, 2.0)):
        history.append(t, side, math.inf, value, slope)
        history_buffer.append_to_history(numbers, ring, t, side, math.inf, value, slope)
    assert history.count == history_buffer.entry_count(ring) == 3
    assert history.break_time == history_buffer.break_time(numbers, ring) == 0.0
    history.enter_piece(1.5, 0.5)
    history_buffer.enter_piece(numbers, ring, 1.5, 0.5)
    assert history.break_time == history_buffer.break_time(numbers, ring) == 1.0
    assert history.next_break_order == history_buffer.next_break_order(numbers, ring) == 0.0
    history.insert(1, 0.5, 2.0, 2.0)
    assert [history.time(i) for i in range(4)] == [0.0, 0.5, 1.0, 1.0]
    assert (history.piece_begin, history.piece_end) == (0, 2)
    assert np.array_equal(history.numbers[:ENTRY_WIDTH], numbers[:ENTRY_WIDTH])


def test_parts_of_a_history_are_handed_on_one_by_one() -> None:
    part_class = class_with(
        "    @cosim.kernel\n    def law(s):\n        s.torque = break_time(*s.past) + s.past.break_time\n",
        "from cosim.kit import break_time\n",
        '    past = cosim.history(of="angle", keep="gain")\n',
    )
    assert {a.name for a in part_class.arguments["law"]} == {"past", "past_ring", "torque"}
