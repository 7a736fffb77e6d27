"""Points of a study as runs of a model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import EnsembleResult, choose_signals
from cosim_workbench.studies.objective import read_objectives

OUTCOMES = ("status", "end", "steps", "events", "reason")


class ModelRuns:
    """Runs of a model, in threads or in the workers of an executor.

    Parameters
    ----------
    model : Model
    objectives : sequence or mapping, optional
        As `read_objectives` takes them; the last values of what the model records unless given.
    keeps_series : bool
        Whether values over time are given on.
    **settings
        As for `cosim.Ensemble`; missing ones come from the model's file.

    Attributes
    ----------
    objectives : list of str
    """

    def __init__(
        self,
        model: cosim.Model,
        objectives: Sequence[Any] | Mapping[str, Any] | None,
        keeps_series: bool,
        **settings: Any,
    ) -> None:
        self.system = model.build()
        known = {**model.simulation, **settings}
        self._settings = {key: value for key, value in known.items() if key != "threads"}
        if objectives is None:
            recorded = cosim.Ensemble(self.system, **{**known, "reduce": None}).plan.columns
            objectives = [f"last({name})" for name in recorded]
        reductions, self._of_results = read_objectives(objectives)
        if not self._of_results and not keeps_series:
            known.pop("signals", None)
        elif known.get("signals") is None:
            known["signals"] = choose_signals(self.system, None)
        self._keeps_series = keeps_series
        self._ensemble = cosim.Ensemble(self.system, **{**known, "reduce": reductions})
        self.objectives = [*reductions, *self._of_results]
        self.units = self._ensemble.plan.units() | {r.name: r.unit for r in self._ensemble.plan.reductions}
        self.workers = self._ensemble.threads
        rows = self._ensemble.plan.points * len(self._ensemble.plan.columns)
        self.numbers_of_a_run = rows if self._ensemble.plan.keeps_series else 0

    def unit(self, path: str) -> str:
        """Unit of a variable that may be varied; an error where it cannot."""
        if self.system.written_slot(path).size != 1:
            raise cosim.ModelError.of(path, f"has several elements: name one, {path}[0]")
        return self.system.signal(path).units[0]

    def description(self) -> dict[str, Any]:
        """What makes results the same: the system, its start values, how it is run."""
        start = hashlib.sha256(self._ensemble.plan.start.to_bytes()).hexdigest()
        settings = {key: repr(value) for key, value in sorted(self._settings.items())}
        return {"model": self.system.digest, "start": start, "settings": settings}

    def run(
        self,
        values: Mapping[str, NDArray[np.float64]],
        count: int,
        executor: Any,
        progress: Callable[..., Any],
    ) -> tuple[dict[str, Any], Any, BaseException | None]:
        """Objectives and outcomes of points, what was recorded over time, and what ended it early."""
        ended: BaseException | None = None
        try:
            found = self._ensemble.run(values, count, progress=progress, executor=executor)
        except (KeyboardInterrupt, cosim.CosimError) as error:
            if getattr(error, "result", None) is None:
                raise
            found, ended = error.result, error  # type: ignore[union-attr]
        return self._columns(found), found if self._keeps_series else None, ended

    def _columns(self, found: EnsembleResult) -> dict[str, Any]:
        table = found.table()
        columns = {name: table[name] for name in (*self.objectives, *OUTCOMES) if name in table}
        done = found.is_done
        status, reasons = columns["status"].astype(object), columns["reason"].astype(object)
        for name, function in self._of_results.items():
            values = np.full(len(found), np.nan)
            for run in np.flatnonzero(done):
                try:
                    values[run] = float(function(found.run(int(run))))
                except Exception as error:
                    status[run] = "failed"
                    reasons[run] = f"objective {name}: {type(error).__name__}: {error}"
            columns[name] = values
        return {**columns, "status": status, "reason": reasons}
