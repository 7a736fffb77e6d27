"""Annotations of OMSimulator (OpenModelica): the step of the whole, fixed or variable, and its tolerance.

They stand in the outermost system, in ``oms:SimulationInformation``.
"""

from __future__ import annotations

from cosim_ssp.read_parameters import Document, read_number
from cosim_ssp.structure import Settings
from cosim_ssp.xml_document import OTHERS, Element, add, annotate, child, local_name

TYPE = "org.openmodelica"
FIXED = ("FixedStepMaster", "FixedStepSolver")
VARIABLE = ("VariableStepMaster", "VariableStepSolver")


def read_settings(document: Document, element: Element, settings: Settings) -> None:
    """Read step and tolerance from an element of an annotation; the first one counts.

    In place of a variable step its largest value is taken, and that is said.
    """
    name = local_name(element)
    if name not in (*FIXED, *VARIABLE) or settings.step:
        return
    size = "stepSize" if name in FIXED else "maximumStepSize"
    step = read_number(document, element, size, 0.0)
    settings.tolerance = read_number(document, element, "relativeTolerance", 0.0) or settings.tolerance
    if name in FIXED:
        settings.step, settings.source = step or None, TYPE
    elif step > 0.0:
        settings.step, settings.source = step, TYPE
        text = f"asks for a variable step; values are exchanged every {step:g} s, the largest one"
        document.say(element, text)


def write_step(root: Element, step: str) -> None:
    """Name the communication step (s) of the whole."""
    outer = annotate(child(root, "System"), TYPE, "oms:Annotations", OTHERS["oms"])
    add(add(outer, "oms:SimulationInformation"), "oms:FixedStepMaster", description="oms-ma", stepSize=step)
