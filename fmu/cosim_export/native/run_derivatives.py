"""Derivatives along the run as outputs of a native FMU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cosim
from cosim.kit import Slot, derivative_name, quotient
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.names import element_name
from cosim_lowering.program import OF_TANGENTS

ROWS_OF_TANGENTS = f"{OF_TANGENTS}rows"
"""The array that holds the derivatives."""


def checked_paths(system: cosim.System, derivatives: Sequence[str]) -> list[str]:
    """The paths of the derivatives without repetitions; `ModelError` names all unknown ones."""
    problems = []
    for path in derivatives:
        try:
            system.signal(path)
        except cosim.LookUpError as error:
            problems.append(cosim.Problem("derivatives", str(error)))
    if problems:
        raise cosim.ModelError(problems)
    return list(dict.fromkeys(derivatives))


def differentiated(variables: Sequence[FmuVariable]) -> list[FmuVariable]:
    """The outputs that have derivatives: real numbers, except for angles of frames."""
    return [v for v in variables if v.causality == "output" and v.type == "Real" and v.angle is None]


def slots_of(variables: Sequence[FmuVariable]) -> list[Slot]:
    """The slots of variables."""
    return [Slot(v.array, v.offset, 1) for v in variables]


def derivative_outputs(
    system: cosim.System, by: Sequence[str], variables: Sequence[FmuVariable]
) -> tuple[FmuVariable, ...]:
    """An output for each derivative of an output by a path: those by the first path come first.

    Their names are quoted, as FMI requires for names with other characters: ``'d(ball.height)/d(ball.e)'``.
    """
    outputs = []
    for i, path in enumerate(by):
        signal = system.signal(path)
        for j, variable in enumerate(variables):
            outputs.append(
                replace(
                    variable,
                    name=f"'{derivative_name(variable.name, _fmi_name(system, path))}'",
                    path=derivative_name(variable.path, path),
                    array=ROWS_OF_TANGENTS,
                    offset=i * len(variables) + j,
                    stage=int(cosim.Stage.REPORT),
                    variability="continuous",
                    initial="calculated",
                    unit=quotient(variable.unit, signal.units[0]),
                    start=None,
                    minimum=None,
                    maximum=None,
                    smallest=None,
                    nominal=None,
                    display_unit="",
                    derivative_of="",
                    reinit=False,
                    description=f"derivative along the run of {variable.name} by {path}",
                )
            )
    return tuple(outputs)


def _fmi_name(system: cosim.System, path: str) -> str:
    """The name of an element as FMI counts: from 1."""
    base, bracket, index = path.rpartition("[")
    if not bracket or base not in system.variables:
        return path
    return element_name(base, system.variables[base].shape, int(index.rstrip("]")))
