"""Random event systems against a stepper that is slow and obviously right."""

import itertools

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

SLACK = 1e-6  # s, between what is meant to happen at different times

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


@st.composite
def systems(draw):
    """Parts by name, the log that they share, whether something moves, and where advance_to stops."""
    log = []
    raises, inner = draw(plans())
    parts = {}
    for i in range(draw(st.integers(0, 3))):
        parts[f"ticker{i}"] = Ticker(log, raises, period=draw(periods), offset=draw(offsets))
    kinds = st.sampled_from([Probe, FallingProbe, RisingProbe])
    for i in range(draw(st.integers(0, 3))):
        three = draw(st.lists(roots, min_size=3, max_size=3, unique=True))
        parts[f"probe{i}"] = draw(kinds)(log, raises, roots=three)
    if draw(st.booleans()):
        times = draw(st.lists(grid, min_size=1, max_size=6, unique=True))
        parts["waiter"] = Waiter(sorted(times), log=log)
    parts["cascade"] = Cascade(log, inner)
    moves = draw(st.booleans())
    if moves:
        for i in range(draw(st.integers(1, 2))):
            parts[f"mover{i}"] = Mover(
                log, speed=draw(st.sampled_from([-1, 1])) * draw(speeds) / (3.377, 2.9413)[i]
            )
    else:
        # every integration step would be one of theirs
        parts["every_step"] = EveryStep(log, raises)
    names = draw(st.permutations(list(parts)))
    stops = draw(st.lists(st.integers(1, 40).map(lambda i: i / 20 + 1.0 / 499), max_size=3, unique=True))
    return {name: parts[name] for name in names}, log, moves, [*sorted(stops), 2.11]


def separate(reference):
    """Whether everything that does not happen at the same time happens clearly apart."""
    times = sorted({t for h in reference.handlers for t in h.times if 0.0 <= t <= 2.2})
    return all(b - a > SLACK for a, b in itertools.pairwise(times))


def describe(parts):
    """What a failing example is made of."""
    return {name: {n: v.tolist() for n, v in part.values.numbers.items()} for name, part in parts.items()}


def later(key):
    """Whether a handler is one of the publishes that wait for the end of a step."""
    return key.startswith("cascade") and key.endswith("_p")


def check(parts, log, moves, stops):
    reference = ReferenceStepper(parts, stops[-1])
    assume(separate(reference))
    system = system_of(**parts)
    simulator = cosim.Simulator(system, accuracy=1e-8)
    reference.initialize()
    simulator.initialize()
    for stop in stops:
        simulator.advance_to(stop)
        reference.advance_to(stop)
        assert simulator.state.time == stop
    simulator.finish()
    reference.finish()
    assert [e.handler for e in simulator.events] == [key for key, _ in log]
    if moves:
        # publishes of signals come at the end of a step of the integrator, which nobody can foretell
        log, reference.log = ([e for e in each if not later(e[0])] for each in (log, reference.log))
    assert [key for key, _ in log] == [key for key, _ in reference.log], describe(parts)
    for (key, time), (_, expected) in zip(log, reference.log, strict=True):
        # scheduled ones exactly; where a mover has bounced before, its windows add up
        tolerance = 0.0 if key.startswith(("ticker", "waiter")) else 1e-8 if moves else 1.1e-10
        assert abs(time - expected) <= tolerance, (key, time, expected)
    assert {name: simulator.state[f"{name}.trace"] for name in parts} == reference.traces


@settings(max_examples=many(15), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(systems())
def test_random_systems(system):
    check(*system)


@pytest.mark.thorough
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(systems())
def test_ten_thousand_random_systems(system):
    check(*system)
