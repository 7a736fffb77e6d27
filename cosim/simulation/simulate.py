"""The front door: build, run, record."""

from __future__ import annotations

import logging
import math
import time as wall
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

from cosim.contracts.result_stream import ResultStream
from cosim.errors import LookUpError, ModelError, Problem, SimulationError
from cosim.matching import is_pattern, matches
from cosim.options import check_callable, check_options, option_names, seconds
from cosim.shown import shown
from cosim.simulation.checkpoint import Checkpoint
from cosim.simulation.chosen_integrator import DEFAULT, integrator_options, made_integrator
from cosim.simulation.interrupt import interrupt_between_steps, uninterrupted
from cosim.simulation.recorder import Recorder
from cosim.simulation.result import Result
from cosim.simulation.results_keeper import ResultsKeeper
from cosim.simulation.shortest_interval import shortest_interval
from cosim.simulation.simulator import Simulator
from cosim.simulation.status import Reason
from cosim.system.list_variables import listed_quantities
from cosim.system.state import State
from cosim.system.system import System, check_system
from cosim_compiler.collection import without_collection

log = logging.getLogger("cosim.simulation")

Progress = Callable[[float], "bool | None"]
PROGRESS_GETS = "the time, s"
POINTS = 500
MOST_POINTS = 1e8
EVENT_LIMIT = 10_000_000  # in a result; each takes some hundred bytes
RECORDED_NAMES = ("kinetic_energy", "potential_energy")  # the others of the balance are states
RECORDED_KINDS = ("output", "measure", "position", "speed", "auxiliary", "discrete", "integer")


def choose_signals(system: System, patterns: Sequence[str] | None) -> list[str]:
    """Paths of the signals to record: those that match, or a sensible default.

    Raises
    ------
    LookUpError
        A pattern that matches nothing, with the nearest signal.
    ModelError
        As `check_signals`.
    """
    if isinstance(patterns, str):
        patterns = [patterns]
    if isinstance(patterns, Iterator):
        patterns = list(patterns)
    check_signals(patterns)
    if patterns is None:
        return _default_signals(system)
    names = list(system.variables)
    found: list[str] = []
    for pattern in patterns:
        if is_pattern(pattern):
            matching = [n for n in names if matches(n, pattern)]
            matching = matching or [n for n in _elements(system) if matches(n, pattern)]
            if not matching:
                raise LookUpError("signal", pattern, names)
        else:
            system.signal(pattern)
            matching = [pattern]
        found += [n for n in matching if n not in found]
    return found


def check_signals(patterns: Any) -> None:
    """`ModelError` unless these are paths and patterns of signals; an iterator is not looked into."""
    if patterns is None or isinstance(patterns, str):
        return
    needs = "needs a list of paths or patterns: ['engine.z', 'mount.*']"
    if isinstance(patterns, bytes) or not isinstance(patterns, Iterable):
        raise ModelError.of("signals", f"is {shown(patterns)}, {needs}")
    if isinstance(patterns, Iterator):
        return
    wrong = [pattern for pattern in patterns if not isinstance(pattern, str)]
    if wrong:
        raise ModelError.of("signals", f"{shown(wrong[0])} is no text, {needs}")


def _default_signals(system: System) -> list[str]:
    """Outputs and measures, then quantities of parts (joints first), then energies, then states."""
    told: list[str] = []
    energies: list[str] = []
    states: list[str] = []
    moved = set()
    for part in system.parts.values():  # a table of all variables is not made for this alone
        for path, kind, declaration in listed_quantities(part):
            if kind == "position":
                moved.add(part.name)
            if path.startswith("energy.") or path.endswith("_energy"):
                group = energies
            else:
                group = told if kind in ("output", "measure") else states
            if kind in RECORDED_KINDS or declaration.name in RECORDED_NAMES:
                group.append(path)
    parts = sorted(system.parts.items(), key=lambda item: item[0] not in moved)
    aliases = [f"{name}.{alias}" for name, part in parts for alias in part.signals]
    return [*told, *aliases, *energies, *states]


