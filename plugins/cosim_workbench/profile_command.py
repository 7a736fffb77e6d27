"""``cosim profile MODEL``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

import cosim
import cosim.kit


class ProfileCommand(cosim.Command):
    """Say where the time of a run goes: by component and stage, compiling, what is not compiled and why."""

    name: ClassVar[str] = "profile"
    summary: ClassVar[str] = "show which components take the time of a run, and what is not compiled"
    examples = (
        ("cosim profile mount.toml", ""),
        ('cosim profile mount.toml --until "20 ms" --json', "times in s"),
    )

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The model and how long it is run."""
        parser.add_argument("model", type=Path, help="a model file")
        parser.add_argument("--until", metavar="TIME", help='in s, or with a unit: "500 ms"')

    def runs_code_of_others(self, arguments: argparse.Namespace) -> bool:
        """FMUs that are parts of the model."""
        return True

    def run(self, arguments: argparse.Namespace) -> int:
        """Measure and print."""
        from cosim_workbench.profile_text import profile_lines
        from cosim_workbench.run_profile import profile

        model = cosim.Model.from_file(arguments.model)
        settings = dict(model.simulation)
        if arguments.until is not None:
            settings["until"] = cosim.kit.read_seconds(cosim.parse_quantity(arguments.until, "s"), "--until")
        run_profile = profile(model, {"until": 1.0, **settings})
        self.report(**run_profile.to_dict())
        print("\n".join(profile_lines(run_profile)))
        return 0
