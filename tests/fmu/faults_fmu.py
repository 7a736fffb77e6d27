"""The FMU of ``c/faults.c``: a statement in C is executed in one of its functions."""

import csv
import zipfile
from collections.abc import Callable
from pathlib import Path

from forked_commands import Done

Compiled = Callable[..., Path]
Cosimulate = Callable[..., Done]
"""Runs a scenario with the FMU: its folder, the path of the FMU, and the options of `command`."""
CALLS = (
    *("LOAD", "Instantiate", "SetupExperiment", "SetReal", "EnterInitializationMode"),
    *("ExitInitializationMode", "GetReal", "DoStep", "Terminate", "FreeInstance"),
    "UNLOAD",
)
DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="faults" guid="f">
<CoSimulation modelIdentifier="faults" canHandleVariableCommunicationStepSize="true"/><ModelVariables>
<ScalarVariable name="y" valueReference="0" causality="output"><Real/></ScalarVariable>
<ScalarVariable name="u" valueReference="1" causality="input"><Real start="0"/></ScalarVariable>
</ModelVariables><ModelStructure><Outputs><Unknown index="1" dependencies=""/></Outputs></ModelStructure>
</fmiModelDescription>"""
SCENARIO = """[participants.m]
fmu = "{fmu}"
parameters = {{ u = 1.0 }}
{more}
[master]
algorithm = "jacobi"
step = "0.1 s"
until = "1 s"
{limit}
"""
NAME_IN_LIBRARY = b"the name of the call that goes wrong"
"""The library has this text in place of the name of the function with the fault."""
NEVER_ENDS, RESTS = "for (;;) { }", "for (;;) sleep(1)"
"""Two faults that do not return; the second one leaves the processor to the other tests."""


def make_faulty(folder: Path, compiled: Compiled, function: str, fault: str, abilities: str = "") -> Path:
    """``faults.fmu``, which executes the statement `fault` in a function, for instance ``DoStep``."""
    from fmpy import platform, sharedLibraryExtension

    path = folder / "faults.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", DESCRIPTION.replace("/><ModelV", f" {abilities}/><ModelV"))
        library = compiled("faults", f"FAULT={fault}").read_bytes()
        assert library.count(NAME_IN_LIBRARY) == 1
        library = library.replace(NAME_IN_LIBRARY, function.encode().ljust(len(NAME_IN_LIBRARY), b"\0"))
        archive.writestr(f"binaries/{platform}/faults{sharedLibraryExtension}", library)
    return path


def command(folder: Path, fmu: Path, more: str = "", limit: str = "", algorithm: str = "jacobi") -> list[str]:
    """Write ``s.toml`` and return the command that runs it.

    `more` are lines of the participant's table, `limit` is one of the table ``master``.
    """
    scenario = SCENARIO.format(fmu=fmu.name, more=more, limit=limit)
    (folder / "s.toml").write_text(scenario.replace("jacobi", algorithm))
    return ["cosimulate", "s.toml", "-o", "out.csv"]


def last_time(folder: Path) -> float:
    """The time of the last row in ``out.csv``."""
    with (folder / "out.csv").open() as file:
        return float([row for row in csv.reader(file) if not row[0].startswith("# not whole: ")][-1][0])
