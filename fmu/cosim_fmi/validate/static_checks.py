"""Checks of an FMU that run nothing of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from cosim_fmi.archive import FmuArchive
from cosim_fmi.validate.finding import Finding

DESCRIPTION = "modelDescription.xml"
C_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def static_checks(archive: FmuArchive, description: Any) -> Iterator[Finding]:
    """What the archive and the model description say against the standard, or to the harm of tools.

    Parameters
    ----------
    archive : FmuArchive
    description : fmpy.model_description.ModelDescription or None
        None when fmpy cannot read it: then only its own report is there.
    """
    from fmpy.validation import validate_fmu

    for text in dict.fromkeys(validate_fmu(str(archive.path))):
        yield Finding("error", DESCRIPTION, text.partition(" No terminal matches ")[0])  # grammar's words
    yield from _archive(archive)
    if description is not None:
        yield from (Finding(severity, DESCRIPTION, text) for severity, text in _described(description))


def _archive(archive: FmuArchive) -> Iterator[Finding]:
    kinds = archive.interfaces
    if not kinds:
        yield Finding("error", DESCRIPTION, "declares neither CoSimulation nor ModelExchange")
    if not archive.platforms:
        yield Finding("warning", "archive", "holds no binary for any platform")


def _described(read: Any) -> Iterator[tuple[str, str]]:
    if not read.guid and not getattr(read, "instantiationToken", None):
        yield "error", "has no guid"
    interface = read.coSimulation or read.modelExchange
    if interface is not None:
        if not C_IDENTIFIER.fullmatch(interface.modelIdentifier or ""):
            yield "error", f"modelIdentifier {interface.modelIdentifier!r} is no C identifier"
        if interface.needsExecutionTool:
            yield "warning", "needsExecutionTool is true: some tools refuse such FMUs"
        if getattr(interface, "canSerializeFMUstate", False) and not interface.canGetAndSetFMUstate:
            yield "error", "canSerializeFMUstate without canGetAndSetFMUstate"
    for variable in read.modelVariables:
        for severity, text in _variable(variable):
            yield severity, f"variable {variable.name}: {text}"
    if read.fmiVersion == "2.0":
        yield from _structure(read)
    yield from _experiment(read.defaultExperiment)


def _variable(variable: Any) -> Iterator[tuple[str, str]]:
    if variable.type not in ("Real", "Integer", "Enumeration", "Float64", "Float32"):
        return
    declared = variable.declaredType
    numbers = {}
    for name in ("start", "min", "max", "nominal"):
        text = getattr(variable, name, None)
        if text is None and declared is not None and name != "start":
            text = getattr(declared, name, None)
        try:
            numbers[name] = [float(piece) for piece in str(text).split()] if text is not None else []
        except ValueError:
            yield "error", f"{name} is {text!r}, needs a number"
            numbers[name] = []
    low, high = (numbers[n][0] if numbers[n] else None for n in ("min", "max"))
    if low is not None and high is not None and low > high:
        yield "error", f"min {low:g} is above max {high:g}"
    for start in numbers["start"]:
        if math.isnan(start) or math.isinf(start):
            yield "warning", f"its start value is {start}"
        elif (low is not None and start < low) or (high is not None and start > high):
            yield "error", f"start value {start:g} is outside of {_range(low, high)}"
    if any(nominal == 0.0 for nominal in numbers["nominal"]):
        yield "error", "its nominal value is 0"


def _range(low: float | None, high: float | None) -> str:
    return f"{'' if low is None else f'{low:g}'} … {'' if high is None else f'{high:g}'}".strip()


def _structure(read: Any) -> Iterator[tuple[str, str]]:
    """What masters need: which output follows which input at once, and references that mean one thing."""
    has_inputs = any(v.causality == "input" for v in read.modelVariables)
    unknown = [u.variable.name for u in read.outputs if u.dependencies is None]
    if has_inputs and unknown:
        shown = ", ".join(unknown[:5]) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
        yield "warning", f"dependencies of outputs are not given ({shown}): masters see algebraic loops"
    settable: dict[tuple[str, int], str] = {}
    for v in read.modelVariables:
        if v.causality in ("input", "parameter") and v.variability != "constant":
            other = settable.setdefault((v.type, v.valueReference), v.name)
            if other != v.name:
                yield "error", f"{v.name} and {other} have one value reference, and both can be set"


def _experiment(experiment: Any) -> Iterator[tuple[str, str]]:
    if experiment is None:
        return
    numbers = {}
    for name in ("startTime", "stopTime", "tolerance", "stepSize"):
        text = getattr(experiment, name, None)
        if text is not None:
            try:
                numbers[name] = float(text)
            except ValueError:
                yield "error", f"DefaultExperiment: {name} is {text!r}, needs a number"
    if numbers.get("stopTime", math.inf) < numbers.get("startTime", 0.0):
        yield "error", "DefaultExperiment: stopTime is before startTime"
    for name in ("tolerance", "stepSize"):
        if not numbers.get(name, 1.0) > 0.0:
            yield "error", f"DefaultExperiment: {name} is {numbers[name]:g}, needs more than 0"
