"""A page about many FMUs: their tools, interfaces and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import cosim
from cosim_fmi.fmu_archive import FmuArchive
from cosim_fmi.validate.finding import SEVERITIES, Finding

KINDS = {"CoSimulation": "CS", "ModelExchange": "ME", "ScheduledExecution": "SE", "Implementation": "CS"}
COLORS = {"error": "#c0392b", "warning": "#b9770e", "note": "#566573"}
STYLE = """
body { font-family: sans-serif; margin: 2em; color: #222 }
table { border-collapse: collapse; margin-bottom: 1.5em }
td, th { border: 1px solid #bbb; padding: .25em .6em; text-align: left; vertical-align: top }
th { background: #eef3fa }
td.number { text-align: right }
"""
HEADS = ("FMU", "Model", "Tool", "FMI", "Kinds", "Platforms", "Experiments", *(f"{s}s" for s in SEVERITIES))


@dataclass(frozen=True)
class CheckedFmu:
    """A row of the page.

    Attributes
    ----------
    path : Path
    model, tool, version : str
        As the model description has them; "" where it cannot be read.
    kinds, platforms : tuple of str
    experiments : str
        The number of experiments with reference results, and whether they agree.
    findings : tuple of Finding
    """

    path: Path
    model: str
    tool: str
    version: str
    kinds: tuple[str, ...]
    platforms: tuple[str, ...]
    experiments: str
    findings: tuple[Finding, ...]

    @classmethod
    def of(
        cls, path: Path, read: Any, experiments: int, is_run: bool, findings: Sequence[Finding]
    ) -> CheckedFmu:
        """The row of a checked FMU.

        Parameters
        ----------
        path : Path
        read : ModelDescription or None
            None where it cannot be understood.
        experiments : int
            The number of experiments in the file.
        is_run : bool
            Whether its code has been run.
        findings : sequence of Finding
        """
        differing = [
            f for f in findings if f.where.rpartition(", ")[2] == "experiments" and f.severity == "error"
        ]
        agreement = ""
        if experiments and is_run:
            agreement = f", {len(differing)} differ" if differing else ", agree"
        try:
            archive = FmuArchive(path)
        except cosim.FmuError:
            return cls(path, "", "", "", (), (), "", tuple(findings))
        kinds = tuple(dict.fromkeys(KINDS[name] for name in archive.interfaces))
        model, tool = ("", "") if read is None else (read.name, read.tool)
        shown = f"{experiments}{agreement}" if experiments else ""
        return cls(path, model, tool, archive.version, kinds, archive.platforms, shown, tuple(findings))


def report_page(checked: Iterable[CheckedFmu], title: str = "FMUs that were checked") -> str:
    """HTML without references to other files: a table of all, then the findings of each."""
    listed = list(checked)
    rows = "".join(_row(i, each) for i, each in enumerate(listed))
    heads = "".join(f"<th>{escape(head)}</th>" for head in HEADS)
    details = "".join(_details(i, each) for i, each in enumerate(listed) if each.findings)
    by = f"<p>Checked with cosim {escape(cosim.__version__)}.</p>"
    head = f'<head><meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style></head>'
    body = f"<h1>{escape(title)}</h1>\n{by}\n<table><tr>{heads}</tr>\n{rows}</table>\n{details}"
    return f'<!DOCTYPE html>\n<html lang="en">{head}\n<body>\n{body}</body></html>\n'


def _row(i: int, fmu: CheckedFmu) -> str:
    counts = Counter(finding.severity for finding in fmu.findings)
    name = escape(fmu.path.name)
    cells = [f'<a href="#fmu{i}">{name}</a>' if fmu.findings else name]
    texts = (
        fmu.model,
        fmu.tool,
        fmu.version,
        ", ".join(fmu.kinds),
        ", ".join(fmu.platforms),
        fmu.experiments,
    )
    cells += [escape(text) for text in texts]
    numbers = "".join(f'<td class="number">{counts[severity] or ""}</td>' for severity in SEVERITIES)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}{numbers}</tr>\n"


def _details(i: int, fmu: CheckedFmu) -> str:
    rows = "".join(
        f'<tr><td style="color: {COLORS[f.severity]}">{f.severity}</td><td>{escape(f.where)}</td>'
        f"<td>{escape(' '.join(f.text.split()))}</td></tr>\n"
        for f in fmu.findings
    )
    return f'<h2 id="fmu{i}">{escape(fmu.path.name)}</h2>\n<table>{rows}</table>\n'
