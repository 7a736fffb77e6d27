"""``cosim plot FILE``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import cosim
from cosim_workbench.arguments import completes
from cosim_workbench.plot import Plot, check_plot


class PlotCommand(cosim.Command):
    """Draw saved results as a picture, or as a page to zoom and read off."""

    name: ClassVar[str] = "plot"
    summary: ClassVar[str] = "draw signals of saved results"
    examples = (
        ("cosim plot mount.csv", "a selection of signals"),
        ('cosim plot mount.csv engine.z "energy.*" -o energies.svg', "some of them"),
    )

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The results, which of their signals, and the picture."""
        parser.add_argument("file", type=Path, help="results: .csv of any tool, .parquet")
        signals = parser.add_argument(
            "signals",
            nargs="*",
            metavar="SIGNAL",
            help='names or patterns: engine.z "energy.*" (a selection)',
        )
        completes(signals, _signals)
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="FILE",
            help="the picture: .png, .svg, .pdf, or .html to zoom in a browser (RESULTS.png)",
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Read, choose, draw."""
        target = arguments.output or Path(f"{arguments.file.stem}.png")
        check_plot(target, Plot.suffixes)
        result = cosim.read_result(arguments.file)
        result.statistics.setdefault("model", arguments.file.stem)
        picture = result.plot(*arguments.signals, path=target)
        self.report(picture=picture)
        print(f"plot → {picture}")
        return 0


def _signals(words: Sequence[str]) -> list[str]:
    """The names in the first of these words that is a file of results."""
    file = next((Path(word) for word in words if Path(word).is_file()), None)
    return [] if file is None else list(cosim.read_result(file).names)
