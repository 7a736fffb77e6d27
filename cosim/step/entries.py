"""The entry points: functions of all arrays and a time, for Python and for a shell in C."""

from __future__ import annotations

import math
from collections.abc import Callable

from cosim.step import layout as ix
from cosim.step.accuracy import set_accuracy
from cosim.step.agenda import follow_clocks, follow_parameters, next_event_time, next_time
from cosim.step.arrays import ENTRY_SIGNATURE, Arrays
from cosim.step.codes import EVENT, REACHED
from cosim.step.evaluation import walk_here
from cosim.step.exchange import complete_step, handle_events, up_to_rounding
from cosim.step.recording import has_pending_updates, record_now
from cosim.step.restored import check_state
from cosim.step.run import advance, advance_once, evaluate, finish, initialize, note_next_event
from cosim.system.history_buffer import RING, has_jump_ahead
from cosim_compiler.calls import compiled_together, indirect_call


def finish_run(a: Arrays, t: float) -> int:
    """Termination; `t` is not looked at."""
    return finish(a)


def check(a: Arrays, t: float) -> int:
    """Whether a state that was put back can be one of this program; `t` is not looked at."""
    return check_state(a)


def judge(a: Arrays, t: float) -> int:
    """Whether the parameters fit together: what follows from them alone; `t` is not looked at."""
    return walk_here(a, a.program[ix.ALL], a.program[ix.FIRST])


def awaits_jump(a: Arrays) -> bool:
    """Whether a jump is under way in what a component remembers."""
    found = False
    for i in range(a.program[ix.RINGS]):
        ring = a.program[a.program[ix.RINGS_AT] + i]
        found = found or has_jump_ahead(a.h, a.k[ring : ring + RING])
    return found


def announce(a: Arrays, t: float) -> int:
    """Whether something waits at this instant (EVENT, else REACHED); in `clock` when the next event comes.

    `t` is not looked at.
    """
    code = follow_clocks(a)
    if code == 0:
        code = note_next_event(a)
    if code != 0:
        return code
    if not awaits_jump(a):  # what is not smooth is no event
        a.clock[ix.NEXT_EVENT] = next_event_time(a) if a.program[ix.HAS_SCHEDULE] != 0 else math.inf
    return EVENT if a.agenda[ix.UPDATES_DONE] == ix.HALTED or has_pending_updates(a) else REACHED


def due(a: Arrays, t: float) -> int:
    """Whether the scheduled handler in `places[ENTRY]` waits at this instant: EVENT, else REACHED.

    Where `t` is not 0, up to the rounding of a host that computes its own times.
    """
    code = follow_parameters(a)
    if code != 0:
        return code
    now = a.clock[ix.TIME] if t == 0.0 else up_to_rounding(a, a.clock[ix.TIME])
    return EVENT if next_time(a, a.handlers[a.places[ix.ENTRY]]) <= now else REACHED


def record(a: Arrays, t: float) -> int:
    """Record the present state; `t` is not looked at."""
    return record_now(a)


def pending(a: Arrays, t: float) -> int:
    """Whether the next step begins with an update that is not one of every step; `t` is not looked at."""
    if a.agenda[ix.INITIALIZED] == 0:
        return 0
    follow_parameters(a)
    return 1 if has_pending_updates(a) else 0


ENTRIES: dict[str, Callable[[Arrays, float], int]] = {
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
