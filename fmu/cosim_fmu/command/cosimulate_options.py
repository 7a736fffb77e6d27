"""The options of ``cosim cosimulate``."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from cosim_master.recording.coupling_errors import REQUIRED


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the scenario, where the results go, how the coupling is assessed, and where FMUs run."""
    _add_run_options(parser)
    _add_set_up_options(parser)
    _add_coupling_options(parser)
    _add_process_options(parser)
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="print only errors, and verdicts other than fine"
    )


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    """The scenario, how long it runs, and where the results go."""
    parser.add_argument(
        "scenario", type=Path, help="a TOML file (participants, connections, master), or an SSP"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="results, .csv or .parquet (SCENARIO.csv)"
    )
    parser.add_argument(
        "--until", metavar="TIME", help='end time in s, or with a unit; overrides the file: "500 ms"'
    )
    parser.add_argument(
        "--real-time",
        metavar="RATE",
        type=float,
        default=math.inf,
        help="simulated seconds per second of wall-clock time, at most: 1",
    )
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="also draw the results: .png, .svg, .pdf, .html"
    )


def _add_set_up_options(parser: argparse.ArgumentParser) -> None:
    """Add options that a scenario, or an SSP, leaves open."""
    parser.add_argument("--variant", metavar="NAME", help="variant of a scenario or an SSP")
    parser.add_argument("--step", metavar="TIME", help='communication step of an SSP: "1 ms"')
    parser.add_argument("--algorithm", metavar="NAME", help="master algorithm of an SSP, for example jacobi")
    parser.add_argument(
        "--inputs",
        type=Path,
        metavar="FILE",
        help="values over time for inputs without a connection; columns have their names: .csv, .parquet",
    )


def _add_coupling_options(parser: argparse.ArgumentParser) -> None:
    """Add options of the assessment of the coupling."""
    parser.add_argument(
        "--explain",
        action="store_true",
        help="print the calls of a step, and the delay of each connection; do not run",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="run again with half the step, or a tenth of the tolerance, and compare",
    )
    parser.add_argument("--coupling", type=Path, metavar="FILE", help="write the error of each output: .csv")
    parser.add_argument(
        "--require",
        choices=tuple(REQUIRED),
        help="exit with status 1 unless the verdict on the coupling is fine, "
        "or known; the results are written in each case. An unknown verdict is verified first",
    )
    parser.add_argument(
        "--derivatives",
        metavar="PATHS",
        help="also write derivatives with respect to these: plant.mass,plant.x",
    )


def _add_process_options(parser: argparse.ArgumentParser) -> None:
    """Add options of checkpoints, and of the processes of the FMUs."""
    parser.add_argument(
        "--checkpoint", type=Path, metavar="FILE", help="save the state of the co-simulation in this file"
    )
    parser.add_argument(
        "--checkpoint-every",
        metavar="TIME",
        default="30 s",
        help="wall-clock time between checkpoints (30 s)",
    )
    parser.add_argument("--resume", type=Path, metavar="FILE", help="continue from a checkpoint")
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--isolate",
        nargs="?",
        const="*",
        metavar="NAMES",
        help='run FMUs in separate processes: all, or "plant,wheel_*"',
    )
    place.add_argument(
        "--in-process",
        action="store_true",
        help="run all in this process, for debuggers: an FMU that crashes ends the command",
    )
    parser.add_argument(
        "--accept-changed",
        action="append",
        metavar="NAME",
        help="with --resume: accept a changed file of this participant (a corrected FMU)",
    )
