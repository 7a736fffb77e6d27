"""The costs of building: CPU time and memory of a system, and the time of an evaluation, for each part.

    python benchmarks/building/building.py [--sizes 10 100 1000 10000] [--models long_chain balls …]

Each model is built in a process of its own, after a small one of the same kind, so that machine code is there
already. Writes a table (markdown) to the standard output; the exponent is that of the CPU time between a
size and the one before.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cosim
from cosim import kit
from cosim_mechanics import Multibody

SIZES = (10, 100, 1000, 10_000)
INERTIA = (0.1, 0.2, 0.15)
SOFT = {"stiffness": (10.0, 12.0, 14.0, 1000.0, 1100.0, 1200.0), "damping": (0.1, 0.1, 0.2, 1.0, 1.1, 1.2)}
PIN = (1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
LIMB = 4  # bodies in a short chain


class Ball(cosim.Component):
    """A ball on a floor."""

    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    def bounce(speed, speed_next):
        speed_next[0] = -0.9 * speed


class Lag(cosim.Component):
    """Follows its input."""

    given = cosim.input(unit="m")
    level = cosim.auxiliary_state(unit="m")

    @cosim.kernel
    def derivatives(given, level, level_dot):
        level_dot[0] = given - level


def chain(count: int, length: int) -> cosim.Model:
    """Bodies on pins in chains of a length, with a bushing between each and Ground."""
    model = Multibody("chain")
    for i in range(count):
        first = i % length == 0
        body = model.body(f"body{i}", mass=1.0, inertia=INERTIA, center_of_mass=(0.0, 0.0, -0.1))
        parent = "ground" if first else f"body{i - 1}"
        model.joint("pin", child=body, parent=parent, frame_on_parent=(0.0, 0.0, 0.0 if first else -0.2))
        place = (0.0, 0.0, -0.2 * (i % length))
        model.add("mechanics.linear_bushing", f"bushing{i}", body1="ground", body2=body,
                  frame_on_body1=place, **SOFT)  # fmt: skip
    return model


def long_chain(count: int) -> cosim.Model:
    """Bodies on pins below each other, with a bushing between each and Ground."""
    return chain(count, count)


def short_chains(count: int) -> cosim.Model:
    """Parts in chains of four."""
    return chain(count, LIMB)


def free_bodies(count: int) -> cosim.Model:
    """Bodies that hang in three bushings each."""
    model = Multibody("free_bodies")
    for i in range(count):
        body = model.body(f"body{i}", mass=1.0, inertia=INERTIA)
        model.joint("free", child=body)
        for j in range(3):
            place = (math.cos(2.0 * j), math.sin(2.0 * j), 0.0)
            model.add("mechanics.linear_bushing", f"bushing{i}_{j}", body1="ground", body2=body,
                      frame_on_body1=place, frame_on_body2=place, **SOFT)  # fmt: skip
    return model


def balls(count: int) -> cosim.Model:
    """Balls that know nothing of each other."""
    model = cosim.Model("balls")
    for i in range(count):
        model.add(Ball, f"ball{i}", height=1.0 + i / count)
    return model


def lags(count: int) -> cosim.Model:
    """Each follows the one before, through a connection."""
    model = cosim.Model("lags")
    for i in range(count):
        model.add(Lag, f"lag{i}", level=1.0 + i / count)
        if i:
            model.connect(f"lag{i - 1}.level", f"lag{i}.given")
    return model


def delays(count: int) -> cosim.Model:
    """Delayed levels of balls."""
    model = balls((count + 1) // 2)
    for i in range(count // 2):
        model.add("measures.delay", f"delay{i}", source=f"ball{i}.height", delay=0.1)
    return model


def sums(count: int) -> cosim.Model:
    """Each adds the one before, which makes a schedule as deep as they are many."""
    model = cosim.Model("sums")
    model.add("measures.sinusoid", "sum0", amplitude=1.0, frequency=1.0)
    for i in range(1, count):
        model.add("measures.plus", f"sum{i}", first=f"sum{i - 1}", second="sum0")
    return model


MODELS: dict[str, Callable[[int], cosim.Model]] = {
    m.__name__: m for m in (long_chain, short_chains, free_bodies, balls, lags, delays, sums)
}


def resident() -> float:
    """Memory of this process now, kB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1024.0


def evaluation(system: cosim.System) -> float:
    """One walk through the stages Time … Acceleration in compiled code, CPU s; the best of three."""
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    walk = kit.compile_function(kit.repeat_walk, kit.REPEAT_SIGNATURE)
    first, last = system.derivative_range
    count, times = max(10, 100_000 // len(system.parts)), []
    for _ in range(3):
        start = time.process_time()
        if walk(system.table, system.ints, first, last, 0.0, *system.arrays(state), count):
            raise SystemExit("an evaluation failed")
        times.append((time.process_time() - start) / count)
    return min(times)


def measure(name: str, size: int) -> dict[str, Any]:
    """Build a model in this process."""
    make = MODELS[name]
    evaluation(make(8).build())
    gc.collect()
    before, start = resident(), time.process_time()
    model = make(size)
    added = time.process_time()
    system = model.build()
    built = time.process_time()
    gc.collect()
    memory = resident() - before
    return {
        "adding": added - start,
        "building": built - added,
        "memory": memory,
        "parts": len(system.parts),
        "evaluation": evaluation(system),
    }


def exponent(sizes: tuple[float, float], values: tuple[float, float]) -> float:
    """The exponent of the growth of a value between two sizes."""
    return math.log(values[1] / values[0]) / math.log(sizes[1] / sizes[0])


def main(arguments: list[str] | None = None) -> int:
    """Measure each model at each size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument(
        "--one", action="store_true", help="one model, one size, in this process; writes JSON"
    )
    chosen = parser.parse_args(arguments)
    if chosen.one:
        print(json.dumps(measure(chosen.models[0], chosen.sizes[0])))
        return 0
    print("| model | size | parts | adding | building | exponent | memory / size | evaluation / size |")
    print("|---|---|---|---|---|---|---|---|")
    for name in chosen.models:
        last: tuple[int, float] | None = None
        for size in chosen.sizes:
            command = [sys.executable, __file__, "--one", "--models", name, "--sizes", str(size)]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            measured = json.loads(answer.splitlines()[-1])
            total = measured["adding"] + measured["building"]
            grown = exponent((last[0], size), (last[1], total)) if last else math.nan
            times = f"{measured['adding']:.3f} s | {measured['building']:.3f} s | {grown:.2f}"
            each = f"{measured['memory'] / size:.1f} kB | {1e9 * measured['evaluation'] / size:.0f} ns"
            print(f"| {name} | {size} | {measured['parts']} | {times} | {each} |", flush=True)
            last = size, total
    return 0


if __name__ == "__main__":
    sys.exit(main())
