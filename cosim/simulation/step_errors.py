"""From what the Step answers to an error that says what went wrong, where, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cosim.contracts.step_code import StepCode
from cosim.errors import SimulationError
from cosim.preparation.python_method import RAISED
from cosim.simulation.assembler import assembly_complaint, unmet
from cosim.simulation.status import EventStatus, Severity
from cosim.stage import Stage
from cosim.step import failures as step_failures

if TYPE_CHECKING:
    from cosim.preparation.compiled_step import CompiledStep
    from cosim.simulation.event_record import Finding
    from cosim.system.state import State
    from cosim.system.system import System

EXAMINED = (StepCode.BLOCK_FAILED, StepCode.NOT_FINITE, StepCode.CONSTRAINTS_NOT_MET)
MAY = {
    "publish": 'a publish changes nothing: declare it with does="discrete" or "unrestricted"',
    "discrete": 'only does="unrestricted" may',
}
NO_ACCURACY = "the accuracy is not set, so events cannot be located: give the Simulator an accuracy"
HANDLERS = (
    step_failures.HandlerFailed.number,
    step_failures.NoAnswer.number,
    step_failures.NoInteger.number,
    step_failures.InfiniteState.number,
    step_failures.ForbiddenChange.number,
)


def failed_handler(step: CompiledStep, code: int) -> int | None:
    """The number of the handler that has failed; None where something else has."""
    of_handler = code in HANDLERS or (
        code == step_failures.BlockFailed.number
        and int(step.arrays.failure.block) in step.system.handler_blocks.values()
    )
    return int(step.arrays.answers.source) if of_handler else None


def failure(
    step: CompiledStep, state: State, code: int, wanted: float, findings: Sequence[Finding]
) -> SimulationError:
    """The error for a code of the Step, where no handler has failed.

    Parameters
    ----------
    wanted : float
        Where the call was to go, s.
    findings : sequence of Finding
        The last one, for failures that are one.
    """
    run, tables, time = step.arrays, step.tables, state.time
    number = int(run.failure.handler)
    if code == step_failures.BlockFailed.number:
        return step.system.failure(state, int(run.failure.block))
    if code == step_failures.IntegrationFailed.number:
        return _integration_failure(step, state)
    text = step_failures.SENTENCES.get(code, f"the step answered {code}")
    if code == step_failures.ConstraintsNotMet.number:
        text = assembly_complaint(step.system, state)
    elif code in (step_failures.EndlessEvents.number, step_failures.WrongSide.number):
        text = " ".join(f"{finding.witness} {finding.message}" for finding in findings)
    elif code == step_failures.NothingToHoldBy.number:
        path = tables.witnesses[int(run.failure.witness)]
        text = f"{path} chatters, and its handlers change nothing to hold it by"
    elif code == step_failures.EndlessSignals.number:
        offsets = [o for o in tables.agenda_of.signals if state._arrays["k"][o]]
        names = ", ".join(path for o in offsets for path in step.system.paths_at("k", [o]))
        text = f"signals raise each other without end: {names} still set after 100 rounds"
    elif code == step_failures.TimerInPast.number:
        entry = tables.agenda_of.entries[number]
        value = float(state._arrays["d"][entry.flag])
        text = (
            f"{entry.part}.{entry.handler.timer}: the next time is {value:.9g} s, needs one that is not "
            "past, or math.inf for never"
        )
    elif code == step_failures.PeriodLost.number:
        entry = tables.agenda_of.entries[number]
        period = entry.handler.period
        value = float(state[f"{entry.part}.{period}"] if isinstance(period, str) else period)
        text = (
            f"{entry.path}: its period is {value} s, needs more than 0, and enough for time to advance; "
            "for every step: TIME_ADVANCED"
        )
    elif code == step_failures.ResolutionLost.number:
        entry = tables.agenda_of.entries[number]
        values = [
            float(state[f"{entry.part}.{time}"] if isinstance(time, str) else time)
            for time in (entry.handler.period, entry.handler.offset)
        ]
        text = (
            f"{entry.path}: its period {values[0]!r} s and its offset {values[1]!r} s cannot be counted in "
            "one resolution of 64 bits: give times with fewer decimals"
        )
    elif code == step_failures.NothingTakesTime.number:
        text = "nothing here takes time: no states and no scheduled event; give a finite time"
    elif code == step_failures.NoAccuracy.number:
        text = NO_ACCURACY
    elif code == step_failures.Stalled.number:
        text = _crawl(step, wanted)
    return SimulationError(time, text)


def _crawl(step: CompiledStep, wanted: float) -> str:
    """Why a run would practically never end: the state that changes fastest, and what components say now."""
    path = step.system.paths_at("y", [int(step.arrays.failure.fastest)])[0]
    slot = step.system.signal(path).slot
    offset = int(step.arrays.failure.fastest) - slot.offset
    name = path if slot.size == 1 else f"{path}[{offset}]"
    return (
        f"to reach {wanted:.9g} s would take more than a thousand million steps, at their present pace or "
        f"because they get ever shorter: the system is extremely stiff, runs toward a singularity, or its "
        f"events do not end. {name} of {path.partition('.')[0]} changes fastest.{_notices(step)} Choose an "
        "implicit integrator (integrators.radau5), or look at what acts on that state"
    )


def _notices(step: CompiledStep) -> str:
    """The notices of components at the last successful step, as sentences."""
    names: dict[str, list[str]] = {}
    for i, (path, text) in enumerate(step.tables.notices):
        if step.arrays.reported_notices[i]:
            names.setdefault(text, []).append(path.rpartition(".")[0])
    return "".join(
        f" {', '.join(parts[:3])}{f' and {len(parts) - 3} others' * (len(parts) > 3)} "
        f"{'say' if len(parts) > 1 else 'says'}: {text}."
        for text, parts in names.items()
    )


def _failed_state(step: CompiledStep, state: State) -> State:
    """The State that a handler has read when its phase failed."""
    twin = state.copy()
    for name, values in step.arrays.failed_from._asdict().items():
        twin._arrays[name][:] = values
    cache = step.arrays.failed_cache
    twin._arrays["c"][: cache.size] = cache
    return twin


def _values_written(step: CompiledStep, number: int) -> list[float]:
    """What a handler has written to the variable that ``run.failure`` names."""
    run = step.arrays
    handler = run.handlers[number]
    for result in run.results_of(handler):
        array, offset, size = result.array, result.offset, result.size
        if (array, offset) != (run.failure.array, run.failure.index):
            continue
        if handler.block >= 0:
            values: list[float] = run.failed_cache[result.at : result.at + size].tolist()
            return values
        return [float(value) for value in run.written[array][offset : offset + size]]
    return []


def handler_failure(
    step: CompiledStep, state: State, code: int, answer: EventStatus | None
) -> SimulationError:
    """The error for a code of the Step, where a handler has failed.

    Parameters
    ----------
    answer : EventStatus or None
        Of a handler that is a Python method.
    """
    number = int(step.arrays.answers.source)
    entry = step.tables.agenda_of.entries[number]
    does = entry.handler.does
    status, cause = EventStatus.failed() if answer is None else answer, None
    text = status.message
    twin = _failed_state(step, state) if does != "publish" else state
    block = int(step.arrays.failure.block)
    names = step.system.paths_at("ypdk"[int(step.arrays.failure.array)], [int(step.arrays.failure.index)])
    if code == step_failures.BlockFailed.number or (
        does == "publish" and entry.block >= 0 and block == entry.block
    ):
        raised = step.system.failure(twin, block)
        text, cause = raised.reason, raised.__cause__
    elif code == step_failures.ForbiddenChange.number:
        text = f"a {does} handler changed {', '.join(names)}; {MAY.get(does, '')}"
    elif code == step_failures.NoInteger.number:
        text = f"an integer became {_values_written(step, number)}: {', '.join(names)}"
    elif code == step_failures.InfiniteState.number:
        text = f"{', '.join(names)} became {_values_written(step, number)}, not finite"
    elif code == step_failures.NoAnswer.number:
        text = f"it answered no severity, needs {' '.join(map(repr, Severity))}"
    text = text.removeprefix(f"{entry.path}: ")
    exception = status.exception if status.exception is not None else cause
    answered = code == step_failures.HandlerFailed.number and (status.exception is None or does == "publish")
    says = f"{entry.path} failed: {text}" if answered else f"{entry.path}: {text}"
    error = SimulationError(state.time, says)
    error.status = EventStatus(Severity.FAILED, text, entry.path, exception)
    error.__cause__ = exception
    return error


def _integration_failure(step: CompiledStep, state: State) -> SimulationError:
    """What went wrong, with the component or the state variable that it began with."""
    number, integrator, system = int(step.arrays.failure.step_code), step.integrator, step.system
    if number >= RAISED or number < 0:
        raised = None if step.method is None else step.method.raised
        if isinstance(raised, SimulationError):
            return raised
        error = SimulationError(state.time, f"{type(raised).__name__}: {raised}")
        error.__cause__ = raised
        return error
    code, where = tuple(StepCode)[number], ""
    # without a finite derivative where the step begins there was none that could fail
    begun = np.isfinite(state._arrays["c"][: system.ny]).all()
    if code is StepCode.NOT_INITIALIZED and not begun:
        code = StepCode.NOT_FINITE  # no first step can be chosen from a derivative that is infinite
    at: Any = integrator.failed_at if begun else (state.time, state.y)
    if code in EXAMINED and at is not None:
        failed = state.copy()
        failed.clock.time, failed._arrays["y"][:] = at
        try:
            system.realize(failed, Stage.ACCELERATION)
        except SimulationError as error:
            return error
        if code is StepCode.CONSTRAINTS_NOT_MET:
            missed = unmet(system, failed)
            where = f"At t = {failed.time:.9g} s: {missed}. " if missed else ""
        else:
            where = _not_finite(system, failed, state)
    for name, part in system.parts.items():
        outside = part.explain_failure()
        if outside is not None:
            last = f"The State is that of the last good step, t = {state.time:.9g} s."
            of_part = SimulationError(state.time, f"{name}: {outside}. {last}")
            of_part.__cause__ = outside
            return of_part
    worst = integrator.worst_state
    if not where and worst >= 0 and code is not StepCode.CONSTRAINTS_NOT_MET:
        where = f"{system.paths_at('y', [worst])[0]} has the largest error. "
    last = f"The State is that of the last good step, t = {state.time:.9g} s."
    step_tried = max(0.0 if at is None else at[0] - state.time, integrator.fixed_step or 0.0)
    ahead = "" if system.solver is None else system.solver.explain_ahead(state, step_tried)
    return SimulationError(state.time, f"{where}{code.sentence} {last}{ahead}{_notices(step)}")


def _not_finite(system: System, failed: State, good: State) -> str:
    """The state variable with which it began that not everything was finite."""
    y = failed._arrays["y"].copy()
    # What the first derivative that is not finite has spoilt since is not a culprit: with good values again
    failed._arrays["y"][:] = np.where(np.isfinite(y), y, good._arrays["y"])
    failed.invalidate(Stage.TIME, "a step that failed")
    try:
        system.realize(failed, Stage.ACCELERATION)
    except SimulationError as error:
        return f"{error.reason}. "
    for values, words in ((failed._arrays["c"][: system.ny], "its derivative is"), (y, "it is")):
        wrong = np.flatnonzero(~np.isfinite(values))
        if wrong.size:
            path = system.paths_at("y", [int(wrong[0])])[0]
            return f"{path}: {words} {values[wrong[0]]} at t = {failed.time:.9g} s. "
    return ""
