"""Systems of ours in a co-simulation, exchanged for FMUs of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import cosim
from cosim_export.interface.names import c_identifier, element_name
from cosim_master.abilities import ExportsFmu
from cosim_master.coupling.connection import Connection
from cosim_master.coupling.coupling import Coupling
from cosim_master.coupling.link import Link
from cosim_master.participants.component_participant import ComponentParticipant

Coupled = TypeVar("Coupled", bound=Coupling)


def with_exported_systems(loop: Coupled, folder: Path, options: Mapping[str, Any]) -> Coupled:
    """The same co-simulation with FMUs in place of systems; itself where it has none.

    Parameters
    ----------
    loop : Coupling
        Its class makes another one.
    folder : Path
        Where the FMUs are written; they have to stay while they are in use.
    options : mapping of str to object
        For `Model.export_fmu`: ``native``, ``platforms``, ``fmi`` …

    Raises
    ------
    ModelError
        Everything that hinders an export, with the names of the participants.
    """
    systems = {n: p for n, p in loop.participants.items() if isinstance(p, ExportsFmu)}
    if not systems:
        return loop
    participants: dict[str, Any] = dict(loop.participants)
    problems: list[cosim.Problem] = []
    for number, (name, participant) in enumerate(systems.items()):
        path = folder / str(number) / f"{c_identifier(name)}.fmu"
        try:
            participants[name] = participant.export_fmu(
                path, also=_connected_outputs(loop, name), **{"all": True, **options}
            )
        except cosim.ModelError as error:
            problems += [cosim.Problem(f"participants.{name}", str(fault)) for fault in error.problems]
        except cosim.LookUpError as error:
            problems.append(cosim.Problem(f"participants.{name}", str(error)))
    if problems:
        raise cosim.ModelError(problems)
    names = {(name, old): new for name in systems for old, new in _new_names(loop, name).items()}
    make: Callable[..., Coupled] = type(loop)
    exchanged = make(
        participants,
        [_connection(link, names) for link in loop.all_links],
        loop.algorithm if loop.algorithm is not None else "jacobi",
        loop.step,
        options=loop.options,
        starts={
            f"{name}.{names.get((name, variable), variable)}": value
            for name, values in loop.start_values.items()
            for variable, value in values.items()
        },
        start=loop.start,
        tolerance=loop.tolerance,
        tolerances={name: tolerance for name, tolerance in loop.tolerances.items() if tolerance is not None},
        feedthrough={name: declared for name, declared in loop.feedthrough.items() if name not in systems},
        steps={name: multiple * loop.step for name, multiple in loop.step_multiple.items()},
        threads=loop.threads,
    )
    files = {name: file for name, file in loop.python_files.items() if name not in systems}
    exchanged.read_from_scenario(loop.until, files, loop.run_options)
    return exchanged


def _connected_outputs(loop: Coupling, name: str) -> list[str]:
    """The outputs of a participant that others read."""
    return [link.output for link in loop.all_links if link.source == name]


def _new_names(loop: Coupling, name: str) -> dict[str, str]:
    """The names that variables have in the FMU, where they are others."""
    participant, description = loop.participants[name], loop.descriptions[name]
    path_of = participant.path_of if isinstance(participant, ComponentParticipant) else str
    found = {variable: path_of(variable) for variable in description.variables}
    for array, (shape, elements) in description.arrays.items():
        for index, element in enumerate(elements):
            found[element] = element_name(path_of(array), shape, index)
    return found


def _connection(link: Link, names: Mapping[tuple[str, str], str]) -> Connection:
    """The connection with numbers in place of units: both sides have units of their own."""
    start, end = (f"{end[0]}.{names.get(end, end[1])}" for end in (link.start, link.end))
    table = tuple((link.table or {}).items())
    return Connection(start, end, link.factor, link.offset, False, table, reads_any=True)
