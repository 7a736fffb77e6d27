"""A second opinion: the same model with another tolerance, method, step and solver, and a moved start."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import cosim
from cosim import Result, SimulationError, State, System, simulate
from cosim.kit import (
    DEFAULT,
    has_constraints,
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
from cosim_workbench.trial_options import (
    ACCURACY,
    TIGHTER,
    accuracy_of,
    decides,
    rival_method,
    same_start,
    tightened,
    with_other_solver,
)

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
OF_THE_RUN = ("progress", "checkpoint", "keep", "stream", "state")


class Trial(NamedTuple):
    """A run to compare with the one as given: its name, its system and its method."""

    name: str
    system: System
    solver_id: str
    options: dict[str, Any]


class SecondOpinion(RunComparison):
    """Compares runs in ways that should give the same result: see `cosim.verify`."""

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
        self.settings_of_run = {name: value for name, value in settings.items() if name not in OF_THE_RUN}
        self.accuracy = accuracy_of(self.settings_of_run)
        first = self._simulate(system, self.settings_of_run) if result is None else result
        self.runs = [VerifiedRun(AS_GIVEN, self._method_text(self.settings_of_run), first)]
        # states are recorded, too, because rounding of the start is measured by their sizes
        states = [path for path in state_paths(system) if path not in first.signals]
        self.recorded = {**self.settings_of_run, "signals": [*first.names, *states]}
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
        for trial in self._trials_from_same_start():
            options_of[trial.name] = trial.options
            self.runs.append(self._run(trial))
        self._move_by_rounding()
        if decides(self.system):
            self._move_by_accuracy()
        opinion = self._compared(self.runs)
        if opinion.is_confirmed:
            return opinion
        without_rival = self._without_first_rival(opinion, options_of.get(RIVAL, {}))
        if without_rival is not None and without_rival.is_confirmed:
            return without_rival
        if not decides(self.system) and any(a.standing is Standing.DIFFERS for a in opinion.doubtful):
            self._move_by_accuracy()
            opinion = self._compared(self.runs)
        return opinion

    def _compared(self, runs: list[VerifiedRun], set_aside: list[VerifiedRun] | None = None) -> SecondOpinion:
        return self.kind(
            runs,
            self.accuracy,
            self._grid(runs),
            set_aside or (),
            self.state_sizes,
            self.rounding_grows_to,
            self.largest_reach,
            self.of_the_method,
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
        """The comparison with a tenth of the other method's tolerance, if only that method disagrees."""
        is_alone = {agreement.odd for agreement in opinion.doubtful} <= {RIVAL}
        differences = opinion.event_differences
        is_alone = is_alone and all(RIVAL in (d.present, d.absent) for d in differences)
        if not is_alone or not (opinion.doubtful or differences) or opinion.failed:
            return None
        options = tightened(rival_options, rival_options["accuracy"])
        tighter_rival = self._run(Trial(RIVAL, self.system, self.model.solver_id, options))
        if tighter_rival.failure:
            return None
        runs = [tighter_rival if run.name == RIVAL else run for run in self.runs]
        return self._compared(runs, [run for run in self.runs if run.name == RIVAL])

    def _trials_from_same_start(self) -> Iterator[Trial]:
        """The trials from the start as given."""
        settings, system, solver = self.recorded, self.system, self.model.solver_id
        fixed = "fixed_step" in settings
        tighter = tightened(settings, self.accuracy)
        yield Trial("half the step" if fixed else "tenth of the tolerance", system, solver, tighter)
        constrained = has_constraints(system.corrections)
        rival = rival_method(str(settings.get("integrator", DEFAULT)), constrained)
        if rival:
            options = {name: settings[name] for name in OF_EVERY_RUN if name in settings}
            options |= {"integrator": rival, "accuracy": TIGHTER * self.accuracy}
            yield Trial(RIVAL, system, solver, options)
        if not fixed and system.ny:
            shorter = {**settings, "maximum_step": self._short_step()}
            yield Trial("shorter steps", system, solver, shorter)
        # in the middle of a run the sections of a State are those of its solver
        if constrained and (self.start is None or not self.start.agenda.initialized):
            other_id, other_system = with_other_solver(self.model)
            if other_system is not None:
                yield Trial("another solver", other_system, other_id, tighter)

    def _short_step(self) -> float:
        """Half of the mean step, at least so short that what lies between two recorded points is seen, s."""
        span = self.end - self.start_time
        steps = max(2 * int(self.runs[0].result.statistics.get("integrator_steps", 0)), SHORTEST_STEPS)
        return min(float(self.settings_of_run.get("maximum_step", math.inf)), span / steps)

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
        sizes_or_reach = {name: max(size, reach[name]) for name, size in self.state_sizes.items()}
        self.largest_reach = max(sizes_or_reach.values(), default=0.0)
        upper, lower = (comparable[0], comparable[-1]) if len(comparable) == 2 else (comparable[0], original)
        self.rounding_grows_to = growth_of_rounding(self.system, upper.result, lower.result, sizes_or_reach)

    def _move_by_accuracy(self) -> None:
        """Run from starts that were moved by an accuracy, both ways.

        These runs are done, and compared, with a tenth of the tolerance: the move shows beside their error.
        """
        if not self.system.ny:
            return
        counterpart = next((run for run in self.runs[1:2] if not run.failure), self.runs[0])
        options = self.recorded if counterpart is self.runs[0] else tightened(self.recorded, self.accuracy)
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
        method = self._method_text(trial.options, trial.system, trial.solver_id)
        try:
            result, failure = self._simulate(trial.system, trial.options, start), ""
        except SimulationError as error:
            result, failure = getattr(error, "result", None) or Result([], {}), str(error)
        return VerifiedRun(trial.name, method, result, failure, moved_by)

    def _simulate(self, system: System, options: dict[str, Any], start: State | None = None) -> Result:
        if start is None and self.start is not None:
            start = same_start(system, self.start)
        return simulate(system, state=start, **options)

    def _method_text(self, options: dict[str, Any], system: System | None = None, solver: str = "") -> str:
        accuracy = options.get("accuracy", ACCURACY)
        step = f", fixed step {options['fixed_step']:g} s" if "fixed_step" in options else ""
        longest = options.get("maximum_step", math.inf)
        step += f", steps of at most {longest:.2g} s" if longest < math.inf else ""
        moved = f", {solver or self.model.solver_id}" if (system or self.system).dynamics else ""
        return f"{options.get('integrator', DEFAULT)}, accuracy {accuracy:g}{step}{moved}"
