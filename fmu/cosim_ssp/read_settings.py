"""How the system of an SSD is to be run: its default experiment, and what tools have written beside it."""

from __future__ import annotations

import json

from cosim_ssp.read_parameters import Document, read_number
from cosim_ssp.structure import Settings
from cosim_ssp.tools import omsimulator, open_simulation_platform
from cosim_ssp.xml_document import Element, child, local_name

OURS = "io.github.cosim-framework"
"""The source of an annotation that this project has written."""
OURS_NAMESPACE = "https://cosim-framework.github.io/ssp"
TOOLS = (open_simulation_platform, omsimulator)
"""Other tools whose annotations are understood."""


def read_settings(document: Document) -> Settings:
    """The settings of a run in a document.

    Raises
    ------
    ValueError
        A number that is none.
    """
    settings = Settings()
    experiment = child(document.root, "DefaultExperiment")
    if experiment is not None:
        for name in ("start", "stop"):
            if experiment.get(f"{name}Time"):
                setattr(settings, name, read_number(document, experiment, f"{name}Time", 0.0))
    # what is said of the whole counts more than what is said of a part, wherever it stands
    for element in sorted((e for e in document.root.iter() if local_name(e)), key=_depth):
        name = local_name(element)
        if name == "Master" and element.tag.startswith("{" + OURS_NAMESPACE):
            _read_own_settings(document, element, settings)
        elif settings.source != OURS and _is_annotated(element):
            for tool in TOOLS:
                tool.read_settings(document, element, settings)
    return settings


def _read_own_settings(document: Document, element: Element, settings: Settings) -> None:
    """Take what this project has written: step, algorithm, tolerance, and its options as JSON."""
    settings.source = OURS
    settings.step = read_number(document, element, "step", 0.0) or settings.step
    settings.algorithm = element.get("algorithm", settings.algorithm)
    settings.tolerance = read_number(document, element, "tolerance", 0.0) or settings.tolerance
    try:
        options = json.loads(element.get("options", "{}"))
    except (ValueError, RecursionError):
        options = None
    if isinstance(options, dict):
        settings.options = options
    else:
        document.say(element, f"options are {element.get('options')!r}, which is not a JSON object")


def _depth(element: Element) -> int:
    """Systems that an element is in."""
    return sum(local_name(above) == "System" for above in element.iterancestors())


def _is_annotated(element: Element) -> bool:
    return any(local_name(above) == "Annotation" for above in element.iterancestors())
