"""``cosim cosimulate SCENARIO.toml``, ``cosim cosimulate SYSTEM.ssp``."""

from __future__ import annotations

import argparse
import csv
import logging
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import cosim
from cosim.kit import (
    black_box,
    file_digest,
    raw_stream,
    result_sink,
    space_warning,
    uninterrupted,
)
from cosim_fmi.binding.process_guard import last_words
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.command.progress_bar import ProgressBar
from cosim_fmu.command.saved_rows import RunRecovery, SavedRows
from cosim_fmu.scenario.scenario import Scenario
from cosim_master.coupling.coupling import CommunicationPoints, file_paths
from cosim_master.coupling.feedthrough import direct_inputs
from cosim_master.participants.isolation import Isolation, hosts_of_fmus, places_of_fmus
from cosim_master.recording.co_simulation_result import (
    REQUIRED,
    UNSTABLE,
    CoSimulationResult,
    CouplingError,
    CouplingReport,
)
from cosim_master.recording.recorder import Recorder
from cosim_workbench.reports import reported_result

if TYPE_CHECKING:
    from cosim_fmu.command.ssp_run import SspRun

log = logging.getLogger("cosim.master")

PARQUET = ".parquet"
LONG_RUN = 100_000
"""Communication steps, beyond which a file is written while the run goes on, and no row stays in memory."""
MOST_NAMES = 8
"""In a line of the summary."""
PICTURE = "workbench.plot"


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
            "--plot", type=Path, metavar="FILE", help="draw the results too: .png, .svg, .pdf, .html"
        )
        parser.add_argument("--variant", metavar="NAME", help="variant of a scenario or an SSP")
        parser.add_argument("--step", metavar="TIME", help='communication step of an SSP: "1 ms"')
        parser.add_argument("--algorithm", metavar="NAME", help="master algorithm of an SSP: jacobi")
        parser.add_argument(
            "--inputs",
            type=Path,
            metavar="FILE",
            help="values over time for inputs without a connection; columns have their names: .csv, .parquet",
        )
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
        parser.add_argument(
            "--coupling", type=Path, metavar="FILE", help="write the error of each output: .csv"
        )
        parser.add_argument(
            "--require",
            choices=tuple(REQUIRED),
            help="write the results, but exit with status 1 unless the verdict on the coupling is fine, "
            "or known; if it is unknown, verify it first",
        )
        parser.add_argument(
            "--derivatives",
            metavar="PATHS",
            help="also write derivatives with respect to these: plant.mass,plant.x",
        )
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
        parser.add_argument(
            "-q", "--quiet", action="store_true", help="print only errors, and verdicts other than fine"
        )

    def runs_code_of_others(self, arguments: argparse.Namespace) -> bool:
        """FMUs, unless they are wanted in this process."""
        return not arguments.in_process

    def run(self, arguments: argparse.Namespace) -> int:
        """Read, check, run, write; results so far are kept when a participant fails."""
        # FMUs of ours tell Python's logging too where a fault was; here the error says what it was
        logging.getLogger("cosim.fmu").addHandler(logging.NullHandler())
        try:
            scenario = _open(arguments)
            loop = scenario.couple(CoSimulation)
            scenario.isolation.check(loop.participants)
            log.info("coupled %s: %s", arguments.scenario, ", ".join(loop.descriptions))
            loop.settle_order()
            log.info("ordered: %s", ", ".join(loop.order))
        except cosim.ModelError as error:
            raise NothingWasRun(error.problems) from error
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
        by = [path.strip() for path in (arguments.derivatives or "").split(",") if path.strip()]
        whole = (
            checkpoint,
            arguments.resume,
            arguments.plot,
            arguments.derivatives,
        )  # what needs the results in memory
        streams = all(given is None for given in whole) and _is_streamed(sink, target, _steps(loop, until))
        if arguments.plot is not None:
            check_picture(arguments.plot)
        if arguments.coupling is not None:
            check_target(arguments.coupling)
        if arguments.accept_changed and arguments.resume is None:
            raise cosim.CosimError("--accept-changed needs --resume FILE")
        if arguments.resume is not None:
            accepted = [name for text in arguments.accept_changed or () for name in text.split(",")]
            time = loop.restore(arguments.resume, accepted)
            if not arguments.quiet:
                print(f"resumes at t = {time:.9g} s", file=sys.stderr)
        if not streams:
            check_target(target)
        check_types(sink, target, loop)
        if (text := foreseen_space(loop, until, target)) and not arguments.quiet:
            print(f"warning: {text}", file=sys.stderr)
        stream = sink.stream(target, _source(arguments.scenario, loop)) if streams else None
        if not arguments.quiet:
            print(header(loop))

        def save(why: str = "") -> None:
            """What has been recorded so far."""
            if loop.result is not None and loop.result.time.size:
                if saved is not None:
                    with uninterrupted():
                        saved.write(loop.result)
                self.report(results=target, **reported_result(loop.result))
                print(f"results up to t = {loop.result.time[-1]:.9g} s → {target}", file=sys.stderr)

        def keep(result: CoSimulationResult) -> None:
            """Before an FMU is freed, which may end this process."""
            if result.unfinished:
                return  # said, and saved, below
            _ = result.coupling  # into the statistics, which files of results keep
            if saved is not None:
                with uninterrupted():
                    if by:  # further columns of rows that are in the file
                        sink.write(result.with_derivatives(), target)
                    else:
                        saved.write(result)
            black_box.words[black_box.SAVED] = 1

        log.info("running to t = %g s", until)
        saved = None if streams else SavedRows(loop, sink, target)
        if black_box.box is not None:
            black_box.box.note("recovery", RunRecovery(sink, target, loop.start))
        try:
            with last_words(save):
                settings = {
                    "real_time_rate": arguments.real_time,
                    "stream": stream,
                    "checkpoint": checkpoint,
                    "keep": keep,
                    "derivatives": by,
                }
                result = _simulate(loop, until, settings, saved, quiet=arguments.quiet)
        except (cosim.SimulationError, KeyboardInterrupt):
            try:
                save()
            except (cosim.CosimError, OSError) as lost:  # the run has ended for another reason
                print(lost, file=sys.stderr)
            raise
        if arguments.verify or (arguments.require is not None and result.coupling.verdict == "unknown"):
            _verify(loop, result, until, arguments.verify)
        if arguments.coupling is not None:
            write_coupling(arguments.coupling, result.coupling)
        report = result.coupling
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
        return _status(report, arguments)


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
    """What results and pictures are called; a folder by its own name, however it is given."""
    return scenario.stem if scenario.is_file() else scenario.resolve().name


