"""The folder ``documentation`` of an FMU: a page, licences, and requirements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import cosim
from cosim_export.interface.diagram import diagram
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_variable import FmuVariable

LICENSE_ENTRY = "documentation/licenses/license.txt"
DEPENDENCIES = "documentation/externalDependencies.txt"


def license_entry(about: Mapping[str, str], licences: Iterable[str]) -> dict[str, bytes]:
    """The first file of the licences of an FMU: it names that of the model and lists the others.

    Parameters
    ----------
    about : mapping of str to str
        Facts of the model: "license", "copyright", "author".
    licences : iterable of str
        Names in the archive of the licences of the contained software.

    References
    ----------
    Functional Mock-up Interface 3.0.2, section 2.5; 2.0.5, section 2.3.
    """
    lines = [f"The model: {about.get('license') or 'its author names no licence.'}"]
    lines += [f"{name.capitalize()}: {about[name]}" for name in ("author", "copyright") if about.get(name)]
    folder = LICENSE_ENTRY.rpartition("/")[0] + "/"
    names = [f"  {name.removeprefix(folder)}" for name in sorted(licences)]
    lines += ["", "The software in this FMU comes under these licences:", *names] if names else []
    return {LICENSE_ENTRY: "\n".join([*lines, ""]).encode()}


def external_dependencies(needs: Iterable[str]) -> dict[str, bytes]:
    """The file that lists what must be installed where the FMU runs."""
    return {DEPENDENCIES: "\n\n".join([*needs, ""]).rstrip("\n").encode() + b"\n"}


STYLE = """
body { font-family: sans-serif; margin: 2em; max-width: 75em; color: #222 }
table { border-collapse: collapse; margin-bottom: 1.5em }
td, th { border: 1px solid #bbb; padding: .25em .6em; text-align: left }
th { background: #eef3fa }
td.number { text-align: right; font-variant-numeric: tabular-nums }
svg { max-width: 100% }
"""
TABLES = {
    "parameter": "Parameters",
    "input": "Inputs",
    "output": "Outputs",
    "local": "States and what else is seen",
}
HEADS = {
    "parameter": ("Name", "Value", "Unit", "From", "To", "Meaning"),
    "input": ("Name", "Start", "Unit", "From", "To", "Meaning"),
    "output": ("Name", "Unit", "Depends at once on these inputs", "Meaning"),
    "local": ("Name", "Start", "Unit", "Meaning"),
}


def documentation(
    model: cosim.Model | None,
    interface: ExportedInterface,
    kind: str,
    needs: Iterable[str],
    resumes_exactly: bool,
) -> str:
    """A page without references to other files: description, diagram, variables, licence, requirements.

    Parameters
    ----------
    model : Model or None
        The model in the diagram; None for no diagram.
    interface : ExportedInterface
    kind : str
        Version and kinds of FMI.
    needs : iterable of str
        Paragraphs, without mark-up, about the requirements where the FMU runs.
    resumes_exactly : bool
        Whether the integrator continues from a saved state with the same bits.

    Returns
    -------
    str
        HTML; the same for the same arguments.
    """
    about = interface.about
    parts = [f"<h1>{escape(interface.model_name)}</h1>"]
    if about.get("description"):
        parts.append(f"<p>{escape(about['description'])}</p>")
    origin = [
        (name.capitalize(), about[name]) for name in ("author", "version", "copyright") if about.get(name)
    ]
    parts += [_table(("", ""), origin)] if origin else []
    if model is not None:
        legend = "<p>An arrow goes from a part to each that uses it.</p>"
        parts += ["<h2>Diagram</h2>", legend, diagram(model)]
    for causality, title in TABLES.items():
        listed = interface.of(causality)
        if listed:
            rows = [_row(variable, interface) for variable in listed]
            parts += [f"<h2>{title}</h2>", _table(HEADS[causality], rows)]
    parts += ["<h2>How it runs</h2>", _table(("", ""), _settings(interface, kind, resumes_exactly))]
    parts += ["<h2>What it needs</h2>", *(f"<p>{escape(text)}</p>" for text in needs)]
    parts += ["<h2>Licence</h2>", f"<p>{escape(about.get('license') or 'The model names no licence.')}</p>"]
    parts.append("<p>The software in it is under the licences in the folder <code>licenses</code>.</p>")
    title = f"<title>{escape(interface.model_name)}</title>"
    head = f'<head><meta charset="utf-8">{title}<style>{STYLE}</style></head>'
    return f'<!DOCTYPE html>\n<html lang="en">{head}\n<body>\n' + "\n".join(parts) + "\n</body></html>\n"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in HTML; without a head if all titles are empty."""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads) if any(heads) else ""
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>\n" for row in rows)
    return f"<table>{f'<tr>{head}</tr>' if head else ''}\n{body}</table>"


def _cell(text: str) -> str:
    """A cell; numbers are aligned to the right."""
    try:
        float(text)
    except ValueError:
        return f"<td>{escape(text)}</td>"
    return f'<td class="number">{escape(text)}</td>'


def _row(variable: FmuVariable, interface: ExportedInterface) -> tuple[str, ...]:
    """The cells of a variable in the columns that `HEADS` names for its causality."""
    unit = "" if variable.unit == "1" else variable.unit
    start = "" if variable.start is None else str(variable.start)
    if isinstance(variable.start, float):
        start = f"{variable.start:.6g}"
    if variable.items and isinstance(variable.start, int):
        start = f"{start} ({variable.items[variable.start - 1]})"
    if variable.causality == "output":
        inputs = {v.name for v in interface.of("input")}
        direct = [name for name in variable.dependencies if name in inputs]
        return variable.name, unit, ", ".join(direct) or "none", variable.description
    if variable.causality == "local":
        return variable.name, start, unit, variable.description
    bounds = ("" if b is None else f"{b:.6g}" for b in (variable.lower_bound, variable.maximum))
    return variable.name, start, unit, *bounds, variable.description


def _settings(interface: ExportedInterface, kind: str, resumes_exactly: bool) -> list[tuple[str, str]]:
    """Titles and values that tell how the FMU runs."""
    rows = [("Kind", kind)] + ([("Integrator", interface.integrator)] if interface.integrator else [])
    rows += [(name, str(value)) for name, value in sorted(interface.integrator_options.items())]
    if interface.accuracy is not None:
        rows.append(("Accuracy, unless a tolerance is given", f"{interface.accuracy:.6g}"))
    for title, value in (("Proposed step, s", interface.step_size), ("Proposed end, s", interface.stop_time)):
        rows += [] if value is None else [(title, f"{value:.6g}")]
    bits = "the same bits" if resumes_exactly else "the same within the accuracy: the integrator starts anew"
    return [*rows, ("Saved FMU state", f"the whole state: stepping on from it gives {bits}")]


def needs_of_python(manifest: Mapping[str, object]) -> list[str]:
    """Paragraphs about requirements and contents of an FMU that runs Python, from `Bundle.manifest`."""
    python, requires, packages = manifest["python"], manifest["requires"], manifest["packages"]
    assert isinstance(python, list) and isinstance(requires, list) and isinstance(packages, list)
    needs = [f"Python {'.'.join(map(str, python))} or newer"]
    needs += [f"{row['distribution']} (exported with {row['version']})" for row in requires]
    carried = [f"{row['name']} {row['version']}".strip() for row in packages]
    return [
        f"On the machine that runs it: {'; '.join(needs)}. llvmlite makes it fast and changes no bit.",
        f"It carries: {', '.join(carried)}.",
        "For Simulink, Dymola and other tools that are no Python programs take the native FMU of the model "
        "(cosim export --native), which needs no Python.",
    ]
