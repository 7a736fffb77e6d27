"""The distribution of the time of a run: by stage, by component, and the functions that are not compiled."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

import cosim
from cosim import kit

REPEATS = 400
STAGES = [s for s in cosim.Stage if cosim.Stage.INSTANCE < s <= cosim.Stage.REPORT]


@dataclass
class RunProfile:
    """The measurements of a run.

    Attributes
    ----------
    build, compile, run : float
        s: making the system; making the Simulator and its first step, which loads or compiles functions;
        the run itself after that.
    evaluations : int
        The evaluations of the derivatives in the run.
    stages, parts : dict of str to float
        s for one evaluation, by stage and by part.
    in_python : dict of str to str
        The functions that are not compiled, and the reasons.
    """

    build: float = 0.0
    compile: float = 0.0
    run: float = 0.0
    evaluations: int = 0
    stages: dict[str, float] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)
    in_python: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The profile, for JSON."""
        return asdict(self)


def profile(model: cosim.Model, settings: dict[str, Any]) -> RunProfile:
    """Build, compile and run a model, and time each block of its schedule.

    Parameters
    ----------
    model : Model
    settings : dict
        As for `Model.simulate`.
    """
    measured = RunProfile()
    began = time.perf_counter()
    system = model.prepare(**settings)
    measured.build = time.perf_counter() - began
    began = time.perf_counter()
    options = {k: v for k, v in settings.items() if k not in ("until", "output_interval", "signals")}
    simulator = cosim.Simulator(system, **{"accuracy": 1e-6, **options})
    simulator.initialize()
    until = kit.read_seconds(settings["until"], "until")
    simulator.advance_to(min(until, 1e-6 * until))
    measured.compile = time.perf_counter() - began
    began, before = time.perf_counter(), simulator.statistics.evaluations
    simulator.advance_to(until)
    measured.run = time.perf_counter() - began
    measured.evaluations = simulator.statistics.evaluations - before
    measured.stages, measured.parts = time_blocks(simulator.state.copy())
    _list_python(system, simulator.integrator, measured)
    return measured


def time_blocks(state: cosim.State) -> tuple[dict[str, float], dict[str, float]]:
    """Time of one evaluation by stage and by part, s.

    Each block is called so often that the call of the walker does not count.

    Parameters
    ----------
    state : State
        It is realized.
    """
    system = state.realize(cosim.Stage.REPORT).system
    parts: dict[str, float] = defaultdict(float)
    stages: dict[str, float] = defaultdict(float)
    arrays = system.arrays(state)
    for stage in STAGES:
        for index in range(*system.block_range(stage, stage)):
            block = system.blocks[index]
            repeats = 20 if block.is_python or kit.is_plain() else REPEATS
            table = np.repeat(system.table[index : index + 1], repeats, axis=0)
            saved = [array.copy() for array in arrays]
            began = time.perf_counter()
            system.walk_blocks(table, 0, repeats, state.time, arrays)
            spent = (time.perf_counter() - began) / repeats
            for array, old in zip(arrays, saved, strict=True):
                array[...] = old
            stages[stage.name.lower()] += spent
            owners = block.owners or (block.label,)
            for owner in owners:
                parts[_part_of(str(owner))] += spent / len(owners)
    return dict(stages), dict(sorted(parts.items(), key=lambda item: -item[1]))


def _part_of(owner: str) -> str:
    """The part behind ``cart.rates``, ``zeroing of cart.F_GB`` and the like."""
    return owner.rpartition(" of ")[2].partition(".")[0].partition(":")[0]


def _list_python(system: cosim.System, integrator: cosim.Integrator, measured: RunProfile) -> None:
    """List the functions that run as plain Python, and why."""
    if kit.is_plain():
        measured.in_python["everything"] = "COSIM_PLAIN or COSIM_DEBUG is set, or llvmlite is not installed"
        return
    for name, part in system.parts.items():
        handlers = {n: h.function for n, h in part.handlers.items()}
        for method, kernel in {**part.kernels, **handlers}.items():
            if kernel.is_python:
                why = "a method with self: make it a kernel function (@cosim.kernel, no self)"
                measured.in_python[f"{name}.{method}()"] = why
    if integrator.kernels(system) is None:
        why = "; ".join(integrator.python_calls()) or "its steps are Python"
        measured.in_python[type(integrator).__name__] = why


def profile_lines(costs: RunProfile) -> list[str]:
    """The profile as text."""
    each = costs.run / max(costs.evaluations, 1)
    lines = [
        f"build     {costs.build:.3f} s",
        f"compile   {costs.compile:.3f} s   loading or compiling functions, and the first step",
        f"run       {costs.run:.3f} s   {costs.evaluations} evaluations, {1e6 * each:.3g} µs each in all",
    ]
    for title, spent in (("by stage", costs.stages), ("by component", costs.parts)):
        total = sum(spent.values())
        lines += ["", f"{title}, of one evaluation ({1e6 * total:.3g} µs)"]
        shown = [item for item in spent.items() if item[1] > 0.0][:25]
        lines += [f"  {1e6 * s:9.3f} µs  {s / total:4.0%}  {name}" for name, s in shown]
    lines += ["", "not compiled" if costs.in_python else "all of it is compiled"]
    return lines + [f"  {name}: {why}" for name, why in costs.in_python.items()]
