"""A run whose host advances it from one time to the next, as kernel functions over the arrays of the machine.

A C library without Python calls only these functions: first `settle_values` and `exchange_first`, then
`lead` for each step of the host. In Python `SteppedRun` does the same with `CompiledLoop`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cosim.kit import (
    common_resolution,
    rational_time,
)
from cosim_fmi.binding.rounding import round_as_before
from cosim_master.algorithms.exchange_layout import ADAPTIVE, BEGIN, DISCARDED, GOES_BACK, KIND, PHASE
from cosim_master.exchange.exchange_arrays import (
    algorithm_of,
    clock_of,
    machine_at,
    progress_of,
    report_of,
)
from cosim_master.exchange.first_values import exchange_first, settle_values
from cosim_master.exchange.part_steps import point_time, time_reached
from cosim_master.exchange.row_samples import collect_rows
from cosim_master.exchange.run_exchanges import run_algorithms, run_steps
from cosim_master.exchange.stop_codes import BETWEEN, CUT, DECIDING, DERIVES, DONE, PAUSED, STEP_FAILED

DISCARD = 2
"""The status of a participant that discarded its step, which is too long for it."""
NOT_COUNTED = 1
"""Start and step have no resolution of 64 bits in common."""
MANY = 1 << 40
"""Exchanges before `PAUSED`, so many that the buffer of rows is always full before."""


def set_start(address, time):
    """Count communication points from another start (s); returns a stop code."""
    machine = machine_at(address)
    clock = clock_of(machine)
    start_seconds, start_rest, start_parts = rational_time(time)
    step_seconds, step_rest, step_parts = rational_time(clock.step)
    if start_parts == 0 or step_parts == 0:
        return NOT_COUNTED
    parts = common_resolution(start_parts, step_parts)
    if parts == 0:
        return NOT_COUNTED
    clock.until += time - point_time(machine, 0)
    clock.sampled = time
    machine.grid[0] = start_seconds
    machine.grid[1] = start_rest * (parts // start_parts)
    machine.grid[2] = step_seconds
    machine.grid[3] = step_rest * (parts // step_parts)
    machine.grid[4] = parts
    return DONE


def lead(address, samples, target, slack):
    """Advance to a time (s), or to the communication point within `slack` of it.

    A target inside a communication step cuts it there for all participants, and the next call continues from
    there. `Report.step` is the communication step that is taken next, or has been cut.

    `samples` is the address of the head of `Sampling` and `Collected`, or 0. If a participant sets
    `Report.noticed`, or samples need room, which sets it as well, the call ends early. Returns a stop code.
    """
    machine = machine_at(address)
    report = report_of(machine)
    clock = clock_of(machine)
    main = algorithm_of(machine, 0)
    progress = progress_of(main)
    report.ticks = 0
    while report.noticed == 0:
        index = report.step
        step_end = point_time(machine, index + 1)
        is_whole = step_end <= target + slack
        if not is_whole and not time_reached(address) < target - slack:
            return DONE
        if progress.under_way == BETWEEN:
            clock.begin = point_time(machine, index)
        if progress.under_way == BETWEEN or progress.under_way == CUT:
            clock.end = step_end if is_whole else target
            main.counts[PHASE] = BEGIN
            progress.under_way = DECIDING
        stop = run_part(address, samples, is_whole)
        if stop == PAUSED:
            report.noticed = 1
            return DONE
        if stop != DONE:
            return stop
        if is_whole:
            report.step = index + 1
        else:
            clock.begin = clock.end
            clock.end = step_end
            progress.under_way = CUT
    return DONE


def run_part(address, samples, is_whole):
    """Finish the present communication step, or the part of it that ends at the end of the clock.

    Returns a stop code: PAUSED if samples need room before it is finished.
    """
    machine = machine_at(address)
    report = report_of(machine)
    while True:
        report.rows = 0
        report.left = MANY
        stop = run_steps(address, report.step, report.step + 1) if is_whole else run_algorithms(machine)
        is_full = collect_rows(machine, samples)
        if stop == PAUSED and is_full:
            return stop
        if stop == DONE and is_full:
            report.noticed = 1
        if stop == STEP_FAILED and report.status == DISCARD:
            algorithm = algorithm_of(machine, report.algorithm)
            if algorithm.counts[KIND] != ADAPTIVE or algorithm.counts[GOES_BACK] == 0:
                return stop
            algorithm.counts[DISCARDED] = 1  # a shorter one is tried
            progress_of(algorithm).under_way = DECIDING
        elif stop != PAUSED and stop != DERIVES:  # no participant gives directional derivatives
            return stop


def is_point(address, time, slack):
    """1 if a communication point is at a time (s), or within `slack` of it, else 0."""
    machine = machine_at(address)
    first = report_of(machine).step
    steps = (time + slack - point_time(machine, first)) / clock_of(machine).step
    index = min(machine.grid[5], first + int(max(steps, 0.0)) + 1)
    while index > first and point_time(machine, index) > time + slack:
        index -= 1
    return 1 if point_time(machine, index) >= time - slack else 0


LEADING: dict[str, tuple[Callable[..., Any], str]] = {
    "set_start": (set_start, "if>i"),
    "settle_values": (settle_values, "iii>i"),
    "exchange_first": (exchange_first, "iii>i"),
    "lead": (lead, "iiff>i"),
    "time_reached": (time_reached, "i>f"),
    "is_point": (is_point, "iff>i"),
    "round_as_before": (round_as_before, "i>i"),
}
"""The functions that a library calls, with their signatures."""
