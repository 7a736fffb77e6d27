"""Variables that Model Exchange adds to those of an FMU: all continuous states, and event indicators."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import cosim
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.select_variables import select_variables
from cosim_export.interface.variable_dependencies import with_dependencies


def with_all_states(
    system: cosim.System, variables: Sequence[FmuVariable], reset: Collection[int] = ()
) -> tuple[FmuVariable, ...]:
    """The variables, then every continuous state that is not among them, each with its derivative.

    Parameters
    ----------
    system : cosim.System
    variables : sequence of FmuVariable
        As `select_variables` gave them.
    reset : collection of int
        Places in y of the states that events may set.
    """
    states = [p for p, v in system.variables.items() if v.kind in ("position", "speed", "auxiliary")]
    if not states:
        return tuple(variables)
    names = {v.name for v in variables}
    all_states = select_variables(system, inputs=[], outputs=[], parameters=[], expose=states)
    offsets = {v.offset for v in variables if v.array == "y" and v.initial == "exact"}
    missing = {v.name for v in all_states if v.array == "y" and v.offset not in offsets}
    added = (
        v for v in all_states if v.name not in names and (v.name in missing or v.derivative_of in missing)
    )
    shown = (*variables, *added)
    states_shown = {v.derivative_of for v in shown}
    return tuple(
        replace(v, reinit=True) if v.name in states_shown and v.array == "y" and v.offset in reset else v
        for v in (with_dependencies(system, shown) if missing else shown)
    )


def with_indicators(
    variables: Sequence[FmuVariable], indicators: Mapping[str, int]
) -> tuple[tuple[FmuVariable, ...], tuple[str, ...]]:
    """The variables, with those of event indicators that are not among them; the names of all indicators.

    FMI 3.0 declares each event indicator as a variable.

    Parameters
    ----------
    variables : sequence of FmuVariable
    indicators : mapping of str to int
        The path of each witness, in order, and the place of its value in the cache.
    """
    shown = {v.path: v.name for v in variables if v.array == "c"}
    added = [
        FmuVariable.computed(path, path, offset, description="an event where it crosses zero")
        for path, offset in indicators.items()
        if path not in shown
    ]
    return (*variables, *added), tuple(shown.get(path, path) for path in indicators)
