"""The FMUs of ``c/frames3.c``: nodes, and the bus between them."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="frames3" instantiationToken="{frames3}">
<CoSimulation modelIdentifier="frames3" canHandleVariableCommunicationStepSize="true" hasEventMode="true"/>
<ModelVariables>
<Float64 name="time" valueReference="9" causality="independent" variability="continuous"/>
"""
PORT = """
<Binary name="{port}rx" valueReference="{rx}" causality="input" variability="discrete" clocks="{rx_clock}">
{dimension}<Start value=""/></Binary>
<Binary name="{port}tx" valueReference="{tx}" causality="output" variability="discrete"
clocks="{tx_clock}"/>
<Clock name="{port}rx_clock" valueReference="{rx_clock}" causality="input" intervalVariability="triggered"/>
<Clock name="{port}tx_clock" valueReference="{tx_clock}" causality="{causality}"
intervalVariability="{kind}"/>
"""
NODE = """
<Int32 name="id" valueReference="10" causality="parameter" variability="fixed" start="1"/>
<Float64 name="period" valueReference="11" causality="parameter" variability="fixed" start="0.3"/>
<Int32 name="received" valueReference="20" causality="output"/>
<Int32 name="sum" valueReference="21" causality="output"/>
<Float64 name="last" valueReference="22" causality="output" variability="discrete"/>
</ModelVariables><ModelStructure><Output valueReference="1"/><Output valueReference="3"/>
<Output valueReference="20" dependencies=""/><Output valueReference="21" dependencies=""/>
<Output valueReference="22" dependencies=""/></ModelStructure></fmiModelDescription>
"""
BUS = """
<Int32 name="carried" valueReference="20" causality="output"/>
</ModelVariables><ModelStructure><Output valueReference="1"/><Output valueReference="5"/>
<Output valueReference="20" dependencies=""/></ModelStructure></fmiModelDescription>
"""


def _port(name: str, first: int, causality: str, kind: str, dimension: str = "") -> str:
    references = dict(zip(("rx", "tx", "rx_clock", "tx_clock"), range(first, first + 4), strict=True))
    return PORT.format(port=name, causality=causality, kind=kind, dimension=dimension, **references)


def make_frames3(folder: Path, compiled: Callable[..., Path]) -> dict[str, Path]:
    """``node.fmu`` and ``bus.fmu`` in `folder`, by these names."""
    from fmpy import platform_tuple, sharedLibraryExtension

    node = _port("", 0, "output", "triggered", '<Dimension start="1"/>')
    bus = _port("one.", 0, "input", "countdown") + _port("two.", 4, "input", "countdown")
    paths = {}
    for name, text, macros in (("node", node + NODE, ()), ("bus", bus + BUS, ("BUS",))):
        paths[name] = folder / f"{name}.fmu"
        with zipfile.ZipFile(paths[name], "w") as archive:
            archive.writestr("modelDescription.xml", HEAD + text)
            library = f"binaries/{platform_tuple}/frames3{sharedLibraryExtension}"
            archive.write(compiled("frames3", *macros), library)
    return paths
