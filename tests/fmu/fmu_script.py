"""Runs scripts with FMUs, each in a process of its own."""

import json
import os
import subprocess
import sys
import textwrap
from typing import Any

PREFACE = """
import json, sys
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave, defaultCallbacks, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE

def start(path, messages):
    description = read_model_description(path)
    def log(environment, instance, status, category, message):
        messages.append(message.decode())
    callbacks = fmi2CallbackFunctions()
    callbacks.logger = fmi2CallbackLoggerTYPE(log)
    callbacks.allocateMemory = defaultCallbacks.allocateMemory
    callbacks.freeMemory = defaultCallbacks.freeMemory
    folder = extract(path)
    fmu = FMU2Slave(guid=description.guid, unzipDirectory=folder, instanceName="x",
                    modelIdentifier=description.coSimulation.modelIdentifier)
    try:
        fmu.instantiate(callbacks=callbacks, loggingOn=True)
    except Exception:
        return None, folder
    fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    return fmu, folder

def run(fmu, references):
    rows = []
    for i in range(20):
        fmu.doStep(i * 0.01, 0.01)
        rows.append(list(fmu.getReal(references)))
    return rows

def hide(*names):
    class Hidden:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in names:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            return None
    sys.meta_path.insert(0, Hidden())

messages = []
"""


def run_script(script: str, *arguments: Any, **environment: str) -> Any:
    """Run a script, which can use the functions of `PREFACE`; return the JSON in its last line."""
    process = subprocess.run(
        [sys.executable, "-c", PREFACE + textwrap.dedent(script), *map(str, arguments)],
        env={**os.environ, **environment}, capture_output=True, text=True,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout.splitlines()[-1])
