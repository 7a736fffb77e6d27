"""The cost of a communication step by the host of two coupled equations x' = u - x, in CPU time.

Run it with ``python benchmarks/masters/hosts.py``. Both are systems of ours, FMUs for Co-Simulation
(`node.c`), FMUs for Model Exchange (`ode.c`) that are participants of their own, or such FMUs that are solved
as one system (`joint`). The FMUs' functions cost next to nothing. One explicit Euler step fills a
communication step in each. All take turns; the smallest time of a run, less that of a short one, counts.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from node_fmu import make_node, make_ode

import cosim
from cosim_fmu import CoSimulation, SystemParticipant
from cosim_master.algorithms.joint import Joint
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant

STEP, SHORT, LONG, TURNS = 1e-3, 2_000, 202_000, 5
EULER: dict[str, Any] = {"integrator": "integrators.explicit_euler", "fixed_step": STEP}


class Decay(cosim.Component):
    """x' = u - x and y = x."""

    u = cosim.input()
    x = cosim.auxiliary_state(start=1.0)
    y = cosim.output()

    @cosim.kernel
    def derivatives(u, x, x_dot):
        x_dot[0] = u - x

    @cosim.kernel
    def report(x, y):
        y[0] = x


def run_time(make: Any, links: list[str], algorithm: Any, steps: int) -> float:
    """CPU time of a run of so many steps with two participants that `make` returns, s."""
    run = CoSimulation({name: make() for name in "ab"}, links, algorithm(), STEP)
    begun = time.process_time()
    run.simulate(steps * STEP)
    return time.process_time() - begun


def calls_of(ode: Path, folder: Path, algorithm: Any) -> float:
    """The number of calls of both FMUs together in a step."""
    counts = []
    for steps in (SHORT, LONG):
        path = folder / f"calls-{steps}"
        path.unlink(missing_ok=True)
        os.environ["ODE_CALLS"] = str(path)
        parts = {name: ModelExchangeParticipant(ode, name, **EULER) for name in "ab"}
        CoSimulation(parts, ["a.y -> b.u", "b.y -> a.u"], algorithm(), STEP).simulate(steps * STEP)
        counts.append(sum(map(int, path.read_text().split())))
    del os.environ["ODE_CALLS"]
    return (counts[1] - counts[0]) / (LONG - SHORT)


def jacobi() -> str:
    """The master algorithm that steps both at once."""
    return "jacobi"


def joint() -> Joint:
    """The master algorithm that solves both as one system."""
    return Joint(EULER["integrator"], integrator_options={"fixed_step": STEP})


def step_times(cases: dict[str, Any]) -> dict[str, float]:
    """CPU time of a communication step by case, µs; a case has the arguments of `run_time`."""
    runs = [(name, steps) for name in cases for steps in (SHORT, LONG)]
    times: dict[tuple[str, int], list[float]] = {run: [] for run in runs}
    for turn in range(1 + TURNS):
        for (name, steps), times_of_case in times.items():
            seconds = run_time(*cases[name], steps)
            if turn > 0:  # the first ones load compiled code
                times_of_case.append(seconds)
    return {name: 1e6 * (min(times[name, LONG]) - min(times[name, SHORT])) / (LONG - SHORT) for name in cases}


def main() -> None:
    """Print the time of a step in each host, and how often the functions of the FMUs are called in it."""
    folder = Path(tempfile.mkdtemp())
    node, ode = make_node(folder), make_ode(folder)
    model = cosim.Model("decay")
    model.add(Decay, "n")
    system = model.build()
    links, inner = ["a.y -> b.u", "b.y -> a.u"], ["a.n.y -> b.n.u", "b.n.y -> a.n.u"]
    times = step_times(
        {
            "two systems": (lambda: SystemParticipant(system, **EULER), inner, jacobi),
            "two Co-Simulation FMUs": (lambda: node, links, jacobi),
            "two Model Exchange FMUs": (lambda: ModelExchangeParticipant(ode, **EULER), links, jacobi),
            "the same, joint": (lambda: ModelExchangeParticipant(ode, **EULER), links, joint),
        }
    )
    for name, time_of_step in times.items():
        print(f"{name:26} {time_of_step:6.2f} µs   {time_of_step / times['two systems']:5.2f}")
    for name, algorithm in (("coupled", jacobi), ("joint", joint)):
        print(f"calls of both FMUs in a step, {name}: {calls_of(ode, folder, algorithm):.1f}")


if __name__ == "__main__":
    main()