def _source(scenario: Path, loop: CoSimulation) -> dict[str, Any]:
    """What results are from: the scenario and the files of the participants."""
    paths = file_paths(loop.participants) | loop.python_files
    files = {name: file_digest(path) for name, path in paths.items() if path is not None}
    return {"scenario": file_digest(scenario), "participants": files}


def check_target(target: Path) -> None:
    """Refuse a file that cannot be written, before the run.

    Raises
    ------
    ModelError
        With what is in the way.
    """
    if not target.parent.is_dir():
        raise cosim.ModelError.of(str(target), "the folder for the results does not exist")
    if target.is_fifo():
        raise cosim.ModelError.of(str(target), "is a pipe, needs the name of a file for the results")
    result_sink(target if target.suffix else Path("device.csv")).check(target)
    if target.is_dir() and target.suffix.lower() != PARQUET:
        raise cosim.ModelError.of(str(target), "is a folder, needs the name of a file for the results")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise cosim.ModelError.of(str(target), "cannot be written: choose another file with -o")


def check_is_own(sink: cosim.ResultSink, target: Path) -> None:
    """Refuse to replace what is not a result where the scenario, and no user, has said so: `ModelError`."""
    if not sink.is_own(target):
        text = "exists, and is not a result: it is replaced where you say so, with -o"
        raise cosim.ModelError.of(str(target), text)


