"""Draw the moving picture of the landing page, docs/images/four_bar_moving.svg: ``python moving_picture.py``.

One turn of the crank of ``examples/four_bar``, from a run of it: an SVG file whose bodies move by style sheet
rules. It needs no script, follows a dark or light page, and rests where a reader wants no motion.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

import cosim

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "images" / "four_bar_moving.svg"
SPEED = 6.0
"""Speed of the crank in the model file, rad/s."""
FRAMES = 72
"""Poses in one turn; between them the browser interpolates."""
SHOWN = 5.0
"""Seconds that a turn takes in the picture."""
SCALE = 165.0
"""Points a metre."""
CRANK = 0.4
ROCKER = 0.8
"""Lengths in the model file, m; the coupler and the ground are 1 m long."""
PIVOT = (110.0, 205.0)
"""The place of the crank's pin in the picture."""
PLOT = (460.0, 62.0, 225.0, 190.0)
"""The graph of the motor's torque: left, top, width and height."""
TRACED = (0.5, 0.3)
"""The point of the coupler whose path is drawn, m from the crank's end, along the coupler and across."""
STYLE = """
text { font: 15px system-ui, sans-serif; fill: #3c4650; }
.ground, .axis { stroke: #8a949e; fill: none; }
.path { stroke: #c8553d; fill: none; stroke-width: 1.5; stroke-dasharray: 3 3; }
.torque { stroke: #0b6e99; fill: none; stroke-width: 2; }
.bar { stroke-linecap: round; stroke-width: 14; fill: none; }
.arm { stroke: #0b6e99; stroke-width: 2; fill: #0b6e9922; }
.crank { stroke: #c8553d; } .coupler { stroke: #0b6e99; } .rocker { stroke: #5d8a3c; }
.pin { fill: #ffffff; stroke: #3c4650; stroke-width: 2; } .mark { fill: #c8553d; }
@media (prefers-color-scheme: dark) {
  text { fill: #d3d9df; } .torque, .coupler, .arm { stroke: #4aa8d0; } .crank, .path { stroke: #e07a63; }
  .rocker { stroke: #86b865; } .pin { fill: #1e2129; stroke: #d3d9df; } .mark { fill: #e07a63; }
}
"""


def run() -> cosim.Result:
    """One turn of the linkage, at ``FRAMES + 1`` times."""
    turn = 2.0 * math.pi / SPEED
    signals = ["crank_joint.angle", "coupler_joint.angle", "rocker_joint.angle", "motor.force_on_coordinate"]
    model = cosim.Model.from_file(ROOT / "examples" / "four_bar" / "four_bar.toml")
    return model.simulate(until=turn, output_interval=turn / FRAMES, accuracy=1e-8, signals=signals)


class Graph(NamedTuple):
    """The curve of the torque, in points of the picture.

    Attributes
    ----------
    across, down : ndarray, shape (times,)
        Where its points lie.
    zero : float
        How far down no torque is.
    low, high : int, N.m
        What stands at the ends of its axis.
    """

    across: np.ndarray
    down: np.ndarray
    zero: float
    low: int
    high: int


def draw(result: cosim.Result) -> str:
    """The picture of a run of one turn, as the text of an SVG file.

    Parameters
    ----------
    result : cosim.Result
        A run of ``FRAMES + 1`` times: angles in rad, the motor's torque in N.m.
    """
    crank = result["crank_joint.angle"]
    coupler = crank + result["coupler_joint.angle"]
    tip = _points(PIVOT, CRANK, crank)
    along, across = TRACED
    traced = tip + (
        _points((0.0, 0.0), along, coupler) + _points((0.0, 0.0), across, coupler + math.pi / 2.0)
    )
    graph = _graph(result)
    poses = {
        "crank": [f"translate({_shift(PIVOT)}) {_rotated(a)}" for a in crank],
        "coupler": [f"translate({_shift(p)}) {_rotated(a)}" for p, a in zip(tip, coupler, strict=True)],
        "rocker": [
            f"translate({_shift((PIVOT[0] + SCALE, PIVOT[1]))}) {_rotated(a)}"
            for a in result["rocker_joint.angle"]
        ],
        "mark": [f"translate({_shift(p)})" for p in zip(graph.across, graph.down, strict=True)],
    }
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 288" role="img">',
        "<title>A four-bar linkage turns, and the torque that its motor needs</title>",
        *_style(poses),
        *_linkage_elements(traced),
        *_graph_elements(graph),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _graph(result: cosim.Result) -> Graph:
    """The torque of a run in the place of the graph."""
    left, top, width, height = PLOT
    torque = result["motor.force_on_coordinate"]
    low, high = math.floor(torque.min()), math.ceil(torque.max())
    return Graph(
        across=left + width * result.time / result.time[-1],
        down=top + height * (high - torque) / (high - low),
        zero=top + height * high / (high - low),
        low=low,
        high=high,
    )


