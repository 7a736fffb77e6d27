"""The entry points: functions of all arrays (`arrays.ARRAYS`) and a time, for Python and a shell in C."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

from cosim.step import layout as ix
from cosim.step.accuracy import set_accuracy
from cosim.step.agenda import follow_clocks, follow_parameters, next_event_time, next_time
from cosim.step.arrays import ARRAYS, Arrays, part
from cosim.step.codes import EVENT, REACHED
from cosim.step.evaluation import walk_here
from cosim.step.exchange import complete_step, handle_events, up_to_rounding
from cosim.step.recording import has_pending_updates, record_now
from cosim.step.restored import check_state
from cosim.step.run import advance, advance_once, evaluate, finish, initialize, note_next_event
from cosim.system.history_buffer import RING, has_jump_ahead
from cosim_compiler.calls import TOGETHER, indirect_call
from cosim_compiler.sources.run_source import run_source


@part("Af>i")
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
    return EVENT if next_time(a, a.places[ix.ENTRY]) <= now else REACHED


@part("Af>i")
def record(a: Arrays, t: float) -> int:
    """Record the present state; `t` is not looked at."""
    return record_now(a)


@part("Af>i")
def pending(a: Arrays, t: float) -> int:
    """Whether the next step begins with an update that is not one of every step; `t` is not looked at."""
    if a.agenda[ix.INITIALIZED] == 0:
        return 0
    follow_parameters(a)
    return 1 if has_pending_updates(a) else 0


def _entry_point(name: str, function: Callable[..., int]) -> types.FunctionType:
    """A function that takes the arrays one by one; written out, since nothing else can be compiled."""
    names = ", ".join(array for array, _, _ in ARRAYS)
    source = f"def {name}({names}, t):\n    return function(Arrays({names}), t)\n"
    namespace: dict[str, Any] = {"Arrays": Arrays, "function": function, "__name__": __name__}
    run_source(source, namespace, f"entry point {name}")
    made: types.FunctionType = namespace[name]
    return made


ENTRIES = {
    name: _entry_point(name, function)
    for name, function in {
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
    }.items()
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
"""What Python calls, through `enter`: parts of the Step, by name."""
for _part in CALLED.values():
    _part.__dict__[TOGETHER] = tuple(CALLED.values())


call_part = indirect_call("if>i")
"""Call the part of the Step at that address with the address of a head and a time; its code."""


def enter(address, head, t):
    """Call a part of the Step by addresses: its own, and that of the head of all arrays."""
    return call_part(address, (head, t))
