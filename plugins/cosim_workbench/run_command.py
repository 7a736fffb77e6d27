"""``cosim run MODEL.toml``."""

from __future__ import annotations

import argparse
import math
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar

import cosim
from cosim.kit import (
    DEFAULT,
    check_ending,
    check_folder,
    checked_interval,
    choose_signals,
    derivative_name,
    file_digest,
    is_device,
    python_in_steps,
    read_seconds,
    space_warning,
    uninterrupted,
)
from cosim_workbench.event_trace import event_lines
from cosim_workbench.outputs import sink_for
from cosim_workbench.parquet_results import ParquetResults
from cosim_workbench.plot import Plot, check_plot
from cosim_workbench.progress import compile_notice, progress_bar
from cosim_workbench.reports import reported_result
from cosim_workbench.results_csv import ResultsCsv
from cosim_workbench.resumed_results import ResumedResults
from cosim_workbench.simulation_table import TOLERANCES, own_options, positive
from cosim_workbench.summary import summary
from cosim_workbench.typed_settings import add_method, typed_settings

UNTIL = 1.0
"""s, when neither the file nor the command line says."""
LONG_RUN = 100_000
"""Points of the output beyond which a CSV file is written during the run."""


class RunCommand(cosim.Command):
    """Simulate a model file and write its results."""

    name: ClassVar[str] = "run"
    known_as: ClassVar[tuple[str, ...]] = ("simulate", "solve", "start")
    summary: ClassVar[str] = "simulate a model file"
    examples = (
        ("cosim run mount.toml", "results to mount.csv"),
        ('cosim run mount.toml --until "20 ms" -o fine.csv --accuracy 1e-9', "one run, other settings"),
        ("cosim run mount.toml --integrator dormand_prince --verify", "is the result right?"),
        ("cosim run mount.toml --plot mount.png --trace events", "a picture, and every event"),
    )
    failure: ClassVar[str] = "the run failed (results so far are kept), or --verify did not confirm it"

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The model, and what overrides its table ``[simulation]``."""
        parser.add_argument("model", type=Path, help="a TOML file: bodies, elements, measures, simulation")
        parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="result file (MODEL.csv)")
        parser.add_argument("--until", metavar="TIME", help='end time in s, or with a unit: "500 ms"')
        add_method(parser, ", such as 1e-6", "runge_kutta_merson")
        parser.add_argument(
            "--fixed-step", metavar="TIME", help='size of each step in s, or with a unit: "1 ms"'
        )
        for name in TOLERANCES:
            option = f"--{name.replace('_', '-')}"
            parser.add_argument(
                option,
                action="append",
                metavar="[STATES=]NUMBER",
                help=f"of all states, or of q, u, z or a path: {option} engine.q=1e-9",
            )
        parser.add_argument(
            "--derivatives",
            metavar="PATHS",
            help="also record derivatives with respect to these: b.restitution,b.height",
        )
        parser.add_argument(
            "--references", action="store_true", help="print BibTeX entries of the methods that were used"
        )
        parser.add_argument(
            "--plot", type=Path, metavar="FILE", help="also draw the results: .png, .svg, .pdf, .html"
        )
        parser.add_argument(
            "--animate", type=Path, metavar="FILE", help="also animate the mechanism in 3-D: .html, .glb"
        )
        parser.add_argument(
            "--trace", choices=["events"], help="print each event: cause, handler, changed variables"
        )
        parser.add_argument(
            "--checkpoint", type=Path, metavar="FILE", help="save the state of the run to this file"
        )
        parser.add_argument(
            "--checkpoint-every",
            metavar="TIME",
            default="30 s",
            help="wall-clock time between checkpoints (30 s)",
        )
        parser.add_argument("--resume", type=Path, metavar="FILE", help="continue from a checkpoint")
        parser.add_argument(
            "--verify",
            action="store_true",
            help="repeat with another tolerance, method, step, start, solver; status 1 if results disagree",
        )
        parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")

    def runs_code_of_others(self, arguments: argparse.Namespace) -> bool:
        """FMUs that are parts of the model."""
        return True

    def run(self, arguments: argparse.Namespace) -> int:
        """Read, check, run, write; what was computed is written when the run fails, too."""
        if arguments.verify and arguments.resume is not None:
            raise cosim.ModelError.of("--verify", "compares whole runs: leave --resume out")
        if arguments.verify and arguments.derivatives is not None:
            raise cosim.ModelError.of("--verify", "compares values: leave --derivatives out")
        model = cosim.Model.from_file(arguments.model)
        settings = _settings(model, arguments)
        target = arguments.output or Path(f"{arguments.model.stem}.csv")
        sink = sink_for(target)
        if arguments.plot is not None:
            check_plot(arguments.plot, Plot.suffixes)
        if arguments.animate is not None:
            page = cosim.registry().get("result_sink", "animation.page")()
            check_ending(arguments.animate, *page.suffixes)
            check_folder(arguments.animate)
            settings = page.settings(model, settings)
        resumed = ResumedResults(sink, target)
        in_memory = arguments.plot or arguments.animate or arguments.verify or arguments.resume
        if not in_memory and _is_streamed(sink, target, settings):
            return self._run_streaming(model, settings, arguments, sink, target)
        settings["keep"] = lambda result: sink.write(resumed.joined(result), target)
        try:
            last_part = _simulate(model, settings, arguments, resumed, target)
            result = resumed.joined(last_part)
        except (cosim.SimulationError, KeyboardInterrupt) as error:
            partial = _result_of(error)
            if partial is not None and arguments.trace:
                print("\n".join(event_lines(partial)))
            if partial is not None and len(partial):
                self._save_partial(sink, resumed.joined(partial), model.name, target)
            raise
        cosim.save_result(sink, result, target)
        self._print_summary(model, result, arguments, target)
        if arguments.plot is not None:
            result.plot(path=arguments.plot)
            self._report_written(arguments, "plot", picture=arguments.plot)
        if arguments.animate is not None:
            page.write(result, arguments.animate, model)
            self._report_written(arguments, "animation", page=arguments.animate)
        return self._verified(model, settings, last_part, arguments) if arguments.verify else 0

    def _save_partial(self, sink: cosim.ResultSink, partial: cosim.Result, model: str, target: Path) -> None:
        """Write the rows before a failure, which is reported afterwards."""
        try:
            with uninterrupted():
                cosim.save_result(sink, partial, target)
        except (cosim.CosimError, OSError) as error:
            print(error, file=sys.stderr)
        else:
            self._report_partial(partial, model, target)

    def _report_partial(self, partial: cosim.Result, model: str, target: Path) -> None:
        """Report the part of a failed run that the file contains."""
        self.report(model=model, results=target, **reported_result(partial))
        print(f"results up to t = {partial.time[-1]:.9g} s → {target}", file=sys.stderr)

    def _report_written(self, arguments: argparse.Namespace, noun: str, **path_by_key: Path) -> None:
        """Report that a picture or a page was written."""
        self.report(**path_by_key)
        if not arguments.quiet:
            for path in path_by_key.values():
                print(f"{noun} → {path}")

    def _run_streaming(
        self,
        model: cosim.Model,
        settings: dict[str, Any],
        arguments: argparse.Namespace,
        sink: cosim.ResultSink,
        target: Path,
    ) -> int:
        """Write during the run: a long one needs no more memory than a short one."""
        stream = sink.stream(target, {"model": file_digest(arguments.model)})
        try:
            result = _simulate(model, {**settings, "stream": stream}, arguments, None, target)
        except (cosim.SimulationError, KeyboardInterrupt) as error:
            partial = _result_of(error)
            if partial is not None and len(partial):
                self._report_partial(partial, model.name, target)
            raise
        self._print_summary(model, result, arguments, target)
        return 0

    def _print_summary(
        self, model: cosim.Model, result: cosim.Result, arguments: argparse.Namespace, target: Path
    ) -> None:
        """Print the outcome of the run, as far as the options ask."""
        self.report(model=model.name, results=target, **reported_result(result))
        if arguments.trace:
            self.report(trace=list(result.events))
            print("\n".join(event_lines(result)))
        if not arguments.quiet:
            print(summary(model.name, result, target))
        if arguments.references and result.references:
            self.report(references=result.references)
            print(result.references)

    def _verified(
        self,
        model: cosim.Model,
        settings: dict[str, Any],
        result: cosim.Result,
        arguments: argparse.Namespace,
    ) -> int:
        """Print how far other runs agree; 1 unless they confirm this one as far as the accuracy promises."""
        opinion = cosim.verify(model, result, **settings)
        agreements = {agreement.signal: agreement.digits for agreement in opinion.agreements}
        self.report(
            verified={
                "confirmed": opinion.is_confirmed,
                "outcome": opinion.outcome,
                "verdict": opinion.verdict,
                "digits": agreements,
                "standing": {agreement.signal: agreement.standing for agreement in opinion.agreements},
            }
        )
        print(opinion.verdict if arguments.quiet else f"\n{opinion}")
        return 0 if opinion.is_confirmed else 1


def _settings(model: cosim.Model, arguments: argparse.Namespace) -> dict[str, Any]:
    """Settings of the run: those that were typed, else those of the file."""
    settings = {"until": UNTIL, **model.simulation, **_overrides(arguments)}
    if "until" not in model.simulation and arguments.until is None and not arguments.quiet:
        assumption = f"{arguments.model} gives no end, so it is run for {UNTIL:g} s"
        print(f"{assumption}: write until = … into [simulation], or --until", file=sys.stderr)
    for option in own_options(model.simulation.get("integrator")):
        if option not in own_options(settings.get("integrator")):
            settings.pop(option, None)
    if arguments.checkpoint is not None:
        interval = positive(arguments.checkpoint_every, "s", "--checkpoint-every")
        settings["checkpoint"] = cosim.Checkpoint(arguments.checkpoint, interval)
    return settings


def _is_streamed(sink: cosim.ResultSink, target: Path, settings: dict[str, Any]) -> bool:
    """Whether results are written during the run: Parquet, and long CSV files."""
    if isinstance(sink, ParquetResults):
        return True
    if not isinstance(sink, ResultsCsv) or is_device(target) or settings.get("output_interval") is None:
        return False
    until, interval = (read_seconds(settings[name], name) for name in ("until", "output_interval"))
    return until > LONG_RUN * interval


def _result_of(error: BaseException | None) -> cosim.Result | None:
    """The result before an error; a second Ctrl-C may have come during the reply to the first."""
    result = None
    while error is not None and result is None:
        result, error = getattr(error, "result", None), error.__context__
    return result


def _simulate(
    model: cosim.Model,
    settings: dict[str, Any],
    arguments: argparse.Namespace,
    resumed: ResumedResults | None,
    target: Path,
) -> cosim.Result:
    # one notice for both: the system and the integrator are compiled one after the other
    with nullcontext() if arguments.quiet else compile_notice():
        system = model.prepare(**settings)
        if resumed is not None and arguments.resume is not None:
            state = _resumed_state(system, settings, arguments, resumed, target)
            if read_seconds(settings["until"], "until") == state.time:
                return resumed.earlier()
            settings = {**settings, "state": state}
        if arguments.quiet:
            return cosim.simulate(system, **settings)
        method = cosim.registry().get("integrator", settings.get("integrator", DEFAULT))
        for sentence in python_in_steps(system, method):
            print(f"note: {sentence}", file=sys.stderr)
        if text := _foreseen_space(system, settings, target):
            print(f"warning: {text}", file=sys.stderr)
        with progress_bar(settings["until"]) as progress:
            return cosim.simulate(system, progress=progress, **settings)


def _resumed_state(
    system: cosim.System,
    settings: dict[str, Any],
    arguments: argparse.Namespace,
    resumed: ResumedResults,
    target: Path,
) -> cosim.State:
    """The State of the checkpoint; the results before it are read."""
    state = cosim.read_checkpoint(system, arguments.resume)
    names = list(choose_signals(system, settings.get("signals")))
    names += [derivative_name(of, by) for of in names for by in settings.get("derivatives", ())]
    end = read_seconds(settings["until"], "until")
    if end < state.time or (end == state.time and not target.exists()):
        origin = f"{arguments.resume} was made at t = {state.time:.9g} s"
        text = f"{origin}, and the run ends at {end:.9g} s: name a later end with --until"
        raise cosim.ModelError.of("--resume", text)
    message = resumed.resume_from(state.copy(), names)
    if end == state.time:
        message = f"the run had ended at t = {end:.9g} s: nothing is left to do"
    if not arguments.quiet:
        print(message, file=sys.stderr)
    return state


def _foreseen_space(system: cosim.System, settings: dict[str, Any], target: Path) -> str:
    """A sentence if the disk will hardly have space for the results, otherwise ""."""
    until = read_seconds(settings["until"], "until")
    if not 0.0 < until < math.inf:  # the run raises the error
        return ""
    rows = until / checked_interval(settings.get("output_interval"), 0.0, 0.0, until)
    columns = system.signal_columns(choose_signals(system, settings.get("signals")))
    return space_warning(target, rows, 1 + sum(columns.sizes))


def _overrides(arguments: argparse.Namespace) -> dict[str, Any]:
    """Settings that were typed, checked."""
    settings = typed_settings(arguments)
    if arguments.derivatives is not None:
        settings["derivatives"] = [path.strip() for path in arguments.derivatives.split(",")]
    for key in TOLERANCES:
        texts = getattr(arguments, key)
        if texts:
            settings[key] = _tolerance(f"--{key.replace('_', '-')}", texts)
    if "integrator" in settings:
        cosim.registry().get("integrator", settings["integrator"])
    return settings


def _tolerance(name: str, texts: list[str]) -> float | dict[str, float]:
    """A number for all states, or numbers by group and path."""
    tolerances = {}
    for text in texts:
        states, _, number = text.rpartition("=")
        try:
            tolerances[states] = positive(number, "1", name)
        except cosim.UnitError as error:
            raise cosim.UnitError(f"{name} {text}: {error}") from None
    if "" in tolerances and len(tolerances) > 1:
        raise cosim.ModelError.of(
            "", f"{name} is given for all states and for some; name the states (q, u, z)"
        )
    return tolerances.get("", tolerances)
