"""The gain by two threads, by the length of a step of the participants.

    python benchmarks/masters/threads.py [--rounds 50] [--terms 100 10000]

Four systems of ours whose outputs feed each other in a ring, with jacobi: in each evaluation a kernel sums so
many terms. Runs with one thread and with two take turns; the smallest time of each counts. What the
machine has to give just then is measured in the same way with two threads that hash, and need nothing of each
other.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import time

import cosim
from cosim_fmu import CoSimulation, SystemParticipant
from cosim_master.exchange.step_threads import StepThreads
from cosim_master.participants import system_participant

STEP = 1e-3
COUNT = 4


class Busy(cosim.Component):
    """x' = u - x, and a sum that takes its time and is multiplied by 0."""

    u = cosim.input()
    terms = cosim.parameter(default=1.0)
    x = cosim.auxiliary_state(start=1.0)
    y = cosim.output()

    @cosim.kernel
    def derivatives(u, x, terms, x_dot):
        total = 0.0
        for i in range(int(terms)):
            total += math.sin(x + i)
        x_dot[0] = u - x + 0.0 * total

    @cosim.kernel
    def report(x, y):
        y[0] = x


def ring(terms: int, threads: int) -> CoSimulation:
    """A ring of systems whose evaluation sums so many terms, stepped in some threads."""
    model = cosim.Model("busy")
    model.add(Busy, "node")
    system = model.build()
    parts = {
        f"n{i}": SystemParticipant(system, "integrators.explicit_euler", fixed_step=STEP)
        for i in range(COUNT)
    }
    links = [(f"n{i}.node.y", f"n{(i + 1) % COUNT}.node.u") for i in range(COUNT)]
    starts = {f"n{i}.node.terms": float(terms) for i in range(COUNT)} | {"n0.node.x": 2.0}
    return CoSimulation(parts, links, "jacobi", STEP, starts=starts, threads=threads)


def gain_of_the_machine(rounds: int) -> float:
    """The gain of a second thread for work that holds no lock, in the same minute: two hashes."""
    data = bytes(5_000_000)

    def hash_once() -> None:
        hashlib.sha256(data).digest()

    least = {1: math.inf, 2: math.inf}
    for _ in range(rounds):
        for count in least:
            with StepThreads(count) as threads:
                begun = time.perf_counter()
                threads.call([hash_once, hash_once])
                least[count] = min(least[count], time.perf_counter() - begun)
    return least[1] / least[2]


def main() -> None:
    """Print the gain of a second thread by the time that a step takes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--terms", type=int, nargs="+", default=[100, 1_000, 10_000, 100_000])
    arguments = parser.parse_args()
    rounds = arguments.rounds
    system_participant.LEAST_NATIVE_STEPS = 0
    print("| a step takes | steps of four | one thread | two threads | gain | two that hash |")
    print("|---|---|---|---|---|---|")
    for terms in arguments.terms:
        steps = max(40, 100_000 // terms)  # the first step of a run takes longer than the others
        loops = {threads: ring(terms, threads) for threads in (1, 2)}
        least = dict.fromkeys(loops, math.inf)
        values = set()
        for _ in range(rounds):
            for threads, loop in loops.items():
                result = loop.simulate(steps * STEP, record=["n0.node.y"])
                assert result.statistics["loop"] == "compiled"
                least[threads] = min(least[threads], result.statistics["stepping_time"])
                values.add(result["n0.node.y"].tobytes())
        assert len(values) == 1, "the results depend on the number of threads"
        one, two = (1e6 * seconds / steps for seconds in least.values())
        possible = gain_of_the_machine(rounds)
        row = f"{one / COUNT:.3g} µs", f"{steps}", f"{one:.3g} µs", f"{two:.3g} µs"
        print("| " + " | ".join(row) + f" | {one / two:.2f} | {possible:.2f} |", flush=True)


if __name__ == "__main__":
    main()
