"""A second opinion: the same model with another tolerance, method, step and solver, and a moved start."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import cosim
from cosim import ModelError, Result, SimulationError, State, System, registry, simulate
from cosim.kit import (
    DEFAULT,
    has_constraints,
    kinds_of,
)
from cosim_workbench.agreement import Standing
from cosim_workbench.compared_runs import VerifiedRun
from cosim_workbench.moved_start import (
    ROUNDING,
    growth_of_rounding,
    in_order,
    moved_by_part,
    moved_by_rounding,
    reach_of_states,
    sizes_of_states,
    state_paths,
)
from cosim_workbench.recorded_at import recorded_rows
from cosim_workbench.run_comparison import RunComparison

ACCURACY = 1e-6
TIGHTER = 0.1
SHORTEST_STEPS = 700
"""The number of steps in a run with bounded steps, which shows features inside longer ones."""
AS_GIVEN = "as given"
RIVAL = "another method"
UP, DOWN = "start moved up by rounding", "start moved down by rounding"
HIGHER, LOWER = "start moved up by an accuracy", "start moved down by an accuracy"
OF_EVERY_RUN = (
    "until",
    "output_interval",
    "signals",
    "endless_events",
    "event_limit",
    "maximum_step",
    "final_time",
)
TOLERANCES = ("relative_tolerance", "absolute_tolerance")
OF_THE_RUN = ("progress", "checkpoint", "keep", "stream", "state")


class Trial(NamedTuple):
    """A run besides the given one: its name, its system and its method."""

    name: str
    system: System
    solver_id: str
    options: dict[str, Any]


class SecondOpinion(RunComparison):
    """Runs in ways that ought to come to the same, as `cosim.verify` says."""

    @classmethod
    def of(
        cls, model: cosim.Model, system: System, result: Result | None, settings: Mapping[str, Any]
    ) -> SecondOpinion:
        """Do the runs and compare them."""
        return Trials(cls, model, system, result, settings).compare()


class Trials:
    """The runs of one second opinion.

    Parameters
    ----------
    kind : type of RunComparison
        The class that compares the runs.
    model : Model
    system : System
    result : Result, optional
        The result of the run as given, if there is one already.
    settings : mapping of str to object
        The settings of that run.
    """

    def __init__(
        self,
        kind: type[SecondOpinion],
        model: cosim.Model,
        system: System,
        result: Result | None,
        settings: Mapping[str, Any],
    ) -> None:
        self.kind, self.model, self.system = kind, model, system
        self.start: State | None = settings.get("state")
        self.given = {name: value for name, value in settings.items() if name not in OF_THE_RUN}
        self.accuracy = _accuracy_of(self.given)
        first = self._simulate(system, self.given) if result is None else result
        self.runs = [VerifiedRun(AS_GIVEN, self._words(self.given), first)]
        # states are recorded besides: their sizes say what rounding of the start is
        states = [path for path in state_paths(system) if path not in first.signals]
        self.recorded = {**self.given, "signals": [*first.names, *states]}
        self.start_time = system.default_state().time if self.start is None else self.start.time
        self.end = float(first.time[-1]) if len(first) else self.start_time
        self.state_sizes: dict[str, float] = {}
        self.rounding_grows_to, self.largest_reach = math.inf, 0.0
        self.of_the_method = [
            path
            for path, variable in system.variables.items()
            if variable.kind in ("discrete", "integer") and variable.diagnostic
        ]

    def compare(self) -> SecondOpinion:
        """Run and compare; find the cause of doubts, if there are any."""
        options_of = {}
        for trial in self._others():
            options_of[trial.name] = trial.options
            self.runs.append(self._run(trial))
        self._move_by_rounding()
        if _decides(self.system):
            self._move_by_accuracy()
        opinion = self._compared(self.runs)
        if opinion.is_confirmed:
            return opinion
        second = self._without_first_rival(opinion, options_of.get(RIVAL, {}))
        if second is not None and second.is_confirmed:
            return second
        if not _decides(self.system) and any(a.standing is Standing.DIFFERS for a in opinion.doubtful):
            self._move_by_accuracy()
            opinion = self._compared(self.runs)
        return opinion

    def _compared(self, runs: list[VerifiedRun], aside: list[VerifiedRun] | None = None) -> SecondOpinion:
        return self.kind(
            *(runs, self.accuracy, self._grid(runs), aside or ()),
            *(self.state_sizes, self.rounding_grows_to, self.largest_reach, self.of_the_method),
        )

    def _grid(self, runs: list[VerifiedRun]) -> Any:
        """Times of the first run that all runs recorded, to rounding."""
        grid = runs[0].result.time
        for run in runs:
            if not run.failure:
                grid = grid[recorded_rows(run.result.time, grid)[1]]
        return np.unique(grid)

    def _without_first_rival(
        self, opinion: SecondOpinion, rival_options: dict[str, Any]
    ) -> SecondOpinion | None:
        """The comparison with a tenth of the other method's tolerance, where that method alone is off."""
        is_alone = {agreement.odd for agreement in opinion.doubtful} <= {RIVAL}
        differences = opinion.event_differences
        is_alone = is_alone and all(RIVAL in (d.present, d.absent) for d in differences)
        if not is_alone or not (opinion.doubtful or differences) or opinion.failed:
            return None
        at = [run.name for run in self.runs].index(RIVAL)
        options = _tightened(rival_options, rival_options["accuracy"])
        again = self._run(Trial(RIVAL, self.system, self.model.solver_id, options))
        if again.failure:
            return None
        runs = [*self.runs[:at], again, *self.runs[at + 1 :]]
        return self._compared(runs, self.runs[at : at + 1])

    def _others(self) -> Iterator[Trial]:
        """The runs from the same start."""
        settings, system, solver = self.recorded, self.system, self.model.solver_id
        fixed = "fixed_step" in settings
        tighter = _tightened(settings, self.accuracy)
        yield Trial("half the step" if fixed else "tenth of the tolerance", system, solver, tighter)
        constrained = has_constraints(system.corrections)
        rival = _rival_method(str(settings.get("integrator", DEFAULT)), constrained)
        if rival:
            options = {name: settings[name] for name in OF_EVERY_RUN if name in settings}
            options |= {"integrator": rival, "accuracy": TIGHTER * self.accuracy}
            yield Trial(RIVAL, system, solver, options)
        if not fixed and system.ny:
            shorter = {**settings, "maximum_step": self._short_step()}
            yield Trial("shorter steps", system, solver, shorter)
        # in the middle of a run the sections of a State are those of its solver
        if constrained and (self.start is None or not self.start.agenda.initialized):
            other_id, other_system = _with_other_solver(self.model)
            if other_system is not None:
                yield Trial("another solver", other_system, other_id, tighter)

    def _short_step(self) -> float:
        """Half of the mean step, at least so short that what lies between two recorded points is seen, s."""
        span = self.end - self.start_time
        steps = max(2 * int(self.runs[0].result.statistics.get("integrator_steps", 0)), SHORTEST_STEPS)
        return min(float(self.given.get("maximum_step", math.inf)), span / steps)

    def _move_by_rounding(self) -> None:
        """Run from starts that were moved by rounding, both ways."""
        if not self.system.ny:
            return
        succeeded = next((run.result for run in self.runs[1:] if not run.failure), self.runs[0].result)
        self.state_sizes = sizes_of_states(self.system, succeeded)
        sizes = in_order(self.system, self.state_sizes)
        pair = [
            self._run_from(name, moved_by_rounding(self._start_y, sizes, direction), ROUNDING)
            for name, direction in ((UP, 1.0), (DOWN, -1.0))
        ]
        original = self.runs[0]
        comparable = [run for run in pair if not run.failure and run.wrong_sides <= original.wrong_sides]
        if not comparable:
            return
        start = self.system.default_state() if self.start is None else self.start
        try:
            reach = reach_of_states(self.system, start, self.end - self.start_time)
        except SimulationError:  # rates that only an initialized State has: growth stays unknown
            return
        sizes_at_all = {name: max(size, reach[name]) for name, size in self.state_sizes.items()}
        self.largest_reach = max(sizes_at_all.values(), default=0.0)
        upper, lower = (comparable[0], comparable[-1]) if len(comparable) == 2 else (comparable[0], original)
        self.rounding_grows_to = growth_of_rounding(self.system, upper.result, lower.result, sizes_at_all)

    def _move_by_accuracy(self) -> None:
        """Run from starts that were moved by an accuracy, both ways.

        These runs are done, and compared, with a tenth of the tolerance: the move shows beside their error.
        """
        if not self.system.ny:
            return
        counterpart = next((run for run in self.runs[1:2] if not run.failure), self.runs[0])
        options = self.recorded if counterpart is self.runs[0] else _tightened(self.recorded, self.accuracy)
        sizes = in_order(self.system, self.state_sizes)
        for name, direction in ((HIGHER, 1.0), (LOWER, -1.0)):
            moved = moved_by_part(self._start_y, sizes, direction * self.accuracy)
            moved_by = float(np.max(np.abs(moved - self._start_y) / sizes))
            self._run_from(name, moved, moved_by, options, counterpart.name)

    @property
    def _start_y(self) -> Any:
        return (self.system.default_state() if self.start is None else self.start).y

    def _run_from(
        self, name: str, y: Any, moved_by: float, options: dict[str, Any] | None = None, counterpart: str = ""
    ) -> VerifiedRun:
        """Run from a start with other continuous states, as given unless told; it is among the runs then."""
        start = self.system.default_state() if self.start is None else self.start.copy()
        start.set_y(y)
        trial = Trial(name, self.system, self.model.solver_id, options or self.recorded)
        run = replace(self._run(trial, start, moved_by), counterpart=counterpart)
        self.runs.append(run)
        return run

    def _run(self, trial: Trial, start: State | None = None, moved_by: float = 0.0) -> VerifiedRun:
        words = self._words(trial.options, trial.system, trial.solver_id)
        try:
            result, failure = self._simulate(trial.system, trial.options, start), ""
        except SimulationError as error:
            result, failure = getattr(error, "result", None) or Result([], {}), str(error)
        return VerifiedRun(trial.name, words, result, failure, moved_by)

    def _simulate(self, system: System, options: dict[str, Any], start: State | None = None) -> Result:
        if start is None and self.start is not None:
            start = _same_start(system, self.start)
        return simulate(system, state=start, **options)

    def _words(self, options: dict[str, Any], system: System | None = None, solver: str = "") -> str:
        accuracy = options.get("accuracy", ACCURACY)
        step = f", fixed step {options['fixed_step']:g} s" if "fixed_step" in options else ""
        longest = options.get("maximum_step", math.inf)
        step += f", steps of at most {longest:.2g} s" if longest < math.inf else ""
        moved = f", {solver or self.model.solver_id}" if (system or self.system).dynamics else ""
        return f"{options.get('integrator', DEFAULT)}, accuracy {accuracy:g}{step}{moved}"


