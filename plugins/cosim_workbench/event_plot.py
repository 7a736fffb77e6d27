"""Pictures of results with the events in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import cosim
from cosim_workbench.plot import PICTURES, Plot, draw_panels, require_matplotlib
from cosim_workbench.plot_names import literal
from cosim_workbench.plot_plan import plot_plan

MOST_HANDLERS = 9
"""Handlers whose lines have a color of their own; those of others are grey."""
MOST_LINES = 2000
"""If there are more lines, only every n-th one is drawn, since they cannot be told apart."""


class EventPlot(Plot):
    """Signals over time as `Plot` draws them, with a line at each event: a color for each handler."""

    suffixes = PICTURES

    def show(self, result: cosim.Result, signals: Sequence[str] = ()) -> Any:
        """The figure (`matplotlib.figure.Figure`)."""
        require_matplotlib()
        figure, panels = draw_panels(replace(plot_plan(result, signals), marks={}))
        times: dict[str, list[float]] = {}
        for event in result.events:
            times.setdefault(event.handler, []).append(event.time)
        handlers = sorted(times, key=lambda handler: len(times[handler]))
        stride = 1 + sum(map(len, times.values())) // MOST_LINES
        for place, handler in enumerate(handlers):
            color = f"C{9 - place}" if place < MOST_HANDLERS else "0.7"
            for panel in panels:
                for time in times[handler][::stride]:
                    panel.axvline(time, color=color, linewidth=0.8, alpha=0.6, zorder=0)
            if place < MOST_HANDLERS:
                label = f"{len(times[handler])} × {handler}"
                panels[0].plot([], [], color=color, linewidth=0.8, label=literal(label))
        if handlers:
            panels[0].legend(fontsize="small", loc="best")
        return figure
