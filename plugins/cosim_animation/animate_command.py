"""``cosim animate MODEL``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

import cosim
from cosim_animation.page import AnimationPage

UNTIL = 1.0
"""s, when neither the file nor the command line says."""
RESULTS = (".csv", ".parquet")
"""Endings of files that stand where the model should."""


class AnimateCommand(cosim.Command):
    """Write a page that plays a run of a mechanism in 3-D."""

    name: ClassVar[str] = "animate"
    known_as: ClassVar[tuple[str, ...]] = ("visualize", "view", "movie", "3d")
    summary: ClassVar[str] = "animate a mechanism in 3-D, as a page for browsers"
    examples = (
        ("cosim animate mount.toml", "run it; mount.html"),
        ("cosim animate arm.urdf --until 2 -o arm.html", "a robot"),
        ("cosim animate mount.toml --result mount.csv", "a run that was recorded"),
        ("cosim animate mount.toml --result a.csv --compare b.csv", "two runs in one picture"),
        ("cosim animate arm.urdf -o arm.glb", "for Blender and other programs"),
    )
    failure: ClassVar[str] = "the run failed"

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The model, the run, what is plotted."""
        parser.add_argument("model", type=Path, help="a model file or a robot")
        parser.add_argument(
            "signals", nargs="*", metavar="SIGNAL", help="signals to plot beside the picture (a selection)"
        )
        parser.add_argument(
            "-o", "--output", type=Path, metavar="FILE", help="the page (MODEL.html), or a glTF file (.glb)"
        )
        parser.add_argument("--result", type=Path, metavar="FILE", help="play this in place of a new run")
        parser.add_argument(
            "--compare", type=Path, metavar="FILE", help="a second result, drawn pale in the same picture"
        )
        parser.add_argument("--until", metavar="TIME", help='end of the run in s, or with a unit: "500 ms"')
        parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")

    def run(self, arguments: argparse.Namespace) -> int:
        """Read, run, write."""
        target = arguments.output or Path(f"{arguments.model.stem}.html")
        if target.suffix.lower() not in AnimationPage.suffixes:
            raise cosim.CosimError(f"{target}: the name of a page ends in .html, of a glTF file in .glb")
        if not target.parent.is_dir():
            raise cosim.CosimError(f"{target}: there is no folder {target.parent}")
        if arguments.model.suffix.lower() in RESULTS:
            raise cosim.CosimError(
                f"{arguments.model} has the results of a run, not its bodies: "
                f"cosim animate MODEL --result {arguments.model}"
            )
        model = cosim.Model.from_file(arguments.model)
        if arguments.result is not None:
            result = cosim.read_result(arguments.result)
        else:
            settings = {"until": UNTIL, **model.simulation}
            if arguments.until is not None:
                settings["until"] = arguments.until
            result = model.simulate(**AnimationPage.settings(model, settings))
        compared = None if arguments.compare is None else cosim.read_result(arguments.compare)
        AnimationPage().write(result, target, model, arguments.signals, compared)
        self.report(page=target, frames=len(result), bytes=target.stat().st_size)
        if not arguments.quiet:
            opened = "a browser" if target.suffix.lower() == ".html" else "Blender, or a viewer of glTF"
            print(f"{model.name} → {target} ({target.stat().st_size / 1000:.0f} kB): open it in {opened}")
        return 0
