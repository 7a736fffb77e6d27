"""The FMU of ``c/part_me.c``."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

REALS = {
    "x": 'causality="output" initial="exact"><Real start="1" unit="m"/>',
    "v": 'causality="output" initial="exact"><Real start="0" unit="m/s"/>',
    "a": 'causality="output"><Real derivative="2" unit="m/s2"/>',
    "force": 'causality="input"><Real start="0" unit="N"/>',
    "road": 'causality="input"><Real start="0" unit="m"/>',
    "road_rate": 'causality="input"><Real start="0" unit="m/s"/>',
    "m": 'causality="parameter" variability="fixed"><Real start="1" unit="kg"/>',
    "k": 'causality="parameter" variability="fixed"><Real start="0" unit="N/m"/>',
    "c": 'causality="parameter" variability="fixed"><Real start="0" unit="N.s/m"/>',
    "y": 'causality="output"><Real/>',
    "u": 'causality="input"><Real start="0"/>',
    "gain": 'causality="parameter" variability="fixed"><Real start="0"/>',
    "square": 'causality="parameter" variability="fixed"><Real start="0"/>',
    "bias": 'causality="parameter" variability="fixed"><Real start="0"/>',
    "reaction": 'causality="output"><Real unit="N"/>',
    "fail_at": 'causality="parameter" variability="fixed"><Real start="1e300"/>',
    "limit": 'causality="parameter" variability="fixed"><Real start="1e300"/>',
    "stop_at": 'causality="parameter" variability="fixed"><Real start="1e300"/>',
}
OTHERS = """<ScalarVariable name="high" valueReference="0" causality="output" variability="discrete">
<Boolean/></ScalarVariable>
<ScalarVariable name="held" valueReference="1" causality="input" variability="discrete">
<Boolean start="false"/></ScalarVariable><ScalarVariable name="passes" valueReference="0" causality="output"
variability="discrete"><Integer/></ScalarVariable>
<ScalarVariable name="der(x)" valueReference="1"><Real derivative="1"/></ScalarVariable>"""
DEPENDENCIES = {"x": "", "v": "", "a": "4 5 6 20", "y": "11", "reaction": "5 6", "high": "", "passes": ""}
ABILITIES = 'canGetAndSetFMUstate="true" canSerializeFMUstate="true"'


def make_part(
    folder: Path,
    compiled: Callable[..., Path],
    name: str = "part",
    *,
    abilities: str = ABILITIES,
    **dependencies: str,
) -> Path:
    """An FMU with all variables of the C source; `dependencies` has the indices for an output."""
    from fmpy import platform, sharedLibraryExtension

    names = [*REALS, "high", "held", "passes", "der(x)"]
    index = {variable: i + 1 for i, variable in enumerate(names)}
    reals = "".join(
        f'<ScalarVariable name="{variable}" valueReference="{i}" {text}</ScalarVariable>'
        for i, (variable, text) in enumerate(REALS.items())
    )
    outputs = "".join(
        f'<Unknown index="{index[variable]}" dependencies="{text}"/>'
        for variable, text in {**DEPENDENCIES, **dependencies}.items()
    )
    path = folder / f"{name}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "modelDescription.xml",
            f'<?xml version="1.0" encoding="UTF-8"?><fmiModelDescription fmiVersion="2.0" modelName="{name}" '
            f'guid="{{{name}}}" numberOfEventIndicators="1"><ModelExchange modelIdentifier="part_me" '
            f'completedIntegratorStepNotNeeded="true" {abilities}/>'
            f'<LogCategories><Category name="logStatusError"/></LogCategories>'
            f"<ModelVariables>{reals}{OTHERS}</ModelVariables><ModelStructure><Outputs>{outputs}</Outputs>"
            f'<Derivatives><Unknown index="{index["der(x)"]}"/><Unknown index="{index["a"]}"/></Derivatives>'
            "</ModelStructure></fmiModelDescription>",
        )
        archive.write(compiled("part_me"), f"binaries/{platform}/part_me{sharedLibraryExtension}")
    return path
