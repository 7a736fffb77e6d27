"""Checks of the names of parts in a model file: in connections, attachments, signals and start values."""

from __future__ import annotations

from typing import Any

import cosim
from cosim.kit import is_pattern, matches
from cosim_workbench.file_problems import FileProblems
from cosim_workbench.wording import unknown


def check_part_names(problems: FileProblems, tables: dict[str, cosim.ModelTable]) -> None:
    """Check that attachments and both ends of connections begin with the name of a part."""
    tables_of_parts = [
        table
        for key, table in tables.items()
        if table.form == "entries" and isinstance(problems.file.data.get(key), dict)
    ]
    names = set(problems.model.parts)
    for table in tables_of_parts:
        names.update(
            problems.file.data[table.table]
        )  # a part that could not be made is not reported as missing, too
    for name, part in problems.model.parts.items():
        for attachment, value in part.values.attachments.items():
            for attached in value if isinstance(value, list) else [value]:
                _check_attachment(problems, f"{name}.{attachment}", attached, names)
    for table in tables_of_parts:
        _check_attached(problems, table, names)
    for index, ends in enumerate(problems.model.connections):
        for key, end in zip(("from", "to"), ends[:2], strict=True):
            if part_of(end) not in names:
                text = f"{key}: {unknown('part', part_of(end), names)}"
                problems.add(("connections", index, key), f"connections[{index}]", text)


def _check_attachment(problems: FileProblems, where: str, attached: Any, names: set[str]) -> None:
    """Check the target of one attachment of a part that was built."""
    if isinstance(attached, cosim.Component) or attached is None:
        return
    path, label = problems.place(where)
    attachment = where.rpartition(".")[2]
    if not isinstance(attached, str):
        problems.add(path, label, f"{attachment} is {attached!r}, needs the name of a part")
    elif part_of(attached) not in names:
        problems.add(path, label, f"{attachment}: {unknown('part', part_of(attached), names)}")


def _check_attached(problems: FileProblems, table: cosim.ModelTable, names: set[str]) -> None:
    """Check the attachments of parts that could not be built, as they are written."""
    for name, entry in problems.file.data[table.table].items():
        if name in problems.model.parts or not isinstance(entry, dict):
            continue
        try:
            cls = cosim.registry().get("component", table.full_id(str(entry.get("type", ""))))
        except cosim.LookUpError:
            continue
        attachments = (d for d in cls.declarations.values() if d.kind == "attachment")
        for declaration in attachments:
            attached = entry.get(declaration.name)
            if isinstance(attached, str) and part_of(attached) not in names:
                path = (table.table, name, declaration.name)
                text = f"{declaration.name}: {unknown('part', part_of(attached), names)}"
                problems.add(path, f"{table.table}.{name}", text)


def check_paths(problems: FileProblems, faulty: set[str]) -> None:
    """Check that signals to record and start values begin with the name of a part, or of one with a fault."""
    parts = set(problems.model.parts)

    def is_missing(head: str) -> bool:
        return head not in parts and not any(head.startswith(name) for name in faulty if name)

    for index, pattern in enumerate(problems.model.simulation.get("signals") or ()):
        if "*" not in (head := part_of(str(pattern))) and "?" not in head and is_missing(head):
            path = ("simulation", "output", "signals", index)
            problems.add(path, "simulation.output.signals", unknown("part", head, parts))
    for start in problems.model.starts:
        if is_missing(part_of(start)):
            place = problems.file.place(("starts",), start)
            problems.add(place, "starts", unknown("part", part_of(start), parts))


def check_signals(problems: FileProblems, system: cosim.System) -> None:
    """Add a problem for each signal to record that the system does not have."""
    for index, pattern in enumerate(problems.model.simulation.get("signals") or ()):
        with problems.collected(("simulation", "output", "signals", index), "simulation.output.signals"):
            _check_signal(system, pattern)


def _check_signal(system: cosim.System, pattern: Any) -> None:
    """`LookUpError` unless the system has the signal, or one that fits the pattern."""
    if isinstance(pattern, str) and is_pattern(pattern):
        if not any(matches(path, pattern) for path in system.variables):
            raise cosim.LookUpError("signal", pattern, system.variables)
    else:
        system.signal(str(pattern))


def part_of(path: str) -> str:
    """The name of the part that a path begins with."""
    return path.partition(".")[0].partition("[")[0]
