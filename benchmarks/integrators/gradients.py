"""The cost of the gradient of a run by many parameters, in runs.

Usage: python benchmarks/integrators/gradients.py

A chain of masses between springs that stiffen, each with three parameters: a run of 2 s; the same with its
trail; going back over it; both together. CPU time, the least of five, by turns.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import cosim

REPEATS = 5


class Mass(cosim.Component):
    """Law: m v' = k (left - 2 x + right) - c v - 0.3 k x^3."""

    m = cosim.parameter(unit="kg", default=1.0)
    k = cosim.parameter(unit="N/m", default=100.0)
    c = cosim.parameter(unit="N.s/m", default=0.5)
    left = cosim.input(unit="m")
    right = cosim.input(unit="m")
    x = cosim.position(unit="m", start=0.1)
    v = cosim.speed(unit="m/s")

    @cosim.kernel
    def derivatives(m, k, c, left, right, x, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = (k * (left - x) + k * (right - x) - c * v - 0.3 * k * x * x * x) / m


def chain(count: int) -> tuple[cosim.Model, list[str]]:
    """A chain of masses, and the paths of their parameters."""
    model = cosim.Model("chain")
    for i in range(count):
        model.add(Mass(), f"p{i}")
    for i in range(1, count):
        model.connect(f"p{i - 1}.x", f"p{i}.left")
        model.connect(f"p{i}.x", f"p{i - 1}.right")
    return model, [f"p{i}.{name}" for i in range(count) for name in ("m", "k", "c")]


def least(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least CPU time of each, s; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(REPEATS):
        for name, call in calls.items():
            start = time.process_time()
            call()
            times[name].append(time.process_time() - start)
    return {name: min(each) for name, each in times.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--masses", nargs="+", type=int, default=[34, 334])
    print("| parameters | run, ms | with trail | back | gradient |\n|---|---|---|---|---|")
    for count in parser.parse_args().masses:
        model, by = chain(count)
        options = {"until": 2.0, "signals": ["p0.x", "p5.x"], "output_interval": 0.02}
        differentiated = model.simulate(gradient=by, **options)
        times = least(
            {
                "run": lambda m=model, o=options: m.simulate(**o),
                "trail": lambda m=model, b=by, o=options: m.simulate(gradient=b, **o),
                "back": lambda run=differentiated: run.gradient("p5.x"),
                "all": lambda m=model, b=by, o=options: m.gradient("p5.x", b, **o),
            }
        )
        run = times.pop("run")
        shares = " | ".join(f"{each / run:.1f}" for each in times.values())
        print(f"| {len(by)} | {1e3 * run:.1f} | {shares} |")


if __name__ == "__main__":
    main()
