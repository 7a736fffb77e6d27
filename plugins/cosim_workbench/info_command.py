"""``cosim info FILE``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import cosim
from cosim_workbench.contracts import Describer
from cosim_workbench.progress import compile_notice
from cosim_workbench.reports import reported_result
from cosim_workbench.wording import below_each_other, counted

LONGEST = 24
"""Letters of a text that is shown."""
FMU = "fmu.co_simulation"
"""Participant that reads FMUs."""
Description = tuple[str, dict[str, Any]]
"""The text for users, and the object for programs."""


class InfoCommand(cosim.Command):
    """Say what is in a model file, an FMU, a file of results, or what other plugins describe."""

    name: ClassVar[str] = "info"
    known_as: ClassVar[tuple[str, ...]] = ("inspect", "print")
    summary: ClassVar[str] = "show what is in a model file, an FMU or a file of results"
    leaves_garbage: ClassVar[bool] = True
    examples = (
        ("cosim info mount.toml", "parts, inputs, outputs, the schedule"),
        ("cosim info mount.fmu", "version, variables, what it can do"),
        ("cosim info mount.csv", "signals with their ranges"),
    )

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The file."""
        described = "".join(f", {entry.cls.what}" for entry in cosim.registry().entries("describer"))
        parser.add_argument(
            "file", type=Path, help=f"a model (.toml), an FMU (.fmu), results (.csv, .parquet){described}"
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Describe it by its ending."""
        path: Path = arguments.file
        models = [suffix for entry in cosim.registry().entries("model_reader") for suffix in entry.suffixes]
        kinds = {
            **dict.fromkeys(models, describe_model),
            ".fmu": describe_fmu,
            ".csv": describe_results,
            ".parquet": describe_results,
        }
        for entry in cosim.registry().entries("describer"):
            kinds.update(dict.fromkeys(entry.suffixes, partial(_described, entry.cls())))
        if path.suffix.lower() not in kinds:
            endings = ", ".join(kinds)
            raise cosim.CosimError(f"{path}: no file that is known here; the name has to end in {endings}")
        text, values = kinds[path.suffix.lower()](path)
        self.report(**values)
        print(text)
        return 0


def _described(describer: Describer, path: Path) -> Description:
    text = describer.describe(path)
    return text, {"file": path, "text": text}


def describe_model(path: Path) -> Description:
    """Parts, sizes, schedule, inputs and outputs of a model file."""
    model = cosim.Model.from_file(path)
    with compile_notice():
        system = model.build()
    registry = cosim.registry()
    sizes = f"{system.nq} coordinates q, {system.nu} speeds u, {system.nz} auxiliary states z"
    ids = {cls: registry.owner(cls).id for cls in {type(part) for part in model.parts.values()}}
    rows = [[name, ids[type(part)]] for name, part in model.parts.items()]
    lines = [f"{model.name}   {counted(len(rows), 'part')}, {sizes}", *below_each_other(rows)]
    outputs = system.variables_of("output", "measure")
    inputs = {path: system.variables[path] for path in system.inputs if path in system.variables}
    for title, variables in (("inputs", inputs), ("outputs", outputs)):
        if variables:
            cells = [[path, _unit(v.unit()), v.description] for path, v in variables.items()]
            lines += ["", title, *below_each_other(cells)]
    if model.connections:
        lines += ["", "connections", *map(_connection, model.connections)]
    if system.dynamics:
        lines += ["", f"dynamics   {system.dynamics}"]
    lines += ["", *_schedule(system)]
    values = {
        "file": path,
        "model": model.name,
        "parts": dict(rows),
        "states": {"q": system.nq, "u": system.nu, "z": system.nz},
        "inputs": _described_variables(inputs),
        "outputs": _described_variables(outputs),
        "connections": [
            dict(zip(("from", "to", "factor", "offset"), link, strict=True)) for link in model.connections
        ],
        "dynamics": system.dynamics,
    }
    return "\n".join(lines), values


def _described_variables(variables: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    return {path: {"unit": v.unit(), "description": v.description} for path, v in variables.items()}


def _connection(connection: tuple[str, str, float | str, float | str]) -> str:
    source, target, factor, offset = connection
    text = f"  {source} → {target}"
    return text + (f"   × {factor}" if factor != 1.0 else "") + (f"   + {offset}" if offset != 0.0 else "")


def describe_fmu(path: Path) -> Description:
    """Kind, abilities and variables of an FMU."""
    participant = cosim.registry().get("participant", FMU)(path)
    try:
        description, remarks = participant.inspect()
    finally:
        participant.close()
    abilities = ["state saved and restored"] * description.can_restore
    abilities += ["state serialized"] * description.can_serialize
    lines = [f"{path.name}   {', '.join([description.kind, *abilities])}", *(f"  {text}" for text in remarks)]
    for causality in ("input", "output", "parameter", "local"):
        chosen = [v for v in description.variables.values() if v.causality == causality]
        cells = [
            [v.name, v.type, _unit(v.unit), "" if v.start is None else f"start {v.start}", v.description]
            for v in chosen
        ]
        if cells:
            lines += ["", f"{causality}s" if causality != "local" else "locals", *below_each_other(cells)]
    values = {
        "file": path,
        "kind": description.kind,
        "can_restore": description.can_restore,
        "can_serialize": description.can_serialize,
        "remarks": remarks,
        "variables": list(description.variables.values()),
    }
    return "\n".join(lines), values


def describe_results(path: Path) -> Description:
    """Times and ranges of a file of results."""
    result = cosim.read_result(path)
    values = {"file": path, **reported_result(result)}
    remark = [f"not whole: {result.unfinished}"] if result.unfinished else []
    if not len(result):
        return "\n".join(
            [f"{path.name}   {counted(len(result.names), 'signal')}, no points", *remark]
        ), values
    span = f"{result.time[0]:g} s to {result.time[-1]:g} s"
    heading = f"{path.name}   {counted(len(result.names), 'signal')}, {counted(len(result), 'point')}, {span}"
    rows = [["", "first", "last", "least", "greatest"]]
    for name, column in result.columns().items():
        if column.dtype == object:
            different = counted(len(set(column)), "different text")
            rows.append([name, *(f'"{_short(text)}"' for text in (column[0], column[-1])), different, ""])
            continue
        figures = (column[0], column[-1], column.min(), column.max())
        rows.append([name, *(f"{float(figure):.6g}" for figure in figures)])
    return "\n".join([heading, *remark, *below_each_other(rows)]), values


def _short(text: str) -> str:
    """The beginning of a text, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _schedule(system: cosim.System) -> list[str]:
    """The number of blocks of each stage, and of those that are evaluated only at events."""
    counts: dict[str, int] = {}
    for stage in cosim.Stage:
        first, end = system.block_range(stage, stage)
        counts[stage.name] = end - first
    counts["at events"] = len(system.blocks) - sum(counts.values())
    rows = [[name, counted(count, "block")] for name, count in counts.items() if count]
    return [f"schedule   {counted(len(system.blocks), 'block')}", *below_each_other(rows)]


def _unit(unit: str) -> str:
    return "" if unit == "1" else unit
