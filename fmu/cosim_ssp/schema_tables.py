"""The schemas of SSP as tables: children and attributes of elements, and what came with version 2.0."""

from __future__ import annotations

from cosim_ssp.structure import TYPES

TRANSFORMATIONS = (
    "LinearTransformation",
    "BooleanMappingTransformation",
    "IntegerMappingTransformation",
    "EnumerationMappingTransformation",
)
META = ("MetaData", "Signature")
FIRST = ("Connectors", "ElementGeometry", "ParameterBindings", *META)
TABLES = ("Enumerations", "Units", *META, "Annotations")
ORDER: dict[str, tuple[str, ...]] = {
    "SystemStructureDescription": (
        "System", "Enumerations", "Units", "DefaultExperiment", *META, "Annotations",
    ),
    "System": (
        *FIRST, "Elements", "Connections", "SignalDictionaries", "SystemGeometry", "GraphicalElements",
        "Annotations",
    ),
    "Component": (*FIRST, "Annotations"),
    "SignalDictionaryReference": (*FIRST, "Annotations"),
    "Connector": (*TYPES, "Dimension", "ConnectorGeometry", "Annotations"),
    "Connection": (*TRANSFORMATIONS, "ConnectionGeometry", "Annotations"),
    "ParameterBinding": ("ParameterValues", "ParameterMapping", *META, "Annotations"),
    "ParameterSet": ("Parameters", *TABLES),
    "Parameter": (*TYPES, "Dimension", "Annotations"),
    "MappingEntry": (*TRANSFORMATIONS, "Annotations"),
    "DictionaryEntry": (*TYPES, "Dimension", "Annotations"),
    "Unit": ("BaseUnit", "Annotations"),
}  # fmt: skip
"""Children of elements in the order of the schemas; the others' order is free, or they have one kind only."""
NOT_EMPTY = (
    "Connectors", "ParameterBindings", "Elements", "Connections", "SignalDictionaries", "GraphicalElements",
    "Annotations", "Enumerations", "Units",
)  # fmt: skip
"""Lists that the schemas want to be left out if they are empty."""
LISTS: dict[str, tuple[str, ...]] = {
    "Connectors": ("Connector",),
    "ParameterBindings": ("ParameterBinding",),
    "Elements": ("Component", "SignalDictionaryReference", "System"),
    "Connections": ("Connection",),
    "SignalDictionaries": ("SignalDictionary",),
    "Units": ("Unit",),
    "Enumerations": ("Enumeration",),
    "Parameters": ("Parameter",),
}
"""The elements that a list may have."""
TYPES_OF_VERSION_2 = set(TYPES) - {"Real", "Integer", "Boolean", "String", "Enumeration", "Binary"}
KINDS_OF_VERSION_2 = ("structuralParameter", "constant", "local", "unspecified")
"""Kinds that came with version 2.0."""
BASE = ("id", "description")
META_DATA = ("author", "fileversion", "copyright", "license", "generationTool", "generationDateAndTime")
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "SystemStructureDescription": ("version", "name", *META_DATA),
    "System": ("name",),
    "Component": ("name", "type", "source", "implementation"),
    "SignalDictionaryReference": ("name", "dictionary"),
    "Connector": ("name", "kind"),
    "Connection": (
        "startElement", "startConnector", "startIndices", "endElement", "endConnector", "endIndices",
        "suppressUnitConversion",
    ),
    "ParameterBinding": ("type", "source", "sourceBase", "prefix"),
    "ParameterSet": ("version", "name", *META_DATA),
    "Parameter": ("name",),
    "ParameterMapping": ("version", "type", "source", "sourceBase", *META_DATA),
    "MappingEntry": ("source", "target", "suppressUnitConversion"),
    "DictionaryEntry": ("name",),
    "DefaultExperiment": ("startTime", "stopTime"),
}  # fmt: skip
"""Without those that every element may have."""
BARE: dict[str, tuple[str, ...]] = {**dict.fromkeys(NOT_EMPTY, ()), "Parameters": (), "ParameterValues": ()}
"""Attributes of elements that have not even those; what they have too much is noted at their parent."""
