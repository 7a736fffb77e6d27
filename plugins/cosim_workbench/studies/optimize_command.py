"""``cosim optimize MODEL.toml --vary … --minimize …``."""

from __future__ import annotations

import argparse
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any, ClassVar

import cosim
from cosim.kit import check_folder, save_somewhere
from cosim_workbench.progress import compile_notice
from cosim_workbench.studies.best_so_far import writing_best_so_far
from cosim_workbench.studies.optimization import Optimization
from cosim_workbench.studies.optimum import Optimum
from cosim_workbench.studies.studied import studied
from cosim_workbench.studies.study_progress import study_progress
from cosim_workbench.typed_settings import (
    add_method,
    add_scenario,
    add_threads,
    pairs,
    refuse_for_model,
    scenario_settings,
    typed_settings,
)


class OptimizeCommand(cosim.Command):
    """Find the parameters of a model or scenario with which an objective is least, or greatest."""

    name: ClassVar[str] = "optimize"
    summary: ClassVar[str] = "find parameters that minimize or maximize an objective"
    examples = (
        (
            'cosim optimize mount.toml --vary "mount_left.damping[5]=100..2000" --minimize "rms(engine.az)" '
            "--runs 20",
            "a model, with at most 20 runs",
        ),
        (
            'cosim optimize loop.toml --vary "right.cart.mass=1 kg..3 kg" --maximize "max(right.cart.x)" '
            "--runs 6 -o tried.csv",
            "a scenario; writes a table of all points",
        ),
        (
            'cosim optimize mount.toml --vary "mount_left.damping[5]=100..2000" '
            '--vary "mount_left.stiffness[5]=1e5..4e5" --minimize "rms(engine.az)" --local --runs 30',
            "from the values of the file on, along gradients of the runs",
        ),
    )

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The model, what is varied, the objective."""
        parser.add_argument("model", type=Path, help="a model file or a scenario (TOML), or an SSP")
        parser.add_argument(
            "--vary",
            action="append",
            required=True,
            metavar="PATH=LOW..HIGH",
            help='parameter and its range: "mount.stiffness[5]=100 N/mm..400 N/mm"',
        )
        goal = parser.add_mutually_exclusive_group(required=True)
        goal.add_argument("--minimize", metavar="OBJECTIVE", help='"max(engine.z)", "module:function"')
        goal.add_argument("--maximize", metavar="OBJECTIVE", help="the same, to be maximized")
        parser.add_argument(
            "--runs", type=int, default=200, metavar="NUMBER", help="maximum number of runs (200)"
        )
        parser.add_argument(
            "--local", action="store_true", help="start from the model's values and search only around them"
        )
        parser.add_argument(
            "--seed", type=int, default=0, metavar="NUMBER", help="seed of the random points (0)"
        )
        parser.add_argument("--until", metavar="TIME", help='end of each run in s, or with a unit: "500 ms"')
        add_scenario(parser)
        add_method(parser, ", such as 1e-6", "dormand_prince")
        add_threads(parser)
        parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="all points, as .csv")
        parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")

    def run(self, arguments: argparse.Namespace) -> int:
        """Read, search, print."""
        if arguments.output is not None:
            check_folder(arguments.output)
        settings = typed_settings(arguments)
        settings |= scenario_settings(arguments)
        settings_of_model = {key: value for key, value in settings.items() if key != "threads"}
        with ExitStack() as stack:
            if not arguments.quiet:
                stack.enter_context(compile_notice())
            model = studied(arguments.model, settings_of_model)
            is_model = isinstance(model, cosim.Model)
            if is_model:
                refuse_for_model(arguments)
            search = Optimization(
                model,
                pairs(arguments.vary, "--vary", "PATH=LOW..HIGH, such as mount.stiffness[5]=1e5..3e5"),
                arguments.minimize,
                maximize=arguments.maximize,
                seed=arguments.seed,
                **{key: value for key, value in settings.items() if is_model or key == "threads"},
            )
            progress: Any = stack.enter_context(nullcontext() if arguments.quiet else study_progress())
            with writing_best_so_far(stack, lambda best: self._write(best, arguments)):
                optimum = search.run(arguments.runs, progress, arguments.local)
        self._write(optimum, arguments)
        return 0

    def _write(self, optimum: Optimum, arguments: argparse.Namespace) -> None:
        """Report and print an optimum, or the best point so far, and write the table of all points."""
        self.report(parameters=optimum.values, objective=optimum.objective, best=optimum.best)
        self.report(units=optimum.units, runs=len(optimum.points), failed=optimum.failed)
        self.report(message=optimum.message, no_gradient=optimum.no_gradient)
        self.report(at_bounds=optimum.at_bounds)
        try:  # before printing, which fails if the output is closed
            if arguments.output is not None:
                save_somewhere(optimum.to_csv, arguments.output)
                self.report(table=arguments.output)
        finally:
            if not arguments.quiet:
                print(optimum)
        if arguments.output is not None and not arguments.quiet:
            print(f"all points → {arguments.output}")
