"""``cosim linearize MODEL.toml``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

import numpy as np

import cosim
from cosim.kit import check_folder
from cosim_dynamics.find_equilibrium import equilibrium
from cosim_dynamics.linear_model import linearize
from cosim_dynamics.linearization import Linearization
from cosim_dynamics.mode import Mode

PARTS = 3
"""So many states are named for each mode."""


class LinearizeCommand(cosim.Command):
    """Linearize a model about its static equilibrium (or its start) and print its modes.

    Examples
    --------
    >>> LinearizeCommand.name
    'linearize'
    """

    name: ClassVar[str] = "linearize"
    summary: ClassVar[str] = "compute matrices A, B, C, D, eigenfrequencies and modes of a model"
    examples = (
        ("cosim linearize mount.toml", "frequencies and damping ratios"),
        ("cosim linearize mount.toml --about start --outputs vertical_speed -o linear.json", "the matrices"),
    )

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The model, where, what from and what to."""
        parser.add_argument("model", type=Path, help="a model file (.toml)")
        about = "the static equilibrium (found first), or the start values as they are"
        parser.add_argument("--about", choices=("equilibrium", "start"), default="equilibrium", help=about)
        parser.add_argument("--inputs", nargs="*", metavar="PATH", help="inputs or parameters (all inputs)")
        parser.add_argument("--outputs", nargs="*", metavar="PATH", help="signals (all outputs)")
        parser.add_argument("-o", "--output", type=Path, help="write matrices, names and modes (JSON)")

    def runs_code_of_others(self, arguments: argparse.Namespace) -> bool:
        """FMUs that are parts of the model."""
        return True

    def run(self, arguments: argparse.Namespace) -> int:
        """Linearize and print."""
        if arguments.output is not None:
            check_folder(arguments.output)
        system = cosim.Model.from_file(arguments.model).build()
        state = equilibrium(system) if arguments.about == "equilibrium" else None
        try:
            linear = linearize(system, state, arguments.inputs, arguments.outputs)
        except ValueError as error:
            raise cosim.CosimError(str(error)) from None
        self.report(**linear.to_dict())
        print(report(linear))
        if arguments.output is not None:
            linear.write(arguments.output)
            print(f"linear system → {arguments.output}")
        return 0


def report(linear: Linearization) -> str:
    """Sizes, and a line for each mode: frequency, damping ratio, time constant and where it shows."""
    sizes = ((linear.states, "state"), (linear.inputs, "input"), (linear.outputs, "output"))
    heading = ", ".join(f"{len(names)} {word}{'' if len(names) == 1 else 's'}" for names, word in sizes)
    rows = [["frequency", "damping ratio", "time constant", "largest in"]]
    for mode in linear.modes():
        if mode.eigenvalue:
            frequency = f"{mode.frequency:.6g} Hz" if mode.oscillates else "-"
            time = f"{mode.time_constant:.4g} s" if np.isfinite(mode.time_constant) else "-"
            rows.append([frequency, f"{mode.damping_ratio:.4g}", time, _largest(linear, mode)])
    at_zero = sum(not mode.eigenvalue for mode in linear.modes())
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = [heading]
    if len(rows) > 1:
        lines += [
            "  " + "  ".join([*(f"{cell:>{w}}" for cell, w in zip(row, widths, strict=False)), row[3]])
            for row in rows
        ]
    if at_zero:
        lines.append(
            f"  and {at_zero} at zero: motions that nothing resists, and states that nothing depends on"
        )
    growing = sum(mode.eigenvalue.real > 0.0 for mode in linear.modes())
    if growing:
        lines.append(f"unstable: {growing} of the modes grow")
    return "\n".join(lines)


def _largest(linear: Linearization, mode: Mode) -> str:
    """The states in which a mode shows most: displacements where it has any, since speeds follow them."""
    size = abs(mode.shape)
    displacements = [
        k for k, name in enumerate(linear.states) if ".u" not in name or name.startswith("integral of ")
    ]
    order = sorted(displacements or range(len(size)), key=lambda k: -size[k])
    greatest = size[order[0]] if order else 0.0
    shown = [linear.states[k] for k in order[:PARTS] if size[k] > 0.05 * greatest]
    return ", ".join(shown)
