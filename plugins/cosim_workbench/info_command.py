"""``cosim info FILE``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

import cosim
from cosim.kit import Inspectable
from cosim_workbench.progress import compile_notice
from cosim_workbench.wording import counted

LONGEST = 24
"""Of a text that is shown."""
FMU = "fmu.co_simulation"
"""Participant that reads FMUs."""


class InfoCommand(cosim.Command):
    """Say what is in a model file, an FMU, a file of results, or what other plugins describe."""

    name: ClassVar[str] = "info"
    summary: ClassVar[str] = "say what is in a model file, an FMU or a file of results"

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The file."""
        others = "".join(f", {entry.cls.what}" for entry in cosim.registry().entries("describer"))
        parser.add_argument(
            "file", type=Path, help=f"a model (.toml), an FMU (.fmu), results (.csv, .parquet){others}"
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Describe it by its ending."""
        path: Path = arguments.file
        models = [
            suffix for entry in cosim.registry().entries("model_reader") for suffix in entry.cls.suffixes
        ]
        kinds = {
            **dict.fromkeys(models, describe_model),
            ".fmu": describe_fmu,
            ".csv": describe_results,
            ".parquet": describe_results,
        }
        for entry in cosim.registry().entries("describer"):
            kinds.update(dict.fromkeys(entry.cls.suffixes, entry.cls().describe))
        if path.suffix.lower() not in kinds:
            endings = ", ".join(kinds)
            raise cosim.CosimError(f"{path}: no file that is known here; the name has to end in {endings}")
        print(kinds[path.suffix.lower()](path))
        return 0


def describe_model(path: Path) -> str:
    """Parts, sizes, schedule, inputs and outputs of a model file."""
    model = cosim.Model.from_file(path)
    with compile_notice():
        system = model.build()
    registry = cosim.registry()
    sizes = f"{system.nq} coordinates q, {system.nu} speeds u, {system.nz} auxiliary states z"
    rows = [[name, registry.owner(type(part)).id] for name, part in model.parts.items()]
    lines = [f"{model.name}   {counted(len(rows), 'part')}, {sizes}", *_table(rows)]
    for title, paths in (("inputs", list(system.inputs)), ("outputs", list(system.outputs))):
        if paths:
            variables = [system.variables[path] for path in paths if path in system.variables]
            cells = [[v.path, _unit(v.unit()), v.description] for v in variables]
            lines += ["", title, *_table(cells)]
    if model.connections:
        lines += ["", "connections", *map(_connection, model.connections)]
    if system.dynamics:
        lines += ["", f"dynamics   {system.dynamics}"]
    lines += ["", *_schedule(system)]
    return "\n".join(lines)


def _connection(connection: tuple[str, str, float | str, float | str]) -> str:
    source, target, factor, offset = connection
    text = f"  {source} → {target}"
    return text + (f"   × {factor}" if factor != 1.0 else "") + (f"   + {offset}" if offset != 0.0 else "")


def describe_fmu(path: Path) -> str:
    """Kind, abilities and variables of an FMU."""
    participant = cosim.registry().get("participant", FMU)(path)
    try:
        description, remarks = (
            participant.inspect() if isinstance(participant, Inspectable) else (participant.describe(), [])
        )
    finally:
        participant.close()
    able = [text for text, can in (("state saved and restored", description.can_restore),) if can]
    able += ["state serialized"] * description.can_serialize
    lines = [f"{path.name}   {', '.join([description.kind, *able])}", *(f"  {text}" for text in remarks)]
    for causality in ("input", "output", "parameter", "local"):
        chosen = [v for v in description.variables.values() if v.causality == causality]
        cells = [
            [v.name, v.type, _unit(v.unit), "" if v.start is None else f"start {v.start}", v.description]
            for v in chosen
        ]
        if cells:
            lines += ["", f"{causality}s" if causality != "local" else "locals", *_table(cells)]
    return "\n".join(lines)


def describe_results(path: Path) -> str:
    """Times and ranges of a file of results."""
    result = cosim.read_result(path)
    if not len(result):
        return f"{path.name}   {counted(len(result.names), 'signal')}, no points"
    span = f"{result.time[0]:g} s to {result.time[-1]:g} s"
    heading = f"{path.name}   {counted(len(result.names), 'signal')}, {counted(len(result), 'point')}, {span}"
    rows = [["", "first", "last", "least", "greatest"]]
    for name, values in result.columns().items():
        if values.dtype == object:
            different = counted(len(set(values)), "different text")
            rows.append([name, *(f'"{_short(text)}"' for text in (values[0], values[-1])), different, ""])
            continue
        figures = (values[0], values[-1], values.min(), values.max())
        rows.append([name, *(f"{float(figure):.6g}" for figure in figures)])
    return "\n".join([heading, *_table(rows)])


def _short(text: str) -> str:
    """Its beginning, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _schedule(system: cosim.System) -> list[str]:
    """How many blocks are walked for each stage, and how many only at events."""
    counts: dict[str, int] = {}
    for stage in cosim.Stage:
        first, end = system.block_range(stage, stage)
        counts[stage.name] = end - first
    counts["at events"] = len(system.blocks) - sum(counts.values())
    rows = [[name, counted(count, "block")] for name, count in counts.items() if count]
    return [f"schedule   {counted(len(system.blocks), 'block')}", *_table(rows)]


def _unit(unit: str) -> str:
    return "" if unit == "1" else unit


def _table(rows: list[list[str]]) -> list[str]:
    """Rows with their columns below each other."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    return [
        "  "
        + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True) if width).rstrip()
        for row in rows
    ]
