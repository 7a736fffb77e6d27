"""Tangents of a run for hosts without Python: arrays, functions, and the tape that they are read from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.contracts.integrator import Integrator
from cosim.derivatives.carrier import Carrier, CarryPlan
from cosim.errors import Problem
from cosim.preparation.choice import choice_of_slots
from cosim.preparation.tangent_tables import (
    SAVED,
    Function,
    faults_of_paths,
    faults_of_system,
    follows_holds,
    held_tangents,
    method_tangents,
    own_kernels,
    start_arrays,
)
from cosim.run_data.records.plan import PlacesHeader
from cosim.run_data.records.recording import LOG_TAPE
from cosim.run_data.run import SCRATCH, STATE, Run
from cosim.step.event_log import CHANGE_WIDTH, EVENT_WIDTH
from cosim.step.tape import holds_at
from cosim.system.blocks import Slot
from cosim.walker import TANGENT_SIGNATURE
from cosim_compiler.array_groups import letters_of
from cosim_compiler.record import place_in

if TYPE_CHECKING:
    from cosim.preparation.held_tables import HeldTables
    from cosim.system.state import State

    System = Any

LOGGING = place_in(PlacesHeader, "output.logging")
STEPS_ON_TAPE, ROUNDS_ON_TAPE = 8, 200
"""A tape has room for so many records of steps, and of each handler for so many calls in one step."""
LISTED_TANGENTS = [
    (name, letter, STATE if name in SAVED else SCRATCH)
    for name, letter in zip(Carrier._fields, letters_of(Carrier), strict=True)
]
"""Name, letter of the type and role of each array, in the order in which the entry points take them."""
GROWING_TANGENTS = "h", "h_dots"


class ExportedTangents(NamedTuple):
    """The tangents of a run that a host without Python calls.

    Attributes
    ----------
    arrays : dict of str to ndarray
        Of a `Carrier`, as a run begins, with zeros where addresses stand.
    functions : list of (str, int, (function, str))
        Array, flat place in it, and the function whose address stands there with its signature.
    of_run : dict of str to ndarray
        Arrays of the run that are others than in a run without tangents.
    """

    arrays: dict[str, NDArray[Any]]
    functions: list[tuple[str, int, Function]]
    of_run: dict[str, NDArray[Any]]


def exported_tangents(
    integrator: Integrator,
    state: State,
    run: Run,
    held: HeldTables | None,
    by: Sequence[str],
    outputs: Sequence[Slot],
) -> tuple[ExportedTangents | None, list[Problem]]:
    """The tangents of a run for a host, or the reasons against them.

    Parameters
    ----------
    integrator : Integrator
    state : State
        That the run begins with.
    run : Run
        The arrays of the run.
    held : HeldTables or None
        What holds witnesses in it.
    by : sequence of str
        Paths of parameters, start values and inputs.
    outputs : sequence of Slot
        The numbers whose derivatives are shown: those by the first path first.
    """
    system: System = state.system
    kernels = own_kernels(integrator, system)
    methods, problems = method_tangents(integrator, kernels)
    problems += faults_of_paths(system, by) + faults_of_system(system)
    if problems or kernels is None:
        return None, problems
    follows = follows_holds(integrator, run)
    arrays = start_arrays(system, run, 1 + len(by), kernels.work, follows)
    _start_directions(arrays, state, by)
    columns = [s.array for s in outputs], [s.offset for s in outputs], [s.size for s in outputs]
    choice, values = choice_of_slots(system, *columns)
    arrays["rows"] = np.zeros(values * len(by))
    arrays["table"][:, 1:] = system.table[:, 1:]
    functions = [
        ("table", 3 * row, (function, TANGENT_SIGNATURE))
        for row, function in system.run_tangents.functions.items()
    ]
    functions += [("numbers", place_in(CarryPlan, name), tangent) for name, tangent in methods.items()]
    if follows and held is not None:
        functions += held_tangents(system, held)
    places = run.places.copy()
    places[LOGGING] = LOG_TAPE
    of_run = {"choice": choice, "places": places, "log": np.zeros(_tape_length(run))}
    return ExportedTangents(arrays, functions, of_run), []


def _start_directions(arrays: dict[str, NDArray[Any]], state: State, by: Sequence[str]) -> None:
    """Set the arrays of tangents at the start: direction 0 is that of the flow, each other one of a path."""
    directions = 1 + len(by)
    arrays["former"][:] = 0.0
    arrays["h"] = np.tile(state.arrays["h"], directions)
    arrays["h_dots"] = np.zeros(arrays["h"].size)
    arrays["time_dots"][0] = 1.0
    for i, path in enumerate(by, start=1):
        slot = state.system.written_slot(path)
        arrays[f"{slot.array}_dots"].reshape(directions, -1)[i, slot.offset] = 1.0


def _tape_length(run: Run) -> int:
    """Numbers of a tape that is read after each step: twice what is expected, at least two of all records."""
    changes = sum(
        EVENT_WIDTH + sum(CHANGE_WIDTH + 2 * int(result.size) for result in run.results_of(handler))
        for handler in run.handlers
    )
    step = (
        int(holds_at(run, 0))
        + run.held_ints.size
        + (1 + 2 * run.plan.switchable) * len(run.witnesses) * (1 + run.y.size)
    )
    return 2 * (STEPS_ON_TAPE * step + ROUNDS_ON_TAPE * changes + 1000)
