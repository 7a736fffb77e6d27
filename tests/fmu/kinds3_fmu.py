"""The FMU of ``c/kinds3.c``."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

KINDS = (
    "Float64",
    "Float32",
    "Int8",
    "UInt8",
    "Int16",
    "UInt16",
    "Int32",
    "UInt32",
    "Int64",
    "UInt64",
    "Boolean",
)
HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="kinds3" instantiationToken="{kinds3}">
<CoSimulation modelIdentifier="kinds3" canHandleVariableCommunicationStepSize="true" hasEventMode="true"
canGetAndSetFMUState="true"/><ModelVariables>
<Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
<Int32 name="passes" valueReference="1" causality="output"/>
"""


def make_kinds3(folder: Path, compiled: Callable[..., Path]) -> Path:
    """``kinds3.fmu`` in `folder`: of each type an input and an output, all but Float64 discrete."""
    from fmpy import platform_tuple, sharedLibraryExtension

    lines, outputs = [HEAD], ['<Output valueReference="1" dependencies=""/>']
    for i, kind in enumerate(KINDS):
        varies = "continuous" if kind == "Float64" else "discrete"
        start = "false" if kind == "Boolean" else "0"
        name, into, out = kind.lower(), 100 + i, 200 + i
        lines.append(
            f'<{kind} name="{name}_in" valueReference="{into}" causality="input" variability="{varies}" '
            f'start="{start}"/><{kind} name="{name}_out" valueReference="{out}" causality="output" '
            f'variability="{varies}"/>'
        )
        outputs.append(f'<Output valueReference="{out}" dependencies=""/>')
    text = (
        "".join(lines)
        + f"</ModelVariables><ModelStructure>{''.join(outputs)}</ModelStructure></fmiModelDescription>"
    )
    path = folder / "kinds3.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", text)
        archive.write(compiled("kinds3"), f"binaries/{platform_tuple}/kinds3{sharedLibraryExtension}")
    return path