def end_of_run(until: float | str | None) -> float:
    """The end of a run, s; `ModelError` where it is not said or no time."""
    if until is None:
        raise ModelError.of("until", "is missing: give the end of the run, until=2.0 (s) or until='200 ms'")
    return seconds(until, "until")


def check_simulate_options(where: str, options: Mapping[str, Any], integrator: Any) -> None:
    """`OptionError` for what neither `simulate`, nor `Simulator`, nor the integrator has."""
    known = [name for name in option_names(simulate) if name != "system"]
    if not options.keys() <= set(known):
        more = [name for name in option_names(Simulator) if name != "system"]
        check_options(where, options, [*known, *more, *integrator_options(integrator)])


def faults_of_settings(settings: Mapping[str, Any]) -> list[Problem]:
    """All faults of the settings of a run that can be told without its system.

    Raises
    ------
    OptionError
        A setting that a run does not have.
    LookUpError
        No such integrator.
    """
    integrator = settings.get("integrator", DEFAULT)
    check_simulate_options("simulate()", settings, integrator)
    names = [name for name in integrator_options(integrator) if name != "accuracy"]
    own = {name: settings[name] for name in names if name in settings}
    problems: list[Problem] = []

    def collect(check: Callable[[], object]) -> None:
        try:
            check()
        except ModelError as error:
            problems.extend(error.problems)

    collect(lambda: end_of_run(settings.get("until")))
    collect(lambda: seconds(settings.get("output_interval") or 1.0, "output_interval"))
    collect(lambda: check_signals(settings.get("signals")))
    collect(lambda: check_callable(settings.get("progress"), "progress", PROGRESS_GETS))
    collect(lambda: made_integrator(integrator, settings.get("accuracy"), own))
    return problems


def _elements(system: System) -> list[str]:
    """Paths of all elements of vectors."""
    vectors = [v for v in system.variables.values() if v.shape]
    return [f"{v.path}[{i}]" for v in vectors for i in range(v.slot.size)]


