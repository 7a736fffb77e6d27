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

CHECK_TYPES = {
    "Float64": ("Real", "Float64"),
    "Float32": ("Real", "Float32"),
    **{f"{sign}Int{bits}": ("Integer", f"{sign}Int{bits}") for sign in ("", "U") for bits in (8, 16, 32, 64)},
}
"""By type in FMI 3.0: the type in the checks, and the type in the names of functions."""
PROBE_PROGRAM = (
    "import sys, runpy; runpy.run_path(sys.argv.pop(1))['kill_with_parent'](int(sys.argv.pop(1))); "
    "sys.path.insert(0, sys.argv.pop(1)); from cosim_fmi.validate import probe; sys.path.pop(0); probe.main()"
)
"""The Python program of the probe. Of cosim it imports its own package, and a function that ends it together
with this process.
"""
DECISIVE_CHECK = "simulation"
"""Where the process dies in this check, no other one is tried."""
FORGIVABLE_CHECKS = ("wrong steps", "wrong values")
"""Checks that make calls which environments must not make: their failures are warnings only."""
CHECKS_OF_NEW_PROCESS = ("new process",)
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
                (i for i, name in enumerate(remaining) if name in CHECKS_OF_NEW_PROCESS), len(remaining)
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
            if died and where == DECISIVE_CHECK:
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
        return Finding("warning" if where in FORGIVABLE_CHECKS else severity, where, text)

    def _run(self, checks: list[str]) -> tuple[list[dict[str, Any]], str]:
        """The rows that the process wrote, and how it ended if not well."""
        job = self._folder / "job.json"
        job.write_text(json.dumps({**self._job, "checks": checks}), "utf-8")
        self._answers.write_text("")
        errors = self._folder / "stderr"
        root = str(Path(__file__).resolve().parents[2])
        guard = kill_with_parent.__code__.co_filename
        command = python_command("-c", PROBE_PROGRAM, guard, str(os.getpid()), root, str(job))
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
    folder: Path, description: ModelDescription, library: Path, interface: str = "CoSimulation"
) -> dict[str, Any]:
    """The facts about an unpacked FMU that `ForeignFmu` needs."""
    is_fmi3, is_co_simulation = description.version == "3.0", interface == "CoSimulation"
    abilities = description.interfaces[interface]
    experiment = description.experiment or DeclaredExperiment(None, None, None, None)
    start, stop, step, tolerance = (
        _number(text) for text in (experiment.start, experiment.stop, experiment.step, experiment.tolerance)
    )
    start = start or 0.0
    length = stop - start if stop is not None and stop > start else 1.0
    variables = [v for v in description.variables if not is_fmi3 or v.causality != "independent"]
    return {
        "version": description.version,
        "identifier": abilities.identifier,
        "unpacked": str(folder),
        "log_helper": log_helper(),
        "interface": interface,
        "library": str(library),
        "guid": description.token,
        "start": start,
        "step": step if step is not None and 0.0 < step <= length else length / 100.0,
        "tolerance": tolerance if tolerance is not None and tolerance > 0.0 else None,
        "can_restore": abilities.saves,
        "can_serialize": abilities.saves and abilities.serializes,
        "variable_step": not is_co_simulation or abilities.variable_step,
        "only_once": abilities.only_once,
        "event_mode": is_fmi3 and abilities.event_mode,
        "wants_steps": abilities.wants_steps,
        "states": description.states,
        "indicators": description.indicators,
        "variables": [_variable(v, is_fmi3=is_fmi3) for v in variables],
    }


def _variable(read: DeclaredVariable, *, is_fmi3: bool) -> dict[str, Any]:
    declared = read.declared_type or DeclaredType("")
    kind, access = CHECK_TYPES.get(read.type, (read.type, read.type))
    if kind == "Enumeration":
        access = "Int64" if is_fmi3 else "Integer"
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
