"""The tables of handlers: what calls each, and which variables it may change."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction
from typing import Any

from cosim.cause import EventCause
from cosim.component.handler_decorators import KINDS
from cosim.preparation.event_entries import EventEntries, HandlerEntry
from cosim.preparation.run_layout import RunLayout
from cosim.run_data.records.handlers import (
    IN_NUMBERS,
    IN_Y,
    LISTED,
    PERIODIC,
    TIMED,
    WRITES_ALWAYS,
    WRITES_AT_TIMES,
    WRITES_SUMS,
    Grid,
    Handler,
    Result,
    SetState,
    TimeSetting,
    Timing,
)
from cosim.run_data.records.plan import Plan
from cosim.stage import Stage
from cosim.system.blocks import Slot
from cosim.system.list_variables import is_listed
from cosim.system.system import System
from cosim.system.timers import exact_time
from cosim_compiler.record import width_of, words_of
from cosim_compiler.sources.kernel_effects import always_assigned, effects_of

ARRAYS_OF_VARIABLES = "ypdkc"
Results = dict[int, list[Result]]
"""Which variables handlers may change, by the number of the handler."""


def write_handlers(system: System, events: EventEntries, layout: RunLayout) -> Results:
    """Write all that `program` and the plan have about handlers; which variables each may change."""
    rows = [handler_row(system, entry, layout) for entry in events.entries]
    # periods and offsets, and what a handler may change, stand behind all rows
    place = layout.program_length + width_of(Handler) * len(rows)
    listed: list[int] = []
    for row, entry in zip(rows, events.entries, strict=True):
        if row.schedule == PERIODIC:
            for name in ("period", "offset"):
                setattr(row, name, place + len(listed))
                listed += words_of(make_time_setting(system, entry, getattr(entry.handler, name), layout))
    results: Results = {}
    for row, entry in zip(rows, events.entries, strict=True):
        results[entry.number] = changed = changed_variables(system, entry)
        row.results, row.results_at = len(changed), place + len(listed)
        listed += [number for result in changed for number in words_of(result)]
        links = states_set_by(events, entry, changed)
        row.sets, row.sets_at = len(links), place + len(listed)
        listed += [number for link in links for number in words_of(link)]
    layout.add_records("handlers", rows)
    layout.extend_program(listed)
    layout.add_table("signals", events.signals)
    _plan_handlers(layout.plan, events, rows, results)
    for name in "dk":
        size = len(system.assembly.start[name]) or 1
        stages = [int(system.stage_invalidated(Slot(name, i, 1))) for i in range(size)]
        layout.add_table(f"stages_of_{name}", stages)
    layout.reserve("next_index", "indices", len(rows))
    layout.reserve("grids", "indices", len(rows), Grid)
    layout.reserve("timings", "times", len(rows), Timing)
    return results


def _plan_handlers(plan: Plan, events: EventEntries, rows: list[Handler], results: Results) -> None:
    """Write into the plan which kinds of handlers there are: the Step leaves out what it does for others."""
    plan.handled_in_steps = len(events.in_steps) + len(events.signals)
    plan.shares_variables = int(share_variables(events, results))
    plan.kinds = sum(1 << kind for kind in {row.kind for row in rows})
    plan.has_schedule = len(events.scheduled)
    plan.has_timers = sum(row.schedule == TIMED for row in rows)
    plan.has_grids = sum(row.follows for row in rows)


def handler_row(system: System, entry: HandlerEntry, layout: RunLayout) -> Handler:
    """The record of a handler; listed times go into `numbers`."""
    handler, row = entry.handler, Handler(number=entry.number)
    row.cause, row.kind = int(handler.cause), 1 + KINDS.index(handler.does)
    row.block, row.flag = entry.block, entry.flag
    row.is_private = int(entry.is_private)
    status = system.assembly.layout.slots[entry.part].get(handler.name)
    row.status = -1 if status is None else status.offset
    stage = system.handler_stage.get((entry.part, handler.name), Stage.ACCELERATION)
    row.needs_report = int(stage > Stage.ACCELERATION)
    if handler.cause is not EventCause.SCHEDULED:
        return row
    if handler.timer:
        row.schedule = TIMED
    elif handler.times:
        row.schedule = LISTED
        row.times, row.times_at = len(handler.times), len(layout.numbers)
        layout.numbers += handler.times
    else:
        row.schedule = PERIODIC
        row.follows = int(isinstance(handler.period, str) or isinstance(handler.offset, str))
    return row


def make_time_setting(
    system: System, entry: HandlerEntry, duration: Fraction | str, layout: RunLayout
) -> TimeSetting:
    """A period or an offset: where it stands, and the rational number that was given."""
    exact = exact_time(system.parts[entry.part], duration)
    layout.numbers.append(math.nan if exact is None else float(exact))
    place = len(layout.numbers) - 1
    where = IN_NUMBERS, place
    if isinstance(duration, str):
        slot = system.signal(f"{entry.part}.{duration}").slot
        where = ARRAYS_OF_VARIABLES.index(slot.array), slot.offset
    whole, remainder = divmod(exact or Fraction(0), 1)
    return TimeSetting(*where, place, whole, remainder.numerator, remainder.denominator)


def changed_variables(system: System, entry: HandlerEntry) -> list[Result]:
    """The variables that a handler may change, and the places in the cache of their new values."""
    if entry.handler.function.is_python:
        return all_variables(system) if takes_next_state(entry) else []
    slots, results = system.assembly.layout.slots[entry.part], []
    declarations = system.parts[entry.part].declarations
    for argument in system.parts[entry.part].arguments[entry.handler.name]:
        if argument.role == "next":
            target, source = slots[argument.name], slots[argument.of]
            cells = [target.offset, ARRAYS_OF_VARIABLES.index(source.array), source.offset, target.size]
            pattern = write_pattern(entry.handler.function.function, argument.name, target.size)
            results.append(Result(*cells, int(is_listed(declarations[argument.of])), pattern))
    return results


def all_variables(system: System) -> list[Result]:
    """All variables that a Python method may change; those without a name in pieces between the others."""
    results = []
    sizes = {name: array.size for name, array in system.start_arrays().items()}
    for number, name in enumerate("ypdk"):
        slots = sorted(
            (slot.offset, slot.size)
            for part_slots in system.assembly.layout.slots.values()
            for slot in part_slots.values()
            if slot.array == name and slot.size
        )
        end = 0
        for offset, size in [*slots, (sizes[name], 0)]:
            if offset > end:
                results.append(Result(0, number, end, offset - end, 1, WRITES_AT_TIMES))
            if offset + size > max(offset, end):
                results.append(Result(0, number, offset, size, 1, WRITES_AT_TIMES))
            end = max(end, offset + size)
    return results


def states_set_by(events: EventEntries, entry: HandlerEntry, results: list[Result]) -> list[SetState]:
    """Witnesses that depend on states that a kernel function has among its results, and these states."""
    if entry.handler.function.is_python:
        return []
    return [
        SetState(number, result.at + i, result.offset + i)
        for result in results
        for i in range(result.size if result.array == IN_Y else 0)
        for number, witness in enumerate(events.witnesses)
        if ("y", result.offset + i) in witness.sources
    ]


def share_variables(events: EventEntries, results: Results) -> bool:
    """Whether two handlers that may run at one instant, of one kind and cause, may write one variable."""
    variables_of: dict[tuple[Any, str], list[set[tuple[int, int]]]] = {}
    for entry in events.entries:
        if entry.handler.does == "publish" or entry.is_private or not results[entry.number]:
            continue
        variables = {
            (result.array, result.offset + i) for result in results[entry.number] for i in range(result.size)
        }
        variables_of_others = variables_of.setdefault((entry.handler.cause, entry.handler.does), [])
        if any(variables & other for other in variables_of_others):
            return True
        variables_of_others.append(variables)
    return False


def takes_next_state(entry: HandlerEntry) -> bool:
    """Whether a Python method asks for the variables that it may change."""
    return "next_state" in inspect.signature(entry.handler.function.function).parameters


def write_pattern(function: Any, name: str, size: int) -> int:
    """How a kernel function writes a result: `Result.write_pattern`."""
    effects = effects_of(function)
    if name in effects.adds and name not in effects.writes:
        return WRITES_SUMS
    if size == 1 and name in always_assigned(function):
        return WRITES_ALWAYS
    return WRITES_AT_TIMES
