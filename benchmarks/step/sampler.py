"""A mass on a spring and a sampler of its position each millisecond, which is the step: beside Drake.

Usage: python benchmarks/step/sampler.py [--passes 2]

Drake's mass and sampler are its own systems in C++ (`LinearSystem`, `ZeroOrderHold`); both programs
advance by 5000 steps in one call. Drake has no Runge-Kutta method of order 4: its methods of order 3 and
5 stand beside ours of order 3 and 4. Times are of one step.
"""

from __future__ import annotations

import json

from costs import Oscillator
from runs import OURS, Run, best, least, of_peer, rows, run_and_print

import cosim

STEP, STEPS, RUNS = 0.001, 5000, 5
NAN = float("nan")
METHODS = {"runge_kutta_3": "runge_kutta3", "runge_kutta_4": "runge_kutta5"}  # ours: what stands beside it


class Sampler(cosim.Component):
    """Holds a signal from one millisecond to the next."""

    signal = cosim.source()
    held = cosim.discrete()

    @cosim.every(STEP, does="discrete")
    def sample(signal, held_next):
        held_next[0] = signal


def simulator(method: str, sampled: bool) -> cosim.Simulator:
    """Ours, at the start."""
    model = cosim.Model("sampled")
    model.add(Oscillator, "mass")
    if sampled:
        model.add(Sampler, "sampler", signal="mass.x")
    options = {"integrator": f"integrators.{method}", "fixed_step": STEP, "accuracy": 1e-6}
    started = cosim.Simulator(model.build(), **options)
    started.initialize()
    return started


def name_of(method: str, sampled: bool) -> str:
    """The name of a run in the peer's script."""
    return f"{method} and sampler" if sampled else method


def ours() -> list[Run]:
    """The time of a step of each method, alone and with the sampler."""
    runs = []
    for method in METHODS:
        for sampled in (False, True):
            integrated = simulator(method, sampled)
            seconds, _ = least(
                lambda integrated=integrated: integrated.advance_to(integrated.state.time + STEPS * STEP),
                RUNS,
            )
            # the sample of this instant is taken when the next step begins
            newest = integrated.state["sampler.held"] if sampled else integrated.state["mass.x"]
            if abs(newest - integrated.state["mass.x"]) > 2.0 * STEP:
                raise SystemExit("the sampler holds another value")
            runs.append(Run(OURS, name_of(method, sampled), 0.0, NAN, seconds / STEPS))
    return runs


def compare(passes: int) -> list[str]:
    """Rows of the table."""
    task = json.dumps({"step": STEP, "steps": STEPS, "runs": RUNS})
    drake = of_peer("drake", "sampler_drake.py", task, lambda run: NAN)
    runs, lines = best([ours, drake], passes), []
    for text, sampled in (("a step of a mass on a spring", False), ("the same with a 1 kHz sampler", True)):
        for pair in METHODS.items():
            names = [name_of(method, sampled) for method in pair]
            lines += rows(text, [r for r in runs if r.method in names])
    return lines


if __name__ == "__main__":
    run_and_print(compare)
