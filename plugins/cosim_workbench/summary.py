"""The outcome of a run, on one screen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cosim
from cosim_workbench.energy_balance import energy_balance
from cosim_workbench.event_trace import counted_events
from cosim_workbench.wording import counted

FINAL_VALUES = 12
"""Number of shown values; the file has all of them."""
MOST_FINDINGS = 6


def summary(name: str, result: cosim.Result, target: Path | None = None) -> str:
    """Method, counts, changes of the energies, last values, and where the results are.

    Parameters
    ----------
    name : str
        The name of the model.
    result : Result
    target : Path, optional
        The file that was written.
    """
    figures = result.statistics
    rows = [
        ("model", name),
        ("method", _method(figures)),
        ("reference", _citation(result.references)),
        ("dynamics", str(figures.get("dynamics", ""))),
        *(("in Python", text) for text in figures.get("python_in_steps", ())),
        ("time", _times(result)),
        ("work", _steps(figures)),
        ("events", counted_events(result)),
    ]
    if "derivative_errors" in figures:
        rows.append(("derivatives", f"errors {figures['derivative_errors']}"))
    findings = [f"{f.witness} {f.message} (t = {f.time:.6g} s)" for f in result.findings]
    rows += [("" if i else "noticed", text) for i, text in enumerate(findings[:MOST_FINDINGS])]
    if len(findings) > MOST_FINDINGS:
        rows.append(("", f"… and {len(findings) - MOST_FINDINGS} more: cosim run --trace events"))
    columns = result.columns() if len(result) else {}
    energies = [column for column in columns if column.startswith("energy.")]
    other_columns = [
        column for column in columns if column not in energies and not column.endswith("_energy")
    ]
    balance = energy_balance(result)
    rows += [("" if i else "energy change, J", text) for i, text in enumerate(balance)]
    if not balance:
        rows += _values("energy", energies, columns, result, with_first=True)
    rows += _values("at the end", other_columns[:FINAL_VALUES], columns, result, with_first=False)
    if len(other_columns) > FINAL_VALUES:
        rows.append(("", f"… and {len(other_columns) - FINAL_VALUES} more"))
    width = max(len(label) for label, _ in rows)
    lines = [f"{label:<{width}}  {text}".rstrip() for label, text in rows if text]
    lines += [f"warning: {text}" for text in result.warnings]
    if result.message:
        lines.append(result.message)
    if target is not None:
        lines.append(f"results → {target}")
    return "\n".join(lines)


def _method(figures: dict[str, Any]) -> str:
    """Name and order of the integrator, and its accuracy, its tolerances or its fixed step."""
    parts = [str(figures.get("integrator", ""))]
    if figures.get("order"):
        parts[0] += f" (order {figures['order']})"
    if figures.get("fixed_step"):
        parts.append(f"fixed step {figures['fixed_step']:g} s")
    elif figures.get("accuracy") is not None:
        parts.append(f"accuracy {figures['accuracy']:g}")
        for name in ("relative_tolerance", "absolute_tolerance"):
            tolerance = figures.get(name)
            if isinstance(tolerance, Mapping):
                tolerance = ", ".join(f"{key} {value:g}" for key, value in tolerance.items())
            if tolerance is not None:
                parts.append(f"{name.replace('_', ' ')} {tolerance}")
    return ", ".join(parts)


def _citation(references: str) -> str:
    """Authors and year of each entry, for people."""
    citations = []
    for entry in references.split("\n@"):
        authors = re.search(r"author = \{(.+?)\},\n", entry, re.DOTALL)
        year = re.search(r"year = \{(\d+)\}", entry)
        if authors and year:
            names = [re.sub(r"[{}\\\"]", "", name.partition(",")[0]) for name in authors[1].split(" and ")]
            citations.append(f"{', '.join(names)} ({year[1]})")
    return "; ".join(citations)


def _times(result: cosim.Result) -> str:
    if not len(result):
        return ""
    first, last, spent = result.time[0], result.time[-1], result.statistics.get("wall_time")
    text = f"{first:g} s to {last:g} s"
    if spent:
        text += f" in {spent:.3g} s ({(last - first) / spent:.3g}× real time)"
    return text


def _steps(figures: dict[str, Any]) -> str:
    if "steps" not in figures:
        return ""
    return ", ".join(
        [
            counted(figures.get("integrator_steps", figures["steps"]), "step"),
            f"{figures.get('rejections', 0)} rejected",
            counted(figures.get("evaluations", 0), "evaluation") + _in_part(figures),
            counted(figures.get("events", 0), "event"),
        ]
    )


def _in_part(figures: dict[str, Any]) -> str:
    count = figures.get("partial_evaluations", 0)
    return f" and {count} in part" if count else ""


def _values(
    title: str, names: list[str], columns: dict[str, Any], result: cosim.Result, *, with_first: bool
) -> list[tuple[str, str]]:
    """A row for each signal: its last value, with the first one before it where both are wanted."""
    width = max(map(len, names), default=0)
    rows: list[tuple[str, str]] = []
    for name in names:
        unit = result.unit(name)
        shown = f"{columns[name][-1]:.6g}{'' if unit == '1' else ' ' + unit}"
        if with_first:
            shown = f"{columns[name][0]:.6g} → {shown}"
        rows.append(("" if rows else title, f"{name:<{width}}  {shown}"))
    return rows
