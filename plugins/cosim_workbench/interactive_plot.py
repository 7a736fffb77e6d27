"""A page of HTML with everything in it: panels to zoom and read values off, without a network."""

from __future__ import annotations

import html
import json
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from cosim_workbench.plot_plan import PlotLine, PlotPlan, Values

TEMPLATE = Path(__file__).parent / "templates" / "interactive_plot.html"
MOST_POINTS = 40_000
"""Points of a line; of a longer one, each interval gives its least and its largest value."""
DIGITS = 7


def interactive_page(plan: PlotPlan) -> str:
    """The page: HTML with the data as JSON and a script that draws them."""
    thinned = plan.time.size > MOST_POINTS
    notes = list(plan.notes)
    if thinned:
        notes.append(f"{plan.time.size} points; each line shows the extremes of {MOST_POINTS // 2} intervals")
    data = {
        "time": None if thinned else _numbers(plan.time),
        "panels": [
            {"label": panel.label, "lines": [_line(line, plan.time, thinned) for line in panel.lines]}
            for panel in plan.panels
        ],
        "marks": {name: _numbers(times) for name, times in plan.marks.items()},
        "notes": notes,
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # a "<" in a name would end the script; as an escape it is the same text for JSON
    parts = {"title": html.escape(plan.title or "results"), "data": text.replace("<", "\\u003c")}
    return re.sub(r"{{(\w+)}}", lambda match: parts[match[1]], TEMPLATE.read_text("utf-8"))


def _line(line: PlotLine, time: Values, thinned: bool) -> dict[str, Any]:
    trace: dict[str, Any] = {"name": line.label, "dashed": line.dashed}
    values = line.values
    if thinned:
        points = _extremes(values)
        trace["time"], values = _numbers(time[points]), values[points]
    return {**trace, "values": _numbers(values)}


def _extremes(values: Values) -> Any:
    """Indices of the least and the largest value of each interval, in order."""
    bounds = np.linspace(0, values.size, MOST_POINTS // 2 + 1).astype(int)
    numbers = np.nan_to_num(values, nan=0.0)
    indices = [0, values.size - 1]
    for first, end in pairwise(bounds):
        indices += [first + int(numbers[first:end].argmin()), first + int(numbers[first:end].argmax())]
    return np.unique(indices)


def _numbers(values: Values) -> list[float | None]:
    """Numbers for JSON, which knows no NaN."""
    return [float(f"{v:.{DIGITS}g}") if math.isfinite(v) else None for v in values.tolist()]
