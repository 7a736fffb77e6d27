"""The time of a Jacobian by tangents, in evaluations of the derivatives: of a mount, ten links, and a vector.

    python benchmarks/derivatives/jacobians.py [--rounds 30]

A Jacobian takes one tangent of the system for each colour of its pattern, and puts the entries of that colour
in their places. Times are CPU times of repeated calls, the least of all rounds; the calls of evaluations and
of Jacobians take turns.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "structure"))
sys.path.insert(0, str(Path(__file__).parents[1] / "step"))
sys.path.insert(0, str(Path(__file__).parents[1] / "dynamics"))

from compare import build
from costs import engine_mount
from trees import chain
from vectors import akzo_of

import cosim
from cosim import kit
from cosim_integrators.implicit.implicit_method import ImplicitMethod
from cosim_integrators.implicit.jacobian import make_jacobian
from cosim_integrators.radau5 import Radau5

LINKS, STATES = 10, (100, 400, 1600)
SIGNATURE = "ifTIiiFFFIFFFFFFI>i"
SYSTEM = len(kit.OdeSystem._fields)
LEAST = 2e-3
"""The least time of a measured call, s."""


def evaluate(times, t, *arrays):
    """Evaluate the derivatives so many times; `arrays` are those of the system, then those of the method."""
    system = kit.OdeSystem(*arrays[:SYSTEM])
    status = 0
    for _ in range(times):
        status = system.evaluate(t)
    return status


def differentiate(times, t, *arrays):
    """Make the Jacobian so many times."""
    system = kit.OdeSystem(*arrays[:SYSTEM])
    method = ImplicitMethod(system.size, *arrays[SYSTEM:])
    status = 0
    for _ in range(times):
        status = make_jacobian(system, method, t)
    return status


def seconds(call: Callable[[int], object], times: int) -> float:
    """CPU time of one of so many calls, s."""
    begun = time.process_time()
    call(times)
    return (time.process_time() - begun) / times


def measure(system: Any, rounds: int) -> tuple[int, float, float]:
    """The colours of a system's Jacobian; the times of an evaluation and of a Jacobian, s."""
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    integrator = Radau5(initial_step=1e-6)
    integrator.initialize(system, state)
    integrator.step(system, state, 1.0)
    method = integrator._method._replace(memory_numbers=state.integrator_memory.copy())
    arrays = system.arrays(state)
    arguments_before_times = (0.0, system.table, system.ints, *system.inner_range, *arrays, *method[1:])
    calls = []
    for function in (evaluate, differentiate):
        compiled = kit.compile_function(function, SIGNATURE)
        calls.append(lambda times, compiled=compiled: compiled(times, *arguments_before_times))
    times = [max(1, round(LEAST / min(seconds(call, 20) for _ in range(5)))) for call in calls]
    least = [math.inf, math.inf]
    for _ in range(rounds):
        least = [min(s, seconds(call, n)) for s, call, n in zip(least, calls, times, strict=True)]
    return ImplicitMethod(*method).pattern.colours, least[0], least[1]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    systems = {"engine mount": engine_mount(), "ten links": build(chain(LINKS))}
    for states in STATES:
        model = cosim.Model("akzo")
        model.add(akzo_of(states), "x")
        systems[f"Medical Akzo Nobel, {states} states"] = model.build()
    print(
        "| system | colours | evaluation, µs | Jacobian, µs | evaluations a colour |\n|---|---|---|---|---|"
    )
    for name, system in systems.items():
        colours, evaluation, jacobian = measure(system, rounds)
        cells = f"{1e6 * evaluation:.2f} | {1e6 * jacobian:.2f} | {jacobian / evaluation / colours:.2f}"
        print(f"| {name} | {colours} | {cells} |")


if __name__ == "__main__":
    main()
