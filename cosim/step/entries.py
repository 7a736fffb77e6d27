"""The entry points: functions of all arrays and a time, for Python and for a shell in C."""

from __future__ import annotations

import math
from collections.abc import Callable

from cosim.step.accuracy import set_accuracy
from cosim.step.agenda import follow_clocks, follow_parameters, next_event_time, next_time
from cosim.step.codes import EVENT, REACHED
from cosim.step.evaluation import walk_here
from cosim.step.exchange import complete_step, handle_events, up_to_rounding
from cosim.step.recording import has_pending_updates, record_now
from cosim.step.records import HALTED
from cosim.step.restored import check_state
from cosim.step.run import ENTRY_SIGNATURE, Run
from cosim.step.step import (
    advance,
    advance_once,
    evaluate,
    finish,
    initialize,
    note_next_event,
)
from cosim.system.history_buffer import RING, has_jump_ahead
from cosim_compiler.calls import compiled_together, indirect_call


def finish_run(run: Run, t: float) -> int:
    """Termination; `t` is not looked at."""
    return finish(run)


def check(run: Run, t: float) -> int:
    """Whether a state that was put back can be one of this program; `t` is not looked at."""
    return check_state(run)


def judge(run: Run, t: float) -> int:
    """Whether the parameters fit together: what follows from them alone; `t` is not looked at."""
    return walk_here(run, run.plan.first_row, run.plan.derivatives.first)


def awaits_jump(run: Run) -> bool:
    """Whether a jump is under way in what a component remembers."""
    found = False
    for i in range(len(run.rings)):
        ring = run.rings[i]
        found = found or has_jump_ahead(run.h, run.k[ring : ring + RING])
    return found


def announce(run: Run, t: float) -> int:
    """Whether something waits at this instant (EVENT, else REACHED); in `clock` when the next event comes.

    `t` is not looked at.
    """
    code = follow_clocks(run)
    if code == 0:
        code = note_next_event(run)
    if code != 0:
        return code
    if not awaits_jump(run):  # what is not smooth is no event
        run.clock.next_event = next_event_time(run) if run.plan.has_schedule != 0 else math.inf
    return EVENT if run.agenda.updates_done == HALTED or has_pending_updates(run) else REACHED


def due(run: Run, t: float) -> int:
    """Whether the scheduled handler in `places[ENTRY]` waits at this instant: EVENT, else REACHED.

    Where `t` is not 0, up to the rounding of a host that computes its own times.
    """
    code = follow_parameters(run)
    if code != 0:
        return code
    now = run.clock.time if t == 0.0 else up_to_rounding(run, run.clock.time)
    return EVENT if next_time(run, run.handlers[run.failure.handler]) <= now else REACHED


def record(run: Run, t: float) -> int:
    """Record the present state; `t` is not looked at."""
    return record_now(run)


def pending(run: Run, t: float) -> int:
    """Whether the next step begins with an update that is not one of every step; `t` is not looked at."""
    if run.agenda.initialized == 0:
        return 0
    follow_parameters(run)
    return 1 if has_pending_updates(run) else 0


ENTRIES: dict[str, Callable[[Run, float], int]] = {
    "initialize": initialize,
    "advance": advance,
    "step": advance_once,
    "evaluate": evaluate,
    "completed": complete_step,
    "event": handle_events,
    "check": check,
    "judge": judge,
    "announce": announce,
    "due": due,
    "finish": finish_run,
    "accuracy": set_accuracy,
}
"""What a shell in C calls, by name; the answer of each is one of `codes`."""

CALLED = {
    "initialize": initialize,
    "advance": advance,
    "step": advance_once,
    "evaluate": evaluate,
    "finish": finish_run,
    "record": record,
    "pending": pending,
}
"""What Python calls, through `enter`, by name."""
compiled_together(CALLED.values(), ENTRY_SIGNATURE)


call_with_head = indirect_call("if>i")
"""Call the function of the Step at that address with the address of a head and a time; its code."""


def enter(address, head, t):
    """Call a function of the Step by addresses: its own, and that of the head of all arrays."""
    return call_with_head(address, (head, t))
