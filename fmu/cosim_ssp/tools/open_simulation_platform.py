"""Annotations of the Open Simulation Platform (libcosim): the step of the whole, and those of components.

``osp:FixedStepAlgorithm`` stands in the default experiment, ``osp:StepSizeHint`` in a component.
"""

from __future__ import annotations

from cosim_ssp.read_parameters import Document, read_number
from cosim_ssp.structure import Settings
from cosim_ssp.xml_document import OTHERS, Element, add, annotate, child, children, local_name

TYPE = "com.opensimulationplatform"


def read_settings(document: Document, element: Element, settings: Settings) -> None:
    """Read the step from an element of an annotation; the first one counts."""
    if local_name(element) == "FixedStepAlgorithm" and not settings.step:
        settings.step, settings.source = read_number(document, element, "baseStepSize", 0.0) or None, TYPE


def step_hint(document: Document, component: Element) -> float:
    """The communication step that is recommended for a component, s; 0 when none is."""
    for group in children(component, "Annotations"):
        for element in group.iter():
            if local_name(element) == "StepSizeHint":
                return read_number(document, element, "value", 0.0)
    return 0.0


def write_step(root: Element, step: str) -> None:
    """Name the communication step (s) of the whole."""
    algorithm = annotate(child(root, "DefaultExperiment"), TYPE, "osp:Algorithm", OTHERS["osp"])
    add(algorithm, "osp:FixedStepAlgorithm", baseStepSize=step)


def write_step_hint(component: Element, step: str) -> None:
    """Recommend a communication step (s) for a component."""
    annotate(component, TYPE, "osp:StepSizeHint", OTHERS["osp"], value=step)
