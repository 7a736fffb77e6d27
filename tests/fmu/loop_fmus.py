"""The FMUs of ``c/loop2.c`` and ``c/loop3.c``: an output depends directly on an input."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

from small_fmus import model_description

ABILITIES = (
    'canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true" '
    'canSerializeFMUstate="true" providesDirectionalDerivative="true"'
)
THIRD = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="loop3" instantiationToken="{loop3}">
<CoSimulation modelIdentifier="loop3" canHandleVariableCommunicationStepSize="true"
canGetAndSetFMUState="true"
canSerializeFMUState="true" providesDirectionalDerivatives="true"/>
<ModelVariables>
<Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
<Float64 name="y" valueReference="1" causality="output"/>
<Float64 name="u" valueReference="2" causality="input" start="0"/>
<Float64 name="x" valueReference="3" causality="output" initial="exact" start="1"/>
<Float64 name="gain" valueReference="4" causality="parameter" variability="fixed" start="-0.5"/>
</ModelVariables>
<ModelStructure><Output valueReference="1" dependencies="2"/><Output valueReference="3" dependencies=""/>
</ModelStructure></fmiModelDescription>
"""


def make_loop(folder: Path, compiled: Callable[..., Path], version: str, abilities: str = "") -> Path:
    """``loop2.fmu`` or ``loop3.fmu`` in `folder`, for FMI "2.0" or "3.0"; it declares further `abilities`."""
    from fmpy import platform, platform_tuple

    is_fmi3 = version == "3.0"
    kind = "loop3" if is_fmi3 else "loop2"
    path = folder / f"{kind}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        text = THIRD if is_fmi3 else model_description(kind, abilities=ABILITIES)
        text = text.replace("<CoSimulation ", f"<CoSimulation {abilities} ")
        archive.writestr("modelDescription.xml", text)
        place = platform_tuple if is_fmi3 else platform
        archive.write(compiled(kind), f"binaries/{place}/{kind}.so")
    return path
