"""``cosim cosimulate SCENARIO.toml``, ``cosim cosimulate SYSTEM.ssp``."""

from __future__ import annotations

import argparse
import csv
import functools
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import cosim
from cosim.kit import NotWrittenError, file_digest, raw_stream, result_sink
from cosim_fmi.binding.process_guard import last_words
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.command.cosimulate_options import add_options
from cosim_fmu.command.progress_bar import ProgressBar
from cosim_fmu.command.result_file import (
    check_is_own,
    check_picture,
    check_target,
    check_types,
    count_steps,
    foreseen_space,
    is_streamed,
)
from cosim_fmu.command.result_writer import ResultWriter
from cosim_fmu.command.run_summary import header, real_time_factor, summary
from cosim_fmu.command.saved_rows import SavedRows
from cosim_fmu.scenario.scenario import Scenario
from cosim_master.coupling.coupling import file_paths
from cosim_master.participants.isolation import Isolation, places_of_fmus
from cosim_master.recording.co_simulation_result import CoSimulationResult
from cosim_master.recording.coupling_errors import UNSTABLE, CouplingError, CouplingReport
from cosim_workbench.reports import reported_result

if TYPE_CHECKING:
    from cosim_fmu.command.ssp_run import SspRun

log = logging.getLogger("cosim.master")


class NothingWasRun(cosim.ModelError):
    """Faults of a scenario, with how many they are."""

    def __str__(self) -> str:
        count = len(self.problems)
        return f"{super().__str__()}\n{count} problem{'s' * (count > 1)}, nothing was run."


