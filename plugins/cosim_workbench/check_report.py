"""The report on a plugin as one page: checks, energy, export, documentation, types, speed."""

from __future__ import annotations

import html
import importlib.util
import inspect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cosim
from cosim_workbench.block_times import time_blocks

TEMPLATE = Path(__file__).parent / "templates" / "check_report.html"
ENERGIES = ("kinetic_energy", "potential_energy", "dissipated_energy", "supplied_energy")
ENERGY_CHECKS = ("power is the loss of energy", "forces do no work", "passive")
EXPORT_CHECK = "runs in an fmu"
COLUMNS = ("class", "kind", "checks", "energy", "export", "documentation", "types", "time", "beside")


@dataclass
class ReportRow:
    """The row of a class.

    Attributes
    ----------
    cells : dict of str to str
        The text of each column.
    marks : dict of str to str
        "good", "bad" or "open", by column.
    checks : list of (str, str, str)
        Name, outcome and message of each check.
    passed : bool
    """

    cells: dict[str, str]
    marks: dict[str, str]
    checks: list[tuple[str, str, str]]
    passed: bool


def report_row(run: Any) -> ReportRow:
    """The row of a class whose kit has run.

    Parameters
    ----------
    run : cosim.testing.kit_run.KitRun
    """
    cells = {"class": run.entry.id, "kind": run.entry.kinds[-1].replace("_", " ")}
    marks = {"checks": "good" if run.passed else "bad"}
    counts = Counter(outcome for _, outcome, _ in run.outcomes)
    cells["checks"] = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
    cells["energy"], marks["energy"] = _energy(run)
    cells["export"], marks["export"] = _export(run)
    warnings = [text for _, outcome, text in run.outcomes if outcome == "warning"]
    cells["documentation"], marks["documentation"] = (
        ("; ".join(warnings), "bad") if warnings else ("complete", "good")
    )
    cells["types"], marks["types"] = _types(run.entry.cls)
    cells["time"], cells["beside"] = _speed(run)
    return ReportRow(cells, marks, run.outcomes, run.passed)


def report_page(title: str, rows: Sequence[ReportRow]) -> str:
    """The page, HTML that needs no other file."""
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    body = "".join(_row(row) for row in rows)
    details = "".join(_details(row) for row in rows)
    failed = sum(not row.passed for row in rows)
    outcome = f"{failed} of {len(rows)} failed" if failed else "all checks passed"
    summary = f"{len(rows)} {'class' if len(rows) == 1 else 'classes'}: {outcome}"
    parts = {"title": html.escape(title), "summary": summary, "head": head, "body": body, "details": details}
    text = TEMPLATE.read_text("utf-8")
    for name, value in parts.items():
        text = text.replace(f"<!--{name}-->", value)
    return text


def _energy(run: Any) -> tuple[str, str]:
    """The energies that the class declares, and whether the balance held."""
    declared = [name for name in ENERGIES if name in getattr(run.entry.cls, "declarations", {})]
    outcomes = {outcome for name, outcome, _ in run.outcomes if name in ENERGY_CHECKS}
    if "failed" in outcomes:
        return "does not balance", "bad"
    named = ", ".join(name.removesuffix("_energy") for name in declared)
    if "passed" in outcomes:
        return f"balances{f' ({named})' if named else ''}", "good"
    return named or "none", "open"


def _export(run: Any) -> tuple[str, str]:
    """Whether it can become a native FMU, and whether its FMU did the same."""
    outcomes = {outcome for name, outcome, _ in run.outcomes if name == EXPORT_CHECK}
    if "failed" in outcomes:
        return "another result in an FMU", "bad"
    exporters = [entry.cls for entry in cosim.registry().entries("exporter") if entry.cls.title]
    refusals_by_title = {exporter.title: list(exporter().refusals(run.entry.cls)) for exporter in exporters}
    possible = [title for title, refusals in refusals_by_title.items() if not refusals]
    text = ", ".join(possible) or "; ".join(
        p.text for refusals in refusals_by_title.values() for p in refusals
    )
    return f"{text}{'; same result there' if 'passed' in outcomes else ''}", "good" if possible else "open"


def _types(cls: type[Any]) -> tuple[str, str]:
    """Whether type checkers read the package's annotations."""
    package = cls.__module__.partition(".")[0]
    spec = importlib.util.find_spec(package)
    places = (spec.submodule_search_locations or []) if spec is not None else []
    if any((Path(place) / "py.typed").is_file() for place in places):
        return "py.typed", "good"
    where = "the package" if places else f"a package ({Path(inspect.getfile(cls)).name} is one module)"
    return f"no py.typed in {where}", "open"


def _speed(run: Any) -> tuple[str, str]:
    """The time of one evaluation, and its ratio to that of a built-in part of this kind."""
    kit = run.kit_class()
    if not run.passed or not getattr(kit, "beside", ""):
        return "", ""
    time, reference = _time(kit), _time(type(run)(*_entry(kit.beside), {}).kit_class())
    return f"{1e9 * time:.0f} ns", f"{time / reference:.1f} × {kit.beside}" if reference else ""


def _time(kit: Any) -> float:
    """Least time of one evaluation of the part in its kit, s."""
    state, name = kit.example()
    return min(time_blocks(state.copy()).parts.get(name, 0.0) for _ in range(5))


def _entry(id: str) -> tuple[Any, str]:
    return cosim.registry().entry("component", id), ""


def _row(row: ReportRow) -> str:
    cells = []
    for name in COLUMNS:
        text = html.escape(row.cells.get(name, ""))
        link = f'<a href="#{text}">{text}</a>' if name == "class" else text
        cells.append(f'<td class="{row.marks.get(name, "")}">{link}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _details(row: ReportRow) -> str:
    id = html.escape(row.cells["class"])
    signs = {"passed": "good", "failed": "bad", "warning": "bad"}
    lines = "".join(
        f'<li class="{signs.get(outcome, "open")}"><b>{outcome}</b> {html.escape(name)}'
        f"{': ' + html.escape(text) if text else ''}</li>"
        for name, outcome, text in row.checks
    )
    return (
        f'<details id="{id}"{"" if row.passed else " open"}><summary>{id}</summary><ul>{lines}</ul></details>'
    )
