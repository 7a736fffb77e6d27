"""Model Exchange FMUs of FMI 2.0 of the bouncing ball in c/ball_me.c, and its exact course."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="ball" guid="{ball}" numberOfEventIndicators="1">
<ModelExchange modelIdentifier="ball_me" canGetAndSetFMUstate="true" completedIntegratorStepNotNeeded="%s"/>
<ModelVariables>
<ScalarVariable name="h" valueReference="0" causality="output" initial="exact">
<Real start="1"/></ScalarVariable>
<ScalarVariable name="v" valueReference="1" causality="output" initial="exact">
<Real start="0"/></ScalarVariable>
<ScalarVariable name="push" valueReference="2" causality="input"><Real start="0"/></ScalarVariable>
<ScalarVariable name="kick_at" valueReference="3" causality="parameter" variability="fixed">
<Real start="1e300"/></ScalarVariable>
<ScalarVariable name="gear" valueReference="0" causality="input" variability="discrete"><Integer start="7"/>
</ScalarVariable>
<ScalarVariable name="bounces" valueReference="1" causality="output" variability="discrete"><Integer/>
</ScalarVariable>
<ScalarVariable name="stop_after" valueReference="2" causality="parameter" variability="fixed">
<Integer start="1000000"/></ScalarVariable>
<ScalarVariable name="der(h)" valueReference="1"><Real derivative="1"/></ScalarVariable>
<ScalarVariable name="der(v)" valueReference="4"><Real derivative="2"/></ScalarVariable>
</ModelVariables>
<ModelStructure><Outputs><Unknown index="1" dependencies=""/><Unknown index="2" dependencies=""/>
<Unknown index="6" dependencies=""/></Outputs>
<Derivatives><Unknown index="8"/><Unknown index="9"/></Derivatives></ModelStructure>
</fmiModelDescription>
"""
"""With a place for completedIntegratorStepNotNeeded: "true" or "false"."""
UNSAVED = DESCRIPTION.replace(' canGetAndSetFMUstate="true"', "")
"""Of an FMU that cannot save its state."""
CONTINUOUS = (
    re.sub(r'<ScalarVariable name="(gear|bounces)".*?</ScalarVariable>\n', "", UNSAVED, flags=re.DOTALL)
    .replace('<Unknown index="6" dependencies=""/>', "")
    .replace('<Unknown index="8"/><Unknown index="9"/>', '<Unknown index="6"/><Unknown index="7"/>')
)
"""Of an FMU that cannot save its state and has no discrete variables."""
G = 9.81
RESTITUTION = 0.7


def height(time: float, start: float = 1.0, restitution: float = RESTITUTION) -> float:
    """Of a ball dropped from `start`, m."""
    impact, speed = np.sqrt(2.0 * start / G), np.sqrt(2.0 * start * G)
    if time < impact:
        return float(start - 0.5 * G * time * time)
    while True:
        speed *= restitution
        flight = 2.0 * speed / G
        if time < impact + flight:
            return float(speed * (time - impact) - 0.5 * G * (time - impact) ** 2)
        impact += flight


def write_ball(path: Path, description: str, library: Path) -> Path:
    from fmpy import platform, sharedLibraryExtension

    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description)
        archive.write(library, f"binaries/{platform}/ball_me{sharedLibraryExtension}")
    return path


def make_ball(folder: Path, compiled: Callable[..., Path], step_not_needed: str) -> Path:
    """``ball.fmu``; with `step_not_needed` "false" the host reports completed integrator steps to it."""
    return write_ball(folder / "ball.fmu", DESCRIPTION % step_not_needed, compiled("ball_me"))


def odd_ball(folder: Path, compiled: Callable[..., Path], *macros: str, indicators: int = 1) -> Path:
    """``odd_ball.fmu``: macros of ball_me.c change what it does; it has any number of event indicators."""
    description = (DESCRIPTION % "true").replace('Indicators="1"', f'Indicators="{indicators}"')
    library = compiled("ball_me", *macros, f"INDICATORS={indicators}")
    return write_ball(folder / "odd_ball.fmu", description, library)


def ball_without_saved_states(
    folder: Path, compiled: Callable[..., Path], description: str, *macros: str
) -> Path:
    """``ball.fmu``; the description is `UNSAVED` or `CONTINUOUS`."""
    return write_ball(folder / "ball.fmu", description % "true", compiled("ball_me", *macros))
