"""The inputs, parameters and states on which outputs and derivatives of an FMU depend."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import cosim
from cosim_export.interface.fmu_variable import FmuVariable


def with_dependencies(system: cosim.System, variables: Iterable[FmuVariable]) -> tuple[FmuVariable, ...]:
    """The variables; outputs and derivatives know on which others of them they depend."""
    listed = tuple(variables)
    places = {v.name: _places(system, v) for v in listed if not v.derivative_of and _is_known(v)}
    set_by_name = {p for v in listed if v.name in places and v.is_settable for p in places[v.name]}
    for variable in listed:  # what is seen under another name already
        if variable.name in places and not variable.is_settable and places[variable.name] <= set_by_name:
            del places[variable.name]

    def behind(path: str, initially: bool) -> tuple[set[tuple[str, int]], tuple[str, ...]]:
        sources = system.sources(path, initially=initially)
        return sources, tuple(
            name for name, places_of_variable in places.items() if not places_of_variable.isdisjoint(sources)
        )

    return tuple(_dependent(v, behind) for v in listed)


def _dependent(
    variable: FmuVariable, behind: Callable[[str, bool], tuple[set[tuple[str, int]], tuple[str, ...]]]
) -> FmuVariable:
    if variable.causality != "output" and not variable.derivative_of:
        return variable
    (sources, names), (initial_sources, initial_names) = (
        behind(variable.path, initially) for initially in (False, True)
    )
    return replace(
        variable,
        dependencies=names,
        initial_dependencies=initial_names,
        depends_on_time=("t", 0) in sources,
        initially_on_time=("t", 0) in initial_sources,
    )


def _is_known(variable: FmuVariable) -> bool:
    """Whether others can depend on it: an input, a parameter, or a state under the name that it is set by."""
    return variable.is_settable or variable.array != "c"


def _places(system: cosim.System, variable: FmuVariable) -> set[tuple[str, int]]:
    """The places (array, offset) that others read: of an input its value in d, of an angle its rotation."""
    if variable.causality == "input":
        slot = system.written_slot(variable.path)
        return {(slot.array, slot.offset)}
    size = 1 if variable.angle is None else 9
    return {(variable.array, variable.offset + i) for i in range(size)}
