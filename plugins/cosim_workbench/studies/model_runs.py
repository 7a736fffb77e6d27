"""Points of a study as runs of a model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import EnsembleResult, choose_signals
from cosim_workbench.studies.gradient_runs import GradientRuns
from cosim_workbench.studies.objective import read_objectives
from cosim_workbench.studies.series_parts import SeriesParts

OUTCOMES = ("status", "end", "steps", "events", "reason")


class ModelRuns:
    """Runs of a model, in threads or in the workers of an executor.

    Parameters
    ----------
    model : Model
    objectives : sequence or mapping, optional
        As `read_objectives` takes them; the last values of what the model records unless given.
    keeps_series : bool
        Whether values over time are recorded.
    **settings
        As for `cosim.Ensemble`; missing ones come from the model's file.

    Attributes
    ----------
    objectives : list of str
    units : dict of str to str
    workers : int
        Threads or processes unless an executor is given.
    message : str
        Always empty; see `SubjectRuns`.
    """

    def __init__(
        self,
        model: cosim.Model,
        objectives: Sequence[Any] | Mapping[str, Any] | None,
        keeps_series: bool,
        **settings: Any,
    ) -> None:
        self.system = model.build()
        simulation = {**model.simulation, **settings}
        self._settings = {key: value for key, value in simulation.items() if key != "threads"}
        if objectives is None:
            recorded = cosim.Ensemble(self.system, **{**simulation, "reduce": None}).columns
            objectives = [f"last({name})" for name in recorded]
        reductions, self._of_results = read_objectives(objectives)
        self._reductions = reductions
        if not self._of_results and not keeps_series:
            simulation.pop("signals", None)
        elif simulation.get("signals") is None:
            simulation["signals"] = choose_signals(self.system, None)
        self._ensemble = cosim.Ensemble(self.system, **{**simulation, "reduce": reductions})
        self.objectives = [*reductions, *self._of_results]
        self.units = self._ensemble.units
        self.workers = self._ensemble.threads
        self.message = ""

    def unit(self, path: str) -> str:
        """Unit of a variable that may be varied; an error where it cannot."""
        if self.system.written_slot(path).size != 1:
            raise cosim.ModelError.of(path, f"has several elements: name one, {path}[0]")
        return self.system.signal(path).units[0]

    def gradients(self) -> GradientRuns:
        """Runs with the gradient of the first objective."""
        objective = next(iter([*self._reductions.values(), *self._of_results.values()]))
        return GradientRuns(self.system, self._ensemble.start.copy(), objective, self._settings)

    def start(self, path: str) -> float:
        """The model's own value of a variable."""
        return float(self._ensemble.start[path])

    def kept_processes(self) -> AbstractContextManager[Any]:
        """A context in which the processes of several calls of `run` stay, where they need any."""
        return self._ensemble.kept_processes()

    def description(self) -> dict[str, Any]:
        """The facts that determine results: the system, its start values, and its settings."""
        start = hashlib.sha256(self._ensemble.start.to_bytes()).hexdigest()
        settings = {key: repr(value) for key, value in sorted(self._settings.items())}
        return {"model": self.system.digest, "start": start, "settings": settings}

    def run(
        self,
        values: Mapping[str, NDArray[np.float64]],
        count: int,
        executor: Executor | None,
        progress: Callable[..., Any],
        keep: Callable[[NDArray[np.int64], dict[str, Any], dict[int, str]], None],
        parts: SeriesParts | None = None,
    ) -> None:
        """Do points; `keep` gets some of them as they end.

        Parameters
        ----------
        values : mapping of str to ndarray, shape (count,)
        count : int
        executor : concurrent.futures.Executor, optional
        progress : callable
            As for `Ensemble.run`.
        keep : callable
            Called with the numbers of points that have ended, their objectives and outcomes by name, and the
            files with values over time by the first point in them.
        parts : SeriesParts, optional
            The writer of values over time.
        """
        written = None if self._of_results else parts

        def take(first: int, ended: EnsembleResult) -> None:
            files = ended.parts
            if written is None and parts is not None:
                name = parts.of_runs(first, first + len(ended)).add(ended)
                files = {0: name} if name else {}
            ran = np.flatnonzero(ended.status != "not run")
            columns = {name: values[ran] for name, values in self._columns(ended).items()}
            keep(first + ran, columns, {first + run: name for run, name in files.items()})

        self._ensemble.run(values, count, progress, executor, parts=written, each=take)

    def _columns(self, ended: EnsembleResult) -> dict[str, Any]:
        table = ended.table()
        columns = {name: table[name] for name in (*self.objectives, *OUTCOMES) if name in table}
        is_done = ended.is_done
        status, reasons = columns["status"].astype(object), columns["reason"].astype(object)
        for name, function in self._of_results.items():
            values = np.full(len(ended), np.nan)
            for run in np.flatnonzero(is_done):
                try:
                    value = function(ended.run(int(run)))
                    values[run] = float(value[0] if isinstance(value, tuple) else value)
                except Exception as error:
                    status[run] = "failed"
                    reasons[run] = f"objective {name}: {type(error).__name__}: {error}"
            columns[name] = values
        return {**columns, "status": status, "reason": reasons}
