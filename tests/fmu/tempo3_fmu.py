"""The FMU of ``c/tempo3.c``."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="tempo3" instantiationToken="{tempo3}">
<CoSimulation modelIdentifier="tempo3" canHandleVariableCommunicationStepSize="true" hasEventMode="true"
canGetAndSetFMUState="true"/>
<ModelVariables>
<Clock name="steady" valueReference="0" causality="input" intervalVariability="fixed" STEADY/>
<Clock name="measured" valueReference="1" causality="input" intervalVariability="calculated" MEASURED/>
<Clock name="tuned" valueReference="2" causality="input" intervalVariability="tunable"/>
<Clock name="growing" valueReference="3" causality="input" intervalVariability="changing"/>
<Float64 name="time" valueReference="9" causality="independent" variability="continuous"/>
<Float64 name="last" valueReference="10" causality="output" variability="discrete"/>
<Float64 name="period" valueReference="11" causality="parameter" variability="fixed" start="0.3"/>
<Int32 name="steadies" valueReference="20" causality="output"/>
<Int32 name="measures" valueReference="21" causality="output"/>
<Int32 name="tunes" valueReference="22" causality="output"/>
<Int32 name="grown" valueReference="23" causality="output"/>
</ModelVariables>
<ModelStructure><Output valueReference="10" dependencies=""/><Output valueReference="20" dependencies=""/>
<Output valueReference="21" dependencies=""/><Output valueReference="22" dependencies=""/>
<Output valueReference="23" dependencies=""/></ModelStructure></fmiModelDescription>
"""


def make_tempo3(
    folder: Path,
    compiled: Callable[..., Path],
    steady: str = 'resolution="10" intervalCounter="2"',
    measured: str = "",
) -> Path:
    """``tempo3.fmu`` in `folder`; `steady` and `measured` are XML attributes of the clocks of these names."""
    from fmpy import platform_tuple, sharedLibraryExtension

    path = folder / "tempo3.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        text = DESCRIPTION.replace("STEADY", steady).replace("MEASURED", measured)
        archive.writestr("modelDescription.xml", text)
        archive.write(compiled("tempo3"), f"binaries/{platform_tuple}/tempo3{sharedLibraryExtension}")
    return path
