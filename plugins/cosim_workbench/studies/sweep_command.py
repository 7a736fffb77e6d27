"""``cosim sweep MODEL.toml``."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import cosim
from cosim_workbench.plot import check_plot
from cosim_workbench.progress import compile_notice
from cosim_workbench.studies.cluster import cluster_executor
from cosim_workbench.studies.studied import studied
from cosim_workbench.studies.study import Study
from cosim_workbench.studies.study_progress import study_progress
from cosim_workbench.studies.study_table import StudyTable
from cosim_workbench.studies.subject_runs import PLACES
from cosim_workbench.typed_settings import (
    add_method,
    add_scenario,
    add_threads,
    pairs,
    scenario_settings,
    typed_settings,
)
from cosim_workbench.wording import counted

FAILED = 1


class SweepCommand(cosim.Command):
    """Do a study of a model or scenario; the same command continues an interrupted study."""

    name: ClassVar[str] = "sweep"
    summary: ClassVar[str] = "run a model at many points, on all processors"
    examples = (
        (
            'cosim sweep mount.toml --vary "engine.mass=100..140:3" --objective "peak=max(engine.z)"',
            "three runs, and the peak of each",
        ),
        (
            'cosim sweep mount.toml --vary "engine.mass=normal(120, 5)" --sample latin:4 -o scatter',
            "four runs at random; the same command again continues the study",
        ),
    )
    failure: ClassVar[str] = "every point failed"

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The model, what is varied, what is kept."""
        parser.add_argument("model", type=Path, help="a model file or a scenario (TOML), or an SSP")
        parser.add_argument(
            "--vary",
            action="append",
            required=True,
            metavar="PATH=VALUES",
            help='"mount.stiffness[5]=1e5..3e5:21", "…=100 N/mm, 200 N/mm", "…=normal(2e5, 1e4)"',
        )
        parser.add_argument(
            "--sample",
            metavar="KIND:COUNT",
            help="latin, sobol, halton or random (all combinations)",
        )
        parser.add_argument("--seed", type=int, default=0, metavar="NUMBER", help="seed of the sample (0)")
        parser.add_argument(
            "--objective",
            action="append",
            metavar="NAME",
            help='value to record: "peak=max(engine.z)", "module:function" (last values)',
        )
        parser.add_argument(
            "-o", "--output", type=Path, metavar="FOLDER", help="folder of the study (MODEL-study)"
        )
        parser.add_argument("--until", metavar="TIME", help='end of each run in s, or with a unit: "500 ms"')
        add_scenario(parser)
        add_method(parser, ", such as 1e-6", "dormand_prince")
        add_threads(parser)
        parser.add_argument(
            "--run-in",
            choices=PLACES,
            default=PLACES[0],
            help="run a scenario in processes, or in threads of one process",
        )
        parser.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler: tcp://host:8786")
        parser.add_argument("--series", action="store_true", help="store values over time, as Parquet")
        parser.add_argument("--parquet", action="store_true", help="also write table.parquet")
        parser.add_argument("--plot", type=Path, metavar="FILE", help="a scatter matrix: .png, .svg, .pdf")
        parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")

    def runs_code_of_others(self, arguments: argparse.Namespace) -> bool:
        """FMUs that are parts of the model."""
        return True

    def run(self, arguments: argparse.Namespace) -> int:
        """Read, check, run what is left, write the table."""
        if arguments.plot is not None:
            check_plot(arguments.plot)
        settings = typed_settings(arguments)
        settings |= scenario_settings(arguments)
        folder = arguments.output or Path(f"{arguments.model.stem}-study")
        try:
            table = _run(arguments, settings, folder)
        except (KeyboardInterrupt, cosim.CosimError) as error:
            interrupted = isinstance(error, KeyboardInterrupt) or hasattr(error, "result")
            if interrupted and any(folder.glob("part-*")):
                self.report(folder=folder)
                print(f"finished points are in {folder}: the same command continues", file=sys.stderr)
            raise
        self.report(folder=folder, table=folder / "table.csv", picture=arguments.plot)
        self.report(points=len(table), failed=table.failed, objectives=_objectives(table))
        return FAILED if table.failed == len(table) else 0


def _objectives(table: StudyTable) -> dict[str, Any]:
    """Range of each objective, without points that failed."""
    ranges = {}
    for name in table.objectives:
        values = table[name][~np.isnan(table[name])]
        figures = (values.min(), values.max(), np.median(values)) if len(values) else (None, None, None)
        unit = {"unit": table.units.get(name, "1")}
        ranges[name] = unit | dict(zip(("least", "greatest", "median"), figures, strict=True))
    return ranges


def _run(arguments: argparse.Namespace, settings: dict[str, Any], folder: Path) -> StudyTable:
    """Run what is left and write the table."""
    with ExitStack() as stack:
        if not arguments.quiet:
            stack.enter_context(compile_notice())
        model = _model(arguments.model, settings)
        is_model = isinstance(model, cosim.Model)
        study = Study(
            model,
            pairs(arguments.vary, "--vary", "PATH=VALUES, such as mount.stiffness[5]=1e5..3e5:21"),
            arguments.objective,
            sample=arguments.sample,
            seed=arguments.seed,
            folder=folder,
            keep_series=arguments.series,
            **{key: value for key, value in settings.items() if is_model or key == "threads"},
            **({} if is_model else {"run_in": arguments.run_in}),
        )
        executor = stack.enter_context(cluster_executor(arguments.cluster)) if arguments.cluster else None
        progress: Any = stack.enter_context(nullcontext() if arguments.quiet else study_progress())
        table = study.run(executor, progress)
    if study.message:
        print(study.message, file=sys.stderr)
    if arguments.parquet:
        table.to_parquet(folder / "table.parquet")
    if not arguments.quiet:
        print(_summary(table, folder))
    if arguments.plot is not None:
        table.plot(path=arguments.plot)
        if not arguments.quiet:
            print(f"plot → {arguments.plot}")
    return table


def _model(path: Path, settings: dict[str, Any]) -> Any:
    """A model, or what a plugin reads this file as."""
    model = studied(path, {key: value for key, value in settings.items() if key != "threads"})
    if isinstance(model, cosim.Model) and (refused := {"variant", "inputs"} & settings.keys()):
        raise cosim.CosimError(f"{path}: --{min(refused)} applies only to a scenario or an SSP")
    if isinstance(model, cosim.Model) and "until" not in {**model.simulation, **settings}:
        fault = "gives no end of the runs: write until = … into [simulation], or --until"
        raise cosim.ModelError.of(str(path), fault)  # `cosim run` guesses, but here many runs would be wrong
    return model


def _summary(table: StudyTable, folder: Path) -> str:
    failed = f", {table.failed} failed" if table.failed else ""
    lines = [f"{counted(len(table), 'point')}{failed}"]
    width = max((len(name) for name in table.objectives), default=0)
    for name in table.objectives:
        values = table[name][~np.isnan(table[name])]
        unit = table.units.get(name, "1")
        shown = "" if unit == "1" else f" {unit}"
        if len(values):
            low, high = table["point"][np.nanargmin(table[name])], table["point"][np.nanargmax(table[name])]
            least, greatest = f"{values.min():.6g} (point {low})", f"{values.max():.6g}{shown} (point {high})"
            lines.append(f"{name:<{width}}  {least} … {greatest}, median {np.median(values):.6g}")
    reasons = table["reason"][table["status"] == "failed"]
    if len(reasons):
        lines.append(f"point {table['point'][table['status'] == 'failed'][0]} failed: {reasons[0]}")
    lines.append(f"table → {folder / 'table.csv'}")
    return "\n".join(lines)
