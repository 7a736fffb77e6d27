"""Checks of an FMU that run nothing of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from cosim_fmi.description.model_description import (
    DeclaredExperiment,
    DeclaredType,
    DeclaredVariable,
    ModelDescription,
)
from cosim_fmi.fmu_archive import FmuArchive
from cosim_fmi.validate.finding import Finding
from cosim_fmi.validate.variable_names import name_fault

DESCRIPTION = "modelDescription.xml"
C_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def static_checks(archive: FmuArchive, description: ModelDescription | None) -> Iterator[Finding]:
    """Offences of the archive and the model description against the standard, or against needs of tools.

    Parameters
    ----------
    archive : FmuArchive
    description : ModelDescription or None
        None when it cannot be understood: then fmpy's report says why.
    """
    for text in dict.fromkeys(_fmpy_problems(archive)):
        yield Finding("error", DESCRIPTION, text)
    yield from _archive(archive)
    if description is not None:
        yield from (Finding(severity, DESCRIPTION, text) for severity, text in _described(description))


def _fmpy_problems(archive: FmuArchive) -> list[str]:
    """What fmpy finds, without its check of names, which takes 2 ms for each."""
    from fmpy import read_model_description
    from fmpy.model_description import ValidationError

    try:
        read_model_description(str(archive.path), validate=True, validate_model_structure=True)
    except ValidationError as error:
        return list(error.problems)
    except Exception as error:  # fmpy meets files of any content
        return [str(error)]
    return []


def _archive(archive: FmuArchive) -> Iterator[Finding]:
    """Faults of the files in the archive."""
    for name in archive.file_names:
        if "\\" in name:
            yield Finding("error", "archive", f"{name}: a backslash; only / separates folders in an archive")
    if not archive.interfaces:
        yield Finding("error", DESCRIPTION, "declares neither CoSimulation nor ModelExchange")
    if not archive.platforms:
        yield Finding("warning", "archive", "holds no binary for any platform")


def _described(read: ModelDescription) -> Iterator[tuple[str, str]]:
    """Faults of what the description says of the FMU and of the names of its variables."""
    if not read.token:
        yield "error", "has no guid"
    abilities = next(iter(read.interfaces.values()), None)
    if abilities is not None:
        if not C_IDENTIFIER.fullmatch(abilities.identifier):
            yield "error", f"modelIdentifier {abilities.identifier!r} is not a C identifier"
        if abilities.needs_tool:
            yield "warning", "needsExecutionTool is true: some tools refuse such FMUs"
        if abilities.serializes and not abilities.saves:
            yield "error", "canSerializeFMUstate without canGetAndSetFMUstate"
    for variable in read.variables:
        if fault := name_fault(variable.name, read.naming):
            yield "error", f"variable {variable.name!r} {fault}"
        for severity, text in _variable(variable):
            yield severity, f"variable {variable.name}: {text}"
    if read.version == "2.0":
        yield from _structure(read)
    if read.experiment is not None:
        yield from _experiment(read.experiment)


def _variable(variable: DeclaredVariable) -> Iterator[tuple[str, str]]:
    """Faults of start, bounds and nominal value of a real or integer variable."""
    if variable.type not in ("Real", "Integer", "Enumeration", "Float64", "Float32"):
        return
    declared = variable.declared_type or DeclaredType("")
    texts = {
        "start": variable.start,
        "min": declared.minimum if variable.minimum is None else variable.minimum,
        "max": declared.maximum if variable.maximum is None else variable.maximum,
        "nominal": declared.nominal if variable.nominal is None else variable.nominal,
    }
    numbers: dict[str, list[float]] = {}
    for name, text in texts.items():
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


def _structure(read: ModelDescription) -> Iterator[tuple[str, str]]:
    """Faults in what masters need: direct dependencies, and unique references."""
    has_inputs = any(v.causality == "input" for v in read.variables)
    unknown = [u.variable.name for u in read.outputs if u.dependencies is None]
    if has_inputs and unknown:
        shown = ", ".join(unknown[:5]) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
        yield "warning", f"dependencies of outputs are not given ({shown}): masters see algebraic loops"
    settable: dict[tuple[str, int], str] = {}
    for v in read.variables:
        if v.causality in ("input", "parameter") and v.variability != "constant":
            other = settable.setdefault((v.type, v.reference), v.name)
            if other != v.name:
                yield "error", f"{v.name} and {other} have one value reference, and both can be set"


def _experiment(experiment: DeclaredExperiment) -> Iterator[tuple[str, str]]:
    """Faults of the default experiment."""
    texts = {
        "startTime": experiment.start,
        "stopTime": experiment.stop,
        "tolerance": experiment.tolerance,
        "stepSize": experiment.step,
    }
    numbers = {}
    for name, text in texts.items():
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
