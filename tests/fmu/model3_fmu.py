"""The FMUs of ``c/model3.c``."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

STATES = {"BALL": 2, "VDP": 2, "STAIR": 0, "TURN": 1, "TICK": 1, "DRAIN": 1}
CLOCK = """<Clock name="tick" valueReference="20" causality="input" intervalVariability="constant"
resolution="100" intervalCounter="25"/>"""
ARRAYS = """<Float64 name="pair" valueReference="11" causality="output"><Dimension start="2"/></Float64>
<Float64 name="kicks" valueReference="12" causality="input" start="0 0"><Dimension start="2"/></Float64>"""
DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="model3" instantiationToken="{{model3}}">
<ModelExchange modelIdentifier="model3" canGetAndSetFMUState="true" canSerializeFMUState="true"
needsCompletedIntegratorStep="{steps}"/>
<ModelVariables>
<Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
<Float64 name="x" valueReference="1" causality="output" initial="exact" start="1"/>
<Float64 name="v" valueReference="2" causality="output" initial="exact" start="0"/>
<Float64 name="der(x)" valueReference="3" derivative="1"/>
<Float64 name="der(v)" valueReference="4" derivative="2"/>
<Float64 name="push" valueReference="5" causality="input" start="0"/>
<Float64 name="parameter" valueReference="6" causality="parameter" variability="fixed" start="1"/>
<Float64 name="nominal" valueReference="7" causality="parameter" variability="fixed" start="1"/>
<Int32 name="count" valueReference="8" causality="output"/>
<Int32 name="limit" valueReference="9" causality="parameter" start="1000000"/>
<Int32 name="gear" valueReference="10" causality="input" start="7"/>
{clock}{arrays}</ModelVariables>
<ModelStructure><Output valueReference="1" dependencies=""/><Output valueReference="2" dependencies=""/>
<Output valueReference="8" dependencies=""/>{pair}{derivatives}{indicators}</ModelStructure>
</fmiModelDescription>
"""


def make_model3(
    folder: Path, compiled: Callable[..., Path], kind: str, *macros: str, arrays: bool = False
) -> Path:
    """``BALL.fmu``, or that of another name of `STATES`, in `folder`; `arrays` adds variables to a ball."""
    from fmpy import platform_tuple, sharedLibraryExtension

    text = DESCRIPTION.format(
        clock=CLOCK * (kind == "TICK"),
        arrays=ARRAYS * arrays,
        pair='<Output valueReference="11" dependencies="5 12"/>' * arrays,
        steps=str(kind == "TURN").lower(),
        derivatives="".join(
            f'<ContinuousStateDerivative valueReference="{3 + i}"/>' for i in range(STATES[kind])
        ),
        indicators='<EventIndicator valueReference="1"/>' * (kind == "BALL"),
    )
    path = folder / f"{kind}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", text)
        archive.write(
            compiled("model3", kind, *macros), f"binaries/{platform_tuple}/model3{sharedLibraryExtension}"
        )
    return path
