"""The step of a system in which there is nothing to integrate."""

from __future__ import annotations

from cosim.contracts.method_entries import step_entry
from cosim.contracts.method_layout import BLOCK_FAILED, BY_LIMIT, BY_TARGET, DONE, MethodArrays


def take_step_without_states(system, method, t, t_stop, limit):
    """Go all the way in one step, with one evaluation; see `cosim.contracts.method_layout`."""
    work = method.work
    end = min(t_stop, t + min(limit, method.settings.largest_step))
    status = system.evaluate(end)
    if status != 0:
        work.failed_block = float(status - 1)
        work.failed_time = end
        system.evaluate(t)
        return BLOCK_FAILED
    work.accept(t, end, BY_TARGET if end == t_stop else BY_LIMIT)
    return DONE


step_without_states = step_entry(MethodArrays, take_step_without_states)
