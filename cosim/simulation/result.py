"""Result: what a simulation recorded."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosim.argument_checks import check_mapping, read_seconds
from cosim.errors import LookUpError, ModelError, Problem
from cosim.html_table import html_table
from cosim.name_patterns import is_pattern, matches
from cosim.simulation.result_outputs import ResultOutputs
from cosim.value_text import quote

if TYPE_CHECKING:
    from cosim.simulation.gradient import Gradient

REAL = np.dtype(np.float64)


def derivative_name(of: str, by: str) -> str:
    """The name of a derivative among the signals of a file."""
    return f"d({of})/d({by})"


def quotient(unit: str, by: str) -> str:
    """A unit over another one."""
    over = f"({unit})" if "/" in unit else unit  # a/b/c could be meant in two ways
    return unit if by == "1" else f"{over}/({by})"


class Result(ResultOutputs):
    """Signals over time, with their units, the events and the statistics of the run.

    Signals are numbers, true or false, or text: arrays of float64, of bool, or of objects that are `str`.
    Reading, plotting and writing change nothing.

    Parameters
    ----------
    time : array_like, shape (n,), s
        Does not decrease; an instant with an event may stand in it twice, before and after.
    signals : mapping of str to array_like, shape (n,) or (n, size)
        By path: ``"engine.z"``. Booleans and text stay what they are, other numbers become float64.
    units : mapping of str to str, optional
        Modelica unit expressions; a signal that is not named has unit "1".
    events : sequence, optional
        Records of the events, in order.
    statistics : mapping of str to object, optional
        ``steps``, ``rejections``, ``evaluations``, ``wall_time`` (s) …
    message : str
        Why the run ended before its end; empty when it did not.
    findings : sequence, optional
        What was noticed about witnesses, in order.
    unfinished : str
        Why rows are missing at the end: the run failed, was interrupted, or goes on; empty when it is whole.
        Files of results say it, too.

    Raises
    ------
    ModelError
        Listing every signal that does not fit the times, or has neither numbers nor text.

    Examples
    --------
    >>> import cosim
    >>> signals = {"ball.z": [2.0, 3.0], "energy.kinetic": [0.0, 1.0]}
    >>> result = cosim.Result([0.0, 1.0], signals, {"ball.z": "m", "energy.kinetic": "J"})
    >>> result["ball.z"]
    array([2., 3.])
    >>> result.select("energy.*").names
    ['energy.kinetic']
    """

    instead = "make another, cosim.Result(time, signals, units)"
    reading_hints: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("t", "times", "index"), "write result.time"),
        **dict.fromkeys(("y", "values", "data", "states"), "write result['part.signal'], or to_numpy()"),
        **dict.fromkeys(("save", "write", "to_file"), "write to_csv('run.csv') or to_parquet('run.parquet')"),
        **dict.fromkeys(("keys", "signal_names"), "write result.names"),
        **dict.fromkeys(("df", "dataframe", "to_df", "to_dataframe"), "write to_pandas()"),
        "to_excel": "write to_pandas().to_excel('run.xlsx')",
    }

    def __init__(
        self,
        time: ArrayLike,
        signals: Mapping[str, ArrayLike],
        units: Mapping[str, str] | None = None,
        events: Sequence[Any] = (),
        statistics: Mapping[str, Any] | None = None,
        message: str = "",
        findings: Sequence[Any] = (),
        unfinished: str = "",
    ) -> None:
        check_mapping(signals, "signals", "Result(time, {'engine.z': values})")
        self.time: NDArray[np.float64] = np.asarray(time, dtype=np.float64)
        self.signals, problems = _checked_signals(signals, self.time)
        if problems:
            raise ModelError(problems)
        unit_of = {} if units is None else units
        has_all = list(unit_of) == list(self.signals)  # in this order, as those of a run
        self.units = dict(unit_of) if has_all else {name: unit_of.get(name, "1") for name in self.signals}
        self.events, self.findings = events, list(findings)
        self.statistics = dict(statistics or {})
        self.message, self.unfinished = message, unfinished
        self.derivatives: dict[str, dict[str, NDArray[np.float64]]] = {}
        self._trail: Any = None  # of a run that was asked for a gradient
        self.variable_units: dict[str, str] = {}  # of what there are derivatives by
        self._model: Any = None  # of a run of a model, in this process

    def _hint_where_missing(self, name: str) -> str:
        paths = [path for path in self.signals if name in path.split(".")[-1:]]
        return f"write result['{paths[0]}']" if paths else super()._hint_where_missing(name)

    def derivative(self, of: str, by: str) -> NDArray[np.float64]:
        """The derivative of a signal by a parameter or start value, at each of the times, in its shape.

        Of a run that was asked for ``derivatives=[by, …]``, or of a file with its results. At an event that
        moves both sides are derivatives at a fixed time. NaN where there is none: a finding says from when
        on, and why.

        Raises
        ------
        LookUpError
            The run was not asked for it.
        """
        name = next((name for name in names_of(of) if name in self.derivatives), of)
        by_variable = self.derivatives.get(name)
        if by_variable is None:
            for saved in (derivative_name(name, by) for name in names_of(of)):
                if saved in self.signals:
                    return self.signals[saved]
            raise LookUpError("derivative", of, self.derivatives)
        if by not in by_variable:
            raise LookUpError("derivative", by, by_variable)
        return by_variable[by]

    def gradient(self, objective: Any) -> Gradient:
        """The gradient of a number that follows from this run, back along its steps.

        Of a run that was asked for ``gradient=[by, …]``. It takes as long as three to six runs, however many
        parameters there are.

        Parameters
        ----------
        objective : str or callable
            The path of a signal, for its last value; or a function of a result that returns a number and its
            cotangents, as `cosim.objectives.integral_of_square` makes one.

        Returns
        -------
        Gradient
            NaN where the run has no derivatives: a finding says from when on, and why.

        Raises
        ------
        LookUpError
            The run was not asked for a gradient, or the objective names a signal that was not recorded.
        SimulationError
            A part of the run could not be gone back over.
        """
        if self._trail is None:
            raise LookUpError("gradient", str(objective), {})
        gradient: Gradient = self._trail.gradient(objective, self)
        return gradient

    def with_derivatives(self) -> Result:
        """The result with its derivatives as further signals, as files have them: ``d(of)/d(by)``.

        Their units are quotients. `derivative` finds them there, too.
        """
        if not self.derivatives:
            return self
        signals, units = dict(self.signals), dict(self.units)
        for of, by_variable in self.derivatives.items():
            for by, values in by_variable.items():
                name = derivative_name(of, by)
                signals[name], units[name] = (
                    values,
                    quotient(self.units[of], self.variable_units.get(by, "1")),
                )
        return self._of_same_run(self.time, signals, units, self.events)

    def __repr__(self) -> str:
        span = f", {self.time[0]:g} s to {self.time[-1]:g} s" if self.time.size else ""
        return f"<Result: {len(self.signals)} signals, {self.time.size} points{span}>"

    def __len__(self) -> int:
        return int(self.time.size)

    def __iter__(self) -> Iterator[str]:
        """The names of the signals, as of a mapping; ``result[name]`` has the values."""
        return iter(self.signals)

    def _repr_html_(self) -> str:
        ranges = ((n, self.units[n], *_range(v)) for n, v in self.signals.items())
        return html_table(repr(self), [("signal", "unit", "least", "largest"), *ranges])

    def _ipython_key_completions_(self) -> list[str]:
        return ["time", *self.signals]

    def __contains__(self, name: object) -> bool:
        return name == "time" or (isinstance(name, str) and self._find(name) is not None)

    @overload
    def __getitem__(self, name: str) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, name: slice) -> Result: ...
    def __getitem__(self, name: str | slice) -> NDArray[Any] | Result:
        """Values of one signal over time, or the result between two times: ``result[0.5:1.0]``.

        Parameters
        ----------
        name : str or slice
            ``"time"``, a path, one element of it (``"mount.force[3]"``), or a measure by its bare name; or
            two times, s or text with a unit, both of them inside.

        Returns
        -------
        ndarray, shape (n,) or (n, size), or Result

        Raises
        ------
        LookUpError
            With the nearest name.
        """
        if isinstance(name, slice):
            return self._between(name)
        if name == "time":
            return self.time
        if isinstance(name, (list, tuple)) and all(isinstance(item, str) for item in name):
            names = ", ".join(map(repr, name))
            raise LookUpError("signal in this result", quote(name), [], f"Several: result.select([{names}]).")
        if not isinstance(name, str):
            hint = "Signals have names: result['…']."
            raise LookUpError("signal in this result", quote(name), self.signals, hint)
        match = self._find(name)
        if match is None:
            hint = "Only recorded signals are here: simulate(…, signals=[…]) says which."
            if name in ("t", "times"):
                hint = "The time is result.time."
            elif not self.signals:
                hint = "Nothing was recorded but the time."
            raise LookUpError("signal in this result", name, self.signals, hint)
        signal, element = match
        values = self.signals[signal]
        return values if element is None else values[:, element]

    def _between(self, times: slice) -> Result:
        """The rows between two times, and the events between them."""
        if times.step is not None:
            raise ModelError.of(
                "result", f"[{times.start}:{times.stop}:{times.step}]: needs two times, no step"
            )
        first = -math.inf if times.start is None else read_seconds(times.start, "start of the slice")
        last = math.inf if times.stop is None else read_seconds(times.stop, "end of the slice")
        for end, name in ((first, "start"), (last, "end")):
            if math.isnan(end):
                raise ModelError.of(f"{name} of the slice", "is nan, needs a time")
        rounding = 1e-15 * float(np.abs(self.time).max(initial=0.0))  # 6 * 0.1 is not 0.6
        first, last = first - rounding, last + rounding
        within = (self.time >= first) & (self.time <= last)
        signals = {name: values[within] for name, values in self.signals.items()}
        events = [event for event in self.events if first <= event.time <= last]
        return self._of_same_run(self.time[within], signals, self.units, events)

    @property
    def warnings(self) -> list[str]:
        """Warnings about the run, in sentences: for instance that the system is stiff."""
        return list(self.statistics.get("warnings", ()))

    @property
    def references(self) -> str:
        """The publications of the methods of the run: BibTeX entries."""
        return str(self.statistics.get("references", ""))

    @property
    def names(self) -> list[str]:
        """Paths of the signals, in the order in which they were listed."""
        return list(self.signals)

    def unit(self, name: str) -> str:
        """Unit of a signal: a Modelica unit expression."""
        if name == "time":
            return "s"
        match = self._find(name)
        return "1" if match is None else self.units[match[0]]

    def select(self, patterns: str | Iterable[str]) -> Result:
        """A result with the signals that match, in the order of the patterns.

        Parameters
        ----------
        patterns : str or iterable of str
            Names, or patterns with ``*`` and ``?``: ``"energy.*"``.

        Returns
        -------
        Result
            It shares the arrays with this one.

        Raises
        ------
        LookUpError
            For a pattern that matches nothing, with the nearest name.
        """
        chosen: dict[str, NDArray[Any]] = {}
        for pattern in [patterns] if isinstance(patterns, str) else patterns:
            names = [pattern]
            if is_pattern(pattern):
                names = [name for name in self.signals if matches(name, pattern)]
                names = names or [name for name in self.columns() if matches(name, pattern)]
                if not names:
                    raise LookUpError("signal in this result that matches", pattern, self.signals)
            for name in names:
                chosen.setdefault(name, self[name])
        units = {name: self.unit(name) for name in chosen}
        return self._of_same_run(self.time, chosen, units, self.events)

    def _of_same_run(
        self,
        time: NDArray[np.float64],
        signals: Mapping[str, NDArray[Any]],
        units: Mapping[str, str],
        events: Sequence[Any],
    ) -> Result:
        """Another selection of what this run has recorded, with what else is known of the run."""
        other = Result(
            time,
            signals,
            units,
            events,
            self.statistics,
            self.message,
            self.findings,
            self.unfinished,
        )
        other._model = self._model
        return other

    def columns(self) -> dict[str, NDArray[Any]]:
        """Every scalar by itself: elements of a vector signal are ``name[i]``, counted from 0."""
        flat: dict[str, NDArray[Any]] = {}
        for name, values in self.signals.items():
            if values.ndim == 1:
                flat[name] = values
            else:
                flat.update({f"{name}[{i}]": values[:, i] for i in range(values.shape[1])})
        return flat

    def numbers(self) -> dict[str, NDArray[np.float64]]:
        """The `columns` that can be drawn and computed with: without text, booleans as 0 and 1."""
        return {
            name: values.astype(np.float64, copy=False)
            for name, values in self.columns().items()
            if values.dtype != object
        }

    def __getstate__(self) -> dict[str, Any]:
        """The pickled and copied content: all but the model."""
        return {**self.__dict__, "_model": None, "_trail": None}

    def _find(self, name: str) -> tuple[str, int | None] | None:
        """The recorded name, and the element of it, that a name means."""
        for candidate in names_of(name):
            if candidate in self.signals:
                return candidate, None
        indexed = re.fullmatch(r"(.+)\[(\d+)\]", name)
        vector = None if indexed is None else self._find(indexed[1])
        if indexed is None or vector is None or vector[1] is not None:
            return None
        values, element = self.signals[vector[0]], int(indexed[2])
        return (vector[0], element) if values.ndim == 2 and element < values.shape[1] else None


def names_of(name: str) -> tuple[str, str, str]:
    """The names under which a signal may be recorded: a measure's own name stands for its value."""
    return name, f"{name}.value", name.removesuffix(".value")


