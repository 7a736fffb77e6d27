"""The cost of a delay in a step, by the number of entries that it remembers.

One step of a fixed length is the least time of many: appending, forgetting, looking up and all else. The
look-up alone is timed in compiled code. Writes a table to stdout and a picture beside this file.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import cosim
from cosim import kit

HERE = Path(__file__).parent
STEP = 1e-3
ENTRIES = (100, 1_000, 10_000, 100_000, 1_000_000)


class Oscillator(cosim.Component):
    """x'' = -x."""

    x = cosim.position(start=1.0)
    v = cosim.speed()

    @cosim.kernel
    def derivatives(x, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -x


def simulator(entries: int) -> cosim.Simulator:
    """A run whose delay has remembered this number of steps."""
    model = cosim.Model("buffer")
    model.add(Oscillator, "oscillator")
    delay = model.add("measures.delay", "late", source="oscillator.x", delay=entries * STEP)
    system = model.build()
    state = system.default_state()
    fill(system, state, entries)
    start = entries * STEP
    state.set_time(start)
    state["oscillator.x"], state["oscillator.v"] = np.cos(start), -np.sin(start)
    state.jumped = False
    started = cosim.Simulator(system, state, fixed_step=STEP, integrator="integrators.runge_kutta_merson")
    started.initialize()
    assert delay.delay == entries * STEP
    return started


def fill(system: cosim.System, state: cosim.State, entries: int) -> None:
    """Remember the past of the solution, cos t, as the steps would have."""
    first = np.arange(entries + 8) * STEP - 8 * STEP
    past = np.zeros((2 * entries, 4))
    past[: len(first)] = np.stack([first, 0.0 * first, np.cos(first), -np.sin(first)], axis=1)
    state._arrays["h"] = np.ascontiguousarray(past.ravel())
    ring = kit.history_at(state._arrays["h"], state._arrays["k"], system.rings[0].offset).ring
    ring.start, ring.capacity, ring.oldest, ring.count = 0, len(past), 0, len(first)
    ring.piece_begin, ring.piece_end, ring.start_order = 0, -1, -1


def step_time(run: cosim.Simulator, repeats: int = 400) -> float:
    """The least time of one step, s."""
    best = np.inf
    for _ in range(repeats):
        began = time.perf_counter()
        run.step()
        best = min(best, time.perf_counter() - began)
    return best


def lookup_time(run: cosim.Simulator, times: int = 20_000) -> float:
    """The least time of one evaluation of the schedule, most of it the look-up, s."""
    system, state = run.system, run.state
    first, last = system.derivative_range
    walk = kit.compile_function(kit.repeat_walk, kit.REPEAT_SIGNATURE)
    best = np.inf
    for _ in range(10):
        began = time.perf_counter()
        walk(system.table, system.ints, first, last, state.time, *system.arrays(state), times)
        best = min(best, (time.perf_counter() - began) / times)
    return best


def main() -> None:
    """Measure, print, draw."""
    rows = []
    for entries in ENTRIES:
        run = simulator(entries)
        for _ in range(20):
            run.step()
        rows.append((entries, step_time(run), lookup_time(run)))
        error = abs(run.state["late"] - np.cos(run.state.time - entries * STEP))
        assert error < 1e-9, f"wrong value with {entries} entries: {error}"
    print("| entries | a step, µs | an evaluation, ns |\n|---|---|---|")
    for entries, step, lookup in rows:
        print(f"| {entries} | {1e6 * step:.1f} | {1e9 * lookup:.0f} |")
    import matplotlib.pyplot as plt

    entries, step, lookup = np.array(rows).T
    figure, axes = plt.subplots(figsize=(6, 3.5))
    axes.loglog(entries, 1e6 * step, "o-", label="a step")
    axes.loglog(entries, 1e6 * lookup, "s-", label="an evaluation, with the look-up")
    axes.set(xlabel="entries in the buffer", ylabel="µs", title="Cost of a delay by the length of its buffer")
    axes.legend()
    figure.tight_layout()
    figure.savefig(HERE / "buffer.png", dpi=120)


if __name__ == "__main__":
    main()