def _decides(system: System) -> bool:
    """Whether a change of sign may call a handler, or a handler may decide by the values that it reads."""
    handlers = (handler for part in system.parts.values() for handler in part.handlers.values())
    return any(handler.witness or handler.does != "publish" for handler in handlers)


def _accuracy_of(settings: Mapping[str, Any]) -> float:
    """The accuracy of a run: the one that was given, else the largest relative tolerance that was."""
    tolerance = settings.get("relative_tolerance")
    if "accuracy" not in settings and tolerance is not None:
        return float(max(tolerance.values()) if isinstance(tolerance, Mapping) else tolerance)
    return float(settings.get("accuracy", ACCURACY))


def _tightened(settings: dict[str, Any], accuracy: float) -> dict[str, Any]:
    tightened = {**settings, "accuracy": TIGHTER * accuracy}
    if "fixed_step" in settings:
        tightened["fixed_step"] = 0.5 * settings["fixed_step"]
    for name in TOLERANCES:
        value = settings.get(name)
        if isinstance(value, dict):
            tightened[name] = {key: TIGHTER * number for key, number in value.items()}
        elif value is not None:
            tightened[name] = TIGHTER * value
    return tightened


def _rival_method(method: str, constrained: bool) -> str:
    """Id of the method of the highest order that is as implicit as the given one, and is not that one."""
    entry_of_method = registry().entry("integrator", method)
    implicit = entry_of_method.cls.capabilities.implicit
    listed: list[tuple[int, str]] = []
    for entry in registry().entries("integrator"):
        cls: type[cosim.Integrator] = entry.cls
        can = cls.capabilities
        fits = can.adaptive and can.resumes_exactly and not can.needs_second_order_form
        fits = fits and can.implicit == implicit and (can.supports_constraints or not constrained)
        if fits and entry.id != entry_of_method.id:
            listed.append((-cls.order, entry.id))
    return min(listed, default=(0, ""))[1]


def _with_other_solver(model: cosim.Model) -> tuple[str, System | None]:
    """Id of another dynamics solver that takes this model, and the system that it makes of it; or neither."""
    base = model.solver_base
    if base is None:
        return "", None
    settings = dict(model.settings)
    other_ids = [entry.id for entry in registry().entries(kinds_of(base)[0]) if entry.id != model.solver_id]
    for id in other_ids:
        model.settings = {**settings, base.setting: id}
        try:
            return id, model.build()
        except ModelError:
            continue
        finally:
            model.settings = settings
    return "", None


def _same_start(system: System, state: Any) -> Any:
    """A State of a system with the time and variables of another, which may be of a twin of the system."""
    if state.system is system or state.system.digest == system.digest:
        return state.copy()
    start = system.default_state()
    for name in ("y", "p", "d", "k"):
        if start.arrays[name].size != state.arrays[name].size:
            raise ModelError.of("verify", "the State to start from does not fit the system of another solver")
        start.arrays[name][:] = state.arrays[name]
    start.set_time(state.time)
    return start
