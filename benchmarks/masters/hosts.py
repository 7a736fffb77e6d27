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


def spent(make: Any, links: list[str], algorithm: Any, steps: int) -> float:
    """CPU time of a run, s."""
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


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    node, ode = make_node(folder), make_ode(folder)
    model = cosim.Model("decay")
    model.add(Decay, "n")
    system = model.build()
    links, inner = ["a.y -> b.u", "b.y -> a.u"], ["a.n.y -> b.n.u", "b.n.y -> a.n.u"]

    def jacobi() -> str:
        return "jacobi"

    def joint() -> Joint:
        return Joint(EULER["integrator"], integrator_options={"fixed_step": STEP})

    cases: dict[str, Any] = {
        "two systems": (lambda: SystemParticipant(system, **EULER), inner, jacobi),
        "two Co-Simulation FMUs": (lambda: node, links, jacobi),
        "two Model Exchange FMUs": (lambda: ModelExchangeParticipant(ode, **EULER), links, jacobi),
        "the same, joint": (lambda: ModelExchangeParticipant(ode, **EULER), links, joint),
    }
    times: dict[tuple[str, int], list[float]] = {(n, steps): [] for n in cases for steps in (SHORT, LONG)}
    for turn in range(1 + TURNS):
        for (name, steps), turn_times in times.items():
            seconds = spent(*cases[name], steps)
            turn_times += [seconds] * (turn > 0)  # the first ones load compiled code
    step = {n: 1e6 * (min(times[n, LONG]) - min(times[n, SHORT])) / (LONG - SHORT) for n in cases}
    for name, seconds in step.items():
        print(f"{name:26} {seconds:6.2f} µs   {seconds / step['two systems']:5.2f}")
    for name, algorithm in (("coupled", jacobi), ("joint", joint)):
        print(f"calls of both FMUs in a step, {name}: {calls_of(ode, folder, algorithm):.1f}")


if __name__ == "__main__":
    main()
