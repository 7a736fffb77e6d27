"""Random systems with events against a stepper that is slow and obviously right."""

import itertools
from typing import NamedTuple

import pytest
from how_many import many
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from kernel_parts import system_of
from reference_stepper import ReferenceStepper
from stress_parts import (
    SIGNALS,
    Cascade,
    EveryStep,
    FallingProbe,
    Mover,
    Probe,
    RisingProbe,
    Ticker,
    Waiter,
)

import cosim

SLACK = 1e-6  # s, at least between events that are not meant to be simultaneous
END = 2.11  # s
MOVER_DIVISORS = (3.377, 2.9413)  # of speeds, so that bounces fall on no grid of times

grid = st.integers(1, 24).map(lambda i: i / 16)
# no 0.1 * 3: seven of it and three of 0.7 are one double, and two instants on paper
periods = st.one_of(grid, st.sampled_from([0.1, 1.0 / 3.0, 0.7, 0.3]))
offsets = st.one_of(st.just(0.0), grid, st.sampled_from([0.05, 0.3]))
# between the points of the grid, so that they are never meant to be simultaneous with something scheduled
roots = st.integers(-10, 120).map(lambda i: i / 60 + 1.0 / 977)
speeds = st.integers(2, 12)


@st.composite
def plans(draw):
    """What raises which signals: handlers of other parts any, those of a cascade later ones only."""
    raises = {}
    for key in draw(st.sets(st.sampled_from(["tick_u", "tick_d", "look_u", "look_d", "step_d", "init_u"]))):
        raises[key] = [f"cascade.s{draw(st.integers(0, SIGNALS - 1))}"]
    inner = {}
    for i in range(SIGNALS - 1):
        for kind in "ud":
            if draw(st.booleans()):
                inner[f"on{i}_{kind}"] = [f"cascade.s{draw(st.integers(i + 1, SIGNALS - 1))}"]
    return raises, inner


class Case(NamedTuple):
    """A random system, and how it is advanced."""

    parts: dict
    log: list
    """What all parts store when their handlers run."""
    has_movers: bool
    stops: list
    """The times to which it is advanced."""


@st.composite
def cases(draw):
    """A few parts of each kind, in any order."""
    log = []
    raises, inner = draw(plans())
    parts = {}
    for i in range(draw(st.integers(0, 3))):
        parts[f"ticker{i}"] = Ticker(log, raises, period=draw(periods), offset=draw(offsets))
    kinds = st.sampled_from([Probe, FallingProbe, RisingProbe])
    for i in range(draw(st.integers(0, 3))):
        zeros = draw(st.lists(roots, min_size=3, max_size=3, unique=True))
        parts[f"probe{i}"] = draw(kinds)(log, raises, roots=zeros)
    if draw(st.booleans()):
        times = draw(st.lists(grid, min_size=1, max_size=6, unique=True))
        parts["waiter"] = Waiter(sorted(times), log=log)
    parts["cascade"] = Cascade(log, inner)
    has_movers = draw(st.booleans())
    if has_movers:
        for i in range(draw(st.integers(1, 2))):
            speed = draw(st.sampled_from([-1, 1])) * draw(speeds) / MOVER_DIVISORS[i]
            parts[f"mover{i}"] = Mover(log, speed=speed)
    else:
        # with movers each step of the integrator would be an event of this part
        parts["every_step"] = EveryStep(log, raises)
    names = draw(st.permutations(list(parts)))
    stops = draw(st.lists(st.integers(1, 40).map(lambda i: i / 20 + 1.0 / 499), max_size=3, unique=True))
    return Case({name: parts[name] for name in names}, log, has_movers, [*sorted(stops), END])


def are_separate(reference):
    """Whether all events that are not simultaneous are clearly apart."""
    times = sorted({t for handler in reference.handlers for t in handler.times if 0.0 <= t <= 2.2})
    return all(later - earlier > SLACK for earlier, later in itertools.pairwise(times))


def describe(parts):
    """The values of all parts, for the message about a failing example."""
    return {name: {n: v.tolist() for n, v in part.values.numbers.items()} for name, part in parts.items()}


def waits_for_a_step(key):
    """Whether a handler is a publish of a signal, which waits for the end of a step."""
    return key.startswith("cascade") and key.endswith("_p")


def check(case):
    parts, log = case.parts, case.log
    reference = ReferenceStepper(parts, case.stops[-1])
    assume(are_separate(reference))
    simulator = cosim.Simulator(system_of(**parts), accuracy=1e-8)
    reference.initialize()
    simulator.initialize()
    for stop in case.stops:
        simulator.advance_to(stop)
        reference.advance_to(stop)
        assert simulator.state.time == stop
    simulator.finish()
    reference.finish()
    assert [event.handler for event in simulator.events] == [key for key, _ in log]

    expected_log = reference.log
    if case.has_movers:
        # publishes of signals come at the end of a step of the integrator, which the reference does not know
        log, expected_log = (
            [entry for entry in entries if not waits_for_a_step(entry[0])] for entries in (log, expected_log)
        )
    assert [key for key, _ in log] == [key for key, _ in expected_log], describe(parts)
    for (key, time), (_, expected_time) in zip(log, expected_log, strict=True):
        tolerance = time_tolerance(key, case.has_movers)
        assert abs(time - expected_time) <= tolerance, (key, time, expected_time)
    assert {name: simulator.state[f"{name}.trace"] for name in parts} == reference.traces


def time_tolerance(key, has_movers):
    """How far the time of a handler may be off, s: by isolation windows, which bounces add up."""
    is_scheduled = key.startswith(("ticker", "waiter"))
    return 0.0 if is_scheduled else 1e-8 if has_movers else 1.1e-10


@settings(max_examples=many(15), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(cases())
def test_random_systems(case):
    check(case)


@pytest.mark.thorough
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_ten_thousand_random_systems(case):
    check(case)
