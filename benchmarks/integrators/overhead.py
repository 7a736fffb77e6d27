"""The cost of a step beyond its evaluations of the derivative, for a system of 20 states.

Measured as the time of many steps less the number of evaluations times the time of one, measured alone.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import cosim
from cosim import kit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "dynamics"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from compare import machine

METHODS = (
    "explicit_euler",
    "semi_implicit_euler",
    "heun",
    "runge_kutta_3",
    "runge_kutta_4",
    "bogacki_shampine",
    "runge_kutta_merson",
    "dormand_prince",
    "tsitouras",
    "dormand_prince_853",
    "velocity_verlet",
    "yoshida_4",
)
STEPS = 2000


class Ring(cosim.Component):
    """Ten masses in a ring of springs: 20 states."""

    x = cosim.position(shape=10, start=[1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    v = cosim.speed(shape=10)

    @cosim.kernel
    def motion(x, v, x_dot, v_dot):
        for i in range(10):
            x_dot[i] = v[i]
            v_dot[i] = x[i - 1 if i > 0 else 9] - 2.0 * x[i] + x[i + 1 if i < 9 else 0]


def ring() -> cosim.System:
    """A system of 20 states."""
    model = cosim.Model("ring")
    model.add(Ring, "ring")
    return model.build()


def best(run: Callable[[], int], rounds: int) -> float:
    """Least CPU time of a unit of work over some rounds, s; `run` returns how many units it did."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        done = run()
        times.append((time.process_time() - start) / done)
    return min(times)


def evaluation(system: cosim.System, rounds: int) -> float:
    """The time of one walk through the derivative, in compiled code, s."""
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    walk = kit.compile_function(kit.repeat_walk, kit.REPEAT_SIGNATURE)
    first, last = system.derivative_range

    def run() -> int:
        walk(system.table, system.ints, first, last, 0.0, *system.arrays(state), 20_000)
        return 20_000

    return best(run, rounds)


def steps(system: cosim.System, name: str, rounds: int) -> dict[str, float]:
    """Time of a step, s, inside compiled code and called from Python; its evaluations; bytes allocated."""
    integrator = cosim.registry().get("integrator", f"integrators.{name}")(
        **({"accuracy": 1e-6} if adaptive(name) else {"fixed_step": 0.01})
    )
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    integrator.initialize(system, state)

    def many() -> int:
        integrator.advance(system, state, 1e9, most=STEPS)
        return STEPS

    def single() -> int:
        for _ in range(STEPS):
            integrator.step(system, state, 1e9)
        return STEPS

    many()
    single()
    before = integrator.statistics
    inside = best(many, rounds)
    after = integrator.statistics
    tracemalloc.start()
    many()
    kept = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "evaluations": (after.evaluations - before.evaluations) / (after.steps - before.steps),
        "inside": inside,
        "called": best(single, rounds),
        "allocated": kept / STEPS,
    }


def adaptive(name: str) -> bool:
    """Whether the method has error control."""
    declared: kit.Capabilities = cosim.registry().get("integrator", f"integrators.{name}").capabilities
    return declared.adaptive


def main(arguments: list[str] | None = None) -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="the best of this many rounds counts")
    rounds = parser.parse_args(arguments).rounds
    system = ring()
    alone = evaluation(system, rounds)
    print(machine())
    print(f"\n20 states; one evaluation {1e6 * alone:.3f} us\n")
    print("| method | control | evaluations a step | beyond them, us | the same, called from Python, us |")
    print("|---|---|---|---|---|")
    for name in METHODS:
        costs = steps(system, name, rounds)
        spent = costs["evaluations"] * alone
        print(
            f"| `{name}` | {'error' if adaptive(name) else 'fixed'} | {costs['evaluations']:.2f} "
            f"| {1e6 * (costs['inside'] - spent):.2f} | {1e6 * (costs['called'] - spent):.2f} |"
        )
        if costs["allocated"] > 4.0:  # the call itself takes some 2 kB
            raise SystemExit(f"{name}: {costs['allocated']:.1f} bytes are allocated for each step")
    return 0


if __name__ == "__main__":
    sys.exit(main())
