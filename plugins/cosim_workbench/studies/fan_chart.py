"""Trajectories of many runs as a fan: the median, and bands of quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cosim
from cosim_workbench.figure import new_figure, save_figure
from cosim_workbench.plot import PANEL_HEIGHT, WIDTH, check_plot, require_matplotlib
from cosim_workbench.plot_names import axis_label, listed, literal

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
MOST_PANELS = 6
"""The largest number of panels if no signals were named."""
STILL = 1e-9
"""Signals with a smaller relative change are drawn only if they were named."""


class FanChart(cosim.ResultSink):
    """For each signal a panel: median over the runs, half of the runs, nine tenths of them.

    Where no signals are named these are the first six that move.
    """

    suffixes = (".png", ".svg", ".pdf")

    def write(self, result: Any, path: Path, names: Sequence[str] = ()) -> Path:
        """Draw an `EnsembleResult` to a file."""
        check_plot(path)
        return save_figure(self.show(result, names), path)

    def show(self, result: Any, names: Sequence[str] = ()) -> Any:
        """The figure (`matplotlib.figure.Figure`)."""
        require_matplotlib()
        if not hasattr(result, "quantiles"):
            raise cosim.CosimError("a fan chart shows many runs: pass the result of an ensemble")
        panels, left_out = _panels(result, names)
        if not panels:
            raise cosim.CosimError("nothing to draw: no signal over time was kept, or no run has ended well")
        notes = [f"Not drawn: {listed(left_out)}."] if left_out else []
        height = PANEL_HEIGHT * len(panels) + 0.6
        figure = new_figure(WIDTH, height)
        axes: Any = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for axis, panel in zip(axes, panels, strict=True):
            _draw_panel(axis, result.time, panel)
        axes[0].legend(fontsize="small", loc="best")
        figure.align_ylabels(axes)
        count = int(result.is_done.sum())
        left_out_runs = len(result) - count
        figure.suptitle(
            f"{count} runs"
            + (f" of {len(result)}; {left_out_runs} without an end are left out" if left_out_runs else "")
        )
        axes[-1].set_xlabel(literal("\n".join(["time in s", *notes])))
        return figure


class _Panel(NamedTuple):
    """A signal of which the quantiles `SHARES` are drawn, shape (shares, times)."""

    name: str
    unit: str
    quantiles: Any


def _draw_panel(axis: Any, time: Any, panel: _Panel) -> None:
    """Draw the median of a signal, and bands around it."""
    for low, alpha, label in ((0, 0.2, "5 % … 95 %"), (1, 0.4, "25 % … 75 %")):
        style: dict[str, Any] = {"color": "C0", "alpha": alpha, "linewidth": 0.0}
        axis.fill_between(time, panel.quantiles[low], panel.quantiles[-1 - low], label=label, **style)
    axis.plot(time, panel.quantiles[2], color="C0", linewidth=1.4, label="median")
    axis.set_ylabel(literal(axis_label([panel.name], panel.unit)))
    axis.grid(True, alpha=0.3)


def _panels(result: Any, names: Sequence[str]) -> tuple[list[_Panel], list[str]]:
    """The panels, and the names of signals that are not drawn; without names, the first that move."""
    panels: list[_Panel] = []
    left_out: list[str] = []
    for signal in names or result.signals:
        bands = result.quantiles(signal, SHARES)
        flat = bands.reshape(len(SHARES), len(result.time), -1)
        for i in range(flat.shape[2]):
            name = f"{signal}[{i}]" if flat.shape[2] > 1 else signal
            shown = flat[:, :, i]
            if not np.isfinite(shown).any():
                continue
            if not names and (len(panels) == MOST_PANELS or _is_still(shown)):
                left_out.append(name)
            else:
                panels.append(_Panel(name, result.units[signal], shown))
    return panels, left_out


def _is_still(values: Any) -> bool:
    """Whether values change only by rounding."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return high - low <= STILL * max(abs(low), abs(high))
