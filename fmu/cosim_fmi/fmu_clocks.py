"""FmuClocks: the clocks of an instance of FMI 3.0, when they tick, and the variables that belong to them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from cosim.kit import exact_quantity
from cosim_fmi.description.fmu_interface import FmuInterface
from cosim_fmi.description.model_description import INTERVAL_FROM_FMU, PERIODIC, FmuClock

NOT_YET_KNOWN, CHANGED = 0, 2
"""Qualifiers of an interval, as FMI 3.0 numbers them; 1 says that it is as before."""
EARLY = 1e-12
"""How much too early a computed time may be, s, besides some steps of floating-point numbers."""
SavedClocks = tuple[Any, Any, Any, Any, frozenset[str], frozenset[str], bool]
"""Schedule, intervals, values, shown messages, ticked and fired clocks, and whether they were read."""


class _Grid(NamedTuple):
    """The ticks of a clock: the next one, s; their origin and interval, and the number of the tick."""

    time: float
    origin: Fraction
    interval: Fraction
    number: int

    @classmethod
    def of(cls, origin: Fraction, interval: Fraction, number: int) -> _Grid:
        """The tick with a number: the double nearest to ``origin + number * interval``."""
        return cls(float(origin + number * interval), origin, interval, number)


class FmuClocks:
    """The clocks of an instance: their next ticks, and which of them tick; FMI 1.0 and 2.0 have none.

    Clocks with an interval are activated at ``origin + i * interval``, both rational numbers; those of
    changing interval and countdown clocks when the FMU says so. Triggered inputs tick when they are set, at
    most once at one instant; triggered outputs are listened to in event mode.

    Parameters
    ----------
    instance : FmuInstance
        An instance of FMI 3.0, which has clocks.
    clocks : mapping of str to FmuClock
    clocked : mapping of str to sequence of str
        For each variable that belongs to clocks their names.
    messages : collection of str
        Those of the variables that are binary outputs: an update of discrete states may discard their values.

    Attributes
    ----------
    ticked : set of str
        The clocks that ticked since the last step began.
    fired : set of str
        Inputs that have been activated at this instant.
    active : set of str
        Clocks that tick in this pass through event mode.
    values : dict of str to object
        Clocked inputs as they have been set; the FMU gets them when their clock ticks.
    shown : dict of str to object
        The messages as they were when their clock ticked last: FMI forbids to read them at other times.
    """

    def __init__(
        self,
        instance: Any,
        clocks: Mapping[str, FmuClock],
        clocked: Mapping[str, Sequence[str]],
        messages: Collection[str] = (),
    ) -> None:
        self._instance, self._clocks, self.clocked = instance, clocks, clocked
        self._outputs = [name for name, clock in clocks.items() if clock.causality == "output"]
        self._timed = [name for name, clock in clocks.items() if clock.ticks_by_time]
        self._decided_by_fmu = [n for n in self._timed if clocks[n].variability in INTERVAL_FROM_FMU]
        self._messages = messages
        self._schedule: dict[str, _Grid] = {}
        self._intervals: dict[str, Fraction | float] = {}  # the last ones that the FMU has given
        self.ticked: set[str] = set()
        self._ticked_before: set[str] = set()  # since the step began, but before this instant
        self.fired: set[str] = set()
        self.active: set[str] = set()
        self.values: dict[str, Any] = {}
        self.shown: dict[str, Any] = {}
        self._is_read = False  # whether a clock was read since the step began

    @classmethod
    def of(cls, instance: Any, interface: FmuInterface) -> FmuClocks:
        """The clocks of an instance, as its interface declares them."""
        variables = interface.description.variables
        messages = [
            name
            for name in interface.clocks_of
            if variables[name].type == "binary" and variables[name].causality != "input"
        ]
        return cls(instance, interface.clocks, interface.clocks_of, messages)

    def start_instant(self) -> None:
        """Begin an event: ticks count as new from now on."""
        self.fired = set()
        self._ticked_before, self.ticked = self.ticked, set()

    def end_instant(self) -> None:
        """End an event: ticks since the begin of the step reach other participants at its end."""
        self.ticked |= self._ticked_before

    def start_schedule(self, time: float) -> None:
        """Schedule the first ticks, when event mode begins for the first time."""
        for name in self._timed:
            clock = self._clocks[name]
            if clock.variability in PERIODIC and not math.isnan(clock.interval):
                self._schedule[name] = _Grid.of(_exact(time) + _exact(clock.shift), _exact(clock.interval), 0)
        self.read_intervals(time)

    @property
    def next_time(self) -> float:
        """The time of the next tick, s; infinite if there is none."""
        return min((grid.time for grid in self._schedule.values()), default=math.inf)

    def due_clocks(self, time: float) -> list[str]:
        """Clocks that tick at this instant; rounding may have put it a little before the exact time."""
        latest = time + 4.0 * math.ulp(time) + EARLY
        return [name for name, grid in self._schedule.items() if grid.time <= latest]

    def activate(self, names: Iterable[str]) -> dict[str, Any]:
        """Activate inputs, in event mode. Returns the clocked inputs that are written with them."""
        chosen = [name for name in names if name in self._clocks]
        if not chosen:
            return {}
        self._instance.activate_clocks([self._clocks[name].reference for name in chosen])
        self._tick(chosen)
        self.fired |= set(chosen)
        self.active |= set(chosen)
        for name in chosen:
            if name in self._schedule:
                _, origin, interval, i = self._schedule.pop(name)
                if self._clocks[name].variability in PERIODIC:
                    self._schedule[name] = _Grid.of(origin, interval, i + 1)
        return {n: v for n, v in self.values.items() if any(clock in chosen for clock in self.clocked[n])}

    def listen(self) -> None:
        """Read which triggered outputs tick, in event mode."""
        if not self._outputs:
            return
        values = self._instance.active_clocks([self._clocks[name].reference for name in self._outputs])
        active = [name for name, value in zip(self._outputs, values, strict=True) if value]
        self.active |= set(active)
        self._tick(active)

    def ticking_messages(self) -> list[str]:
        """Names of the messages whose clocks tick in this pass through event mode."""
        return [name for name in self._messages if self.active.intersection(self.clocked[name])]

    def message(self, name: str) -> bytes | None:
        """A message as it was when its clock ticked last, empty before; None for another variable."""
        return self.shown.get(name, b"") if name in self._messages else None

    def _tick(self, names: Sequence[str]) -> None:
        """Add ticks; earlier ones that have been read already are over."""
        if names and self._is_read:
            self.ticked, self._is_read = set(), False
        self.ticked |= set(names)

    def read_intervals(self, time: float) -> None:
        """Read the intervals that the FMU decides, in event mode, and schedule the next ticks."""
        for name in self._decided_by_fmu:
            interval = self._read_interval(name)
            if interval is not None:
                self._intervals[name] = interval
                self._schedule[name] = self._next_tick(name, time, _exact(interval))

    def _read_interval(self, name: str) -> Fraction | float | None:
        """The interval by which a clock is scheduled anew, s; None if its schedule stays.

        Raises
        ------
        ValueError
            It is negative, not finite, or 0 where ticks repeat.
        """
        clock = self._clocks[name]
        interval, qualifier = self._instance.interval(clock.reference, clock.has_fractions)
        is_changed, is_periodic = qualifier == CHANGED, clock.variability in PERIODIC
        if qualifier == NOT_YET_KNOWN:
            return None
        if not is_changed and (name in self._schedule or clock.variability == "countdown"):
            return None
        if not (is_changed or is_periodic):
            interval = self._intervals.get(name, interval)
        if not 0.0 <= interval < math.inf or (is_periodic and interval == 0.0):
            least = "above 0" if is_periodic else "of 0 or more"
            raise ValueError(f"clock {name} has an interval of {float(interval)!r} s, needs one {least}")
        known_interval: Fraction | float = interval
        return known_interval

    def _next_tick(self, name: str, time: float, interval: Fraction) -> _Grid:
        """The next tick of a clock whose interval, s, is read at `time`."""
        clock, grid = self._clocks[name], self._schedule.get(name)
        if clock.variability not in PERIODIC:
            return _Grid.of(_exact(time) + interval, Fraction(0), 0)
        if grid is None:
            return _Grid.of(_exact(time) + _exact(clock.shift), interval, 0)
        if grid.interval == interval:
            return grid
        if grid.number == 0:
            return _Grid.of(grid.origin, interval, 0)
        last_tick = grid.origin + (grid.number - 1) * grid.interval
        return _Grid.of(last_tick, interval, 1)

    def read(self, name: str) -> bool:
        """Whether a clock has ticked since the last step began."""
        self._is_read = True
        return name in self.ticked

    def start_step(self) -> None:
        """Begin a step: ticks count as new from now on; those that were not read yet are retained."""
        self.fired = set()
        if self._is_read:
            self.ticked = set()
        self._is_read = False

    def save(self) -> SavedClocks:
        """The state of the clocks."""
        ticks = frozenset(self.ticked), frozenset(self.fired), self._is_read
        return dict(self._schedule), dict(self._intervals), dict(self.values), dict(self.shown), *ticks

    def restore(self, saved: SavedClocks) -> None:
        """Restore the clocks."""
        schedule, intervals, values, shown, ticked, fired, self._is_read = saved
        self._schedule, self._intervals = dict(schedule), dict(intervals)
        self.values, self.shown = dict(values), dict(shown)
        self.ticked, self.fired = set(ticked), set(fired)


def _exact(time: Fraction | float) -> Fraction:
    """The rational number that a time stands for: 1/10 for the double 0.1."""
    try:
        return exact_quantity(time, "s")
    except ValueError:  # no fraction with a resolution of 64 bits is close enough
        return Fraction(time)
