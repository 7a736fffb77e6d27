"""Runs the checks of `probe` in child processes, which an FMU may crash."""

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
"""Type in FMI 3.0 → (type that the checks compare, type in the names of functions)."""
PROBE_PROGRAM = (
    "import sys, runpy; runpy.run_path(sys.argv.pop(1))['kill_with_parent'](int(sys.argv.pop(1))); "
    "sys.path.insert(0, sys.argv.pop(1)); from cosim_fmi.validate import probe; sys.path.pop(0); probe.main()"
)
"""The Python program of the probe; `FmuProbe._run` states its four arguments.

First it arranges to end together with this process: `kill_with_parent` is read from its file, because an
import would need all of cosim. Then it imports `probe` from its own package.
"""
DECISIVE_CHECK = "simulation"
"""If the process dies in this check, the remaining checks are skipped."""
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
    experiments : sequence of Experiment
        The reference experiments inside the FMU, see `read_experiments`.
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
        """Run all checks; if a process dies, run the remaining ones in a new process."""
        remaining = list(RUN_CHECKS)
        while remaining:
            first_of_new_process = next(
                (i for i, name in enumerate(remaining) if name in CHECKS_OF_NEW_PROCESS), len(remaining)
            )
            selected = remaining[: max(first_of_new_process, 1)]
            answers, crash = self._run(selected)
            check = LOADING
            for answer in answers:
                if "begin" in answer:
                    check = answer["begin"]
                else:
                    yield self._finding(answer["severity"], check, answer["text"])
            if crash:
                yield self._finding("error", check or "end", crash)
            if check == LOADING:
                return
            if crash and check == DECISIVE_CHECK:
                yield Finding("note", "run", "nothing else was tried")
                return
            if check in remaining:  # the process died in this check
                remaining = remaining[remaining.index(check) + 1 :]
            else:  # the probe has done all selected checks: it ends with an empty name
                remaining = remaining[len(selected) :]

    def recorded(self) -> dict[str, list[float]]:
        """Return the recorded values of the only experiment, by name, with "time".

        Raises
        ------
        ValueError
            The FMU cannot run the experiment; the message says why.
        """
        answers, crash = self._run([RECORD])
        faults = [answer["text"] for answer in answers if "text" in answer] + ([crash] if crash else [])
        if faults:
            raise ValueError(faults[0])
        values: dict[str, list[float]] = json.loads((self._folder / RECORDED).read_text())
        return values

    @staticmethod
    def _finding(severity: str, check: str, text: str) -> Finding:
        """A finding of a check; those of `FORGIVABLE_CHECKS` are warnings."""
        return Finding("warning" if check in FORGIVABLE_CHECKS else severity, check, text)

    def _run(self, checks: list[str]) -> tuple[list[dict[str, Any]], str]:
        """The answers of the process, and the description of its crash; "" if it ended normally."""
        job = self._folder / "job.json"
        job.write_text(json.dumps({**self._job, "checks": checks}), "utf-8")
        self._answers.write_text("")
        errors = self._folder / "stderr"
        root = str(Path(__file__).resolve().parents[2])
        guard = kill_with_parent.__code__.co_filename
        command = python_command("-c", PROBE_PROGRAM, guard, str(os.getpid()), root, str(job))
        crash = ""
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
                    crash = f"the process {_ending(code)}{_last_line(errors)}"
            except subprocess.TimeoutExpired:
                crash = f"no end within {self._timeout:g} s"
            finally:
                _kill(process)
        answers = [json.loads(line) for line in self._answers.read_text("utf-8").splitlines()]
        return answers, crash


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and its children."""
    if os.name == "nt":
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ending(code: int) -> str:
    """The way in which a process ended: its signal or its exit code."""
    if code < 0:
        try:
            return f"was killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"was killed by signal {-code}"
    return f"ended with code {code}"


def _last_line(errors: Path) -> str:
    """The last line of the standard error of the process, after a colon; "" if there is none."""
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
    # without a declared experiment: 1 s in 100 steps
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


def _variable(variable: DeclaredVariable, *, is_fmi3: bool) -> dict[str, Any]:
    """The facts about a variable that `ForeignFmu` needs."""
    declared = variable.declared_type or DeclaredType("")
    kind, access = CHECK_TYPES.get(variable.type, (variable.type, variable.type))
    if kind == "Enumeration":
        access = "Int64" if is_fmi3 else "Integer"
    return {
        "name": variable.name,
        "type": kind,
        "access": access,
        "size": math.prod(variable.sizes()),
        "unit": variable.unit or declared.unit or "",
        "reference": variable.reference,
        "causality": variable.causality,
        "variability": variable.variability,
        "initial": variable.initial,
        "start": variable.start if kind == "Real" and not variable.dimensions else None,
        "min": _number(declared.minimum if variable.minimum is None else variable.minimum),
        "max": _number(declared.maximum if variable.maximum is None else variable.maximum),
    }


def _number(text: str | None) -> float | None:
    """The number that a text states; None if there is no text, or it is not a number."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
