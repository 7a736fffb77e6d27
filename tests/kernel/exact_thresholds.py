"""Random systems whose witnesses reach zero exactly, leave it and rest on it: in fractions, and in a run.

Two points move at rates that change at the ticks of a grid; the first one is sometimes set to another
position there. The witness is their distance less a limit. In fractions all of this is exact; in a run every
number is a multiple of a unit and of a grid that need not be binary fractions, so zero is reached up to
rounding.

The rates are discrete variables, which handlers switch, or speeds, which they push. A point that a switch has
stopped at its limit has crossed it. A point that a push has stopped or turned there triggers again as soon as
it moves in the same direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kernel_parts import system_of

import cosim

TICKS = 12
COUNTS, STOPS, SETS_AND_STOPS, SETS_AND_TURNS, TURNS, GOES_HOME = range(6)
"""What the handler of the event does to the first point."""
STAYS = -1000.0
"""The position of a tick at which the first point is not set."""
RISING, FALLING, BOTH = "rising", "falling", "both"
CROSSED, SET = 0, 10
"""Sides of a witness at zero: it crossed to zero, or was set there."""


class AmbiguousError(Exception):
    """What happens depends on rounding, or on the order of two handlers."""


class Points(cosim.Component):
    """Two points with rates and positions by tick; `does` is what the event does to the first one."""

    x = cosim.auxiliary_state()
    y = cosim.auxiliary_state()
    x_rate = cosim.discrete()
    y_rate = cosim.discrete()
    x_rates = cosim.parameter(unit="1", shape=TICKS, default=(0.0,) * TICKS)
    y_rates = cosim.parameter(unit="1", shape=TICKS, default=(0.0,) * TICKS)
    places = cosim.parameter(unit="1", shape=TICKS, default=(STAYS,) * TICKS)
    grid = cosim.parameter(unit="s", default=0.1)
    limit = cosim.parameter(unit="1", default=1.0)
    home = cosim.parameter(unit="1", default=0.0)
    does = cosim.parameter(unit="1", default=0.0)
    tick = cosim.discrete(dtype=int)
    events = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(x_rate, y_rate, x_dot, y_dot):
        x_dot[0] = x_rate
        y_dot[0] = y_rate

    @cosim.every("grid", does="unrestricted")
    def set_rates(x, tick, x_rates, y_rates, places, x_next, x_rate_next, y_rate_next, tick_next):
        if tick < TICKS:
            x_rate_next[0] = x_rates[tick]
            y_rate_next[0] = y_rates[tick]
            if places[tick] != STAYS:
                x_next[0] = places[tick]
        tick_next[0] = tick + 1


class PushedPoints(Points):
    """Points whose rates are speeds, which handlers push."""

    x = cosim.position(unit="1")
    y = cosim.position(unit="1")
    x_rate = cosim.speed(unit="1/s")
    y_rate = cosim.speed(unit="1/s")

    @cosim.kernel
    def derivatives(x_rate, y_rate, x_dot, y_dot, x_rate_dot, y_rate_dot):
        x_dot[0] = x_rate
        y_dot[0] = y_rate
        x_rate_dot[0] = 0.0
        y_rate_dot[0] = 0.0


def passed(y, does, limit, home, x_rate, y_rate, events, x_next, x_rate_next, events_next):
    events_next[0] = events + 1
    if does in (STOPS, SETS_AND_STOPS):
        x_rate_next[0] = y_rate
    if does in (SETS_AND_TURNS, TURNS):
        x_rate_next[0] = y_rate - (x_rate - y_rate)
    if does in (SETS_AND_STOPS, SETS_AND_TURNS):
        x_next[0] = y + limit
    if does == GOES_HOME:
        x_next[0] = y + home


def counted(events, events_next):
    events_next[0] = events + 1


def distance(x, y, limit):
    return x - y - limit


def points_of(direction: str, acts: bool, base: type[Points]) -> type[cosim.Component]:
    """Points whose witness triggers in a direction, and whose handler acts or only counts."""
    reaches = cosim.witness(direction=direction)(distance)
    handler = passed if acts else counted
    body = {"__doc__": "Points with a witness.", "__module__": __name__, "reaches": reaches}
    body[handler.__name__] = cosim.on(reaches, does="unrestricted")(handler)
    return type(f"{direction.capitalize()}{'Acting' if acts else 'Counting'}{base.__name__}", (base,), body)


CLASSES = {
    (way, acts, base): points_of(way, acts, base)
    for way in (RISING, FALLING, BOTH)
    for acts in (False, True)
    for base in (Points, PushedPoints)
}


@dataclass(frozen=True)
class Case:
    """One system in fractions; times are ticks, and positions are None where the first point is not set."""

    direction: str
    does: int
    x: Fraction
    y: Fraction
    limit: int
    home: int
    x_rates: tuple[int, ...]
    y_rates: tuple[int, ...]
    places: tuple[int | None, ...]
    base: type[Points] = Points

    def part(self, unit: float, grid: float) -> cosim.Component:
        """The component, in multiples of a unit and of a grid, s."""

        def scaled(number: Any) -> float:
            return float(number) * unit

        acts = self.does != COUNTS
        return CLASSES[self.direction, acts, self.base](
            x_rates=[float(r) * unit / grid for r in self.x_rates],
            y_rates=[float(r) * unit / grid for r in self.y_rates],
            places=[STAYS if p is None else scaled(p) for p in self.places],
            grid=grid,
            limit=scaled(self.limit),
            home=scaled(self.home),
            does=float(self.does),
        )


def random_case(random: Any, base: type[Points] = Points) -> Case | None:
    """A random case, or None if what happens is ambiguous."""
    direction = random.choice((RISING, FALLING, BOTH))
    does = random.choice((COUNTS, COUNTS, STOPS, SETS_AND_STOPS, SETS_AND_TURNS, TURNS, GOES_HOME))
    moving = random.random() < 0.5

    def rates(is_moving: bool) -> tuple[int, ...]:
        return tuple(random.choice((-2, -1, 0, 0, 1, 1, 2)) if is_moving else 0 for _ in range(TICKS))

    places = tuple(random.randint(-2, 4) if random.random() < 0.15 else None for _ in range(TICKS))
    limit, y = random.randint(1, 3), Fraction(random.randint(-1, 1))
    x = y + limit + random.choice((-2, -1, 0, 0, 1, 2))
    home = limit + random.choice((-2, -1, 1, 2))
    x_rates = rates(True)
    case = Case(direction, does, x, y, limit, home, x_rates, rates(moving), places, base)
    return case if on_paper(case) is not None else None


def triggers(direction: str, to: int) -> bool:
    """Whether a change to the side `to`, 1 or -1, is an event."""
    return direction == BOTH or (direction == RISING) == (to > 0)


def sign_of(number: Any) -> int:
    """1, 0 or -1."""
    return (number > 0) - (number < 0)


class ExactRun:
    """A case in exact arithmetic, tick after tick.

    Attributes
    ----------
    events : list of Fraction
        The times of the events so far, in ticks.
    y, w : Fraction
        The second point, and the witness.
    side : int
        1 or -1; at zero `CROSSED` or `SET`, or 2 or -2 if the point was pushed there from above or below.
    is_exact : bool
        Whether the point is where it is in a run: an event comes slightly late, and so does what its handler
        does.
    """

    def __init__(self, case: Case) -> None:
        self.case, self.events = case, list[Fraction]()
        self.y, self.w = case.y, case.x - case.y - case.limit
        self.side = sign_of(self.w) or SET
        self.x_rate = self.y_rate = 0
        self.is_exact = True

    def tick(self, n: int) -> None:
        """At tick `n` the witness may have reached zero, the first point may be set, and rates change."""
        case = self.case
        if n > 0 and self.w == 0 and self.side in (1, -1):
            to, self.side = -self.side, CROSSED
            if not self.is_exact:
                raise AmbiguousError
            if triggers(case.direction, to):
                if case.does != COUNTS:
                    raise AmbiguousError  # two handlers write one variable at one instant
                self.events.append(Fraction(n))
        place = case.places[n]
        if place is not None:
            before, self.w = self.w, Fraction(place) - self.y - case.limit
            self.is_exact = True
            if self.w != before or self.w == 0:
                self.side = sign_of(self.w) or SET
        self.x_rate, self.y_rate = case.x_rates[n], case.y_rates[n]

    def advance(self, n: int) -> None:
        """Advance from tick `n` to the next one, in at most 20 pieces between events."""
        time, end = Fraction(n), Fraction(n + 1)
        for _ in range(20):
            rate = self.x_rate - self.y_rate
            if rate == 0:
                break
            to = sign_of(rate)
            if self.side not in (1, -1):  # the witness leaves zero
                fires = self.side in (SET, -2 * to) and triggers(self.case.direction, to)
                self.side = to
                if fires:
                    self.handle(time, -to)
                continue
            if self.side == to or time - self.w / rate >= end:
                self.w += rate * (end - time)
                break
            time, self.w = time - self.w / rate, Fraction(0)
            came_from, self.side = self.side, CROSSED
            if triggers(self.case.direction, to):
                self.handle(time, came_from)
        else:
            raise AmbiguousError
        self.y += self.y_rate

    def handle(self, time: Fraction, came_from: int) -> None:
        """Record an event, and do what its handler does."""
        does = self.case.does
        self.events.append(time)
        if does == COUNTS:
            return
        self.is_exact = does == SETS_AND_STOPS
        self.w = Fraction(0)
        if does == GOES_HOME:
            self.w = Fraction(self.case.home - self.case.limit)
            self.side = sign_of(self.w)
        elif does in (STOPS, SETS_AND_STOPS):
            is_switched = does == STOPS and self.case.base is Points
            self.side, self.x_rate = (CROSSED if is_switched else 2 * came_from), self.y_rate
        elif does == TURNS and self.case.direction == BOTH:
            raise AmbiguousError  # it returns to zero at once, in the direction that triggers as well
        else:
            self.side, self.x_rate = 2 * came_from, 2 * self.y_rate - self.x_rate


def on_paper(case: Case) -> list[Fraction] | None:
    """The times of the events, in ticks; None if what happens is ambiguous."""
    exact_run = ExactRun(case)
    try:
        for n in range(TICKS):
            exact_run.tick(n)
            exact_run.advance(n)
    except AmbiguousError:
        return None
    ends_at_zero = exact_run.w == 0 and exact_run.side in (1, -1)
    return None if ends_at_zero else exact_run.events


def run(case: Case, unit: float, grid: float, **options: Any) -> list[float]:
    """The times of the events in a run, in ticks."""
    system = system_of(points=case.part(unit, grid))
    state = system.default_state()
    state["points.x"], state["points.y"] = float(case.x) * unit, float(case.y) * unit
    simulator = cosim.Simulator(system, state, **options)
    simulator.advance_to(round(grid * TICKS, 12))
    name = "points.passed" if case.does != COUNTS else "points.counted"
    return [event.time / grid for event in simulator.events if event.handler == name]
