"""``cosim calibrate MODEL.toml --data measured.csv``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar

import cosim
from cosim.kit import check_folder, result_sink
from cosim_workbench.contracts import StudySubject
from cosim_workbench.plot import check_plot
from cosim_workbench.progress import compile_notice
from cosim_workbench.studies.best_so_far import writing_best_so_far
from cosim_workbench.studies.calibration import Calibration
from cosim_workbench.studies.fit import Fit
from cosim_workbench.studies.model_fit_runs import ModelFitRuns
from cosim_workbench.studies.studied import studied
from cosim_workbench.typed_settings import (
    add_method,
    add_scenario,
    add_threads,
    pairs,
    refuse_for_model,
    scenario_settings,
    typed_settings,
)

NOT_CONVERGED = 1


class CalibrateCommand(cosim.Command):
    """Find the parameters of a model with which its signals are closest to measured ones."""

    name: ClassVar[str] = "calibrate"
    summary: ClassVar[str] = "fit parameters of a model or scenario to measured signals"
    examples = (
        (
            'cosim calibrate mount.toml --data measured.csv --fit "mount_left.stiffness[5]=100..400 N/mm"',
            "uses the columns of measured.csv that are signals of the model",
        ),
        (
            'cosim calibrate mount.toml --data m.csv --signal "engine.z=height" --noise "engine.z=0.1 mm" '
            '--fit "engine.mass=80..200 kg" --fit "mount_left.damping[5]=100..2000" --plot fit.png',
            "a column with another name, known noise, and a picture of both signals",
        ),
    )
    failure: ClassVar[str] = "the fit did not converge"

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The model, the measured signals, the parameters to fit."""
        parser.add_argument("model", type=Path, help="a model file or a scenario (TOML), or an SSP")
        add_scenario(parser)
        parser.add_argument(
            "--data", type=Path, required=True, metavar="FILE", help="file of measured signals"
        )
        parser.add_argument(
            "--fit",
            action="append",
            required=True,
            metavar="PATH=LOW..HIGH",
            help='parameter and its range: "mount.stiffness[5]=100 N/mm..400 N/mm"',
        )
        parser.add_argument(
            "--signal",
            action="append",
            metavar="PATH[=COLUMN]",
            help="signal to compare, and its column of the file (all columns named like signals)",
        )
        parser.add_argument(
            "--noise",
            action="append",
            metavar="PATH=DEVIATION",
            help="standard deviation of the noise of a signal (estimated by a first fit)",
        )
        parser.add_argument(
            "--starts",
            type=int,
            default=1,
            metavar="NUMBER",
            help="number of points to compare; the search starts at the best (1)",
        )
        parser.add_argument(
            "--seed", type=int, default=0, metavar="NUMBER", help="seed of the random starting points (0)"
        )
        add_method(parser, " (1e-8 with exact derivatives, else 1e-9)", "dormand_prince")
        add_threads(parser)
        parser.add_argument(
            "-o", "--output", type=Path, metavar="FILE", help="measured and simulated signals"
        )
        parser.add_argument(
            "--plot", type=Path, metavar="FILE", help="plot of the measured and simulated signals"
        )
        parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")

    def runs_code_of_others(self, arguments: argparse.Namespace) -> bool:
        """FMUs that are parts of the model."""
        return True

    def run(self, arguments: argparse.Namespace) -> int:
        """Read, fit, print."""
        if arguments.plot is not None:
            check_plot(arguments.plot)
        if arguments.output is not None:
            check_folder(arguments.output)
            result_sink(arguments.output)
        settings = typed_settings(arguments)
        data = cosim.read_result(arguments.data)
        with ExitStack() as stack:
            if not arguments.quiet:
                stack.enter_context(compile_notice())
            model_settings = scenario_settings(arguments)
            if len(data):
                model_settings = {"until": float(data.time[-1]), **model_settings}
            model = studied(arguments.model, model_settings)
            if isinstance(model, cosim.Model):
                refuse_for_model(arguments)
            calibration = Calibration(
                model,
                pairs(arguments.fit, "--fit", "PATH=VALUE, such as car.stiffness=10 kN/m..40 kN/m"),
                data,
                _signals(arguments.signal, data, model),
                pairs(arguments.noise or [], "--noise", "PATH=VALUE, such as car.height=0.5 mm"),
                **settings,
            )
            with writing_best_so_far(stack, lambda best: self._write(best, arguments)):
                fit = calibration.fit(arguments.starts, arguments.seed)
        self._write(fit, arguments)
        return 0 if fit.is_converged else NOT_CONVERGED

    def _write(self, fit: Fit, arguments: argparse.Namespace) -> None:
        """Report and print a fit, or the best values so far, and write its signals."""
        self._report_fit(fit)
        paths = [path for path in (arguments.output, arguments.plot) if path is not None]
        try:  # before printing, which fails if the output is closed
            for path in paths:
                cosim.save_result(result_sink(path), fit.comparison, path)
        finally:
            if not arguments.quiet:
                print(fit)
        if not arguments.quiet:
            for path in paths:
                print(f"measured and simulated → {path}")

    def _report_fit(self, fit: Fit) -> None:
        parameters = {
            path: {"value": value, "standard_error": fit.standard_errors[path], "unit": fit.units[path]}
            for path, value in fit.values.items()
        }
        self.report(parameters=parameters, correlation=fit.correlation.tolist(), remains=fit.deviations)
        self.report(converged=fit.is_converged, runs=fit.runs, at_bounds=fit.at_bounds, doubts=fit.doubts)
        self.report(differences=fit.differences)


def _signals(
    typed: Sequence[str] | None, data: cosim.Result, model: cosim.Model | StudySubject
) -> Mapping[str, str]:
    """Signals with their columns: what was typed, or columns named like signals."""
    if typed is None:
        unit_of = model.unit if isinstance(model, StudySubject) else ModelFitRuns(model, {}).unit
        by_signal = {name: name for name in data.names if _is_signal(unit_of, name)}
        if not by_signal:
            columns = ", ".join(data.names)
            text = f"no column is called as a signal of the model ({columns}): write --signal PATH=COLUMN"
            raise cosim.ModelError.of("--data", text)
        return by_signal
    assignments = [text if "=" in text else f"{text}={text}" for text in typed]
    return pairs(assignments, "--signal", "PATH=VALUE, such as engine.z=height")


def _is_signal(unit_of: Callable[[str], str], name: str) -> bool:
    try:
        unit_of(name)
    except cosim.CosimError:
        return False
    return True
