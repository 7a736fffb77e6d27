"""The diagram of a model: its parts as boxes, with arrows between connected and attached ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

import cosim

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 180, 44, 90, 18, 12
"""Pixels: of a box, between boxes, around all."""
Corner = tuple[int, int]


def diagram(model: cosim.Model) -> str:
    """The parts as boxes, with an arrow from each part to those that use it, as SVG.

    A part uses the parts to which it is attached and those whose signals it reads; it stands to the right of
    them, unless parts use each other in a cycle.

    Parameters
    ----------
    model : Model
        A model whose values name other parts by text, as after `Model.from_dict`.

    Returns
    -------
    str
        The element ``<svg>``; the same for the same model.
    """
    arrows = _arrows(model)
    columns = _columns(list(model.parts), arrows)
    corners = {
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
        _add_arrow(svg, corners[source], corners[target])
    for name, corner in corners.items():
        _add_box(svg, name, type(model.parts[name]).__name__, corner)
    return tostring(svg, "unicode")


def _add_arrow(svg: Element, source: Corner, target: Corner) -> None:
    """Draw an arrow from the right side of a box to the left side of another, level at both ends."""
    (x1, y1), (x2, y2) = source, target
    x1, y1, y2 = x1 + WIDTH, y1 + HEIGHT // 2, y2 + HEIGHT // 2
    reach = max(40, abs(x2 - x1) // 2)
    path = f"M{x1},{y1} C{x1 + reach},{y1} {x2 - reach},{y2} {x2},{y2}"
    SubElement(svg, "path", {"d": path, "fill": "none", "stroke": "#555", "marker-end": "url(#tip)"})


def _add_box(svg: Element, name: str, kind: str, corner: Corner) -> None:
    """A box with the name of a part and, below, what it is."""
    x, y = corner
    box = {"x": str(x), "y": str(y), "width": str(WIDTH), "height": str(HEIGHT), "rx": "6"}
    SubElement(svg, "rect", {**box, "fill": "#eef3fa", "stroke": "#456"})
    _text(svg, name, x + WIDTH // 2, y + 19, {"font-size": "13", "font-weight": "bold"})
    _text(svg, kind, x + WIDTH // 2, y + 35, {"font-size": "11", "fill": "#555"})


_TIP = {"id": "tip", "markerWidth": "8", "markerHeight": "8", "refX": "8", "refY": "4", "orient": "auto"}


def _text(svg: Element, text: str, x: int, y: int, style: Mapping[str, str]) -> None:
    shown = text if len(text) <= 24 else f"{text[:23]}…"
    SubElement(svg, "text", {"x": str(x), "y": str(y), "text-anchor": "middle", **style}).text = shown


def _arrows(model: cosim.Model) -> list[tuple[str, str]]:
    """The pairs of parts with an arrow between them: connections and attachments, each pair once."""
    pairs = dict.fromkeys((part_of(source), part_of(target)) for source, target, *_ in model.connections)
    pairs |= {(used, name): None for name, part in model.parts.items() for used in attached_to(part)}
    return [(a, b) for a, b in pairs if a in model.parts and b in model.parts and a != b]


def attached_to(part: cosim.Component) -> list[str]:
    """Names of the parts to which a part is attached."""
    names: list[str] = []
    for declaration in part.declarations.values():
        attached = part.values.given.get(declaration.name)
        if declaration.kind == "attachment" and attached is not None:
            names += map(part_of, attached if isinstance(attached, list) else [attached])
    return list(dict.fromkeys(names))


def part_of(part: str | cosim.Component) -> str:
    """The name of the part in a path: ``hinge`` of ``hinge.q[0]``."""
    path = part.name if isinstance(part, cosim.Component) else part
    return path.partition(".")[0].partition("[")[0]


def _columns(names: Sequence[str], arrows: Sequence[tuple[str, str]]) -> list[list[str]]:
    """The names by column: each is one column to the right of the last name that it uses.

    Arrows that close a cycle do not count. The depth-first search has an explicit stack, since chains of
    parts may be longer than the recursion limit of Python.
    """
    uses: dict[str, list[str]] = {name: [] for name in names}
    for source, target in arrows:
        uses[target].append(source)
    depth: dict[str, int] = {}
    for first in names:
        stack = [(first, iter(uses[first]))]
        on_stack = {first}
        while stack:
            name, sources = stack[-1]
            following = next((n for n in sources if n not in depth and n not in on_stack), None)
            if following is None:
                depth[name] = max((depth[n] + 1 for n in uses[name] if n in depth), default=0)
                on_stack.discard(name)
                stack.pop()
            else:
                on_stack.add(following)
                stack.append((following, iter(uses[following])))
    columns: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in names:
        columns[depth[name]].append(name)
    return columns