def check_types(sink: cosim.ResultSink, target: Path, loop: CoSimulation) -> None:
    """Refuse signals that the file cannot hold: `ModelError` with their names."""
    if sink.holds_texts:
        return
    texts = _recorder(loop).texts
    if texts:
        text = f"holds numbers alone, and these are text: {shortened(texts)}; choose others, or a CSV file"
        raise cosim.ModelError.of(str(target), text)


def _recorder(loop: CoSimulation) -> Recorder:
    """What the run will record with."""
    return Recorder(loop.descriptions, loop.links, loop.run_options.record, derived=loop.derived)


def foreseen_space(loop: CoSimulation, until: float, target: Path) -> str:
    """A sentence where the results will hardly find space on the disk, else ""."""
    options = loop.run_options
    recorder = _recorder(loop)
    return space_warning(target, _steps(loop, until) / options.every(loop.step), 1 + len(recorder.paths))


def _steps(loop: CoSimulation, until: float) -> int:
    """How many communication steps the run will take."""
    return CommunicationPoints(loop.start, until, loop.step).count


def _is_streamed(sink: cosim.ResultSink, target: Path, steps: int) -> bool:
    """Whether rows are written while the run goes on and then forgotten: Parquet, and long files."""
    if target.suffix.lower() == PARQUET:
        return True
    can_stream = type(sink).stream is not cosim.ResultSink.stream
    return can_stream and steps > LONG_RUN and (target.is_file() or not target.exists())


def check_picture(target: Path) -> None:
    """Refuse a picture that cannot be written, before the run: `CosimError`, `ModelError`."""
    endings = cosim.registry().get("result_sink", PICTURE).suffixes
    if target.suffix.lower() not in endings:
        raise cosim.CosimError(f"{target}: the name of a picture ends in {', '.join(endings)}")
    check_target(target)


def _open(arguments: argparse.Namespace) -> Scenario | SspRun:
    """What is to be run.

    Raises
    ------
    CosimError
        Options of an SSP for what is none.
    """
    from cosim_fmu.command.ssp_run import SspRun

    given = {name: getattr(arguments, name) for name in ("step", "algorithm")}
    given = {name: value for name, value in given.items() if value is not None}
    isolation = Isolation.of(arguments.isolate, arguments.in_process)
    if SspRun.fits(arguments.scenario):
        given |= {} if arguments.inputs is None else {"inputs": arguments.inputs}
        return SspRun(arguments.scenario, arguments.variant, given, isolation)
    if given:
        options = ", ".join(f"--{name}" for name in given)
        raise cosim.CosimError(f"{arguments.scenario}: {options}: for an SSP only; set it in the scenario")
    scenario = Scenario.read(arguments.scenario, arguments.variant, isolation)
    if arguments.inputs is not None:
        scenario.feed(arguments.inputs)
    return scenario


def header(loop: CoSimulation) -> str:
    """Who takes part, and in which order."""
    rows, paths = [], file_paths(loop.participants) | loop.python_files
    for name, description in loop.descriptions.items():
        path = paths[name]
        kind = "Python code, " * (name in loop.python_files)
        kind += description.kind + (", state saved and restored" if description.can_restore else "")
        rows.append((name, "" if path is None else path.name, kind))
    widths = [max([len(row[i]) for row in rows] + [5 * (i == 0)]) for i in (0, 1)]
    lines = [
        "  ".join(cell.ljust(w) for cell, w in zip(row, [*widths, 0], strict=True) if w or cell)
        for row in rows
    ]
    return "\n".join([*lines, f"{'order':<{widths[0]}}  {_order(loop)}"])


