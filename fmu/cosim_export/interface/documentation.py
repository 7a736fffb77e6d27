"""The folder ``documentation`` of an FMU, its diagram and its icon."""

from __future__ import annotations

import functools
import math
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from xml.etree.ElementTree import Element, SubElement, tostring

import cosim
from cosim_export.interface.fmu_interface import FmuInterface
from cosim_export.interface.fmu_variable import FmuVariable

SIZE = 96
PAPER, INK, CURVE = (255, 255, 255), (43, 74, 120), (200, 80, 40)


@functools.cache
def icon() -> bytes:
    """A PNG of 96 x 96 pixels, the same each time."""
    rows = b"".join(b"\0" + bytes(c for x in range(SIZE) for c in _color(x, y)) for y in range(SIZE))
    head = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _color(x: int, y: int) -> tuple[int, int, int]:
    border = min(x, y, SIZE - 1 - x, SIZE - 1 - y)
    if 3 <= border < 6:
        return INK
    inside = (x - 14) / (SIZE - 28)
    if not 0.0 <= inside <= 1.0:
        return PAPER
    phase, decay = 5.0 * math.pi * inside, math.exp(-2.5 * inside)
    middle = SIZE / 2 - 28.0 * decay * math.cos(phase)
    slope = 28.0 * decay * (5.0 * math.pi * math.sin(phase) + 2.5 * math.cos(phase)) / (SIZE - 28)
    distance = abs(y - middle) / math.hypot(1.0, slope)
    if distance <= 2.0:
        return CURVE
    return INK if abs(y - SIZE / 2) < 1.0 else PAPER


WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 180, 44, 90, 18, 12


