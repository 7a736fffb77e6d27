"""Makes the FMU of node.c with the machine's C compiler."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="node" guid="{node}">
<CoSimulation modelIdentifier="node"
canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true" needsExecutionTool="false"/>
<ModelVariables>
<ScalarVariable name="y" valueReference="0" causality="output" variability="continuous" initial="exact">
<Real start="1"/></ScalarVariable>
<ScalarVariable name="u" valueReference="1" causality="input" variability="continuous"><Real start="0"/>
</ScalarVariable>
</ModelVariables>
<ModelStructure><Outputs><Unknown index="1" dependencies=""/></Outputs>
<InitialUnknowns><Unknown index="1" dependencies=""/></InitialUnknowns></ModelStructure>
</fmiModelDescription>
"""


def make_node(folder: Path) -> Path:
    """``node.fmu`` in `folder`."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise SystemExit("needs a C compiler (gcc or cc)")
    library = folder / "node.so"
    source = Path(__file__).with_name("node.c")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    path = folder / "node.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", DESCRIPTION)
        archive.write(library, "binaries/linux64/node.so")
    return path
