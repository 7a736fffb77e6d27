"""FMUs of FMI 2.0 with any model description around a C source."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
VARIABLES = """<ScalarVariable name="y" valueReference="0" causality="output"><Real/></ScalarVariable>
<ScalarVariable name="u" valueReference="1" causality="input"><Real start="0"/></ScalarVariable>"""


def make_odd(
    folder: Path,
    compiled: Callable[..., Path],
    kind: str,
    variables: str = VARIABLES,
    *,
    head: str = HEAD,
    abilities: str = "",
    structure: str = "",
    encoding: str = "utf-8",
    name: str = "odd",
    more: Mapping[str, bytes] | None = None,
    library: bool = True,
) -> Path:
    """An FMU for FMI 2.0 of a C source; further arguments are parts of its description, and files."""
    from fmpy import platform, sharedLibraryExtension

    text = (
        f'{head}<fmiModelDescription fmiVersion="2.0" modelName="{kind}" guid="{{{kind}}}">'
        f'<CoSimulation modelIdentifier="{kind}" {abilities}/><ModelVariables>{variables}</ModelVariables>'
        f"<ModelStructure>{structure}</ModelStructure></fmiModelDescription>"
    )
    path = folder / f"{name}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", text.encode(encoding))
        if library:
            archive.write(compiled(kind), f"binaries/{platform}/{kind}{sharedLibraryExtension}")
        for member, content in (more or {}).items():
            archive.writestr(member, content)
    return path
