"""The FMU of ``c/misbehaves.c``: a bouncing ball for Model Exchange with a fault that parameters choose."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from c_programs import SOURCES

REALS = {
    "time_": ("0", 'causality="local"', ""),
    "h": ("1", 'causality="output" initial="exact"', 'start="1"'),
    "v": ("2", 'causality="output" initial="exact"', 'start="0"'),
    "push": ("3", 'causality="input"', 'start="0"'),
    "fault_at": ("4", 'causality="parameter" variability="fixed"', 'start="0"'),
    "y": ("5", 'causality="output"', ""),
    "der(h)": ("6", 'causality="local"', 'derivative="{h}"'),
    "der(v)": ("7", 'causality="local"', 'derivative="{v}"'),
}
INTEGERS = {
    "fault": ("10", 'causality="parameter" variability="fixed"', 'start="0"'),
    "function": ("11", 'causality="parameter" variability="fixed"', 'start="0"'),
    "status": ("12", 'causality="parameter" variability="fixed"', 'start="0"'),
    "bounces": ("13", 'causality="output" variability="discrete"', ""),
}


VARIABLES = {**REALS, **INTEGERS}
OUTPUTS = ("h", "v", "y", "bounces")


def names_of(enumeration: str) -> dict[str, int]:
    """The value of each name in an enumeration of the C source, which lists the values of a parameter."""
    text = (SOURCES / "misbehaves.c").read_text()
    listed = re.search(rf"enum {{ /\* `{enumeration}` \*/([^}}]*)}}", text)
    assert listed is not None
    return {name.strip(): i for i, name in enumerate(listed[1].split(","))}


class Description(NamedTuple):
    """The parts of a model description that differ between versions of FMI."""

    head: str
    variables: str
    structure: str


def description2(rates: Sequence[str]) -> Description:
    """The parts in FMI 2.0; variables are referred to by their places."""
    place = {name: i + 1 for i, name in enumerate(VARIABLES)}
    variables = "".join(
        f'<ScalarVariable name="{name}" valueReference="{number}" {kind}>'
        f"<{'Real' if name in REALS else 'Integer'} {rest.format(h=place['h'], v=place['v'])}/>"
        "</ScalarVariable>"
        for name, (number, kind, rest) in VARIABLES.items()
    )
    outputs = "".join(
        f'<Unknown index="{place[name]}" dependencies="{place["push"] if name == "y" else ""}"/>'
        for name in OUTPUTS
    )
    head = (
        'fmiVersion="2.0" modelName="ball" guid="{ball}" numberOfEventIndicators="1"><ModelExchange '
        'completedIntegratorStepNotNeeded="false" canGetAndSetFMUstate="true"'
    )
    derivatives = "".join(f'<Unknown index="{place[name]}"/>' for name in rates)
    structure = f"<Outputs>{outputs}</Outputs><Derivatives>{derivatives}</Derivatives>"
    return Description(head, variables, structure)


def description3(rates: Sequence[str]) -> Description:
    """The parts in FMI 3.0; variables are referred to by their value references."""
    variables = "".join(
        f'<{"Float64" if name in REALS else "Int32"} name="{name}" valueReference="{number}" {kind} '
        f"{rest.format(h=1, v=2)}/>"
        for name, (number, kind, rest) in VARIABLES.items()
    )
    structure = "".join(
        f'<Output valueReference="{VARIABLES[name][0]}" dependencies="{3 if name == "y" else ""}"/>'
        for name in OUTPUTS
    )
    structure += "".join(
        f'<ContinuousStateDerivative valueReference="{VARIABLES[name][0]}"/>' for name in rates
    )
    structure += '<EventIndicator valueReference="1"/>'
    head = (
        'fmiVersion="3.0" modelName="ball" instantiationToken="{ball}"><ModelExchange '
        'needsCompletedIntegratorStep="true" canGetAndSetFMUState="true"'
    )
    return Description(head, variables, structure)


def make_misbehaving(
    folder: Path, compiled: Callable[..., Path], version: int, *, stateless: bool = False
) -> Path:
    """``ball2.fmu`` or ``ball3.fmu`` in `folder`; without continuous states the ball does not move."""
    from fmpy import platform, platform_tuple, sharedLibraryExtension

    rates = () if stateless else ("der(h)", "der(v)")
    description = description2(rates) if version == 2 else description3(rates)
    text = (
        f'<?xml version="1.0" encoding="UTF-8"?><fmiModelDescription {description.head} '
        'modelIdentifier="misbehaves"/>'
        '<LogCategories><Category name="logStatusError"/></LogCategories>'
        f"<ModelVariables>{description.variables}</ModelVariables>"
        f"<ModelStructure>{description.structure}</ModelStructure></fmiModelDescription>"
    )
    path = folder / f"ball{version}.fmu"
    where = platform if version == 2 else platform_tuple
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", text)
        library = compiled("misbehaves", f"FMI={version}", *["STATELESS"] * stateless)
        archive.write(library, f"binaries/{where}/misbehaves{sharedLibraryExtension}")
    return path
