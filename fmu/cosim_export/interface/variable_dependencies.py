"""The inputs, parameters and states on which outputs and derivatives of an FMU depend."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import cosim
from cosim_export.interface.fmu_variable import FmuVariable


def with_dependencies(system: cosim.System, variables: Iterable[FmuVariable]) -> tuple[FmuVariable, ...]:
    """The variables, with the dependencies of outputs and derivatives on other ones."""
    all_variables = tuple(variables)
    places = {v.name: _places(system, v) for v in all_variables if not v.derivative_of and _is_known(v)}
    settable = {
        place for v in all_variables if v.name in places and v.is_settable for place in places[v.name]
    }
    for variable in all_variables:  # a second name of a settable variable is not a dependency
        if variable.name in places and not variable.is_settable and places[variable.name] <= settable:
            del places[variable.name]

    def find_sources(path: str, initially: bool) -> tuple[set[tuple[str, int]], tuple[str, ...]]:
        """The places on which a variable depends, and the names of the variables there."""
        sources = system.sources(path, initially=initially)
        return sources, tuple(
            name for name, places_of_variable in places.items() if not places_of_variable.isdisjoint(sources)
        )

    return tuple(_dependent(v, find_sources) for v in all_variables)


def _dependent(
    variable: FmuVariable, find_sources: Callable[[str, bool], tuple[set[tuple[str, int]], tuple[str, ...]]]
) -> FmuVariable:
    """An output or a derivative with its dependencies; another variable as it is."""
    if variable.causality != "output" and not variable.derivative_of:
        return variable
    (sources, names), (initial_sources, initial_names) = (
        find_sources(variable.path, initially) for initially in (False, True)
    )
    return replace(
        variable,
        dependencies=names,
        initial_dependencies=initial_names,
        depends_on_time=("t", 0) in sources,
        initially_on_time=("t", 0) in initial_sources,
    )


def _is_known(variable: FmuVariable) -> bool:
    """Whether others can depend on it: an input, a parameter, or a state."""
    return variable.is_settable or variable.array != "c"


def _places(system: cosim.System, variable: FmuVariable) -> set[tuple[str, int]]:
    """The places (array, offset) that others read: for an input its value in d, for an angle the rotation."""
    if variable.causality == "input":
        slot = system.written_slot(variable.path)
        return {(slot.array, slot.offset)}
    size = 1 if variable.angle is None else 9
    return {(variable.array, variable.offset + i) for i in range(size)}
