"""Has an FMU run by `probe`, in processes that may die."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cosim.kit import kill_with_parent, python_command, start_process
from cosim_fmi.description.model_description import (
    DeclaredExperiment,
    DeclaredType,
    DeclaredVariable,
    ModelDescription,
)
from cosim_fmi.instances import log_helper
from cosim_fmi.validate.experiments import Experiment
from cosim_fmi.validate.finding import Finding
from cosim_fmi.validate.probe import LOADING
from cosim_fmi.validate.record_experiment import RECORD, RECORDED
from cosim_fmi.validate.run_checks import RUN_CHECKS

KINDS = {
    "Float64": ("Real", "Float64"),
    "Float32": ("Real", "Float32"),
    **{f"{sign}Int{bits}": ("Integer", f"{sign}Int{bits}") for sign in ("", "U") for bits in (8, 16, 32, 64)},
}
"""Type in the checks and type in the names of functions."""
START = (
    "import sys, runpy; runpy.run_path(sys.argv.pop(1))['kill_with_parent'](int(sys.argv.pop(1))); "
    "sys.path.insert(0, sys.argv.pop(1)); from cosim_fmi.validate import probe; sys.path.pop(0); probe.main()"
)
"""The probe imports only the file that ends it together with this process."""
DECISIVE = "simulation"
"""A process that dies in it would die in all that follow."""
FORGIVABLE = ("wrong steps", "wrong values")
"""Checks that make calls which environments must not make: their failures are no errors."""
OF_A_NEW_PROCESS = ("new process",)
"""Checks that run in a new process, in which nothing of the FMU has run before."""


class FmuProbe:
    """The run-time checks of one unpacked FMU.

    Parameters
    ----------
    folder : Path
        The folder of the unpacked FMU; files of the checks are put beside its own.
    description : ModelDescription
    library : Path
    timeout : float
        For each process, s.
    interface : str
        "CoSimulation" or "ModelExchange".
    experiments : sequence of dict
        Those that it brings with it (`read_experiments`).
    """

    def __init__(
        self,
        folder: Path,
        description: ModelDescription,
        library: Path,
        timeout: float,
        interface: str,
        experiments: Sequence[Experiment] = (),
    ) -> None:
        self._timeout = timeout
        self._folder = folder / f"cosim-validate-{interface}"
        self._folder.mkdir()
        self._answers = self._folder / "answers"
        self._job = {**job_for(folder, description, library, interface), "answers": str(self._answers)}
        self._job |= {"folder": str(self._folder), "experiments": list(experiments)}

    def findings(self) -> Iterator[Finding]:
        """Run all checks; where a process dies, the others are done in a new one."""
        remaining = list(RUN_CHECKS)
        while remaining:
            first_of_new_process = next(
                (i for i, name in enumerate(remaining) if name in OF_A_NEW_PROCESS), len(remaining)
            )
            selected = remaining[: max(first_of_new_process, 1)]
            rows, died = self._run(selected)
            where = LOADING
            for row in rows:
                if "begin" in row:
                    where = row["begin"]
                else:
                    yield self._finding(row["severity"], where, row["text"])
            if died:
                yield self._finding("error", where or "end", died)
            if where == LOADING:
                return
            if died and where == DECISIVE:
                yield Finding("note", "run", "nothing else was tried")
                return
            remaining = (
                remaining[remaining.index(where) + 1 :] if where in remaining else remaining[len(selected) :]
            )

    def recorded(self) -> dict[str, list[float]]:
        """Values of the only experiment, by name, with "time".

        Raises
        ------
        ValueError
            It cannot be run: why.
        """
        rows, died = self._run([RECORD])
        faults = [row["text"] for row in rows if "text" in row] + ([died] if died else [])
        if faults:
            raise ValueError(faults[0])
        values: dict[str, list[float]] = json.loads((self._folder / RECORDED).read_text())
        return values

    @staticmethod
    def _finding(severity: str, where: str, text: str) -> Finding:
        return Finding("warning" if where in FORGIVABLE else severity, where, text)

    def _run(self, checks: list[str]) -> tuple[list[dict[str, Any]], str]:
        """The rows that the process wrote, and how it ended if not well."""
        job = self._folder / "job.json"
        job.write_text(json.dumps({**self._job, "checks": checks}), "utf-8")
        self._answers.write_text("")
        errors = self._folder / "stderr"
        root = str(Path(__file__).resolve().parents[2])
        guard = kill_with_parent.__code__.co_filename
        command = python_command("-c", START, guard, str(os.getpid()), root, str(job))
        died = ""
        with errors.open("wb") as stderr:
            process = start_process(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                cwd=self._folder,
                start_new_session=os.name != "nt",
            )
            try:
                code = process.wait(self._timeout)
                if code:
                    died = f"the process {_ending(code)}{_last_line(errors)}"
            except subprocess.TimeoutExpired:
                died = f"no end within {self._timeout:g} s"
            finally:
                _kill(process)
        rows = [json.loads(line) for line in self._answers.read_text("utf-8").splitlines()]
        return rows, died


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and its children."""
    if os.name == "nt":
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ending(code: int) -> str:
    if code < 0:
        try:
            return f"was killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"was killed by signal {-code}"
    return f"ended with code {code}"


def _last_line(errors: Path) -> str:
    lines = errors.read_bytes()[-2000:].decode("utf-8", "replace").strip().splitlines()
    return f": {lines[-1]}" if lines else ""


def job_for(
    folder: Path, read: ModelDescription, library: Path, interface: str = "CoSimulation"
) -> dict[str, Any]:
    """The facts about an unpacked FMU that `ForeignFmu` needs."""
    third, steps = read.version == "3.0", interface == "CoSimulation"
    able, experiment = (
        read.interfaces[interface],
        read.experiment or DeclaredExperiment(None, None, None, None),
    )
    start, stop, step, tolerance = (
        _number(text) for text in (experiment.start, experiment.stop, experiment.step, experiment.tolerance)
    )
    start = start or 0.0
    length = stop - start if stop is not None and stop > start else 1.0
    variables = [v for v in read.variables if not third or v.causality != "independent"]
    return {
        "version": read.version,
        "identifier": able.identifier,
        "unpacked": str(folder),
        "log_helper": log_helper(),
        "interface": interface,
        "library": str(library),
        "guid": read.token,
        "start": start,
        "step": step if step is not None and 0.0 < step <= length else length / 100.0,
        "tolerance": tolerance if tolerance is not None and tolerance > 0.0 else None,
        "can_restore": able.saves,
        "can_serialize": able.saves and able.serializes,
        "variable_step": not steps or able.variable_step,
        "only_once": able.only_once,
        "event_mode": third and able.event_mode,
        "wants_steps": able.wants_steps,
        "states": read.states,
        "indicators": read.indicators,
        "variables": [_variable(v, third=third) for v in variables],
    }


def _variable(read: DeclaredVariable, *, third: bool) -> dict[str, Any]:
    declared = read.declared_type or DeclaredType("")
    kind, access = KINDS.get(read.type, (read.type, read.type))
    if kind == "Enumeration":
        access = "Int64" if third else "Integer"
    return {
        "name": read.name,
        "type": kind,
        "access": access,
        "size": math.prod(read.sizes()),
        "unit": read.unit or declared.unit or "",
        "reference": read.reference,
        "causality": read.causality,
        "variability": read.variability,
        "initial": read.initial,
        "start": read.start if kind == "Real" and not read.dimensions else None,
        "min": _number(declared.minimum if read.minimum is None else read.minimum),
        "max": _number(declared.maximum if read.maximum is None else read.maximum),
    }


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
