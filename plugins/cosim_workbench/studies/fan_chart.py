"""Trajectories of many runs as a fan: the median, and bands of quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cosim
from cosim_workbench.atomic_file import replaced_file
from cosim_workbench.figure import new_figure
from cosim_workbench.plot import PANEL_HEIGHT, WIDTH, check_plot, require_matplotlib

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


class FanChart(cosim.ResultSink):
    """For each signal a panel: median over the runs, half of the runs, nine tenths of them."""

    suffixes = (".png", ".svg", ".pdf")

    def write(self, result: Any, path: Path, names: Sequence[str] = ()) -> Path:
        """Draw an `EnsembleResult` to a file."""
        check_plot(path)
        figure = self.show(result, names)
        with replaced_file(path) as draft:
            figure.savefig(draft, dpi=120)
        return path

    def show(self, result: Any, names: Sequence[str] = ()) -> Any:
        """The figure (`matplotlib.figure.Figure`)."""
        require_matplotlib()
        if not hasattr(result, "quantiles"):
            raise cosim.CosimError("a fan chart shows many runs: give the result of an ensemble")
        panels: list[tuple[str, str, Any]] = []
        for name in names or result.signals:
            bands = result.quantiles(name, SHARES)
            flat = bands.reshape(len(SHARES), len(result.time), -1)
            several = flat.shape[2] > 1
            for i in range(flat.shape[2]):
                panels.append((f"{name}[{i}]" if several else name, result.units[name], flat[:, :, i]))
        figure = new_figure(WIDTH, PANEL_HEIGHT * len(panels) + 0.6)
        axes: Any = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for panel, (name, unit, bands) in zip(axes, panels, strict=True):
            for low, alpha, label in ((0, 0.2, "5 % … 95 %"), (1, 0.4, "25 % … 75 %")):
                style: dict[str, Any] = {"color": "C0", "alpha": alpha, "linewidth": 0.0}
                panel.fill_between(result.time, bands[low], bands[-1 - low], label=label, **style)
            panel.plot(result.time, bands[2], color="C0", linewidth=1.4, label="median")
            panel.set_ylabel(name if unit == "1" else f"{name} in {unit}")
            panel.grid(True, alpha=0.3)
        axes[0].legend(fontsize="small", loc="best")
        axes[0].set_title(f"{int(result.is_done.sum())} of {len(result)} runs", fontsize="medium")
        axes[-1].set_xlabel("time in s")
        return figure
