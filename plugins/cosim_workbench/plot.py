"""Pictures of results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cosim
from cosim_workbench.atomic_file import replaced_file

WIDTH, PANEL_HEIGHT = 8.0, 2.6
"""Inches."""


class Plot(cosim.ResultSink):
    """Signals over time below the model's name; those of one unit share a panel, with it at the axis."""

    suffixes = (".png", ".svg", ".pdf")

    def write(self, result: cosim.Result, path: Path) -> Path:
        """Draw to a file; its ending says what kind."""
        check_plot(path)
        figure = self.show(result)
        with replaced_file(path) as draft:
            figure.savefig(draft, dpi=120)
        return path

    def show(self, result: cosim.Result) -> Any:
        """The figure (`matplotlib.figure.Figure`)."""
        require_matplotlib()
        from matplotlib.figure import Figure

        panels: dict[str, list[str]] = {}
        columns = result.columns()
        for name in columns:
            panels.setdefault(result.unit(name), []).append(name)
        if not panels:
            raise cosim.CosimError("nothing to draw: the result has no signals but the time")
        figure = Figure(figsize=(WIDTH, PANEL_HEIGHT * len(panels) + 0.6), layout="constrained")
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for panel, (unit, names) in zip(axes, panels.items(), strict=True):
            for name in names:
                panel.plot(result.time, columns[name], label=name, linewidth=1.2)
            panel.set_ylabel(unit if unit != "1" else names[0] if len(names) == 1 else "[1]")
            panel.grid(True, alpha=0.3)
            panel.legend(fontsize="small", loc="best", ncols=1 + (len(names) - 1) // 8)
        axes[-1].set_xlabel("time in s")
        figure.suptitle(str(result.statistics.get("model", "")))
        return figure


def check_plot(path: Path) -> None:
    """Raise a `CosimError` when a picture cannot be written there; worth asking before a long run."""
    if path.suffix.lower() not in Plot.suffixes:
        raise cosim.CosimError(f"{path}: a picture ends in {', '.join(Plot.suffixes)}")
    require_matplotlib()


def require_matplotlib() -> None:
    """Raise a `CosimError` that says how to get it when it is not there."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        text = "a plot needs matplotlib, which is not installed: pip install 'cosim-framework[plot]'"
        raise cosim.CosimError(text) from None
