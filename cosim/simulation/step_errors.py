"""From what the Step answers to an error that says what went wrong, where, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    from cosim.preparation.event_entries import HandlerEntry
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
    step: CompiledStep, state: State, code: int, requested: float, findings: Sequence[Finding]
) -> SimulationError:
    """The error for a code of the Step, where no handler has failed.

    Parameters
    ----------
    requested : float
        Where the call was to go, s.
    findings : sequence of Finding
        The last one, for failures that are one.
    """
    if code == step_failures.BlockFailed.number:
        return step.system.failure(state, int(step.arrays.failure.block))
    if code == step_failures.IntegrationFailed.number:
        return _integration_failure(step, state)
    text = step_failures.SENTENCES.get(code, f"the step answered {code}")
    if code in (step_failures.EndlessEvents.number, step_failures.WrongSide.number):
        text = " ".join(f"{finding.witness} {finding.message}" for finding in findings)
    elif code == step_failures.Stalled.number:
        text = _stall_text(step, requested)
    elif code in TEXTS:
        text = TEXTS[code](step, state)
    return SimulationError(state.time, text)


def _unmet_text(step: CompiledStep, state: State) -> str:
    return assembly_complaint(step.system, state)


def _unholdable_text(step: CompiledStep, state: State) -> str:
    path = step.tables.witnesses[int(step.arrays.failure.witness)]
    return f"{path} chatters, and its handlers change nothing to hold it by"


def _signals_text(step: CompiledStep, state: State) -> str:
    offsets = [offset for offset in step.tables.events.signals if state._arrays["k"][offset]]
    names = ", ".join(path for offset in offsets for path in step.system.paths_at("k", [offset]))
    return f"signals raise each other without end: {names} still set after 100 rounds"


def _timer_text(step: CompiledStep, state: State) -> str:
    entry = _failed_entry(step)
    value = float(state._arrays["d"][entry.flag])
    return (
        f"{entry.part}.{entry.handler.timer}: the next time is {value:.9g} s, needs one that is not "
        "past, or math.inf for never"
    )


def _period_text(step: CompiledStep, state: State) -> str:
    entry = _failed_entry(step)
    return (
        f"{entry.path}: its period is {_seconds(state, entry, entry.handler.period)} s, needs more than 0, "
        "and enough for time to advance; for every step: TIME_ADVANCED"
    )


def _resolution_text(step: CompiledStep, state: State) -> str:
    entry = _failed_entry(step)
    period, offset = (_seconds(state, entry, time) for time in (entry.handler.period, entry.handler.offset))
    return (
        f"{entry.path}: its period {period!r} s and its offset {offset!r} s cannot be counted in "
        "one resolution of 64 bits: give times with fewer decimals"
    )


def _timeless_text(step: CompiledStep, state: State) -> str:
    return "nothing here takes time: no states and no scheduled event; give a finite time"


def _accuracy_text(step: CompiledStep, state: State) -> str:
    return NO_ACCURACY


TEXTS: dict[int, Callable[[CompiledStep, State], str]] = {
    step_failures.ConstraintsNotMet.number: _unmet_text,
    step_failures.NothingToHoldBy.number: _unholdable_text,
    step_failures.EndlessSignals.number: _signals_text,
    step_failures.TimerInPast.number: _timer_text,
    step_failures.PeriodLost.number: _period_text,
    step_failures.ResolutionLost.number: _resolution_text,
    step_failures.NothingTakesTime.number: _timeless_text,
    step_failures.NoAccuracy.number: _accuracy_text,
}
"""What the failures say whose sentence has names or numbers of the model in it."""


def _failed_entry(step: CompiledStep) -> HandlerEntry:
    """The handler that ``run.failure`` names."""
    return step.tables.events.entries[int(step.arrays.failure.handler)]


def _seconds(state: State, entry: HandlerEntry, time: Any) -> float:
    """A period or an offset, s: a number, or the value of a parameter of the part."""
    return float(state[f"{entry.part}.{time}"] if isinstance(time, str) else time)


def _stall_text(step: CompiledStep, requested: float) -> str:
    """Why a run would practically never end: the state that changes fastest, and what components say now."""
    path = step.system.paths_at("y", [int(step.arrays.failure.fastest)])[0]
    slot = step.system.signal(path).slot
    offset = int(step.arrays.failure.fastest) - slot.offset
    name = path if slot.size == 1 else f"{path}[{offset}]"
    return (
        f"to reach {requested:.9g} s would take more than a thousand million steps, at their present pace or "
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
    """The values that a handler has written to the variable that ``run.failure`` names."""
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
    entry = step.tables.events.entries[int(step.arrays.answers.source)]
    does = entry.handler.does
    status = EventStatus.failed() if answer is None else answer
    text, cause = status.message, None
    block = int(step.arrays.failure.block)
    raised_in_publish = does == "publish" and entry.block >= 0 and block == entry.block
    if code == step_failures.BlockFailed.number or raised_in_publish:
        raised = step.system.failure(state if does == "publish" else _failed_state(step, state), block)
        text, cause = raised.reason, raised.__cause__
    elif code in TEXTS_OF_HANDLERS:
        text = TEXTS_OF_HANDLERS[code](step, entry)
    text = text.removeprefix(f"{entry.path}: ")
    exception = status.exception if status.exception is not None else cause
    answered = code == step_failures.HandlerFailed.number and (status.exception is None or does == "publish")
    sentence = f"{entry.path} failed: {text}" if answered else f"{entry.path}: {text}"
    error = SimulationError(state.time, sentence)
    error.status = EventStatus(Severity.FAILED, text, entry.path, exception)
    error.__cause__ = exception
    return error


def _named_variables(step: CompiledStep) -> str:
    """The variables that ``run.failure`` names."""
    array, index = int(step.arrays.failure.array), int(step.arrays.failure.index)
    return ", ".join(step.system.paths_at("ypdk"[array], [index]))


def _forbidden_text(step: CompiledStep, entry: HandlerEntry) -> str:
    does = entry.handler.does
    return f"a {does} handler changed {_named_variables(step)}; {MAY.get(does, '')}"


def _integer_text(step: CompiledStep, entry: HandlerEntry) -> str:
    return f"an integer became {_values_written(step, entry.number)}: {_named_variables(step)}"


def _infinite_text(step: CompiledStep, entry: HandlerEntry) -> str:
    return f"{_named_variables(step)} became {_values_written(step, entry.number)}, not finite"


def _answer_text(step: CompiledStep, entry: HandlerEntry) -> str:
    return f"it answered no severity, needs {' '.join(map(repr, Severity))}"


TEXTS_OF_HANDLERS: dict[int, Callable[[CompiledStep, HandlerEntry], str]] = {
    step_failures.ForbiddenChange.number: _forbidden_text,
    step_failures.NoInteger.number: _integer_text,
    step_failures.InfiniteState.number: _infinite_text,
    step_failures.NoAnswer.number: _answer_text,
}
"""What a handler has done that it may not do."""


def _integration_failure(step: CompiledStep, state: State) -> SimulationError:
    """The message of a failed integration, with the component or state that is the cause."""
    number, integrator, system = int(step.arrays.failure.step_code), step.integrator, step.system
    if number >= RAISED or number < 0:
        return _raised_failure(step, state)
    code, where = tuple(StepCode)[number], ""
    # without a finite derivative where the step begins there was none that could fail
    is_finite = np.isfinite(state._arrays["c"][: system.ny]).all()
    if code is StepCode.NOT_INITIALIZED and not is_finite:
        code = StepCode.NOT_FINITE  # no first step can be chosen from a derivative that is infinite
    failed_at: Any = integrator.failed_at if is_finite else (state.time, state.y)
    if code in EXAMINED and failed_at is not None:
        examined = _examine(system, state, code, failed_at)
        if isinstance(examined, SimulationError):
            return examined
        where = examined
    last_step = f"The State is that of the last good step, t = {state.time:.9g} s."
    if (failure := _explained_failure(step, state, last_step)) is not None:
        return failure
    worst = integrator.worst_state
    if not where and worst >= 0 and code is not StepCode.CONSTRAINTS_NOT_MET:
        where = f"{system.paths_at('y', [worst])[0]} has the largest error. "
    step_tried = max(0.0 if failed_at is None else failed_at[0] - state.time, integrator.fixed_step or 0.0)
    ahead = "" if system.solver is None else system.solver.explain_ahead(state, step_tried)
    return SimulationError(state.time, f"{where}{code.sentence} {last_step}{ahead}{_notices(step)}")


def _examine(system: System, state: State, code: StepCode, failed_at: Any) -> str | SimulationError:
    """What is wrong at the time and the states at which a step has failed; the error that they raise."""
    failed = state.copy()
    failed.clock.time, failed._arrays["y"][:] = failed_at
    try:
        system.realize(failed, Stage.ACCELERATION)
    except SimulationError as error:
        return error
    if code is not StepCode.CONSTRAINTS_NOT_MET:
        return _not_finite(system, failed, state)
    missed = unmet(system, failed)
    return f"At t = {failed.time:.9g} s: {missed}. " if missed else ""


def _explained_failure(step: CompiledStep, state: State, last_step: str) -> SimulationError | None:
    """The error of the first part that knows why it could not be evaluated."""
    for name, part in step.system.parts.items():
        explanation = part.explain_failure()
        if explanation is not None:
            failure = SimulationError(state.time, f"{name}: {explanation}. {last_step}")
            failure.__cause__ = explanation
            return failure
    return None


def _raised_failure(step: CompiledStep, state: State) -> SimulationError:
    """The error for what an integrator in Python has raised."""
    raised = None if step.method is None else step.method.raised
    if isinstance(raised, SimulationError):
        return raised
    error = SimulationError(state.time, f"{type(raised).__name__}: {raised}")
    error.__cause__ = raised
    return error


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
    for values, phrase in ((failed._arrays["c"][: system.ny], "its derivative is"), (y, "it is")):
        infinite = np.flatnonzero(~np.isfinite(values))
        if infinite.size:
            path = system.paths_at("y", [int(infinite[0])])[0]
            return f"{path}: {phrase} {values[infinite[0]]} at t = {failed.time:.9g} s. "
    return ""
