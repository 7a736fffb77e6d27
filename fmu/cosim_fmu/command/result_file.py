"""The file for the results of a co-simulation: checks before the run, and whether its rows are streamed."""

from __future__ import annotations

import os
from pathlib import Path

import cosim
from cosim.kit import result_sink, space_warning
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.command.run_summary import shortened
from cosim_master.coupling.run_settings import CommunicationPoints
from cosim_master.recording.recorder import Recorder

PARQUET = ".parquet"
LONG_RUN = 100_000
"""Communication steps, beyond which a file is written while the run goes on, and no row stays in memory."""
PICTURE = "workbench.plot"


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
    """The recorder of the run."""
    return Recorder(loop.descriptions, loop.links, loop.run_options.record, derived=loop.derived)


def foreseen_space(loop: CoSimulation, until: float, target: Path) -> str:
    """A sentence where the results will hardly find space on the disk, else ""."""
    options = loop.run_options
    recorder = _recorder(loop)
    return space_warning(
        target, count_steps(loop, until) / options.steps_between_rows(loop.step), 1 + len(recorder.paths)
    )


def count_steps(loop: CoSimulation, until: float) -> int:
    """The number of communication steps of the run."""
    return CommunicationPoints(loop.start, until, loop.step).count


def is_streamed(sink: cosim.ResultSink, target: Path, steps: int) -> bool:
    """Whether rows are written during the run and then removed from memory: Parquet, and long files."""
    if target.suffix.lower() == PARQUET:
        return True
    can_stream = type(sink).stream is not cosim.ResultSink.stream
    return can_stream and steps > LONG_RUN and (target.is_file() or not target.exists())


def check_picture(target: Path, loop: CoSimulation) -> None:
    """Refuse a picture that cannot be written, or has nothing to show, before the run: `CosimError`."""
    endings = cosim.registry().get("result_sink", PICTURE).suffixes
    if target.suffix.lower() not in endings:
        raise cosim.CosimError(f"{target}: the name of a picture ends in {', '.join(endings)}")
    check_target(target)
    recorder = _recorder(loop)
    if set(recorder.paths) == set(recorder.texts):
        fault = f"are text: {shortened(recorder.texts)}" if recorder.texts else "are none"
        raise cosim.ModelError.of(str(target), f"a picture shows numbers, and the recorded signals {fault}")