def summary(
    result: CoSimulationResult, target: Path, participants: Mapping[str, cosim.Participant] = {}
) -> str:
    """What came of it, and where code of FMUs ran."""
    figures = result.statistics
    counts = [(figures["steps"], "step"), (figures["events"], "event")]
    counted = [f"{count:,}".replace(",", " ") + f" {word}{'s' * (count != 1)}" for count, word in counts]
    counted.append(f"{figures['retries']} retr{'y' if figures['retries'] == 1 else 'ies'}")
    spent = figures["participant_time"]  # of those that Python calls
    slowest = max(spent.items(), key=lambda item: item[1], default=None)
    if slowest is not None and 2.0 * slowest[1] < figures["stepping_time"]:
        slowest = None  # what steps in compiled code is not measured: another may be slower
    if figures["overruns"]:
        late = f"{figures['overruns']} points late (by {figures['largest_lag']:.3g} s at most)"
        counted.append(late)
    line = ", ".join(counted)
    if slowest is not None:
        line += f"   most time in {slowest[0]}: {slowest[1]:.3g} s of {figures['wall_time']:.3g} s"
    message = [result.message] if result.message else []
    trust = [text] if (text := str(result.coupling)) else []
    files = figures["python_files"]
    code = [f"ran the Python code of {', '.join(dict.fromkeys(files.values()))} ({', '.join(files)})"]
    places = places_of_fmus(participants)
    ran = {"inside the process of the run": places["inside"], "each in its own process": places["isolated"]}
    ran |= {f"at {host}": names for host, names in hosts_of_fmus(participants).items()}
    where = [f"FMUs {place}: {shortened(names)}" for place, names in ran.items() if names]
    return "\n".join([*message, line, *trust, *(code if files else []), *where, f"results → {target}"])


def shortened(names: Sequence[str]) -> str:
    """Names, the first ones where there are many."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _order(loop: CoSimulation) -> str:
    assert loop.algorithm is not None
    if not loop.algorithm.exchanges_within_step:
        return f"all step from the same values ({type(loop.algorithm).__name__})"
    place = {name: i for i, name in enumerate(loop.order)}
    back = dict.fromkeys(link.start for link in loop.links if place[link.source] >= place[link.target])
    free = [f"{name}.{output}" for name, output in back if not direct_inputs(loop.descriptions[name], output)]
    late = [f"{name}.{output}" for name, output in back if direct_inputs(loop.descriptions[name], output)]
    reasons = []
    if free:
        reasons.append(f"{', '.join(free)} {'has' if len(free) == 1 else 'have'} no direct feedthrough")
    if late:
        reasons.append(f"{', '.join(late)} {'is' if len(late) == 1 else 'are'} one step late")
    shown = loop.order
    if loop.joint is not None:
        names = {name: str(loop.joint) for name in loop.joint.names}
        shown = list(dict.fromkeys(names.get(name, name) for name in loop.order))
    return " → ".join(shown) + (f"   ({'; '.join(reasons)})" if reasons else "")


def _checkpoint(arguments: argparse.Namespace) -> cosim.Checkpoint | None:
    """Where the state of the run is kept, if anywhere."""
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


def _simulate(
    loop: CoSimulation, until: float, wanted: Mapping[str, Any], saved: SavedRows | None, *, quiet: bool
) -> CoSimulationResult:
    """Run with a progress bar on a terminal, and a line of figures at the end."""
    if quiet:
        return loop.simulate(until, progress=saved, **wanted)
    if not sys.stdout.isatty():
        result = loop.simulate(until, progress=saved, **wanted)
        print(f"{result.time[-1]:.3f} s   {_pace(result)}".rstrip())
        return result
    with ProgressBar(raw_stream(sys.stdout), loop.start, until) as bar:
        shown = loop.simulate(until, progress=bar.show if saved is None else saved.after(bar.show), **wanted)
        bar.show(float(shown.time[-1]), _pace(shown))
    return shown


def _pace(result: cosim.Result) -> str:
    """``18× real time``."""
    spent, span = result.statistics["wall_time"], float(result.time[-1] - result.time[0])
    return f"{span / spent:.3g}× real time" if spent > 0.0 and span > 0.0 else ""
