"""The FMU of ``c/box3.c``."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="box3" instantiationToken="{box3}">
<CoSimulation modelIdentifier="box3" canHandleVariableCommunicationStepSize="true" canGetAndSetFMUState="true"
canSerializeFMUState="true" hasEventMode="%s" canReturnEarlyAfterIntermediateUpdate="true"/>
<UnitDefinitions><Unit name="m"><BaseUnit m="1"/></Unit></UnitDefinitions>
<TypeDefinitions><EnumerationType name="Mode"><Item name="off" value="0"/><Item name="on" value="1"/>
</EnumerationType></TypeDefinitions>
<LogCategories><Category name="logStatusError"/></LogCategories>
<ModelVariables>
<Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
<Float64 name="x" valueReference="1" causality="output" unit="m" initial="exact" start="1"/>
<Float64 name="u" valueReference="2" causality="input" start="0"/>
<Float64 name="matrix" valueReference="3" causality="input" start="0 0 0 0">
<Dimension start="2"/><Dimension start="2"/></Float64>
<Float64 name="doubled" valueReference="4" causality="output">
<Dimension start="2"/><Dimension start="2"/></Float64>
<Float64 name="ring_at" valueReference="5" causality="parameter" variability="fixed" start="1e300"/>
<Float64 name="fail_at" valueReference="6" causality="parameter" variability="fixed" start="1e300"/>
<Float64 name="stop_at" valueReference="7" causality="parameter" variability="fixed" start="1e300"/>
<Float32 name="small_in" valueReference="8" causality="input" start="0"/>
<Float32 name="small_out" valueReference="9" causality="output"/>
<Int8 name="byte_in" valueReference="10" causality="input" start="0"/>
<Int8 name="byte_out" valueReference="11" causality="output"/>
<UInt64 name="big_in" valueReference="12" causality="input" start="0"/>
<UInt64 name="big_out" valueReference="13" causality="output"/>
<Boolean name="flag_in" valueReference="14" causality="input" start="false"/>
<Boolean name="flag_out" valueReference="15" causality="output"/>
<String name="text_in" valueReference="16" causality="input"><Start value=""/></String>
<String name="text_out" valueReference="17" causality="output"/>
<Binary name="blob_in" valueReference="18" causality="input"><Start value="00"/></Binary>
<Binary name="blob_out" valueReference="19" causality="output"/>
<Enumeration name="mode_in" valueReference="20" causality="input" variability="discrete"
declaredType="Mode" start="0"/>
<Enumeration name="mode_out" valueReference="21" causality="output" variability="discrete"
declaredType="Mode"/>
<Int32 name="rings" valueReference="22" causality="output" variability="discrete"/>
</ModelVariables>
<ModelStructure><Output valueReference="1" dependencies=""/><Output valueReference="4" dependencies="3"/>
<Output valueReference="9" dependencies="8"/><Output valueReference="11" dependencies="10"/>
<Output valueReference="13" dependencies="12"/><Output valueReference="15" dependencies="14"/>
<Output valueReference="17" dependencies="16"/><Output valueReference="19" dependencies="18"/>
<Output valueReference="21" dependencies="20"/><Output valueReference="22" dependencies=""/></ModelStructure>
</fmiModelDescription>
"""


def make_box3(folder: Path, compiled: Callable[..., Path], *macros: str, events: bool = True) -> Path:
    """``box3.fmu`` in `folder`."""
    from fmpy import platform_tuple, sharedLibraryExtension

    path = folder / f"box3_{events}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", DESCRIPTION % str(events).lower())
        archive.write(compiled("box3", *macros), f"binaries/{platform_tuple}/box3{sharedLibraryExtension}")
    return path
