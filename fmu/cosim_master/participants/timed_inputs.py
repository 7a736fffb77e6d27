"""A participant that gives values over time."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import SAME_TIME, MadeFromOptions, ParticipantDescription, ParticipantVariable
from cosim_signals.series import read_series

INTERPOLATIONS = ("linear", "held")
EXTRAPOLATIONS = ("kept", "tangent", "error")
TYPES = ("real", "integer", "boolean", "string")


class TimedInputs(cosim.Participant, MadeFromOptions):
    """Feeds its connected inputs with values over time.

    Its outputs are the signals of a file or table. An input has the value of the start of a communication
    step over that step; an algorithm that extrapolates gives it a slope. Where values jump, the value after
    the jump counts, also if the step misses the time of the jump by rounding. `extrapolation` decides on the
    values before the first and after the last time.

    Parameters
    ----------
    series : path, Result or mapping of str to sequence
        A file that `cosim.read_result` reads (CSV, Parquet; units in the header), a result, or for each
        signal pairs of time and value: ``{"u": [[0.0, 1.0], ["500 ms", 2.0]]}``.
    interpolation : str
        Between the times, "linear" or "held"; by default a table is held, and a file or result is linear.
    types : mapping of str to str, optional
        Signals that are no real numbers: ``{"gear": "integer", "on": "boolean"}``; they are held. Text need
        not be named.
    units : mapping of str to str, optional
        Instead of those in the header.
    extrapolation : str
        Before the first and after the last time a signal keeps its value there ("kept"), goes on along the
        first or last straight line ("tangent"; a held one keeps its value), or ends the run ("error").

    Raises
    ------
    ModelError
        Faults of the series or the options.
    CosimError
        A file that cannot be read.

    Examples
    --------
    >>> ramp = TimedInputs({"u": [[0.0, 0.0], [2.0, 4.0]]}, "linear")
    >>> ramp.step(0.0, 0.5)
    0.5
    >>> ramp.get(["u"])
    [1.0]
    """

    def __init__(
        self,
        series: str | Path | cosim.Result | Mapping[str, Sequence[Any]],
        interpolation: str | None = None,
        types: Mapping[str, str] | None = None,
        units: Mapping[str, str] | None = None,
        extrapolation: str = "kept",
    ) -> None:
        read = read_series(series, texts=True)
        self._series = {name: (read[name].times, read[name].values) for name in read}
        self._units = {name: read[name].unit for name in read} | dict(units or {})
        interpolation = interpolation or ("held" if isinstance(series, Mapping) else "linear")
        if interpolation not in INTERPOLATIONS:
            raise cosim.ModelError.of("interpolation", f"is {interpolation!r}, needs 'linear' or 'held'")
        if extrapolation not in EXTRAPOLATIONS:
            raise cosim.ModelError.of(
                "extrapolation", f"is {extrapolation!r}, needs 'kept', 'tangent' or 'error'"
            )
        self._extrapolation = extrapolation
        self._types = {name: "string" for name in read if read[name].is_text} | dict(types or {})
        self._check_types()
        self._is_linear = {n: interpolation == "linear" and n not in self._types for n in self._series}
        self._time = 0.0
        times = [signal_times for signal_times, _ in self._series.values()]
        self._all_times = np.unique(np.concatenate([np.zeros(0), *times]))
        self._all_times.flags.writeable = False

    def _check_types(self) -> None:
        """Refuse types that do not fit the values of their signals."""
        for name, kind in self._types.items():
            if name not in self._series:
                raise cosim.ModelError.of("types", str(cosim.LookUpError("signal", name, self._series)))
            if kind not in TYPES:
                raise cosim.ModelError.of("types", f"{name} is {kind!r}, needs one of {', '.join(TYPES)}")
            values = self._series[name][1]
            if (kind == "string") != (values.dtype == object):
                text = f"{name} is {kind!r}, but has {'numbers' if kind == 'string' else 'text'}"
                raise cosim.ModelError.of("types", text)
            if kind in ("integer", "boolean") and not np.array_equal(values, np.rint(values)):
                raise cosim.ModelError.of("types", f"{name} is {kind}, but has values that are not whole")
        self._types = {name: kind for name, kind in self._types.items() if kind != "real"}

    @property
    def series(self) -> Mapping[str, tuple[NDArray[np.float64], NDArray[Any]]]:
        """Times (s) and values of each signal."""
        return MappingProxyType(self._series)

    @property
    def all_times(self) -> NDArray[np.float64]:
        """The times of all signals, s."""
        return self._all_times

    @property
    def extrapolation(self) -> str:
        """What signals do before the first and after the last time."""
        return self._extrapolation

    def is_linear(self, name: str) -> bool:
        """Whether a signal runs along straight lines."""
        return self._is_linear[name]

    def repeated(self) -> cosim.Participant:
        """A copy with the same values."""
        return copy.copy(self)

    @property
    def change_times(self) -> NDArray[np.float64] | None:
        """The times of all series, s; None where one of them follows lines in between."""
        return None if any(self._is_linear.values()) else self._all_times

    def describe(self) -> ParticipantDescription:
        """Outputs alone; none of them depends on anything."""
        variables = {
            name: ParticipantVariable(
                name, "output", self._types.get(name, "real"), self._units.get(name, "1")
            )
            for name in self._series
        }
        held = frozenset(name for name, linear in self._is_linear.items() if not linear)
        return ParticipantDescription(
            "values over time",
            variables,
            dict.fromkeys(variables, frozenset()),
            can_restore=True,
            can_serialize=True,
            settable=frozenset(),
            discrete=held,
            over_time=True,
        )

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Start at a time."""
        self._time = start

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Accept no values: there are no inputs."""

    def step(self, time: float, size: float) -> float:
        """Advance the time to the end of the step, or to a time of a series that only rounding separates."""
        end, times, rounding = time + size, self._all_times, SAME_TIME * size
        place = int(np.searchsorted(times, end - rounding))
        is_time_of_series = place < times.size and times[place] <= end + rounding
        self._time = float(times[place]) if is_time_of_series else end
        return end

    def get(self, names: Sequence[str]) -> list[Any]:
        """Values at the present time."""
        return [self._value(name) for name in names]

    def save(self) -> float:
        """The time, s."""
        return self._time

    def restore(self, token: float) -> None:
        """Restore the saved time, s."""
        self._time = token

    def serialize(self, token: float) -> bytes:
        """The time as bytes."""
        return np.float64(token).tobytes()

    def deserialize(self, data: bytes) -> float:
        """The time that was serialized, s."""
        return float(np.frombuffer(data)[0])

    def close(self) -> None:
        """Close nothing: there is no open resource."""

    def _value(self, name: str) -> Any:
        """The value of a signal at the present time."""
        times, values = self._series[name]
        after = int(np.searchsorted(times, self._time, "right"))
        is_beyond = after == 0 or self._time > times[-1]
        if is_beyond and self._extrapolation == "error":
            ends = f"{times[0]:g} s to {times[-1]:g} s"
            text = f'{name} has values from {ends}: give more, or extrapolation = "kept"'
            raise cosim.SimulationError(self._time, text)
        if not self._is_linear[name] or (is_beyond and self._extrapolation == "kept") or times.size == 1:
            value = values[max(after - 1, 0)]
        else:
            value = _value_on_line(times, values, self._time, min(max(after, 1), times.size - 1))
        return as_type(value, self._types.get(name, "real"))


def _value_on_line(times: NDArray[np.float64], values: NDArray[Any], time: float, end: int) -> Any:
    """The value at a time (s) on the straight line from the point before `end` to the point `end`."""
    start_time, end_time = times[end - 1], times[end]
    if end_time > start_time and time != end_time:
        part = (time - start_time) / (end_time - start_time)
        return values[end - 1] + part * (values[end] - values[end - 1])
    # at the end itself, or at a jump, which has no line
    return values[end] if time >= end_time else values[end - 1]


def as_type(value: Any, kind: str) -> Any:
    """A value of a series in the Python type of a variable's type."""
    if kind == "string":
        return str(value)
    return float(value) if kind == "real" else int(value) if kind == "integer" else bool(value != 0.0)
