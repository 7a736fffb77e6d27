"""Twelve scenarios of models, FMUs of FMI 2.0 and 3.0, series and changes, as files in a folder."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from loop_fmus import make_loop
from native_tools import COMPILER
from numpy.typing import NDArray
from small_fmus import write_fmu

import cosim
from cosim.cli import main

sys.path.append(str(Path(__file__).parents[1] / "lowering"))
from event_parts import Clockwork  # noqa: E402

Compiled = Callable[..., Path]
STEP, STEPS, UNTIL = 0.01, 40, 0.4
BLOCK = """\
[model]
name = "block"
[bodies.block]
mass = "2 kg"
inertia = [1, 1, 1]
joint = "slider"
[components.motor]
type = "mechanics.joint_motor"
coordinate = "block_joint"
stiffness = 40
damping = 1
[measures.late]
type = "measures.delay"
source = "block_joint.position"
delay = 0.02
"""
PUSH = "time,push\n0.02,0\n0.1,1.5\n0.1,-1\n0.35,2\n"
PARTS = {
    "block": 'model = "block.toml"\nparameters = { "block_joint.q[0]" = 0.4 }',
    "mass": 'fmu = "mass.fmu"\nparameters = { m = 0.5, k = 30.0, kc = 25.0, x = 0.2 }',
    "lag": 'fmu = "loop3.fmu"',
    "clock": 'fmu = "clock.fmu"',
    "drive": 'series = "push.csv"',
}
"""A model, FMUs of FMI 2.0 and 3.0 in C, one of FMI 3.0 from cosim with events, and values over time."""
LINKS = [
    "block.late -> mass.x_other",
    "mass.force -> lag.u",
    "lag.x -> clock.part.drive",
    "clock.part.seen -> block.motor.target",
    "drive.push -> mass.f",
]
CHANGES = """\
[[changes]]
at = "150 ms"
set = { "mass.v_other" = 0.5 }
[[changes]]
when = "lag.x < 0.5 or mass.x > 0.3"
set = { "block.motor.stiffness" = 55 }
"""
MASS_OUTPUTS = ["mass.x", "mass.v", "mass.force"]
BLOCK_OUTPUTS = ["block.block_joint.q[0]", "block.block_joint.u[0]", "block.late"]
OUTPUTS = [*BLOCK_OUTPUTS, *MASS_OUTPUTS, "lag.x", "clock.part.z", "clock.part.seen"]
RING_PARTS = {name: text for name, text in PARTS.items() if name in ("block", "mass")}
RING_LINKS = ["block.late -> mass.x_other", "mass.x -> block.motor.target"]
PAIR_PARTS = {"left": PARTS["block"], "right": 'model = "block.toml"'}
PAIR_LINKS = ["left.late -> right.motor.target", "right.block_joint.q[0] -> left.motor.target"]
PAIR_OUTPUTS = [
    f"{name}.{signal}" for name in PAIR_PARTS for signal in ("block_joint.q[0]", "block_joint.u[0]", "late")
]
NESTED_PARTS = {"whole": 'fmu = "inner.fmu"', "outer": PARTS["block"], "drive": PARTS["drive"]}
"""A scenario in which another one is an FMU."""
NESTED_OUTPUTS = [*(f"whole.{name}" for name in OUTPUTS), "outer.late", "outer.block_joint.q[0]"]


def write_scenario(
    folder: Path,
    algorithm: str,
    parts: dict[str, str],
    links: Sequence[str],
    outputs: Sequence[str],
    changes: str = "",
    options: str = "",
) -> Path:
    """Write ``loop.toml``, and the model and the series beside it."""
    (folder / "block.toml").write_text(BLOCK, "utf-8")
    (folder / "push.csv").write_text(PUSH, "utf-8")
    quoted = ", ".join(f'"{link}"' for link in links)
    signals = ", ".join(f'"{output}"' for output in outputs)
    tables = "".join(f"[participants.{name}]\n{text}\n" for name, text in parts.items())
    method = f'algorithm = "{algorithm}"\n' + (f"options = {{ {options} }}\n" if options else "")
    path = folder / "loop.toml"
    path.write_text(
        f"connections = [{quoted}]\n{tables}{changes}[master]\nstep = {STEP}\nuntil = {UNTIL}\n{method}"
        f"[output]\nsignals = [{signals}]\n",
        "utf-8",
    )
    return path


def mixed(algorithm: str, options: str = "", changes: str = CHANGES) -> Callable[[Path, Compiled], Path]:
    """A scenario with all kinds of participants."""

    def make(folder: Path, compiled: Compiled) -> Path:
        write_fmus(folder, compiled)
        return write_scenario(folder, algorithm, PARTS, LINKS, OUTPUTS, changes, options)

    return make


def ring(algorithm: str) -> Callable[[Path, Compiled], Path]:
    """A model and an FMU of FMI 2.0, each of which needs the other."""

    def make(folder: Path, compiled: Compiled) -> Path:
        write_fmus(folder, compiled)
        return write_scenario(folder, algorithm, RING_PARTS, RING_LINKS, [*BLOCK_OUTPUTS, *MASS_OUTPUTS])

    return make


def pair(algorithm: str) -> Callable[[Path, Compiled], Path]:
    """A scenario of two models."""
    return lambda folder, _: write_scenario(folder, algorithm, PAIR_PARTS, PAIR_LINKS, PAIR_OUTPUTS)


def nested(folder: Path, compiled: Compiled) -> Path:
    """A scenario with an FMU of FMI 3.0 that contains all kinds of participants, a model and a series."""
    write_fmus(folder, compiled)
    inner = write_scenario(folder, "gauss_seidel", PARTS, LINKS[:-1], OUTPUTS)
    exported(inner, "--fmi", "3").rename(folder / "inner.fmu")
    links = ["whole.mass.x -> outer.motor.target", "drive.push -> whole.mass.f"]
    return write_scenario(folder, "waveform_iteration", NESTED_PARTS, links, NESTED_OUTPUTS)


SCENARIOS: dict[str, Callable[[Path, Compiled], Path]] = {
    "jacobi": mixed("jacobi"),
    "jacobi along parabolas": mixed("jacobi", "extrapolation = 2"),
    "gauss_seidel": mixed("gauss_seidel"),
    "gauss_seidel along lines": mixed("gauss_seidel", "extrapolation = 1"),
    "adaptive": mixed("adaptive", "tolerance = 1e-3"),
    "interface_newton": mixed("interface_newton"),
    "waveform_iteration": mixed("waveform_iteration"),
    "waveform_iteration without changes": mixed("waveform_iteration", changes=""),
    "ring, interface_newton": ring("interface_newton"),
    "ring, adaptive": ring("adaptive"),
    "models, interface_newton": pair("interface_newton"),
    "one inside another": nested,
}


def write_fmus(folder: Path, compiled: Compiled) -> None:
    """``mass.fmu`` (FMI 2.0), ``loop3.fmu`` and ``clock.fmu`` (FMI 3.0)."""
    write_fmu(folder / "mass.fmu", "mass", compiled("mass"))
    make_loop(folder, compiled, "3.0")
    model = cosim.Model("clock")
    model.add(Clockwork, "part")
    model.export_fmu(folder / "clock.fmu", native=True, fmi=3, kind="cs", compiler=COMPILER)


def exported(path: Path, *options: str) -> Path:
    """Export a scenario as an FMU without Python."""
    target = path.with_name("whole.fmu")
    words = ["export", str(path), "-o", str(target), "-q", "--native", "--no-experiment", *options]
    assert main(words) == 0
    return target


def cosimulated(path: Path) -> dict[str, NDArray[np.float64]]:
    """The results of ``cosim cosimulate`` at communication points; of two rows with one time, the last."""
    table = path.with_name("loop.csv")
    assert main(["cosimulate", str(path), "-o", str(table), "-q", "--in-process"]) == 0
    with table.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(line for line in file if not line.startswith("#"))
    rows_by_step = {round(float(row[0]) / STEP): row for row in rows if is_point(float(row[0]))}
    assert sorted(rows_by_step) == list(range(STEPS + 1))
    columns = {name.partition(" [")[0]: i for i, name in enumerate(names)}
    return {
        name: np.array([float(rows_by_step[k][i]) for k in range(STEPS + 1)]) for name, i in columns.items()
    }


def is_point(time: float) -> bool:
    """Whether a time is that of a communication point; an event can add rows between them."""
    return abs(time - STEP * round(time / STEP)) < 1e-9


def reals(description: Any) -> list[Any]:
    """The real variables of a description that it computes, except errors of the coupling."""
    shown = [v for v in description.modelVariables if v.causality in ("output", "local")]
    return [v for v in shown if v.type in ("Real", "Float64") and "coupling." not in v.name]
