"""Makes the FMUs of node.c and ode.c with the machine's C compiler."""

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


ODE = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="ode" guid="{ode}" numberOfEventIndicators="0">
<ModelExchange modelIdentifier="ode" needsExecutionTool="false"/>
<ModelVariables>
<ScalarVariable name="y" valueReference="0" causality="output" variability="continuous" initial="calculated">
<Real/></ScalarVariable>
<ScalarVariable name="u" valueReference="1" causality="input" variability="continuous"><Real start="0"/>
</ScalarVariable>
<ScalarVariable name="x" valueReference="2" causality="local" variability="continuous" initial="exact">
<Real start="1"/></ScalarVariable>
<ScalarVariable name="der(x)" valueReference="3" causality="local" variability="continuous"
initial="calculated"><Real derivative="3"/></ScalarVariable>
</ModelVariables>
<ModelStructure><Outputs><Unknown index="1" dependencies="3"/></Outputs>
<Derivatives><Unknown index="4" dependencies="2 3"/></Derivatives>
<InitialUnknowns><Unknown index="1" dependencies="3"/><Unknown index="4" dependencies="2 3"/>
</InitialUnknowns></ModelStructure></fmiModelDescription>
"""


def make_node(folder: Path) -> Path:
    """``node.fmu`` in `folder`, for Co-Simulation."""
    return _make(folder, "node", DESCRIPTION)


def make_ode(folder: Path) -> Path:
    """``ode.fmu`` in `folder`, for Model Exchange."""
    return _make(folder, "ode", ODE)


def _make(folder: Path, name: str, description: str) -> Path:
    """Compile a C file of this folder, and pack it with its description; the path of the FMU."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise SystemExit("needs a C compiler (gcc or cc)")
    library = folder / f"{name}.so"
    source = Path(__file__).with_name(f"{name}.c")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    path = folder / f"{name}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description)
        archive.write(library, f"binaries/linux64/{name}.so")
    return path
