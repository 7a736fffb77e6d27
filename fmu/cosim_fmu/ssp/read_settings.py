"""Step, algorithm and times: the default experiment, and the vendors' annotations that are in use."""

from __future__ import annotations

import json

from cosim_fmu.ssp.read_parameters import Document, number
from cosim_fmu.ssp.structure import Settings
from cosim_fmu.ssp.xml_document import Element, child, children, local_name

OURS = "io.github.cosim-framework"
OURS_NAMESPACE = "https://cosim-framework.github.io/ssp"
OSP, OPENMODELICA = "com.opensimulationplatform", "org.openmodelica"
FIXED = ("FixedStepMaster", "FixedStepSolver")
VARIABLE = ("VariableStepMaster", "VariableStepSolver")


def read_settings(document: Document) -> Settings:
    """How a document wants to be run.

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
                setattr(settings, name, number(document, experiment, f"{name}Time", 0.0))
    # what is said of the whole counts more than what is said of a part, wherever it stands
    for element in sorted((e for e in document.root.iter() if local_name(e)), key=_depth):
        name = local_name(element)
        if name == "Master" and element.tag.startswith("{" + OURS_NAMESPACE):
            _ours(document, element, settings)
        elif settings.source != OURS and _is_annotated(element):
            _foreign(document, element, name, settings)
    return settings


def step_hint(document: Document, component: Element) -> float:
    """The communication step that is recommended for a component, s; 0 when none is."""
    for group in children(component, "Annotations"):
        for element in group.iter():
            if local_name(element) == "StepSizeHint":
                return number(document, element, "value", 0.0)
    return 0.0


def _ours(document: Document, element: Element, settings: Settings) -> None:
    settings.source = OURS
    settings.step = number(document, element, "step", 0.0) or settings.step
    settings.algorithm = element.get("algorithm", settings.algorithm)
    settings.tolerance = number(document, element, "tolerance", 0.0) or settings.tolerance
    try:
        options = json.loads(element.get("options", "{}"))
    except (ValueError, RecursionError):
        options = None
    if isinstance(options, dict):
        settings.options = options
    else:
        document.say(element, f"options are {element.get('options')!r}, which is not a JSON object")


def _foreign(document: Document, element: Element, name: str, settings: Settings) -> None:
    """The first fixed step counts; a variable one when there is none."""
    if name == "FixedStepAlgorithm" and not settings.step:
        settings.step, settings.source = number(document, element, "baseStepSize", 0.0) or None, OSP
    elif name in FIXED and not settings.step:
        settings.step = number(document, element, "stepSize", 0.0) or None
        settings.source = OPENMODELICA
        settings.tolerance = number(document, element, "relativeTolerance", 0.0) or settings.tolerance
    elif name in VARIABLE and not settings.step:
        step = number(document, element, "maximumStepSize", 0.0)
        if step > 0.0:
            settings.step, settings.source = step, OPENMODELICA
            text = f"asks for a variable step; values are exchanged every {step:g} s, the largest one"
            document.say(element, text)
        settings.tolerance = number(document, element, "relativeTolerance", 0.0) or settings.tolerance


def _depth(element: Element) -> int:
    """Systems that an element is in."""
    return sum(local_name(above) == "System" for above in element.iterancestors())


def _is_annotated(element: Element) -> bool:
    return any(local_name(above) == "Annotation" for above in element.iterancestors())
