"""The effect of assembly on a start: findings about the variables that constraints move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cosim.cause import EventCause
from cosim.contracts.constraints import has_corrections
from cosim.contracts.integrator import DEFAULT_ACCURACY
from cosim.errors import CosimError
from cosim.simulation.assembler import assemble
from cosim.simulation.event_record import Finding
from cosim.system.alike_parts import parts_of_classes
from cosim.system.state import State

Reals = NDArray[np.float64]
MOST = 20
"""So many variables are named."""


class GivenStart:
    """The continuous state before a run is initialized.

    Parameters
    ----------
    state : State
        As it was given.
    """

    def __init__(self, state: State) -> None:
        self._corrects = has_corrections(state.system.corrections)
        self._y = state.y.copy()
        self._state = state.copy() if self._corrects and _has_handlers(state) else None

    def findings(self, state: State) -> list[Finding]:
        """A finding for each variable that constraints have moved by more than the accuracy.

        Parameters
        ----------
        state : State
            After initialization.
        """
        if not self._corrects:
            return []
        start = self._assembled(state)
        size = (state.accuracy or DEFAULT_ACCURACY) * np.maximum(1.0, np.abs(self._y))
        moved = np.flatnonzero(np.abs(start - self._y) > size).tolist()
        names = {i: next(iter(state.system.paths_at("y", [i])), f"y[{i}]") for i in moved}
        variables = state.system.variables
        findings: list[Finding] = []
        for i in moved[:MOST]:
            path = names[i]
            variable = variables.get(path)
            if variable is not None and variable.slot.size > 1:
                path = f"{path}[{i - variable.slot.offset}]"
            unit = "" if variable is None else _unit(variable.units, i - variable.slot.offset)
            text = (
                f"starts at {start[i]:.9g}{unit}, not at {self._y[i]:.9g}{unit}: constraints move it there; "
                "give a start that meets them"
            )
            findings.append(Finding(state.time, "moved start", path, text))
        if len(moved) > MOST:
            text = f"{len(moved) - MOST} further variables start elsewhere than given: constraints move them"
            findings.append(Finding(state.time, "moved start", "", text))
        return findings

    def _assembled(self, state: State) -> Reals:
        """The state behind assembly; handlers of the initialization may have changed it afterwards."""
        if self._state is None:
            return state.y
        try:
            assemble(state.system, self._state)
        except CosimError:
            return self._y  # handlers have mended what could not be met
        return self._state.y


def _unit(units: tuple[str, ...], element: int) -> str:
    unit = units[element % len(units)]
    return "" if unit == "1" else f" {unit}"


def _has_handlers(state: State) -> bool:
    """Whether handlers of the initialization may change states."""
    return any(
        handler.cause is EventCause.INITIALIZATION and handler.does == "unrestricted"
        for _, part in parts_of_classes(state.system.parts, lambda cls: cls.handlers)
        for handler in part.handlers.values()
    )
