"""A witness that declares its rate is looked at again where it could have touched zero between two looks."""

import math
import os
import subprocess
import sys

import pytest
from kernel_parts import system_of

import cosim

WHOLE = {"integrator": "integrators.runge_kutta_4", "fixed_step": 1.0, "accuracy": 1e-6}


class Dipping(cosim.Component):
    """Half a cycle of a cosine above zero, with a dip through zero that is steeper than all of it."""

    x = cosim.auxiliary_state(start=1.0)
    middle = cosim.parameter(unit="s", default=0.87)
    width = cosim.parameter(unit="s", default=0.02)
    seen = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = -0.001 * x

    @cosim.witness
    def near(t, middle, width):
        away = (t - middle) / width
        deep = 1.2 + math.cos(math.pi * middle)
        return 1.1 + math.cos(math.pi * t) - deep * math.exp(-away * away)

    @near.rate
    def near_rate(t, middle, width):
        away = (t - middle) / width
        deep = 1.2 + math.cos(math.pi * middle)
        return -math.pi * math.sin(math.pi * t) + 2.0 * away / width * deep * math.exp(-away * away)

    @cosim.on(near, does="discrete")
    def count(seen, seen_next):
        seen_next[0] = seen + 1


@pytest.mark.few(1)
@pytest.mark.parametrize("how", [{"accuracy": 1e-6}, WHOLE], ids=["error control", "one step"])
def test_dips_of_a_fiftieth_of_the_step_are_found_wherever_they_are(how):
    """Without the second look it was 38 of 40 with error control, 26 in one step."""
    found = []
    for number in range(40):
        part = Dipping(middle=0.05 + 0.9 * ((number * 0.6180339887) % 1.0))
        simulator = cosim.Simulator(system_of(part=part), **how)
        simulator.advance_to(1.0)
        found.append(simulator.state["part.seen"])
    assert found == [2] * 40


COUNTING = """
import cosim
from cosim.step import crossing
from kernel_parts import CurvedBall, Stone, system_of

looks, look = [], crossing.evaluate_with_rates
crossing.evaluate_with_rates = lambda *given: looks.append(1) or look(*given)

def run(part, options):
    simulator = cosim.Simulator(system_of(part=part), **options)
    simulator.advance_to(3.0)
    print(simulator.statistics.events, len(looks))

"""


RESTING = """
import cosim
from cosim.step import crossing
from kernel_parts import Stone, system_of

looks, look = [], crossing.evaluate_with_rates
def counted(*given):
    looks.append(1)
    if len(looks) > 20_000:
        raise SystemExit("without end")
    return look(*given)

crossing.evaluate_with_rates = counted
simulator = cosim.Simulator(system_of(part=Stone()), integrator="integrators.dormand_prince", accuracy=1e-9)
simulator.advance_to(0.5)
print(simulator.statistics.events, len(looks), abs(simulator.state["part.height"] - 0.0726) < 1e-10)
"""


def counted_looks(script):
    """What a script prints that counts, in plain Python, at how many points witnesses are looked at."""
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "COSIM_PLAIN": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


LONG_STEPS = {"accuracy": 1e-8, "integrator": "integrators.runge_kutta_4", "fixed_step": 0.03125}


PILING_UP = [
    ("CurvedBall()", {"accuracy": 1e-9}),
    ("Stone(height=0.127, level=0.0, restitution=0.5)", LONG_STEPS),
]


@pytest.mark.few(1)
@pytest.mark.parametrize(("part", "options"), PILING_UP, ids=["error control", "fixed steps"])
def test_flights_that_pile_up_are_not_looked_at_a_thousand_times(part, options):
    """Heights are mostly rounding, which looks like a witness that may hide something: 59,000 looks.

    The rest of a long step is faster than they are by far, which says nothing of them: 417,000 looks.
    """
    events, looks = map(int, counted_looks(f"{COUNTING}run({part}, {options})"))
    assert events > 30
    assert events < looks < 15_000


def test_what_lies_on_a_floor_by_rounding_is_not_looked_at_for_ever():
    """It falls by one unit of rounding in a nanosecond: its rates look like turns, without end."""
    events, looks, rests = counted_looks(RESTING)
    assert int(events) > 5
    assert int(looks) < 10_000
    assert rests == "True"