def _style(poses: Mapping[str, list[str]]) -> list[str]:
    """The style sheet: colours, and an animation for each part that moves."""
    at_rest = FRAMES // 8
    rules = [
        f"#{name} {{ transform: {pose[at_rest]}; animation: {name} {SHOWN:g}s linear infinite; }}\n"
        f"@keyframes {name} {{ {_frames(pose)} }}"
        for name, pose in poses.items()
    ]
    moved = ", ".join(f"#{name}" for name in poses)
    return [
        f"<style>{STYLE}{chr(10).join(rules)}",
        f"@media (prefers-reduced-motion: reduce) {{ {moved} {{ animation: none; }} }}</style>",
    ]


def _linkage_elements(traced: np.ndarray) -> list[str]:
    """The bars, their pins, and the path of the traced point."""
    x, y = PIVOT
    along, across = TRACED
    corner = f"{SCALE * along:g} {-SCALE * across:g}"
    return [
        *(
            f'<path class="ground" d="M{at - 22:g} {y + 22:g}h44m-34 0L{at:g} {y:g}l12 22"/>'
            for at in (x, x + SCALE)
        ),
        f'<path class="path" d="{_line(traced)}Z"/>',
        f'<g id="rocker"><path class="bar rocker" d="M0 0H{ROCKER * SCALE:g}"/></g>',
        f'<g id="coupler"><path class="arm" d="M0 0L{corner}L{SCALE:g} 0"/>'
        f'<path class="bar coupler" d="M0 0H{SCALE:g}"/>'
        f'<circle class="mark" r="5" transform="translate({corner})"/>'
        f'<circle class="pin" r="5" cx="{SCALE:g}"/></g>',
        f'<g id="crank"><path class="bar crank" d="M0 0H{CRANK * SCALE:g}"/>'
        f'<circle class="pin" r="5"/><circle class="pin" r="5" cx="{CRANK * SCALE:g}"/></g>',
        f'<circle class="pin" r="5" cx="{x + SCALE:g}" cy="{y:g}"/>',
    ]


def _graph_elements(graph: Graph) -> list[str]:
    """Axes, curve and numbers of the graph, and the mark that runs along it."""
    left, top, width, height = PLOT
    zero = graph.zero
    return [
        f'<path class="axis" d="M{left:g} {top:g}v{height:g}M{left:g} {zero:.1f}h{width:g}"/>',
        f'<path class="torque" d="{_line(zip(graph.across, graph.down, strict=True))}"/>',
        '<circle id="mark" class="mark" r="6"/>',
        f'<text x="{left - 8:g}" y="{top + 5:g}" text-anchor="end">{graph.high}</text>',
        f'<text x="{left - 8:g}" y="{zero + 5:.1f}" text-anchor="end">0</text>',
        f'<text x="{left - 8:g}" y="{top + height + 5:g}" text-anchor="end">{graph.low}</text>',
        f'<text x="{left:g}" y="{top - 20:g}">torque of its motor, N·m</text>',
    ]


def _points(origin: tuple[float, float], length: float, angle: np.ndarray) -> np.ndarray:
    """Ends of a bar, in points of the picture, y down."""
    return np.asarray(origin) + SCALE * length * np.stack([np.cos(angle), -np.sin(angle)], axis=1)


def _line(points: Iterable[tuple[float, float]]) -> str:
    """A path through points."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _rotated(angle: float) -> str:
    """A rotation in a style sheet, which counts clockwise."""
    return f"rotate({-np.degrees(angle):.2f}deg)"


def _shift(point: Iterable[float]) -> str:
    """The arguments of a translation, in a style sheet."""
    return ", ".join(f"{value:.2f}px" for value in point)


def _frames(values: list[str]) -> str:
    """The rules of an animation with a pose at each frame."""
    return " ".join(f"{100.0 * i / FRAMES:.4g}% {{ transform: {value}; }}" for i, value in enumerate(values))


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    target.write_text(draw(run()), "utf-8")
