"""The calls of a schedule in C."""

from __future__ import annotations

import numpy as np

from cosim_lowering.c_schedule import CSchedule


def test_two_blocks_of_one_name_have_two_names_in_c() -> None:
    table = np.array([[1, 4, 1], [2, 4, 1], [1, 4, 1], [1, 7, 2]])
    names = {1: "block_1_velocity_block", 2: "block_2_velocity_block"}
    no_ranges = np.zeros((0, 3), dtype=np.int64)
    schedule = CSchedule(table, names, {}, ["a"] * 4, (0, 4), (0, 0), no_ranges)
    calls_of_rows = {row: [(c.name, c.function) for c in calls] for row, calls in schedule.calls.items()}
    assert calls_of_rows == {
        (1, 4, 1): [("velocity_block_4", "block_1_velocity_block")],
        (2, 4, 1): [("velocity_block_4_2", "block_2_velocity_block")],
        (1, 7, 2): [("velocity_block_7", "block_1_velocity_block")],
    }
