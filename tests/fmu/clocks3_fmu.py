"""The FMU of ``c/clocks3.c``."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="clocks3" instantiationToken="{clocks3}">
<CoSimulation modelIdentifier="clocks3"
canHandleVariableCommunicationStepSize="VARIABLE" hasEventMode="EVENTS"
canGetAndSetFMUState="true" providesIntermediateUpdate="true"/>
<ModelVariables>
<Clock name="sample" valueReference="0" causality="input" intervalVariability="constant" intervalDecimal="0.3"
shiftDecimal="0.1"/>
<Clock name="late" valueReference="1" causality="input" intervalVariability="countdown"/>
<Clock name="bell" valueReference="2" causality="output" intervalVariability="triggered"/>
<Clock name="hear" valueReference="3" causality="input" intervalVariability="triggered"/>
<Float64 name="time" valueReference="10" causality="independent" variability="continuous"/>
<Float64 name="x" valueReference="11" causality="output" intermediateUpdate="true"/>
<Float64 name="u" valueReference="12" causality="input" start="0" intermediateUpdate="true"/>
<Float64 name="in_sample" valueReference="13" causality="input" variability="discrete" start="0" clocks="0"/>
<Float64 name="out_sample" valueReference="14" causality="output" variability="discrete" clocks="0"/>
<Float64 name="word" valueReference="15" causality="input" variability="discrete" start="0" clocks="3"/>
<Float64 name="heard" valueReference="16" causality="output" variability="discrete" clocks="3"/>
<Float64 name="slope" valueReference="17" causality="parameter" variability="tunable" start="0"/>
<Float64 name="ramp" valueReference="18" causality="output"><Dimension valueReference="32"/></Float64>
<Int32 name="samples" valueReference="30" causality="output"/>
<Int32 name="lates" valueReference="31" causality="output"/>
<Int32 name="n" valueReference="32" causality="structuralParameter" variability="fixed" start="2"/>
</ModelVariables>
<ModelStructure><Output valueReference="11" dependencies=""/><Output valueReference="14" dependencies=""/>
<Output valueReference="16" dependencies=""/><Output valueReference="18" dependencies=""/>
<Output valueReference="30" dependencies=""/><Output valueReference="31" dependencies=""/></ModelStructure>
</fmiModelDescription>
"""


def make_clocks3(
    folder: Path, compiled: Callable[..., Path], *, events: bool = True, variable: bool = True
) -> Path:
    """``clocks3.fmu`` in `folder`."""
    from fmpy import platform_tuple, sharedLibraryExtension

    text = DESCRIPTION.replace("EVENTS", str(events).lower()).replace("VARIABLE", str(variable).lower())
    path = folder / f"clocks3_{events}_{variable}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", text)
        archive.write(compiled("clocks3"), f"binaries/{platform_tuple}/clocks3{sharedLibraryExtension}")
    return path
