"""The entry points: functions of a run and a time, for Python and for a shell in C.

Where the Step has failed they answer the number of the failure.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from cosim.preparation import restored
from cosim.run_data.records.clock import JUMP_WAITS
from cosim.run_data.run import ENTRY_SIGNATURE, Run
from cosim.step import advance, integration, model_exchange, recording
from cosim.step.agenda import follow_clocks, follow_parameters, next_event_time, next_time
from cosim.step.block_calls import walk_here
from cosim.step.failures import EVENT, REACHED, StepFailure
from cosim_compiler.calls import compiled_together, indirect_call
from cosim_compiler.sources.run_source import run_source

Entry = Callable[[Run, float], int]


def answered(name: str, function: Callable[[Run, float], int]) -> Entry:
    """An entry point: a function by its name for hosts; it returns the number of a raised failure."""
    text = (
        f"def {name}(run, t):\n"
        "    try:\n"
        "        return function(run, t)\n"
        "    except StepFailure as failure:\n"
        "        return failure.number\n"
    )
    namespace: dict[str, Any] = {"function": function, "StepFailure": StepFailure, "__name__": __name__}
    entry: Entry = run_source(text, namespace, f"entry point {name}")[name]
    entry.__doc__ = function.__doc__
    return entry


def finish(run: Run, t: float) -> int:
    """Termination; `t` is not used."""
    return advance.finish(run)


def check_state(run: Run, t: float) -> int:
    """Refuse a restored state that belongs to another program; `t` is not used."""
    restored.check_state(run)
    return REACHED


def check_parameters(run: Run, t: float) -> int:
    """Whether the parameters fit together: what follows from them alone; `t` is not used."""
    walk_here(run, run.plan.first_row, run.plan.derivatives.first)
    return REACHED


def awaits_jump(run: Run) -> bool:
    """Whether a jump is under way in what a component remembers."""
    is_awaited = False
    for number in range(len(run.rings)):
        is_awaited = is_awaited or run.history(number).has_jump_ahead
    return is_awaited


def find_next_event(run: Run, t: float) -> int:
    """Whether something waits at this instant (EVENT, else REACHED); in `clock` when the next event comes.

    `t` is not used.
    """
    follow_clocks(run)
    advance.find_next_event(run)
    if not awaits_jump(run):  # what is not smooth is not an event
        run.clock.next_event = next_event_time(run) if run.plan.has_schedule != 0 else math.inf
    waits = run.agenda.next_start == JUMP_WAITS or recording.has_pending_updates(run)
    return EVENT if waits else REACHED


def is_due(run: Run, t: float) -> int:
    """Whether the scheduled handler in ``failure.handler`` waits at this instant: EVENT, else REACHED.

    Where `t` is not 0, up to the rounding of a host that computes its own times.
    """
    follow_parameters(run)
    now = run.clock.time if t == 0.0 else model_exchange.last_coinciding_time(run, run.clock.time)
    return EVENT if next_time(run, run.handlers[run.failure.handler]) <= now else REACHED


def record(run: Run, t: float) -> int:
    """Record the present state; `t` is not used."""
    recording.record_now(run)
    return REACHED


def has_pending(run: Run, t: float) -> int:
    """Whether the next step begins with an update that is not one of every step; `t` is not used."""
    if run.agenda.initialized == 0:
        return 0
    follow_parameters(run)
    return 1 if recording.has_pending_updates(run) else 0


ENTRIES: dict[str, Entry] = {
    name: answered(name, function)
    for name, function in {
        "initialize": advance.initialize,
        "advance": advance.advance,
        "step": advance.advance_once,
        "evaluate": advance.evaluate,
        "completed": model_exchange.complete_step,
        "event": model_exchange.handle_events,
        "check": check_state,
        "check_parameters": check_parameters,
        "find_next_event": find_next_event,
        "is_due": is_due,
        "finish": finish,
        "accuracy": integration.set_accuracy,
    }.items()
}
"""What a shell in C calls, by name; each answers as `failures` says."""

CALLED: dict[str, Entry] = {
    **{name: ENTRIES[name] for name in ("initialize", "advance", "step", "evaluate", "finish")},
    **{"record": answered("record", record), "pending": answered("pending", has_pending)},
}
"""What Python calls, through `enter`, by name."""
compiled_together(CALLED.values(), ENTRY_SIGNATURE)
initialize_run, advance_run, finish_run = (CALLED[name] for name in ("initialize", "advance", "finish"))
record_run = CALLED["record"]


call_with_head = indirect_call("if>i")
"""Call the function of the Step at that address with the address of a head and a time; its answer."""


def enter(address, head, t):
    """Call a function of the Step by addresses: its own, and that of the head of all arrays."""
    return call_with_head(address, (head, t))
