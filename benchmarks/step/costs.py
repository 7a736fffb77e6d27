"""The cost of a step besides its evaluations: recording, a monitor, a delay, a sampler, events.

All times are processor times, the least of `RUNS` runs.

Usage: python benchmarks/step/costs.py
"""

from __future__ import annotations

import functools
import math
import statistics
import time
from collections.abc import Callable
from typing import Any

from runs import least

import cosim
from cosim import EventCause, kit
from cosim.preparation.compiled_step import CompiledStep
from cosim_mechanics import Multibody

MERSON = "integrators.runge_kutta_merson"
RUNS = 3


class Oscillator(cosim.Component):
    """A mass on a spring, both 1."""

    x = cosim.position(unit="m", start=1.0)
    v = cosim.speed(unit="m/s")

    @cosim.kernel
    def derivatives(x, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -x


class Sampler(cosim.Component):
    """Counts a thousand times a second."""

    count = cosim.discrete(dtype=int)

    @cosim.every(0.001, does="discrete")
    def tick(count, count_next):
        count_next[0] = count + 1


def count_call(count, count_next):
    """Update a discrete variable."""
    count_next[0] = count + 1


def ignore(count):
    """Publish nothing."""
    return 1


def handlers_of_each_kind(declare: Callable[..., Any], name: str) -> dict[str, Any]:
    """Handlers of the cause that `declare` declares, one of each kind, by their names."""
    kinds = {"unrestricted": count_call, "discrete": count_call, "publish": ignore}
    return {f"{name}_{kind}": declare(does=kind)(function) for kind, function in kinds.items()}


class Everything(Oscillator):
    """A mass on a spring with events of every cause, each handled in every way."""

    count = cosim.discrete(dtype=int)
    called = cosim.signal()

    @cosim.witness
    def middle(x):
        return x

    @cosim.every(0.1, does="discrete")
    def call(called_next):
        called_next[0] = 1

    vars().update(handlers_of_each_kind(functools.partial(cosim.on, EventCause.INITIALIZATION), "begun"))
    vars().update(handlers_of_each_kind(functools.partial(cosim.on, EventCause.TIME_ADVANCED), "advanced"))
    vars().update(handlers_of_each_kind(functools.partial(cosim.on, EventCause.TERMINATION), "ended"))
    vars().update(handlers_of_each_kind(functools.partial(cosim.on, middle), "crossed"))
    vars().update(handlers_of_each_kind(functools.partial(cosim.on, called), "signaled"))
    vars().update(handlers_of_each_kind(functools.partial(cosim.every, 0.25), "scheduled"))


class Ball(cosim.Component):
    """A ball that falls onto a floor."""

    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    bounces = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @floor.rate
    def sinking(speed):
        return speed

    @cosim.on(floor, does="unrestricted")
    def bounce(speed, bounces, speed_next, bounces_next):
        speed_next[0] = -0.9 * speed
        bounces_next[0] = bounces + 1


def engine_mount() -> cosim.System:
    """The engine on three bushings of the README, with a delayed measure."""
    model = Multibody("engine_mount", gravity=(0, 0, -9.81))
    engine = model.body("engine", mass=120.0, center_of_mass=(0, 0, 0.1), inertia=(4.5, 6.0, 5.2))
    model.joint("free", child=engine)
    for name, position in {"left": (-0.3, 0, 0), "right": (0.3, 0, 0), "rear": (0, -0.35, 0.1)}.items():
        model.add(
            "mechanics.linear_bushing",
            name,
            body1="ground",
            body2=engine,
            frame_on_body1=position,
            frame_on_body2=position,
            stiffness=[0, 0, 0, 1.2e5, 1.2e5, 2.4e5],
            damping=[0, 0, 0, 300, 300, 600],
        )
    speed = model.measure("mechanics.velocity", "vertical_speed", of=engine, axis="z")
    model.measure("measures.delay", "felt", source=speed, delay=0.005)
    return model.build()


def one_mass(*parts: type[cosim.Component]) -> cosim.Model:
    """A mass on a spring, and further parts that are not connected with it."""
    model = cosim.Model("costs")
    for i, part in enumerate((Oscillator, *parts)):
        model.add(part, f"p{i}")
    return model


def evaluation(system: cosim.System, times: int = 20_000) -> float:
    """CPU time of one evaluation of the derivatives, s."""
    state = system.default_state().realize()
    walk = kit.compile_function(kit.repeat_walk, kit.REPEAT_SIGNATURE)
    schedule = (system.table, system.ints, *system.derivative_range, 0.0, *system.arrays(state))
    return least(lambda: walk(*schedule, times), RUNS)[0] / times


def fixed_steps(*parts: type[cosim.Component], delay: bool = False, monitor: Any = None) -> float:
    """CPU time of a step of RK4 (1 ms) of one mass and the further parts, s."""
    model = one_mass(*parts)
    if delay:
        model.add("measures.delay", "late", source="p0.x", delay=0.05)
    system, steps = model.build(), 5000
    simulator = cosim.Simulator(
        system, integrator="integrators.runge_kutta_4", fixed_step=0.001, accuracy=1e-6
    )
    simulator.initialize()
    if monitor is not None:
        simulator.set_monitor(monitor)
    return least(lambda: simulator.advance_to(simulator.state.time + steps * 0.001), RUNS)[0] / steps


def first_step(run: Callable[[], Any], runs: int = 1000) -> float:
    """CPU time from a call to the first step of its run, s: the median of many calls, without early ones."""
    took: list[float] = []
    began = math.nan
    call = CompiledStep.call

    def timed(step: CompiledStep, entry: str, t: float = 0.0) -> int:
        nonlocal began
        if entry == "advance" and began == began:
            took.append(time.thread_time() - began)
            began = math.nan
        return call(step, entry, t)

    CompiledStep.call = timed  # type: ignore[method-assign]
    try:
        for _ in range(runs):
            began = time.thread_time()
            run()
    finally:
        CompiledStep.call = call  # type: ignore[method-assign]
    return statistics.median(took[runs // 10 :])


def with_events(model: cosim.Model, until: float, **options: Any) -> str:
    """A text with the numbers of steps and events of a run, and its CPU time without preparation."""
    system, seconds = model.build(), []
    for _ in range(RUNS):
        simulator = cosim.Simulator(system, **{"integrator": MERSON, "accuracy": 1e-6, **options})
        simulator.initialize()
        began = time.process_time()
        simulator.advance_to(until)
        simulator.finish()
        seconds.append(time.process_time() - began)
    counts = simulator.statistics
    return f"{counts.steps} steps, {len(simulator.events)} events: {min(seconds) * 1e3:.3g} ms"


def print_engine_mount(system: cosim.System) -> None:
    """Print what a step of a recorded run takes, and how many times its bare evaluations that is."""
    results = {}

    def simulate() -> None:
        signals = ["engine.z", "felt", "energy.*"]
        results["run"] = cosim.simulate(system, until=2.0, output_interval=1e-3, signals=signals)

    seconds, _ = least(simulate, RUNS)
    counts = results["run"].statistics
    seconds_of_one = evaluation(system)
    ratio = seconds / (seconds_of_one * counts["evaluations"])
    print(f"engine mount, simulate() with a row each ms: {seconds * 1e6 / counts['steps']:.1f} µs a step")
    print(f"  beside its bare evaluations ({seconds_of_one * 1e6:.2f} µs each): {ratio:.2f} times")


def print_fixed_steps() -> None:
    """Print what a fixed step of one mass takes, alone and with more."""
    plain = fixed_steps()
    print(f"one mass, RK4: {plain * 1e6:.2f} µs a step")
    for name, step in (
        ("a delay", fixed_steps(delay=True)),
        ("a monitor", fixed_steps(monitor=lambda state: None)),
        ("a 1 kHz sampler", fixed_steps(Sampler)),
    ):
        print(f"  with {name}: {step * 1e6:.2f} µs, {step / plain:.1f} times")


def print_first_steps(models: dict[str, cosim.Model]) -> None:
    """Print when the first step comes after a call, of a model and of a built system."""
    for name, model in models.items():
        system = model.build()
        for way, run in (
            ("model.simulate()", functools.partial(model.simulate, until=0.01)),
            ("simulate() of a built system", functools.partial(cosim.simulate, system, until=0.01)),
        ):
            print(f"{name}, {way}: first step {first_step(run) * 1e3:.3f} ms after the call")


def print_events() -> None:
    """Print what runs take that have events of every cause, and those of balls."""
    everything = cosim.Model("everything")
    everything.add(Everything, "part")
    rk4 = {"integrator": "integrators.runge_kutta_4", "fixed_step": 0.01}
    print(f"every cause and kind of event, {with_events(everything, 6.0, **rk4)}")
    for count, until in ((1, 7.0), (100, 2.0)):
        balls = cosim.Model("balls")
        for i in range(count):
            balls.add(Ball, f"ball{i}", height=1.0 + 0.01 * i)
        print(f"{count} bouncing, {with_events(balls, until)}")


def main() -> None:
    """Print all costs."""
    system = engine_mount()
    print_engine_mount(system)
    print_fixed_steps()
    print_first_steps({"one mass": one_mass(), "engine mount": system.model})
    print_events()


if __name__ == "__main__":
    main()
