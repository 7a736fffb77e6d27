"""FMUs of FMI 1.0, compiled from ``c/fmi1.c``."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

SLAVE = """<Implementation><CoSimulation_StandAlone>
<Capabilities canHandleVariableCommunicationStepSize="true" canBeInstantiatedOnlyOncePerProcess="false"/>
</CoSimulation_StandAlone></Implementation>"""
DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="1.0" modelName="one" modelIdentifier="{identifier}" guid="{guid}"
 numberOfContinuousStates="{states}" numberOfEventIndicators="{indicators}">
<UnitDefinitions><BaseUnit unit="m"/></UnitDefinitions>
<TypeDefinitions><Type name="Length"><RealType unit="m" quantity="Length"/></Type></TypeDefinitions>
<DefaultExperiment startTime="0" stopTime="1"/>
<ModelVariables>
<ScalarVariable name="x" valueReference="0" causality="output"><Real declaredType="Length" start="1"/>
<DirectDependency/></ScalarVariable>
<ScalarVariable name="rate" valueReference="1" causality="output"><Real/>
<DirectDependency><Name>u</Name></DirectDependency></ScalarVariable>
<ScalarVariable name="minus x" valueReference="0" alias="negatedAlias" causality="output"><Real unit="m"/>
</ScalarVariable>
<ScalarVariable name="u" valueReference="2" causality="input"><Real start="0"/></ScalarVariable>
<ScalarVariable name="k" valueReference="3" variability="parameter"><Real start="1"/></ScalarVariable>
<ScalarVariable name="kick_at" valueReference="4" variability="parameter"><Real start="1e300"/>
</ScalarVariable>
<ScalarVariable name="fails_at" valueReference="5" variability="parameter"><Real start="1e300"/>
</ScalarVariable>
<ScalarVariable name="count" valueReference="0" causality="output" variability="discrete"><Integer start="0"/>
</ScalarVariable>
<ScalarVariable name="flag" valueReference="0" causality="output" variability="discrete">
<Boolean start="false"/></ScalarVariable>
<ScalarVariable name="text" valueReference="0" causality="internal" variability="discrete">
<String start="hello"/></ScalarVariable>
</ModelVariables>{implementation}
</fmiModelDescription>"""


def make_fmi1(
    folder: Path, compiled: Callable[..., Path], interface: str = "CoSimulation", guid: str = "{one}"
) -> Path:
    """An FMU of FMI 1.0: ``x' = k u``, or for Model Exchange a ball that bounces and is kicked."""
    from fmpy import platform, sharedLibraryExtension

    steps = interface == "CoSimulation"
    identifier = "slave1" if steps else "ball1"
    text = DESCRIPTION.format(
        identifier=identifier,
        guid=guid,
        states=0 if steps else 2,
        indicators=0 if steps else 1,
        implementation=SLAVE if steps else "",
    )
    path = folder / f"{identifier}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", text)
        library = compiled("fmi1", *([] if steps else ["ME"]))
        archive.write(library, f"binaries/{platform}/{identifier}{sharedLibraryExtension}")
    return path