class CosimulateCommand(cosim.Command):
    """Run the co-simulation that a scenario file or an SSP describes and write its results."""

    name: ClassVar[str] = "cosimulate"
    summary: ClassVar[str] = "run FMUs and models together, from a scenario file or an SSP"
    examples = (
        ("cosim cosimulate loop.toml --plot loop.png", "results to loop.csv, and a picture"),
        ("cosim cosimulate loop.toml --explain", "the calls of a step, and the delay of each connection"),
        ('cosim cosimulate loop.toml --until "500 ms" -o short.csv --json', "for programs"),
    )

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The scenario, where the results go, and how much is said."""
        add_options(parser)

    def runs_code_of_others(self, arguments: argparse.Namespace) -> bool:
        """FMUs, unless they are wanted in this process."""
        return not arguments.in_process

    def run(self, arguments: argparse.Namespace) -> int:
        """Read, check, run, write; results so far are kept when a participant fails."""
        # FMUs of ours tell Python's logging too where a fault was; here the error says what it was
        logging.getLogger("cosim.fmu").addHandler(logging.NullHandler())
        scenario, loop = _couple(arguments)
        self._report_coupled(scenario, loop, arguments)
        if arguments.explain:
            self.report(explained=loop.explain())
            print(loop.explain())
            return 0
        until = scenario.until if arguments.until is None else cosim.parse_quantity(arguments.until, "s")
        if isinstance(scenario, Scenario) and not arguments.quiet:
            for text in scenario.late_changes(until):
                print(f"warning: {text}", file=sys.stderr)
        target = arguments.output or scenario.file or Path(f"{_name_of(arguments.scenario)}.csv")
        sink = result_sink(target if target.suffix else Path("device.csv"))
        if arguments.output is None and scenario.file is not None and target.exists():
            check_is_own(sink, target)
        checkpoint = _checkpoint(arguments)
        streams = _may_stream(arguments) and is_streamed(sink, target, count_steps(loop, until))
        _check_further_files(loop, arguments)
        _resume(loop, arguments)
        if not streams:
            check_target(target)
        check_types(sink, target, loop)
        if (text := foreseen_space(loop, until, target)) and not arguments.quiet:
            print(f"warning: {text}", file=sys.stderr)
        stream = sink.stream(target, _source(arguments.scenario, loop)) if streams else None
        if not arguments.quiet:
            print(header(loop))
        log.info("running to t = %g s", until)
        writer = ResultWriter(loop, sink, target, stream)
        result = self._simulate(loop, until, writer, checkpoint, arguments)
        if arguments.verify or (arguments.require is not None and result.coupling.verdict == "unknown"):
            _verify(loop, result, until, arguments.verify)
        self._report_result(result, target, loop, arguments)
        return _status(result.coupling, arguments)

    def _report_coupled(
        self, scenario: Scenario | SspRun, loop: CoSimulation, arguments: argparse.Namespace
    ) -> None:
        """Report remarks and warnings, and for programs the participants."""
        if not arguments.quiet:
            for line in (*scenario.remarks, *(f"warning: {text}" for text in loop.warnings)):
                print(line, file=sys.stderr)
        self.report(
            participants={name: description.kind for name, description in loop.descriptions.items()},
            **places_of_fmus(loop.participants),
            order=loop.order,
            python_files=dict(loop.python_files),
            warnings=[*scenario.remarks, *loop.warnings],
        )

    def _simulate(
        self,
        loop: CoSimulation,
        until: float,
        writer: ResultWriter,
        checkpoint: cosim.Checkpoint | None,
        arguments: argparse.Namespace,
    ) -> CoSimulationResult:
        """Run, with a progress bar on a terminal; the rows of a run that fails are written."""
        simulate = functools.partial(
            loop.simulate,
            until,
            real_time_rate=arguments.real_time,
            stream=writer.stream,
            checkpoint=checkpoint,
            keep=writer.write_complete,
            derivatives=_derivative_paths(arguments),
        )
        try:
            with last_words(lambda why: writer.write_so_far(self.report)):
                if arguments.quiet:
                    return simulate(progress=writer.saved_rows)
                return _simulate_with_figures(simulate, loop.start, until, writer.saved_rows)
        except (cosim.SimulationError, KeyboardInterrupt):
            try:
                writer.write_so_far(self.report)
            except (cosim.CosimError, OSError) as lost:  # the run has ended for another reason
                writer.report_lost_rows(lost)
                print(lost, file=sys.stderr)
            raise
        except NotWrittenError as error:
            writer.report_lost_rows(error)
            raise

    def _report_result(
        self, result: CoSimulationResult, target: Path, loop: CoSimulation, arguments: argparse.Namespace
    ) -> None:
        """Print the figures and the verdict, write the table of errors, draw the picture."""
        report = result.coupling
        if arguments.coupling is not None:
            write_coupling(arguments.coupling, report)
        self.report(verdict=report.verdict, advice=report.advice, results=target)
        self.report(coupling=report.figures(), **reported_result(result))
        if not arguments.quiet:
            for text in result.warnings:
                if text not in loop.warnings:  # said before the run
                    print(f"warning: {text}", file=sys.stderr)
            print(summary(result, target, loop.participants))
        if arguments.plot is not None:
            result.statistics.setdefault("model", _name_of(arguments.scenario))  # the title
            result.plot(path=arguments.plot)
            self.report(picture=arguments.plot)
            if not arguments.quiet:
                print(f"plot → {arguments.plot}")


def _couple(arguments: argparse.Namespace) -> tuple[Scenario | SspRun, CoSimulation]:
    """Read the scenario, couple its participants, and settle their order: `NothingWasRun` with all faults."""
    try:
        scenario = _open(arguments)
        loop = scenario.couple(CoSimulation)
        scenario.isolation.check(loop.participants)
        log.info("coupled %s: %s", arguments.scenario, ", ".join(loop.descriptions))
        loop.order_participants()
        log.info("ordered: %s", ", ".join(loop.order))
    except cosim.ModelError as error:
        raise NothingWasRun(error.problems) from error
    return scenario, loop


def _may_stream(arguments: argparse.Namespace) -> bool:
    """Whether no option needs the whole result in memory."""
    needing_all_rows = (arguments.checkpoint, arguments.resume, arguments.plot)
    return all(option is None for option in needing_all_rows)


def _derivative_paths(arguments: argparse.Namespace) -> list[str]:
    """The paths with respect to which derivatives are computed."""
    return [path.strip() for path in (arguments.derivatives or "").split(",") if path.strip()]


def _check_further_files(loop: CoSimulation, arguments: argparse.Namespace) -> None:
    """Refuse a picture or a table of errors that cannot be written, before the run."""
    if arguments.plot is not None:
        check_picture(arguments.plot, loop)
    if arguments.coupling is not None:
        check_target(arguments.coupling)


def _resume(loop: CoSimulation, arguments: argparse.Namespace) -> None:
    """Continue from the checkpoint, if one is given."""
    if arguments.resume is None:
        if arguments.accept_changed:
            raise cosim.CosimError("--accept-changed needs --resume FILE")
        return
    accepted = [name for text in arguments.accept_changed or () for name in text.split(",")]
    time = loop.restore(arguments.resume, accepted)
    if not arguments.quiet:
        print(f"resumes at t = {time:.9g} s", file=sys.stderr)


def _verify(loop: CoSimulation, result: CoSimulationResult, until: float | None, is_wanted: bool) -> None:
    """Run again and compare; unless that is wanted itself, the verdict stays as it is where it fails."""
    try:
        loop.verify(result, until)
    except cosim.CosimError as error:
        if is_wanted:
            raise
        print(f"warning: a second run to find the coupling error fails: {error}", file=sys.stderr)


def _status(report: CouplingReport, arguments: argparse.Namespace) -> int:
    """1 where values have exploded, or the verdict is not what is required; said when quiet, too."""
    try:
        if arguments.require is not None:
            report.require(arguments.require)
    except CouplingError as error:  # it has the verdict
        print(error, file=sys.stderr)
        return 1
    if arguments.quiet and report.verdict != "fine":
        print(report, file=sys.stderr)
    return int(report.verdict == UNSTABLE)


def _name_of(scenario: Path) -> str:
    """The name of results and pictures; for a folder its own name, however its path is written."""
    return scenario.stem if scenario.is_file() else scenario.resolve().name


def _source(scenario: Path, loop: CoSimulation) -> dict[str, Any]:
    """The sources of results: the scenario and the files of the participants."""
    paths = {**file_paths(loop.participants), **loop.python_files}
    files = {name: file_digest(path) for name, path in paths.items() if path is not None}
    return {"scenario": file_digest(scenario), "participants": files}


def _open(arguments: argparse.Namespace) -> Scenario | SspRun:
    """The scenario or SSP of the command line.

    Raises
    ------
    CosimError
        Options of an SSP for what is none.
    """
    from cosim_fmu.command.ssp_run import SspRun

    options = {name: getattr(arguments, name) for name in ("step", "algorithm")}
    options = {name: value for name, value in options.items() if value is not None}
    isolation = Isolation.of(arguments.isolate, arguments.in_process)
    if SspRun.fits(arguments.scenario):
        options |= {} if arguments.inputs is None else {"inputs": arguments.inputs}
        return SspRun(arguments.scenario, arguments.variant, options, isolation)
    if options:
        names = ", ".join(f"--{name}" for name in options)
        raise cosim.CosimError(f"{arguments.scenario}: {names}: for an SSP only; set it in the scenario")
    scenario = Scenario.read(arguments.scenario, arguments.variant, isolation)
    if arguments.inputs is not None:
        scenario.feed(arguments.inputs)
    return scenario


def _checkpoint(arguments: argparse.Namespace) -> cosim.Checkpoint | None:
    """The place of the checkpoint, if there is one."""
    if arguments.checkpoint is None:
        return None
    try:
        every = cosim.parse_quantity(arguments.checkpoint_every, "s")
    except cosim.UnitError as error:
        raise cosim.UnitError(f"--checkpoint-every: {error}") from None
    return cosim.Checkpoint(arguments.checkpoint, every)


def write_coupling(target: Path, report: CouplingReport) -> None:
    """A table of the errors of all connections, then of all outputs, in their units."""
    rows = [("connection", "error", "range", "unit", "mean_defect", "how", "verdict")]
    rows += [
        (
            each.name,
            repr(each.error),
            repr(each.scale),
            each.unit,
            repr(each.defect),
            report.how,
            report.verdict,
        )
        for each in (*report.connections, *report.signals)
    ]
    with target.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def _simulate_with_figures(
    simulate: Callable[..., CoSimulationResult], start: float, until: float, saved_rows: SavedRows | None
) -> CoSimulationResult:
    """Run with a progress bar on a terminal, and a line of figures at the end."""
    if not sys.stdout.isatty():
        result = simulate(progress=saved_rows)
        print(f"{result.time[-1]:.3f} s   {real_time_factor(result)}".rstrip())
        return result
    with ProgressBar(raw_stream(sys.stdout), start, until) as bar:
        result = simulate(progress=bar.show if saved_rows is None else saved_rows.after(bar.show))
        bar.show(float(result.time[-1]), real_time_factor(result))
    return result
