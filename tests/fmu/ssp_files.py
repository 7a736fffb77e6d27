"""SSPs of a few elements, and the schemas of the standard."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from lxml import etree

SCHEMAS = Path(__file__).parent.parent / "data" / "ssp"
PREFIXES = {
    "ssd": "http://ssp-standard.org/SSP1/SystemStructureDescription",
    "ssc": "http://ssp-standard.org/SSP1/SystemStructureCommon",
    "ssv": "http://ssp-standard.org/SSP1/SystemStructureParameterValues",
    "ssm": "http://ssp-standard.org/SSP1/SystemStructureParameterMapping",
    "ssb": "http://ssp-standard.org/SSP1/SystemStructureSignalDictionary",
}
DECLARED = " ".join(f'xmlns:{prefix}="{name}"' for prefix, name in PREFIXES.items())
SUFFIX = {
    "SystemStructureDescription": "Description",
    "ParameterSet": "ParameterValues",
    "ParameterMapping": "ParameterMapping",
    "SignalDictionary": "SignalDictionary",
}


def ssd(system: str, more: str = "", version: str = "1.0", declared: str = DECLARED) -> str:
    """A document with one system; `more` holds the elements after that system."""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<ssd:SystemStructureDescription {declared} '
        f'version="{version}" name="test">\n{system}\n{more}</ssd:SystemStructureDescription>'
    )


def system(
    elements: str = "", connections: str = "", before: str = "", name: str = "top", after: str = ""
) -> str:
    """A system; `before` are connectors and bindings."""
    inner = f"<ssd:Elements>{elements}</ssd:Elements>" if elements else ""
    wires = f"<ssd:Connections>{connections}</ssd:Connections>" if connections else ""
    return f'<ssd:System name="{name}">{before}{inner}{wires}{after}</ssd:System>'


def connectors(**kinds: str) -> str:
    """Connectors of the type Real: ``y="output"``, or ``y="output m"`` with a unit."""
    elements = ""
    for name, text in kinds.items():
        kind, _, unit = text.partition(" ")
        type_element = f'<ssc:Real unit="{unit}"/>' if unit else "<ssc:Real/>"
        elements += f'<ssd:Connector name="{name}" kind="{kind}">{type_element}</ssd:Connector>\n'
    return f"<ssd:Connectors>{elements}</ssd:Connectors>"


def component(name: str, source: str = "resources/gain.fmu", inner: str = "", more: str = "") -> str:
    inner = inner or connectors(u="input", y="output", gain="parameter")
    return f'<ssd:Component name="{name}" source="{source}" {more}>\n{inner}</ssd:Component>\n'


def wire(start: str, end: str, inner: str = "", more: str = "") -> str:
    """A connection of ``element.connector``, or of ``connector`` of the system itself."""
    ends = ""
    for side, path in (("start", start), ("end", end)):
        element, dot, connector = path.partition(".")
        ends += f'{side}Element="{element}" ' if dot else ""
        ends += f'{side}Connector="{connector if dot else element}" '
    return f"<ssd:Connection {ends}{more}>{inner}</ssd:Connection>\n"


def bindings(*values: tuple[str, Any], prefix: str = "", more: str = "", units: str = "") -> str:
    """A binding with an inline `parameter_set`."""
    values_element = f"<ssd:ParameterValues>{parameter_set(*values, units=units)}</ssd:ParameterValues>"
    binding = f'<ssd:ParameterBinding prefix="{prefix}">{values_element}{more}</ssd:ParameterBinding>'
    return f"<ssd:ParameterBindings>{binding}</ssd:ParameterBindings>"


def parameter_set(*values: tuple[str, Any], units: str = "", declared: str = "") -> str:
    """A set of parameters: a string is an element of its own, other values are real."""
    parameters = ""
    for name, value in values:
        value_element = value if isinstance(value, str) else f'<ssv:Real value="{value}"/>'
        parameters += f'<ssv:Parameter name="{name}">{value_element}</ssv:Parameter>'
    inner = f"<ssv:Parameters>{parameters}</ssv:Parameters>{units}"
    return f'<ssv:ParameterSet version="1.0" name="set" {declared}>{inner}</ssv:ParameterSet>'


def pack(path: Path, files: Mapping[str, str | bytes | Path]) -> Path:
    """An archive of texts, bytes and files."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, contents in files.items():
            archive.writestr(name, contents.read_bytes() if isinstance(contents, Path) else contents)
    return path


@cache
def schema(version: str, name: str) -> Any:
    return etree.XMLSchema(etree.parse(str(SCHEMAS / version / f"SystemStructure{name}.xsd")))


def faults(document: bytes) -> list[str]:
    """The errors that the schema of a document finds in it."""
    root = etree.fromstring(document)
    checker = schema(root.get("version") or "2.0", SUFFIX[etree.QName(root).localname])
    checker.validate(root)
    return [f"{entry.line}: {entry.message}" for entry in checker.error_log]


def check_valid(path: Path) -> dict[str, bytes]:
    """The documents of an SSP, each of which the schemas accept."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name[-4:] in (".ssd", ".ssv", ".ssm", ".ssb")]
        documents = {name: archive.read(name) for name in names}
    assert documents
    for name, document in documents.items():
        assert faults(document) == [], name
        # the schemas of version 1.0 do not check inline sets of parameters, which have their own schema
        for inner in etree.fromstring(document).iter(f"{{{PREFIXES['ssv']}}}ParameterSet"):
            assert faults(etree.tostring(inner)) == [], name
    return documents