def _checked_signals(
    signals: Mapping[str, ArrayLike], time: NDArray[np.float64]
) -> tuple[dict[str, NDArray[Any]], list[Problem]]:
    """The signals as arrays, and the problems of signals and times: wrong values first, then wrong shapes."""
    count = time.size
    arrays: dict[str, NDArray[Any]] = {}
    problems: list[Problem] = []
    misshapen: list[Problem] = []
    for name, column in signals.items():
        is_column = type(column) is np.ndarray and column.dtype is REAL  # of a run: thousands
        values: Any = column if is_column else _values(name, column, problems)
        arrays[name] = values
        if values.ndim not in (1, 2) or len(values) != count:
            needs = f"({count},) or ({count}, size), as there are so many times"
            misshapen.append(Problem(name, f"has shape {values.shape}, needs {needs}"))
    if time.ndim != 1:
        problems.append(Problem("time", f"has shape {time.shape}, needs one dimension"))
    elif (time[1:] < time[:-1]).any():
        problems.append(Problem("time", "decreases"))
    return arrays, [*problems, *misshapen]


def _values(name: str, sequence: ArrayLike, problems: list[Problem]) -> NDArray[Any]:
    """The values of a signal as one of the three kinds of array."""
    values = np.asarray(sequence)
    if values.dtype.kind == "U" and not isinstance(sequence, np.ndarray):
        values = np.asarray(sequence, dtype=object)  # numpy would make texts of numbers, and drop zeros
    if values.dtype.kind in "UT" or (values.dtype == object and all(isinstance(v, str) for v in values.flat)):
        return values.astype(object)
    if values.dtype == np.bool_:
        return values
    try:
        return values.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        problems.append(Problem(name, "has values that are neither all numbers nor all text"))
        return np.full(values.shape, np.nan)


def _range(values: NDArray[Any]) -> tuple[str, str]:
    """The least and the largest value, as text; of texts how many there are."""
    if not values.size:
        return "", ""
    if values.dtype == object:
        return f"{len(set(values.flat))} texts", ""
    return f"{float(values.min()):.6g}", f"{float(values.max()):.6g}"
