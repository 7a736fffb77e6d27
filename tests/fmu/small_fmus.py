"""Model descriptions and FMUs of those C sources that are slaves of FMI 2.0."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import quoteattr

MARKER = ("marker", "parameter", "String", 0, {"start": ""})

# name, causality, type, value reference, attributes of the type element
VARIABLES: dict[str, list[tuple[str, str, str, int, dict[str, str]]]] = {
    "mass": [
        ("x", "output", "Real", 0, {"unit": "m", "start": "1", "initial": "exact"}),
        ("v", "output", "Real", 1, {"unit": "m/s", "start": "0", "initial": "exact"}),
        ("force", "output", "Real", 2, {"unit": "N"}),
        ("f", "input", "Real", 3, {"unit": "N", "start": "0"}),
        ("x_other", "input", "Real", 4, {"unit": "m", "start": "0"}),
        ("v_other", "input", "Real", 5, {"unit": "m/s", "start": "0"}),
        ("m", "parameter", "Real", 6, {"unit": "kg", "start": "1"}),
        ("k", "parameter", "Real", 7, {"unit": "N/m", "start": "1"}),
        ("c", "parameter", "Real", 8, {"unit": "N.s/m", "start": "0"}),
        ("kc", "parameter", "Real", 9, {"unit": "N/m", "start": "0"}),
        ("cc", "parameter", "Real", 10, {"unit": "N.s/m", "start": "0"}),
    ],
    "gain": [
        ("y", "output", "Real", 0, {}),
        ("u", "input", "Real", 1, {"start": "0"}),
        ("gain", "parameter", "Real", 2, {"start": "1"}),
        ("bias", "parameter", "Real", 3, {"start": "0"}),
    ],
    "loop2": [
        ("y", "output", "Real", 0, {}),
        ("u", "input", "Real", 1, {"start": "0"}),
        ("x", "output", "Real", 2, {"start": "1", "initial": "exact"}),
        ("gain", "parameter", "Real", 3, {"start": "-0.5"}),
    ],
    "failing": [
        ("y", "output", "Real", 0, {}),
        ("fail_at", "parameter", "Real", 1, {"start": "1e300"}),
        ("reached", "parameter", "Real", 2, {"start": "0"}),
        ("size", "output", "Real", 3, {}),
        ("fail_status", "parameter", "Integer", 0, {"start": "0"}),
        ("asks_to_stop", "parameter", "Boolean", 0, {"start": "false"}),
    ],
    "heavy": [
        ("y", "output", "Real", 0, {"start": "0", "initial": "exact"}),
        ("u", "input", "Real", 1, {"start": "0"}),
        ("work", "parameter", "Real", 2, {"start": "1"}),
        ("crash_at", "parameter", "Real", 3, {"start": "1e300"}),
        ("hang_at", "parameter", "Real", 4, {"start": "1e300"}),
        ("return_at", "parameter", "Real", 5, {"start": "1e300"}),
        ("fail_at", "parameter", "Real", 6, {"start": "1e300"}),
        ("pause", "parameter", "Real", 7, {"start": "0"}),
    ],
    "naughty": [
        ("y", "output", "Real", 0, {"start": "0", "initial": "exact"}),
        ("u", "input", "Real", 1, {"start": "0", "min": "-10", "max": "10"}),
    ],
    "types": [
        ("real_out", "output", "Real", 0, {}),
        ("real_in", "input", "Real", 1, {"start": "0"}),
        ("integer_out", "output", "Integer", 0, {}),
        ("integer_in", "input", "Integer", 1, {"start": "0"}),
        ("boolean_out", "output", "Boolean", 0, {}),
        ("boolean_in", "input", "Boolean", 1, {"start": "false"}),
        ("string_out", "output", "String", 1, {}),
        ("string_in", "input", "String", 2, {"start": ""}),
    ],
}
DEPENDENCIES: dict[str, dict[str, list[str]]] = {
    "loop2": {"y": ["u"], "x": []},
    "mass": {"x": [], "v": [], "force": ["x_other", "v_other"]},
    "gain": {"y": ["u"]},
    "failing": {"y": [], "size": []},
    "heavy": {"y": []},
    "naughty": {"y": []},
    "types": {"real_out": [], "integer_out": [], "boolean_out": [], "string_out": []},
}


def model_description(
    kind: str,
    *,
    units: str = "",
    version: str = "2.0",
    interface: str = "CoSimulation",
    abilities: str = 'canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true" '
    'canSerializeFMUstate="true"',
    dependencies: bool = True,
    experiment: str = "",
    tool: str = "",
    change: Callable[[str, dict[str, str]], dict[str, str]] = lambda name, attributes: attributes,
) -> str:
    """The model description of a C source; `change` edits the attributes of a variable's type element."""
    variables = [*VARIABLES[kind], MARKER]
    lines = []
    for name, causality, tag, reference, attributes in variables:
        inner = change(name, dict(attributes))
        initial = inner.pop("initial", None)
        variability = "fixed" if causality == "parameter" else ("continuous" if tag == "Real" else "discrete")
        outer = f'name={quoteattr(name)} valueReference="{reference}" causality="{causality}" ' + (
            f'variability="{variability}"' + (f' initial="{initial}"' if initial else "")
        )
        body = " ".join(f"{key}={quoteattr(value)}" for key, value in inner.items())
        lines.append(f"<ScalarVariable {outer}><{tag} {body}/></ScalarVariable>")
    index = {variable[0]: i + 1 for i, variable in enumerate(variables)}
    outputs = []
    for name, inputs in DEPENDENCIES[kind].items():
        declared = f' dependencies="{" ".join(str(index[i]) for i in inputs)}"' if dependencies else ""
        outputs.append(f'<Unknown index="{index[name]}"{declared}/>')
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<fmiModelDescription fmiVersion="{version}" '
        f'modelName="{kind}" '
        f'guid="{{{kind}}}" generationTool="{tool}"><{interface} modelIdentifier="{kind}" {abilities}/>'
        f"<UnitDefinitions>{units}</UnitDefinitions>"
        f'<LogCategories><Category name="logStatusError"/></LogCategories>'
        f"{experiment}<ModelVariables>{''.join(lines)}</ModelVariables>"
        f"<ModelStructure><Outputs>{''.join(outputs)}</Outputs></ModelStructure></fmiModelDescription>"
    ).replace("<UnitDefinitions></UnitDefinitions>", "")


def write_fmu(path: Path, kind: str, library: Path, **description: object) -> Path:
    """Write the FMU of a C source and its compiled library."""
    from fmpy import platform, sharedLibraryExtension

    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", model_description(kind, **description))  # type: ignore[arg-type]
        archive.write(library, f"binaries/{platform}/{kind}{sharedLibraryExtension}")
    return path
