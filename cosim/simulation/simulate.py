"""`simulate`: runs a system and records signals."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from cosim.argument_checks import check_callable, read_seconds
from cosim.contracts.result_stream import ResultStream
from cosim.errors import ModelError, Problem, SimulationError
from cosim.options import check_options, option_names
from cosim.simulation.checkpoint import Checkpoint
from cosim.simulation.chosen_integrator import DEFAULT, integrator_options, make_integrator
from cosim.simulation.chosen_signals import check_signals, choose_signals
from cosim.simulation.last_simulator import reuse_simulator, settings_key, store_simulator
from cosim.simulation.output_interval import checked_interval
from cosim.simulation.python_in_steps import python_in_steps
from cosim.simulation.recorded_run import Progress, RecordedRun
from cosim.simulation.recorder import Recorder
from cosim.simulation.result import Result
from cosim.simulation.result_drafts import ResultDrafts
from cosim.simulation.simulator import Simulator
from cosim.system.state import State
from cosim.system.system import System, check_system
from cosim_compiler.collection import without_collection

log = logging.getLogger("cosim.simulation")

PROGRESS_GETS = "the time, s"
"""The argument of `progress`, for messages."""
RESULT_EVENTS = 10_000_000
"""Limit of the events of a run unless given: each takes about a hundred bytes of the result."""


def end_of_run(until: float | str | None) -> float:
    """The end of a run, s; `ModelError` if it is missing or no time."""
    if until is None:
        raise ModelError.of("until", "is missing: give the end of the run, until=2.0 (s) or until='200 ms'")
    return read_seconds(until, "until")


def check_simulate_options(options: Mapping[str, Any], integrator: Any) -> None:
    """Raise an `OptionError` for options that neither `simulate`, nor `Simulator`, nor the integrator has."""
    if not options:
        return
    own_options = [name for name in option_names(simulate) if name != "system"]
    if not options.keys() <= set(own_options):
        simulator_options = [name for name in option_names(Simulator) if name != "system"]
        check_options(
            "simulate()", options, [*own_options, *simulator_options, *integrator_options(integrator)]
        )


def faults_of_settings(settings: Mapping[str, Any]) -> list[Problem]:
    """All faults in the settings of a run that can be found without its system.

    Raises
    ------
    OptionError
        There is no such setting.
    LookUpError
        There is no such integrator.
    """
    integrator = settings.get("integrator", DEFAULT)
    check_simulate_options(settings, integrator)
    names = [name for name in integrator_options(integrator) if name != "accuracy"]
    options = {name: settings[name] for name in names if name in settings}
    problems: list[Problem] = []

    def collect(check: Callable[[], object]) -> None:
        try:
            check()
        except ModelError as error:
            problems.extend(error.problems)

    collect(lambda: end_of_run(settings.get("until")))
    collect(lambda: read_seconds(settings.get("output_interval") or 1.0, "output_interval"))
    collect(lambda: check_signals(settings.get("signals")))
    collect(lambda: check_callable(settings.get("progress"), "progress", PROGRESS_GETS))
    collect(lambda: make_integrator(integrator, settings.get("accuracy"), options))
    return problems


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
    derivatives: Sequence[str] = (),
    gradient: str | Sequence[str] = (),
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
        Called with the time, several times a second; the run stops if it returns False.
    state : State, optional
        Where to start; the default State unless given. One that was saved in the middle of a run goes on,
        with the derivatives of that run.
    endless_events : str
        As for `Simulator`.
    checkpoint : Checkpoint or path_like, optional
        Where to save the State from time to time, and when the run ends or fails.
    keep : callable, optional
        Called with the result so far, every ten seconds (wall-clock time) and before each checkpoint.
    stream : ResultStream, optional
        Receives the rows during the run, so that a long run needs no more memory than a short one; the
        result has only the first and the last row.
    derivatives : sequence of str
        Paths of parameters, start values and inputs by which the recorded signals are differentiated:
        ``result.derivative("ball.height", "ball.mass")``. Their tangents go along the steps of the run;
        events are located to rounding then.
    gradient : str or sequence of str
        Paths of parameters, start values and inputs, arrays as a whole: ``result.gradient(objective)`` then
        says how a number that follows from the run changes with them. Not with `derivatives` or `stream`.
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
        `until` is missing, or no time; `signals` or `progress` is of another type.
    OptionError
        An option is neither one of these, nor of `Simulator`, nor of the integrator.
    """
    check_system(system, "cosim.simulate")
    check_simulate_options(options, integrator)
    check_callable(progress, "progress", PROGRESS_GETS)
    check_signals(signals)
    if gradient and (derivatives or stream is not None):
        raise ModelError.of("gradient", "leave out `derivatives` and `stream`: a run has one of the three")
    if checkpoint is not None:
        _check_is_saved(system)
        if not isinstance(checkpoint, Checkpoint):
            checkpoint = Checkpoint(checkpoint)
    until = end_of_run(until)
    options.setdefault("event_limit", RESULT_EVENTS)
    key = settings_key(integrator, accuracy, endless_events, options)
    with without_collection():
        simulator = reuse_simulator(system, state, key) or Simulator(
            system, state, integrator, accuracy, endless_events=endless_events, **options
        )
    if not derivatives:
        simulator.state.carried = b""
    carried = simulator.carry_tangents(derivatives) if derivatives else None
    gradient = [gradient] if isinstance(gradient, str) else list(gradient)
    trail = simulator.start_trail(gradient) if gradient else None
    until = _reachable_end(simulator, until)
    is_resumed = simulator.is_initialized and simulator.state.time > 0.0
    origin = 0.0 if is_resumed else simulator.state.time  # a run that is resumed keeps its grid
    interval = checked_interval(output_interval, origin, simulator.state.time, until)
    with without_collection():
        recorder = Recorder(simulator, choose_signals(system, signals), carried)
    drafts = None if keep is None else ResultDrafts(keep)
    _log_start(simulator, until)
    is_private = state is None and checkpoint is None
    run = RecordedRun(simulator, recorder, progress, checkpoint, drafts, stream, trail, is_private)
    result = run.run(until, origin, interval)
    store_simulator(system, key, simulator, is_private=is_private and not gradient)
    return result


def _reachable_end(simulator: Simulator, until: float) -> float:
    """The end of a run, s, at most the last time that steps reach; an error unless it is after the start."""
    start, until = simulator.state.time, min(until, simulator.final_time)
    if not (math.isfinite(until) and until > start):
        raise SimulationError(start, f"until is {until} s, needs a time after the start, {start} s")
    return until


def _log_start(simulator: Simulator, until: float) -> None:
    """Log the span of a run, its integrator, and the parts whose steps are Python."""
    integrator, start = type(simulator.integrator), simulator.state.time
    log.info("running from t = %g s to t = %g s with %s", start, until, integrator.__name__)
    for sentence in python_in_steps(simulator.system, integrator):
        log.info("%s", sentence)


def _check_is_saved(system: System) -> None:
    """Raise an error that names the parts which no checkpoint holds."""
    faults = [
        Problem(name, f"this part cannot be saved in a checkpoint: {part.not_saved}")
        for name, part in system.parts.items()
        if part.not_saved
    ]
    if faults:
        raise ModelError(faults)
