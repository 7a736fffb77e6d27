"""Small figures of the documentation that no other benchmark measures, one by its name.

    python benchmarks/figures.py ACT

ACT is coupled_derivatives, first_use, impact, one_long_step, repeated_run, run_derivatives or runner.

CPU times, the least of several rounds; each prints a line.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import cosim
from cosim_fmu import CoSimulation
from cosim_mechanics import Multibody

ROUNDS = 7
ENGINE_MOUNT = Path(__file__).parents[1] / "examples" / "engine_mount" / "engine_mount.toml"


def least(act: Callable[[], object], count: int = 1) -> float:
    """CPU time of one call, s."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(count):
            act()
        times.append((time.process_time() - start) / count)
    return min(times)


def pendulum() -> Multibody:
    """One pin, one damper."""
    model = Multibody("pendulum", gravity=(0, -9.81, 0))
    arm = model.body("arm", mass=1.0, center_of_mass=(0, -0.5, 0), inertia=(0.1, 0.1, 0.1))
    model.joint("pin", name="hinge", child=arm, q=0.3)
    model.add("mechanics.coordinate_damper", "friction", coordinate="hinge", damping=0.1)
    return model


def repeated_run() -> None:
    """`simulate()` of a run of a tenth of a millisecond, again and again."""
    system = pendulum().build()
    print(f"repeated simulate(): {1e3 * least(lambda: cosim.simulate(system, until=0.2), 50):.2f} ms")


def runner() -> None:
    """A call of a runner beside the run in it, and `cosim.simulate` of the same."""
    system = pendulum().build()
    ensemble = cosim.Ensemble(system, until=0.2, reduce=["max(hinge.angle)"])
    run = ensemble.runner(["friction.damping"])
    alone = ensemble.run({"friction.damping": np.full(2000, 0.1)})
    many = least(lambda: ensemble.run({"friction.damping": np.full(2000, 0.1)})) / 2000
    print(f"{len(alone)} runs: {1e6 * many:.1f} µs a run in an ensemble")
    print(f"a call of the runner: {1e6 * least(lambda: run([0.1]), 500):.1f} µs")
    print(f"cosim.simulate: {1e6 * least(lambda: cosim.simulate(system, until=0.2), 50):.0f} µs")


class Ball(cosim.Component):
    """A ball that keeps a part of its speed at each impact: all of it with e = 1."""

    e = cosim.parameter(default=0.8)
    g = cosim.parameter(unit="m/s2", default=9.81)
    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")

    @cosim.kernel
    def derivatives(g, speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -g

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    def bounce(e, speed, speed_next):
        speed_next[0] = -e * speed


def impact() -> None:
    """An impact of one ball, by runs of different lengths, in a Simulator that is made already."""
    model = cosim.Model("ball")
    model.add(Ball, "ball", e=1.0, height=1e-3)
    system = model.build()

    def run(until: float) -> tuple[float, int]:
        times, count = [], 0
        for _ in range(ROUNDS):
            simulator = cosim.Simulator(system, accuracy=1e-4, event_limit=0)
            simulator.initialize()
            start = time.process_time()
            simulator.advance_to(until)
            times.append(time.process_time() - start)
            count = simulator.statistics.events
        return min(times), count

    (short, few), (long, many) = run(5.0), run(55.0)
    print(f"an impact: {1e6 * (long - short) / (many - few):.2f} µs")


def run_derivatives() -> None:
    """Runs with derivatives, in plain runs: a ball with three bounces."""
    model = cosim.Model("ball")
    model.add(Ball, "ball")
    paths = ["ball.e", "ball.g", "ball.height"]
    plain = least(lambda: model.simulate(until=2.0), 10)
    for by in (paths[:1], paths):
        carried = least(lambda by=by: model.simulate(until=2.0, derivatives=by), 10)
        print(f"{len(by)} directions: {carried / plain:.2f} runs of {1e3 * plain:.2f} ms")


def coupled_derivatives() -> None:
    """A communication step of two balls under jacobi, for each of them: with derivatives, and without."""
    model = cosim.Model("ball")
    model.add(Ball, "ball")
    systems = {name: model.build() for name in ("one", "two")}
    loop = CoSimulation(systems, [], "jacobi", step=1e-3)
    paths = ["one.ball.e", "one.ball.g", "two.ball.e"]
    for by in ([], paths[:1], paths):
        loop.simulate(0.01, derivatives=by)
        spent = least(lambda by=by: loop.simulate(0.3, inside="nothing", derivatives=by)) / 600
        print(f"{len(by)} directions: {1e3 * spent:.3f} ms per step and participant")


def one_long_step() -> None:
    """100 s of the engine mount as a native FMU: in one communication step, and in a hundred."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mount.fmu"
        cosim.Model.from_file(ENGINE_MOUNT).export_fmu(path, native=True)
        for count in (1, 100):
            coupling = CoSimulation({"mount": path}, step=100.0 / count)
            start = time.process_time()
            coupling.simulate(until=100.0)
            print(f"{count} steps: {time.process_time() - start:.1f} s")


def first_use() -> None:
    """The engine mount with an empty cache: with the code that the installation contains, and without."""
    cosim_command = Path(sysconfig.get_path("scripts")) / "cosim"
    for name, settings in (("as installed", {}), ("nothing compiled", {"COSIM_NO_SHIPPED": "1"})):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, **settings, "COSIM_CACHE_DIR": f"{folder}/cache"}
            run = "run", ENGINE_MOUNT, "-o", f"{folder}/mount.csv"
            export = "export", ENGINE_MOUNT, "-o", f"{folder}/mount.fmu"
            for act, arguments in (("first run", run), ("first export", export), ("second export", export)):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run([cosim_command, *arguments, "-q"], env=environment, check=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                print(f"{name}, {act}: {spent:.1f} s", flush=True)


if __name__ == "__main__":
    acts = coupled_derivatives, first_use, impact, one_long_step, repeated_run, run_derivatives, runner
    {act.__name__: act for act in acts}[sys.argv[1]]()