def diagram(model: cosim.Model) -> str:
    """The parts as boxes, an arrow from each to those that are connected or attached to it, as SVG.

    Parts stand to the right of what they use, as far as there is no circle.

    Parameters
    ----------
    model : Model
        Its values name other parts by text, as after `Model.from_dict`.

    Returns
    -------
    str
        The element ``<svg>``; the same for the same model.
    """
    arrows = _arrows(model)
    columns = _columns(list(model.parts), arrows)
    place = {
        name: (MARGIN + x * (WIDTH + GAP_X), MARGIN + y * (HEIGHT + GAP_Y))
        for x, column in enumerate(columns)
        for y, name in enumerate(column)
    }
    width = 2 * MARGIN + len(columns) * (WIDTH + GAP_X) - GAP_X
    height = 2 * MARGIN + max(map(len, columns), default=0) * (HEIGHT + GAP_Y) - GAP_Y
    size = {"width": str(width), "height": str(height), "viewBox": f"0 0 {width} {height}"}
    svg = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size, "font-family": "sans-serif"})
    tip = SubElement(SubElement(svg, "defs"), "marker", _TIP)
    SubElement(tip, "path", {"d": "M0,0 L8,4 L0,8 z", "fill": "#555"})
    for source, target in arrows:
        (x1, y1), (x2, y2) = place[source], place[target]
        x1, y1, y2 = x1 + WIDTH, y1 + HEIGHT // 2, y2 + HEIGHT // 2
        reach = max(40, abs(x2 - x1) // 2)
        path = f"M{x1},{y1} C{x1 + reach},{y1} {x2 - reach},{y2} {x2},{y2}"
        line = {"d": path, "fill": "none", "stroke": "#555", "marker-end": "url(#tip)"}
        SubElement(svg, "path", line)
    for name, (x, y) in place.items():
        box = {"x": str(x), "y": str(y), "width": str(WIDTH), "height": str(HEIGHT), "rx": "6"}
        SubElement(svg, "rect", {**box, "fill": "#eef3fa", "stroke": "#456"})
        _text(svg, name, x + WIDTH // 2, y + 19, {"font-size": "13", "font-weight": "bold"})
        _text(
            svg, type(model.parts[name]).__name__, x + WIDTH // 2, y + 35, {"font-size": "11", "fill": "#555"}
        )
    return tostring(svg, "unicode")


_TIP = {"id": "tip", "markerWidth": "8", "markerHeight": "8", "refX": "8", "refY": "4", "orient": "auto"}


def _text(svg: Element, text: str, x: int, y: int, style: Mapping[str, str]) -> None:
    shown = text if len(text) <= 24 else f"{text[:23]}…"
    SubElement(svg, "text", {"x": str(x), "y": str(y), "text-anchor": "middle", **style}).text = shown


def _arrows(model: cosim.Model) -> list[tuple[str, str]]:
    """From what is used to what uses it: connections and attachments, each pair once."""
    pairs = dict.fromkeys((part_of(source), part_of(target)) for source, target, *_ in model.connections)
    pairs |= {(used, name): None for name, part in model.parts.items() for used in attached_to(part)}
    return [(a, b) for a, b in pairs if a in model.parts and b in model.parts and a != b]


def attached_to(part: cosim.Component) -> list[str]:
    """Names of the parts that a part was attached to."""
    names: list[str] = []
    for declaration in part.declarations.values():
        attached = part.values.given.get(declaration.name)
        if declaration.kind == "attachment" and attached is not None:
            names += map(part_of, attached if isinstance(attached, list) else [attached])
    return list(dict.fromkeys(names))


def part_of(part: str | cosim.Component) -> str:
    """Name of a part that is named, without what follows it: ``hinge`` of ``hinge.q[0]``."""
    path = part.name if isinstance(part, cosim.Component) else part
    return path.partition(".")[0].partition("[")[0]


def _columns(names: Sequence[str], arrows: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Each name one column to the right of the last that it uses; arrows that close a circle do not count."""
    used_by: dict[str, list[str]] = {name: [] for name in names}
    for source, target in arrows:
        used_by[target].append(source)
    depth: dict[str, int] = {}
    for first in names:
        stack = [(first, iter(used_by[first]))]
        open_ones = {first}
        while stack:
            name, sources = stack[-1]
            follow = next((n for n in sources if n not in depth and n not in open_ones), None)
            if follow is None:
                depth[name] = max((depth[n] + 1 for n in used_by[name] if n in depth), default=0)
                open_ones.discard(name)
                stack.pop()
            else:
                open_ones.add(follow)
                stack.append((follow, iter(used_by[follow])))
    columns: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in names:
        columns[depth[name]].append(name)
    return columns


ENTRY = "documentation/licenses/license.txt"
NEEDS = "documentation/externalDependencies.txt"


def license_entry(about: Mapping[str, str], licences: Iterable[str]) -> dict[str, bytes]:
    """The file with which the licences of an FMU begin: what the model's is, and where the others are.

    Parameters
    ----------
    about : mapping of str to str
        Of the model: "license", "copyright", "author".
    licences : iterable of str
        Names in the archive of the licences of the software in it.

    References
    ----------
    Functional Mock-up Interface 3.0.2, section 2.5; 2.0.5, section 2.3.
    """
    lines = [f"The model: {about.get('license') or 'its author names no licence.'}"]
    lines += [f"{name.capitalize()}: {about[name]}" for name in ("author", "copyright") if about.get(name)]
    folder = ENTRY.rpartition("/")[0] + "/"
    listed = [f"  {name.removeprefix(folder)}" for name in sorted(licences)]
    lines += ["", "The software in this FMU comes under these licences:", *listed] if listed else []
    return {ENTRY: "\n".join([*lines, ""]).encode()}


def external_dependencies(needs: Iterable[str]) -> dict[str, bytes]:
    """The file that says what has to be installed where the FMU runs."""
    return {NEEDS: "\n\n".join([*needs, ""]).rstrip("\n").encode() + b"\n"}


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
    interface: FmuInterface,
    kind: str,
    needs: Iterable[str],
    resumes_exactly: bool,
) -> str:
    """A page without references to other files: what the FMU is, its diagram, variables, licence, needs.

    Parameters
    ----------
    model : Model or None
        Of which the diagram is; None for no diagram.
    interface : FmuInterface
    kind : str
        Version and kinds of FMI.
    needs : iterable of str
        Paragraphs, without mark-up: what it needs where it runs.
    resumes_exactly : bool
        Whether the integrator goes on from a saved state to the same bits.

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
    head = "".join(f"<th>{escape(text)}</th>" for text in heads) if any(heads) else ""
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>\n" for row in rows)
    return f"<table>{f'<tr>{head}</tr>' if head else ''}\n{body}</table>"


def _cell(text: str) -> str:
    try:
        float(text)
    except ValueError:
        return f"<td>{escape(text)}</td>"
    return f'<td class="number">{escape(text)}</td>'


def _row(variable: FmuVariable, interface: FmuInterface) -> tuple[str, ...]:
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


def _settings(interface: FmuInterface, kind: str, resumes_exactly: bool) -> list[tuple[str, str]]:
    rows = [("Kind", kind)] + ([("Integrator", interface.integrator)] if interface.integrator else [])
    rows += [(name, str(value)) for name, value in sorted(interface.integrator_options.items())]
    if interface.accuracy is not None:
        rows.append(("Accuracy, unless a tolerance is given", f"{interface.accuracy:.6g}"))
    for title, value in (("Proposed step, s", interface.step_size), ("Proposed end, s", interface.stop_time)):
        rows += [] if value is None else [(title, f"{value:.6g}")]
    bits = "the same bits" if resumes_exactly else "the same within the accuracy: the integrator starts anew"
    return [*rows, ("Saved FMU state", f"the whole state: stepping on from it gives {bits}")]


def needs_of_python(manifest: Mapping[str, object]) -> list[str]:
    """What an FMU that runs in a Python interpreter needs and carries, as `Bundle.manifest` says it."""
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
