"""Study: many points of a model or scenario, stored in a folder, so that a killed study can continue."""

from __future__ import annotations

import tempfile
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import FixedAttributes
from cosim_workbench.studies.model_runs import OUTCOMES, ModelRuns
from cosim_workbench.studies.point_runner import SECONDS
from cosim_workbench.studies.points import points_of
from cosim_workbench.studies.series_parts import SeriesParts
from cosim_workbench.studies.studied import studied
from cosim_workbench.studies.study_folder import StudyFolder
from cosim_workbench.studies.study_table import StudyTable
from cosim_workbench.studies.subject_runs import SubjectRuns
from cosim_workbench.studies.variation import Variation, read_variation
from cosim_workbench.studies.written_rows import WrittenRows

Progress = Callable[[int, int, int], Any]
SERIES = "series"
"""The last column of a part: the name of the file with the values over time of a point."""


class Study(FixedAttributes):
    """Runs of a model at many points: the variations, the sample, and the objectives.

    Parameters
    ----------
    model : Model, StudySubject, path or object
        A model; or what a plugin runs, such as a scenario file or a `CoSimulation`.
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
        The seed of the sample, from which the seed of each point follows.
    folder : path_like, optional
        The folder of the study. Points that are finished there are not repeated.
    keep_series : bool
        Whether values over time are kept as well, as parts of Parquet in ``series``.
    **settings
        As for `cosim.Ensemble`: ``until``, ``integrator``, ``threads`` …; of a co-simulation ``until``,
        ``threads``, how many, and ``run_in``, "processes" or "threads" (`SubjectRuns`).

    Examples
    --------
    >>> import cosim
    >>> from cosim_workbench.studies import Study
    >>> model = cosim.Model("ramp")
    >>> ramp = model.add("signals.ramp", "ramp", height="1 m")
    >>> table = Study(model, {"ramp.height": "0..20 cm:3"}, ["last(ramp)"], until=1.0).run()
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
        worker_settings = {key: settings[key] for key in ("threads", "run_in") if key in settings}
        subject = studied(model, {k: v for k, v in settings.items() if k not in worker_settings})
        if isinstance(subject, cosim.Model):
            self._runs = ModelRuns(subject, objectives, keep_series, **settings)
        else:
            self._runs = SubjectRuns(subject, objectives, keeps_series=keep_series, **worker_settings)
        self._store_points(*points_of(self._read_variations(vary), sample, seed))
        self._keeps_series = keep_series
        self._description = {
            **self._runs.description(),
            "vary": {path: _text(values) for path, values in vary.items()},
            "sample": sample,
            "seed": seed,
            "objectives": self._runs.objectives,
            "points": len(self.seeds),
        }
        self._folder = None if folder is None else Path(folder)

    def _read_variations(self, vary: Mapping[str, Any]) -> list[Variation]:
        """The variations; all faults of them, and of the names of objectives, are raised together."""
        columns = {"point", "seed", *OUTCOMES, SECONDS, SERIES, *vary}
        problems = [
            cosim.Problem("objectives", f"'{name}' is another column of the table: choose another name")
            for name in self._runs.objectives
            if name in columns
        ]
        variations = []
        for path, values in vary.items():
            try:
                variations.append(read_variation(path, values, self._runs.unit(path)))
            except cosim.ModelError as error:
                problems += error.problems
            except cosim.CosimError as error:
                problems.append(cosim.Problem("", str(error)))
        if problems:
            raise cosim.ModelError(problems)
        return variations

    @property
    def message(self) -> str:
        """The reason why runs of a subject went through processes in place of threads; "" if they did not."""
        return self._runs.message

    @property
    def objectives(self) -> list[str]:
        """Names of what is kept of each point."""
        return list(self._runs.objectives)

    @property
    def points(self) -> Mapping[str, NDArray[np.float64]]:
        """The values of what is varied, by path, in SI; one for each point."""
        return MappingProxyType(self._points)

    @property
    def seeds(self) -> NDArray[np.int64]:
        """The seeds of the points."""
        return self._seeds

    def _store_points(self, points: Mapping[str, NDArray[np.float64]], seeds: NDArray[np.int64]) -> None:
        for values in (*points.values(), seeds):
            values.flags.writeable = False
        self._points, self._seeds = points, seeds

    def __len__(self) -> int:
        return len(self.seeds)

    def run(self, executor: Executor | None = None, progress: Progress | None = None) -> StudyTable:
        """Do the points that are not done yet.

        Parameters
        ----------
        executor : concurrent.futures.Executor, optional
            The executor of the runs; by default threads of this process.
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
            Ctrl-C; an executor that takes no more work. What is done is in the folder, and as a table
            the error's `result`.
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
            points = folder.points(["point", "seed", *inputs], rows)
            self._store_points(
                {path: np.array([float(row[2 + i]) for row in points]) for i, path in enumerate(inputs)},
                np.array([int(row[1]) for row in points], dtype=np.int64),
            )
            names = ["point", "seed", *inputs, *self.objectives, *OUTCOMES, SECONDS, SERIES]
            rows_done = folder.done(len(names))
            ended = self._run_remaining(folder, names, rows_done, executor, progress)
            ordered = [rows_done[point][:-1] for point in sorted(rows_done)]
            units = {path: self._runs.unit(path) for path in inputs} | {
                name: self._runs.units[name] for name in self.objectives if name in self._runs.units
            }
            table = StudyTable(names[:-1], ordered, inputs, self.objectives, units, len(self))
            folder.write_table(names[:-1], ordered)
        if ended is not None:
            ended.result = table  # type: ignore[attr-defined]
            raise ended
        return table

    def _run_remaining(
        self,
        folder: StudyFolder,
        names: Sequence[str],
        rows_done: dict[int, list[str]],
        executor: Executor | None,
        progress: Progress | None,
    ) -> BaseException | None:
        """Make the remaining runs, and write rows every few seconds. Returns the error that ended them."""
        remaining = np.array([point for point in range(len(self)) if point not in rows_done], dtype=np.int64)
        done_before = len(rows_done)
        series = None
        if self._keeps_series:
            earlier = {row[-1] for row in rows_done.values()}
            series = SeriesParts(folder.path / "series", "point", remaining, earlier)
            series.remove_others(())  # parts whose rows were not written
        written = WrittenRows(folder, names, rows_done)

        def keep(numbers: NDArray[np.int64], columns: dict[str, Any], files: dict[int, str]) -> None:
            seconds = written.seconds_since_last() / max(1, len(numbers))
            written.add(self._rows(remaining, numbers, columns, files, seconds))

        def report(ended: int, total: int) -> None:
            if progress is not None:
                progress(done_before + ended, len(self), written.failed)

        report(0, len(remaining))
        if not len(remaining):
            return None
        values = {path: column[remaining] for path, column in self.points.items()}
        try:
            self._runs.run(values, len(remaining), executor, report, keep, series)
        except (KeyboardInterrupt, cosim.CosimError) as error:
            return error
        finally:
            written.write()
        return None

    def _rows(
        self,
        remaining: NDArray[np.int64],
        numbers: NDArray[np.int64],
        columns: dict[str, Any],
        files: dict[int, str],
        seconds: float,
    ) -> list[list[Any]]:
        """The rows of points that have ended; `seconds` is their time if the runs have none of their own."""
        rows = []
        times = columns.get(SECONDS, [seconds] * len(numbers))
        begins = sorted(files)
        for i, number in enumerate(numbers.tolist()):
            point = int(remaining[number])
            values = [float(self.points[path][point]) for path in self.points]
            objectives = [float(columns[name][i]) for name in self.objectives]
            outcomes = [_plain(columns[name][i]) for name in OUTCOMES]
            count = bisect_right(begins, number)
            file = files[begins[count - 1]] if count else ""
            time = round(float(times[i]), 6)
            rows.append([point, int(self.seeds[point]), *values, *objectives, *outcomes, time, file])
        return rows


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _text(variation: Any) -> Any:
    """A variation as text, for the description of a study."""
    if hasattr(variation, "ppf"):
        return (
            f"{variation.dist.name}{variation.args}{variation.kwds}"
            if hasattr(variation, "dist")
            else repr(variation)
        )
    return variation if isinstance(variation, str) else np.asarray(variation).tolist()