def simulate(
    system: System,
    until: float | str | None = None,
    integrator: str = "integrators.runge_kutta_merson",
    accuracy: float = 1e-6,
    output_interval: float | str | None = None,
    signals: Sequence[str] | None = None,
    progress: Progress | None = None,
    state: State | None = None,
    endless_events: str = "hold",
    checkpoint: Checkpoint | str | PathLike[str] | None = None,
    keep: Callable[[Result], object] | None = None,
    stream: ResultStream | None = None,
    **options: Any,
) -> Result:
    """Run a system and record signals.

    Parameters
    ----------
    system : System
    until : float or str
        End, s, or text with a unit: ``"200 ms"``. It has to be given.
    integrator : str
        Id of an integrator plugin.
    accuracy : float
        Of the integration.
    output_interval : float or str, optional
        Distance of the recorded points, s, or text with a unit; a 500th of the run unless given. Both
        sides of events are recorded besides.
    signals : sequence of str, optional
        Paths, or patterns with ``*``; outputs, measures, states and energies unless given.
    progress : callable, optional
        Called with the time, several times a second; answering False stops the run.
    state : State, optional
        Where to start; the default State unless given. One that was saved in the middle of a run goes on.
    endless_events : str
        As for `Simulator`.
    checkpoint : Checkpoint or path_like, optional
        Where to keep the State from time to time, and when the run ends, however it does.
    keep : callable, optional
        Gets what was recorded so far, every ten seconds (wall-clock time) and before each checkpoint.
    stream : ResultStream, optional
        Takes what is recorded while the run goes on, so that a long one needs no more memory than a
        short one; the result has the first and the last row alone.
    **options
        For `Simulator` (``event_limit``) and the integrator.

    Returns
    -------
    Result

    Raises
    ------
    SimulationError
        Its attribute `result` holds what was recorded until then.
    ModelError
        `until` is missing, or no time; `signals` or `progress` is something else than what is wanted.
    OptionError
        An option is neither one of these, nor of `Simulator`, nor of the integrator.
    """
    check_system(system, "cosim.simulate")
    check_simulate_options("simulate()", options, integrator)
    check_callable(progress, "progress", PROGRESS_GETS)
    check_signals(signals)
    if checkpoint is not None:
        _check_is_saved(system)
        if not isinstance(checkpoint, Checkpoint):
            checkpoint = Checkpoint(checkpoint)
    until = end_of_run(until)
    options.setdefault("event_limit", EVENT_LIMIT)
    with without_collection():
        simulator = Simulator(system, state, integrator, accuracy, endless_events=endless_events, **options)
    start = simulator.state.time
    until = min(until, simulator.final_time)  # behind it no step advances time
    if not (math.isfinite(until) and until > start):
        raise SimulationError(start, f"until is {until} s, needs a time after the start, {start} s")
    origin = (
        0.0 if simulator.is_initialized and start > 0.0 else start
    )  # a run that is resumed keeps its grid
    interval = (until - origin) / POINTS
    if output_interval is not None:
        interval = seconds(output_interval, "output_interval")
    if not 0.0 < interval < math.inf:
        raise SimulationError(start, f"output interval is {interval} s, needs a finite time, more than 0")
    if (until - start) / interval > MOST_POINTS:
        points = (until - start) / interval
        raise ModelError.of(
            "output interval",
            f"{interval:g} s makes {points:.3g} points up to {until:g} s; {MOST_POINTS:g} at most",
        )
    shortest = shortest_interval(start, until)
    if interval < shortest:
        raise ModelError.of(
            "output interval",
            f"is {interval:g} s, where times up to {until:g} s cannot tell points closer than {shortest:g} s "
            "apart: give more, or start nearer to 0 s",
        )
    with without_collection():
        recorder = Recorder(simulator, choose_signals(system, signals))
    keeper = None if keep is None else ResultsKeeper(keep)
    log.info("running from t = %g s to t = %g s with %s", start, until, type(simulator.integrator).__name__)
    began = wall.perf_counter()  # of the run itself: without what was compiled for it

    def end(message: str) -> Result:
        with uninterrupted():
            if stream is not None:
                recorder.pass_on(stream, everything=True)
            result = recorder.result(message, wall.perf_counter() - began)
            if stream is not None:
                stream.close(result)
            if checkpoint is not None:
                if keeper is not None and len(result):  # first: who goes on from the State needs both
                    keeper.write(result)
                checkpoint.write(simulator.state)
        return result

    message = ""
    try:
        with interrupt_between_steps() as check:
            status = simulator.status if simulator.is_initialized else simulator.initialize()
            simulator.record(
                recorder.paths,
                "grid",
                origin=origin,
                interval=interval,
                point=math.floor((start - origin) / interval) + 1,
                until=until,
            )
            simulator.record_now()
            while status.succeeded and simulator.state.time < until:
                status = simulator.advance_some(until)
                due = checkpoint is not None and checkpoint.is_due and (keeper is None or keeper.may_write)
                if keeper is not None and (due or keeper.is_due):
                    keeper.write(recorder.result("", wall.perf_counter() - began))
                if stream is not None:
                    recorder.pass_on(stream, everything=due)
                if checkpoint is not None and due:
                    checkpoint.write(simulator.state)
                check()
                if progress is not None and progress(simulator.state.time) is False:
                    message = f"stopped at t = {simulator.state.time:.9g} s"
                    break
            simulator.stop_recording()
            if status.succeeded and not message:
                status = simulator.advance_pending_events()
            if status.reason is Reason.REACHED_TERMINATION:
                message = status.format_message()
                recorder.end_at(simulator.state.time)
            simulator.finish()
    except BaseException as error:
        result = end(str(error) or "interrupted")
        if isinstance(error, (SimulationError, KeyboardInterrupt)):
            error.result = result  # type: ignore[union-attr]
        raise
    return end(message)


def _check_is_saved(system: System) -> None:
    """Say before a run which parts no checkpoint holds."""
    faults = [
        Problem(name, f"this part cannot be saved in a checkpoint: {part.not_saved}")
        for name, part in system.parts.items()
        if part.not_saved
    ]
    if faults:
        raise ModelError(faults)
