"""A second opinion: the same model with a tenth of the tolerance, another method, another solver."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import cosim
from cosim import ModelError, Result, SimulationError, System, registry, simulate
from cosim.kit import DEFAULT, END_OF_CORRECTIONS, POINTS, PREPARE, kinds_of, step_layout
from cosim_workbench.run_comparison import RunComparison, VerifiedRun

ACCURACY = 1e-6
TIGHTER = 0.1
RIVAL = "another method"
OF_EVERY_RUN = ("until", "output_interval", "signals", "endless_events")
TOLERANCES = ("relative_tolerance", "absolute_tolerance")
OF_THE_RUN = ("progress", "checkpoint", "keep", "state")


class SecondOpinion(RunComparison):
    """Runs with a tenth of the tolerance, another method and another solver, as `cosim.verify` says."""

    @classmethod
    def of(
        cls, model: cosim.Model, system: System, result: Result | None, settings: Mapping[str, Any]
    ) -> SecondOpinion:
        """Do the runs and compare them."""
        start = settings.get("state")
        plain = {name: value for name, value in settings.items() if name not in OF_THE_RUN}
        accuracy = float(plain.get("accuracy", ACCURACY))

        def run(of: System, options: dict[str, Any]) -> Result:
            return simulate(of, state=None if start is None else _same_start(of, start), **options)

        begin = system.default_state().time if start is None else start.time
        if result is None:
            result = run(system, plain)
        runs = [VerifiedRun("as given", _words(plain, model.solver_id, system), result)]
        # in the middle of a run the sections of a State are those of its solver
        solvers = start is None or not start.agenda[step_layout.INITIALIZED]
        tried: dict[str, dict[str, Any]] = {}
        for name, of, solver, options in _others(model, system, plain, accuracy, solvers):
            words, tried[name] = _words(options, solver, of), options
            try:
                runs.append(VerifiedRun(name, words, run(of, options)))
            except SimulationError as error:
                partial = getattr(error, "result", None) or Result([], {})
                runs.append(VerifiedRun(name, words, partial, str(error)))
        until = float(plain.get("until", 1.0))
        interval = float(plain.get("output_interval") or (until - begin) / POINTS)
        count = math.floor((until - begin) / interval * (1.0 + 1e-12))
        grid = np.unique([begin + i * interval for i in range(count + 1)] + [until])
        common = [run.result.time for run in runs if not run.failure]
        grid = grid[np.all([np.isin(grid, times) for times in common], axis=0)]
        found = cls(runs, accuracy, grid)
        if {agreement.odd for agreement in found.doubtful} != {RIVAL} or any(run.failure for run in runs):
            return found
        at = [run.name for run in runs].index(RIVAL)
        options = _tightened(tried[RIVAL], tried[RIVAL]["accuracy"])
        try:
            again = VerifiedRun(RIVAL, _words(options, model.solver_id, system), run(system, options))
        except SimulationError:
            return found
        second = cls([*runs[:at], again, *runs[at + 1 :]], accuracy, grid, runs[at : at + 1])
        return second if second.is_confirmed else found


def _others(
    model: cosim.Model, system: System, given: dict[str, Any], accuracy: float, solvers: bool
) -> Iterator[tuple[str, System, str, dict[str, Any]]]:
    """Name, system, solver and options of the runs beside the one that was given."""
    solver = model.solver_id
    tighter = _tightened(given, accuracy)
    yield ("half the step" if "fixed_step" in given else "tenth of the tolerance"), system, solver, tighter
    constrained = bool(system.projection[PREPARE] != system.projection[END_OF_CORRECTIONS])
    rival = _rival_method(str(given.get("integrator", DEFAULT)), constrained)
    if rival:
        options = {name: given[name] for name in OF_EVERY_RUN if name in given}
        options = {**options, "integrator": rival, "accuracy": TIGHTER * accuracy}
        yield RIVAL, system, solver, options
    if constrained and solvers:
        found = _with_other_solver(model)
        if found is not None:
            yield "another solver", found[1], found[0], tighter


def _tightened(given: dict[str, Any], accuracy: float) -> dict[str, Any]:
    found = {**given, "accuracy": TIGHTER * accuracy}
    if "fixed_step" in given:
        found["fixed_step"] = 0.5 * given["fixed_step"]
    for name in TOLERANCES:
        value = given.get(name)
        if isinstance(value, dict):
            found[name] = {key: TIGHTER * number for key, number in value.items()}
        elif value is not None:
            found[name] = TIGHTER * value
    return found


def _rival_method(given: str, constrained: bool) -> str:
    """Id of the method of the highest order that is as implicit as the given one, and is not that one."""
    own = registry().entry("integrator", given)
    implicit = own.cls.capabilities.implicit
    listed: list[tuple[int, str]] = []
    for entry in registry().entries("integrator"):
        cls: type[cosim.Integrator] = entry.cls
        can = cls.capabilities
        fits = can.adaptive and can.resumes_exactly and not can.needs_second_order_form
        fits = fits and can.implicit == implicit and (can.supports_constraints or not constrained)
        if fits and entry.id != own.id:
            listed.append((-cls.order, entry.id))
    return min(listed, default=(0, ""))[1]


def _with_other_solver(model: cosim.Model) -> tuple[str, System] | None:
    """Id of another dynamics solver that takes this model, and the system that it makes of it."""
    base = model.solver_base
    if base is None:
        return None
    given = dict(model.settings)
    others = [entry.id for entry in registry().entries(kinds_of(base)[0]) if entry.id != model.solver_id]
    for id in others:
        model.settings = {**given, base.setting: id}
        try:
            return id, model.build()
        except ModelError:
            continue
        finally:
            model.settings = given
    return None


def _same_start(system: System, state: Any) -> Any:
    """A State of a system with the time and variables of another, which may be of a twin of the system."""
    if state.system is system or state.system.digest == system.digest:
        return state.copy()
    found = system.default_state()
    for name in ("y", "p", "d", "k"):
        if found.arrays[name].size != state.arrays[name].size:
            raise ModelError.of("verify", "the State to start from does not fit the system of another solver")
        found.arrays[name][:] = state.arrays[name]
    found.set_time(state.time)
    return found


def _words(options: dict[str, Any], solver: str, system: System) -> str:
    accuracy = options.get("accuracy", ACCURACY)
    step = f", fixed step {options['fixed_step']:g} s" if "fixed_step" in options else ""
    moved = f", {solver}" if system.dynamics else ""
    return f"{options.get('integrator', DEFAULT)}, accuracy {accuracy:g}{step}{moved}"
