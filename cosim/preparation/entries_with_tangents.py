"""Entry points for hosts without Python that also carry tangents."""

from __future__ import annotations

from cosim.derivatives.tangents_in_host import accept_host_writes, read_tape, show_tangents, start_in_host
from cosim.preparation.entries import ENTRIES
from cosim.step.failures import STEPPED

CARRIED_ENTRY_SIGNATURE = "ACf>i"
"""All arrays of a run, those of its tangents, a time; the answer is one of `step.failures`: REACHED …"""
plain_initialize, plain_advance, plain_step, plain_evaluate, plain_event, plain_finish = (
    ENTRIES[name] for name in ("initialize", "advance", "step", "evaluate", "event", "finish")
)


def initialize(run, carrier, t):
    """See `advance.initialize`."""
    start_in_host(run, carrier, t)
    code = plain_initialize(run, t)
    read_tape(run, carrier)
    return code


def advance(run, carrier, t):
    """See `advance.advance`: one step after the other, since a tape has room for one."""
    accept_host_writes(run, carrier)
    step_limit = run.course.most_steps
    run.course.most_steps = 1
    code = STEPPED
    for _ in range(max(1, step_limit)):
        code = plain_advance(run, t)
        read_tape(run, carrier)
        if code != STEPPED:
            break
    run.course.most_steps = step_limit
    return code


def step(run, carrier, t):
    """See `advance.advance_once`."""
    accept_host_writes(run, carrier)
    code = plain_step(run, t)
    read_tape(run, carrier)
    return code


def evaluate(run, carrier, t):
    """See `advance.evaluate`; with the tangents of outputs."""
    if run.agenda.initialized != 0:
        accept_host_writes(run, carrier)
    code = plain_evaluate(run, t)
    show_tangents(run, carrier)
    return code


def event(run, carrier, t):
    """See `model_exchange.handle_events`."""
    accept_host_writes(run, carrier)
    code = plain_event(run, t)
    read_tape(run, carrier)
    return code


def finish(run, carrier, t):
    """See `advance.finish`."""
    code = plain_finish(run, t)
    read_tape(run, carrier)
    return code


ENTRIES_WITH_TANGENTS = {
    "initialize": initialize,
    "advance": advance,
    "step": step,
    "evaluate": evaluate,
    "event": event,
    "finish": finish,
}
"""In place of the `ENTRIES` of these names."""
