"""``cosim equilibrium MODEL.toml``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

import cosim
from cosim.kit import check_folder, write_whole
from cosim_dynamics.find_equilibrium import equilibrium, start_values
from cosim_dynamics.linear_model import linearize


class EquilibriumCommand(cosim.Command):
    """Find the static equilibrium of a model and print it as the table [starts] of a model file.

    Examples
    --------
    >>> EquilibriumCommand.name
    'equilibrium'
    """

    name: ClassVar[str] = "equilibrium"
    summary: ClassVar[str] = "find the static equilibrium of a model, as start values"
    examples = (("cosim equilibrium mount.toml -o starts.toml", "append it to the model file"),)

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The model, and a file to write to."""
        parser.add_argument("model", type=Path, help="a model file (.toml)")
        parser.add_argument("-o", "--output", type=Path, help="write the table [starts] here")

    def runs_code_of_others(self, arguments: argparse.Namespace) -> bool:
        """FMUs that are parts of the model."""
        return True

    def run(self, arguments: argparse.Namespace) -> int:
        """Search from the start values of the model."""
        if arguments.output is not None:
            check_folder(arguments.output)
        system = cosim.Model.from_file(arguments.model).build()
        at_rest = equilibrium(system)
        starts, growing = start_values(at_rest), linearize(system, at_rest, [], []).growing()
        self.report(starts=starts, written=arguments.output, stable=not growing)
        text = "[starts]\n" + "".join(f'"{path}" = {value}\n' for path, value in starts.items())
        if growing:
            state, mode = growing[0]
            grows = f"{state} leaves it, e times as far every {-mode.time_constant:.3g} s"
            text = f"# This equilibrium is unstable: {grows}.\n{text}"
        print(text, end="")
        if arguments.output is not None:
            write_whole(arguments.output, text.encode())
            print(f"start values → {arguments.output}")
        return 0
