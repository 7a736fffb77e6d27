"""Runs an FMU in a separate process to observe its behavior.

Nothing but the standard library is used, so that an FMU written in Python finds a process in which
nothing has been imported. Findings are written to a file line by line: when the process dies, the lines
say in which check.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from cosim_fmi.binding.fmu_library import FmiError, instance_class
from cosim_fmi.validate.finding import FailedCallError
from cosim_fmi.validate.foreign_instance import ForeignFmu
from cosim_fmi.validate.record_experiment import RECORD, recording
from cosim_fmi.validate.run_checks import RUN_CHECKS

LOADING = "loading"


def probe(job: dict[str, Any]) -> None:
    """Run the checks that the job names; a line of JSON for everything that happens."""
    with Path(job["answers"]).open("a", buffering=1, encoding="utf-8") as answers:

        def say(**row: Any) -> None:
            answers.write(json.dumps(row) + "\n")

        say(begin=LOADING)
        try:
            fmu = ForeignFmu(job)
        except FmiError as error:
            say(severity="error", text=str(error))
            return
        for name in job["checks"]:
            say(begin=name)
            try:
                for severity, text in (recording if name == RECORD else RUN_CHECKS[name])(fmu):
                    say(severity=severity, text=text)
            except FailedCallError as error:
                say(severity="error", text=str(error))
        say(begin="")


def main() -> None:
    """Read the job that the command line names, do it, and leave without unloading the library."""
    job = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    instance_class(job["version"])  # imports its module, before all modules are removed from `sys.modules`
    for name in [name for name in sys.modules if name.partition(".")[0] == "cosim_fmi"]:
        del sys.modules[name]  # an FMU of ours may hold another version
    probe(job)
    os._exit(0)
