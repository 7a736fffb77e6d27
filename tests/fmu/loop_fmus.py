"""The FMUs of ``c/loop2.c`` and ``c/loop3.c``, with direct feedthrough: their output is to be their input."""

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


def make_loop(folder: Path, compiled: Callable[..., Path], version: str, more: str = "") -> Path:
    """``loop2.fmu`` or ``loop3.fmu`` in `folder`, for FMI "2.0" or "3.0", that declares more abilities."""
    from fmpy import platform, platform_tuple

    third = version == "3.0"
    kind = "loop3" if third else "loop2"
    path = folder / f"{kind}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        text = THIRD if third else model_description(kind, abilities=ABILITIES)
        text = text.replace("<CoSimulation ", f"<CoSimulation {more} ")
        archive.writestr("modelDescription.xml", text)
        place = platform_tuple if third else platform
        archive.write(compiled(kind), f"binaries/{place}/{kind}.so")
    return path
