"""Study: many points of a model or scenario, kept in a folder, gone on with after a kill."""

from __future__ import annotations

import tempfile
import time as wall
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import workers_of
from cosim_workbench.studies.model_runs import ModelRuns
from cosim_workbench.studies.points import points_of
from cosim_workbench.studies.series_parts import SeriesParts
from cosim_workbench.studies.study_folder import StudyFolder
from cosim_workbench.studies.study_table import StudyTable
from cosim_workbench.studies.subject_runs import SubjectRuns
from cosim_workbench.studies.variation import read_variation

Progress = Callable[[int, int, int], Any]
PART_TIME, CLUSTER_PART_TIME = 3.0, 20.0
"""s that a part of the table takes, about: that much is lost when the process is killed."""
MOST_NUMBERS = 2**23  # recorded over time in one part: 64 MB
MOST_ROWS = 100_000


class Study:
    """Points of a model: what is varied, how points are drawn, what is kept of each.

    Parameters
    ----------
    model : Model or StudySubject
        A model; or what a plugin runs, such as a scenario.
    vary : mapping of str to str or sequence
        Paths of variables with their values: ``{"mount.stiffness[5]": "100 N/mm..300 N/mm:21"}``; see
        `cosim_workbench.studies.variation.read_variation`.
    objectives : sequence or mapping, optional
        What is kept of each point: ``["peak=max(engine.z)", "module:function"]``; the last value of
        everything that is recorded unless given.
    sample : str, optional
        ``"latin:1000"``, ``"sobol:1024"``, ``"halton:500"``, ``"random:100"``; every combination unless
        given.
    seed : int
        Of the sample; each point has a seed of its own that follows from it.
    folder : path-like, optional
        Where the study is kept. What is done there already is not done again.
    keep_series : bool
        Whether values over time are kept as well, as parts of Parquet in ``series``.
    **settings
        As for `cosim.Ensemble`: ``until``, ``integrator``, ``threads`` …

    Attributes
    ----------
    points : dict of str to ndarray
        By path, in SI.
    seeds : ndarray of int64

    Examples
    --------
    >>> import cosim
    >>> from cosim_workbench.studies import Study
    >>> model = cosim.Model("ramp")
    >>> ramp = model.add("signals.ramp", "ramp", height="1 m")
    >>> table = Study(model, {"ramp.height": "0..20 cm:3"}, ["last(ramp)"]).run()
    >>> table["last(ramp)"].tolist()
    [0.0, 0.1, 0.2]
    """

    def __init__(
        self,
        model: Any,
        vary: Mapping[str, Any],
        objectives: Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        sample: str | None = None,
        seed: int = 0,
        folder: str | PathLike[str] | None = None,
        keep_series: bool = False,
        **settings: Any,
    ) -> None:
        self._runs: ModelRuns | SubjectRuns
        if isinstance(model, cosim.Model):
            self._runs = ModelRuns(model, objectives, keep_series, **settings)
        else:
            if keep_series:
                raise cosim.ModelError.of("series", "values over time are kept of models, not of scenarios")
            self._runs = SubjectRuns(model, objectives, settings.get("threads"))
        problems, variations = [], []
        for path, given in vary.items():
            try:
                variations.append(read_variation(path, given, self._runs.unit(path)))
            except cosim.ModelError as error:
                problems += error.problems
            except cosim.CosimError as error:
                problems.append(cosim.Problem("", str(error)))
        if problems:
            raise cosim.ModelError(problems)
        self.points, self.seeds = points_of(variations, sample, seed)
        self._keeps_series = keep_series
        self._description = {
            **self._runs.description(),
            "vary": {path: _text(given) for path, given in vary.items()},
            "sample": sample,
            "seed": seed,
            "objectives": self._runs.objectives,
            "points": len(self.seeds),
        }
        self._folder = None if folder is None else Path(folder)

    @property
    def objectives(self) -> list[str]:
        """Names of what is kept of each point."""
        return list(self._runs.objectives)

    def __len__(self) -> int:
        return len(self.seeds)

    def run(self, executor: Executor | None = None, progress: Progress | None = None) -> StudyTable:
        """Do the points that are not done yet.

        Parameters
        ----------
        executor : concurrent.futures.Executor, optional
            Where they are done instead of in threads here.
        progress : callable, optional
            Called with how many points are done, how many there are, how many have failed.

        Returns
        -------
        StudyTable
            Written to ``table.csv`` in the folder, too.

        Raises
        ------
        CosimError
            The folder has another study in it, or another process works on it.
        KeyboardInterrupt, CosimError
            Ctrl-C; an executor that takes no more work. What is done is in the folder.
        """
        if self._folder is None:
            with tempfile.TemporaryDirectory(prefix="cosim-study-") as place:
                return self._run_in(StudyFolder(Path(place), self._description), executor, progress)
        return self._run_in(StudyFolder(self._folder, self._description), executor, progress)

    def _run_in(
        self, folder: StudyFolder, executor: Executor | None, progress: Progress | None
    ) -> StudyTable:
        inputs = list(self.points)
        with folder.locked():
            columns = [self.points[path].tolist() for path in inputs]
            rows = list(zip(range(len(self)), self.seeds.tolist(), *columns, strict=True))
            known = folder.points(["point", "seed", *inputs], rows)
            for i, path in enumerate(inputs):
                self.points[path] = np.array([float(row[2 + i]) for row in known])
            self.seeds = np.array([int(row[1]) for row in known], dtype=np.int64)
            names = ["point", "seed", *inputs, *self.objectives, "status", "end", "steps", "events", "reason"]
            names.append("seconds")
            series = None
            if self._keeps_series:
                series = SeriesParts(folder.path / "series")
            done = folder.done()
            ended = self._do(folder, names, done, series, executor, progress)
            ordered = [done[point] for point in sorted(done)]
            units = {path: self._runs.unit(path) for path in inputs} | {
                name: self._runs.units[name] for name in self.objectives if name in self._runs.units
            }
            table = StudyTable(names, ordered, inputs, self.objectives, units, len(self))
            folder.write_table(names, ordered)
        if ended is not None:
            raise ended
        return table

    def _do(
        self,
        folder: StudyFolder,
        names: Sequence[str],
        done: dict[int, list[str]],
        series: SeriesParts | None,
        executor: Executor | None,
        progress: Progress | None,
    ) -> BaseException | None:
        """Do what is left, part by part; what has ended it early."""
        left = [point for point in range(len(self)) if point not in done]
        status_at = names.index("status")
        failed = sum(row[status_at] == "failed" for row in done.values())
        begun = len(done)
        size = max(1, 2 * (self._runs.workers if executor is None else workers_of(executor)))
        if progress is not None:
            progress(begun, len(self), failed)
        at = 0
        while at < len(left):
            part = np.array(left[at : at + size])

            def report(some: int, of: int, failed: int = failed) -> None:
                if progress is not None:
                    progress(len(done) + some, len(self), failed)

            began = wall.perf_counter()
            found, recorded, ended = self._runs.run(
                {path: values[part] for path, values in self.points.items()}, len(part), executor, report
            )
            took = wall.perf_counter() - began
            rows = self._rows(part, found, took / len(part))
            if series is not None and recorded is not None:
                series.add(recorded, part, found["status"])
            folder.add(names, rows)
            done.update({int(row[0]): [str(value) for value in row] for row in rows})
            failed += sum(row[status_at] == "failed" for row in rows)
            if ended is not None:
                return ended
            at += len(part)
            size = self._next_size(len(part), took, PART_TIME if executor is None else CLUSTER_PART_TIME)
        return None

    def _next_size(self, size: int, took: float, wanted_time: float) -> int:
        wanted = max(1, min(4 * size, int(size * wanted_time / max(took, 1e-6)), MOST_ROWS))
        width = self._runs.numbers_of_a_run
        return max(1, min(wanted, MOST_NUMBERS // width)) if width else wanted

    def _rows(self, part: NDArray[np.int64], found: dict[str, Any], seconds: float) -> list[list[Any]]:
        """Of the points that have ended."""
        rows = []
        ended = ("status", "end", "steps", "events", "reason")
        for i, point in enumerate(part.tolist()):
            if found["status"][i] == "not run":
                continue
            values = [float(self.points[path][point]) for path in self.points]
            kept = [float(found[name][i]) for name in self.objectives]
            how = [_plain(found[name][i]) for name in ended]
            rows.append([point, int(self.seeds[point]), *values, *kept, *how, round(seconds, 6)])
        return rows


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _text(given: Any) -> Any:
    """What is varied, for the description of a study."""
    if hasattr(given, "ppf"):
        return f"{given.dist.name}{given.args}{given.kwds}" if hasattr(given, "dist") else repr(given)
    return given if isinstance(given, str) else np.asarray(given).tolist()
