"""The distribution of the time of a run: by stage, by component, and the functions that are not compiled."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import cosim
from cosim import kit
from cosim_workbench.block_times import time_blocks

FIRST_PART = 1e-6
"""The part of a run in which its functions are loaded or compiled."""


@dataclass(frozen=True)
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

    build: float
    compile: float
    run: float
    evaluations: int
    stages: dict[str, float]
    parts: dict[str, float]
    in_python: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """The profile, for JSON."""
        return asdict(self)


class Stopwatch:
    """Measures the time of a ``with`` block.

    Attributes
    ----------
    seconds : float
        Of the last block that has ended.
    """

    seconds = 0.0

    @contextmanager
    def measure(self) -> Iterator[None]:
        """Measure a block."""
        began = time.perf_counter()
        yield
        self.seconds = time.perf_counter() - began


def profile(model: cosim.Model, settings: dict[str, Any]) -> RunProfile:
    """Build, compile and run a model, and time each block of its schedule.

    Parameters
    ----------
    model : Model
    settings : dict
        As for `Model.simulate`.
    """
    building, compiling, running = Stopwatch(), Stopwatch(), Stopwatch()
    until = kit.read_seconds(settings["until"], "until")
    with building.measure():
        system = model.prepare(**settings)
    with compiling.measure():
        options = {k: v for k, v in settings.items() if k not in ("until", "output_interval", "signals")}
        simulator = cosim.Simulator(system, **{"accuracy": 1e-6, **options})
        simulator.initialize()
        simulator.advance_to(FIRST_PART * until)
    evaluations = simulator.statistics.evaluations
    with running.measure():
        simulator.advance_to(until)
    evaluations = simulator.statistics.evaluations - evaluations
    times = time_blocks(simulator.state.copy())
    return RunProfile(
        build=building.seconds,
        compile=compiling.seconds,
        run=running.seconds,
        evaluations=evaluations,
        stages=times.stages,
        parts=times.parts,
        in_python=functions_in_python(system, simulator.integrator),
    )


def functions_in_python(system: cosim.System, integrator: cosim.Integrator) -> dict[str, str]:
    """The functions that run as plain Python, and the reasons."""
    if kit.is_plain():
        return {"everything": "COSIM_PLAIN or COSIM_DEBUG is set, or llvmlite is not installed"}
    reasons = {}
    for name, part in system.parts.items():
        handlers = {handler_name: handler.function for handler_name, handler in part.handlers.items()}
        for method, kernel in {**part.kernels, **handlers}.items():
            if kernel.is_python:
                reason = "a method with self: make it a kernel function (@cosim.kernel, no self)"
                reasons[f"{name}.{method}()"] = reason
    if integrator.kernels(system) is None:
        reason = "; ".join(integrator.python_calls()) or "its steps are Python"
        reasons[type(integrator).__name__] = reason
    return reasons
