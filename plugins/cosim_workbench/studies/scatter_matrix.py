"""A matrix of scatter plots."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

import cosim
from cosim_workbench.figure import new_figure, save_figure
from cosim_workbench.plot import check_plot, require_matplotlib
from cosim_workbench.plot_names import literal, pretty_unit
from cosim_workbench.wording import counted

PANEL = 1.9
"""Inches."""
MOST = 12
MANY = 2000
"""Points that are drawn as dots with a rim; more of them are fainter."""


def scatter_matrix(table: Any, names: Sequence[str], path: str | PathLike[str] | None = None) -> Any:
    """Columns of a study, each against each, with histograms on the diagonal; failed points are crosses.

    Parameters
    ----------
    table : StudyTable
    names : sequence of str
        At most twelve; the first twelve that vary unless given.
    path : path_like, optional
        The file of the picture; without it the figure is returned.
    """
    if path is not None:
        check_plot(Path(path))
    require_matplotlib()

    shown = names or [*table.inputs, *table.objectives]
    columns = {name: table[name].astype(np.float64) for name in shown}
    columns = {name: values for name, values in columns.items() if np.isfinite(values).any()}
    if not names:  # those that say something
        varying = [name for name, values in columns.items() if np.nanmax(values) > np.nanmin(values)]
        columns = {name: columns[name] for name in varying[:MOST]} or columns
    if not columns:
        raise cosim.CosimError("nothing to draw: no column has numbers")
    if len(columns) > MOST:
        raise cosim.CosimError(f"{len(columns)} columns are too many for one picture: name at most {MOST}")
    count = len(columns)
    figure = new_figure(PANEL * count + 1.0, PANEL * count + 0.9)
    axes: Any = figure.subplots(count, count, squeeze=False, sharex="col")
    failed = table["status"] == "failed"
    alpha = min(1.0, max(0.05, (MANY / max(len(table), 1)) ** 0.5))
    dots = {"color": "C0", "s": 9.0, "alpha": 0.8 * alpha, "linewidths": 0.0}
    crosses = {"color": "C3", "marker": "x", "s": 14.0, "linewidths": 0.8}
    for i, (below, y) in enumerate(columns.items()):
        for j, (beside, x) in enumerate(columns.items()):
            panel = axes[i, j]
            if i == j:
                bins = min(40, max(5, int(len(table) ** 0.5)))
                panel.hist(x[np.isfinite(x)], bins=bins, color="C0")
                if beside in table.inputs:
                    on_axis = {"transform": panel.get_xaxis_transform(), "clip_on": False, "zorder": 3}
                    panel.scatter(x[failed], np.zeros(int(failed.sum())), **crosses, **on_axis)
            else:
                panel.scatter(x[~failed], y[~failed], **dots)
                if beside in table.inputs and below in table.inputs:
                    panel.scatter(x[failed], y[failed], **crosses)
            _scale(panel, has_y=i != j, left=j == 0, right=i == 0 and j == count - 1)
            if i == count - 1:
                panel.set_xlabel(_label(table, beside), fontsize="small")
            if j == 0:
                panel.set_ylabel(_label(table, below), fontsize="small")
    figure.align_ylabels(axes[:, 0])
    more = f"; {int(failed.sum())} failed (×)" if failed.any() else ""
    figure.suptitle(f"{counted(len(table), 'point')}{more}", fontsize="medium")
    return figure if path is None else save_figure(figure, Path(path))


def _scale(panel: Any, *, has_y: bool, left: bool, right: bool) -> None:
    """Draw a few plain numbers at the left and below; the first row has its numbers at the right."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    panel.tick_params(labelsize="x-small")
    panel.xaxis.set_major_locator(MaxNLocator(3))
    panel.xaxis.set_major_formatter(FuncFormatter(_plain))
    if not has_y:  # a histogram
        panel.set_yticks([])
        return
    panel.yaxis.set_major_locator(MaxNLocator(4))
    panel.yaxis.set_major_formatter(FuncFormatter(_plain))
    panel.tick_params(axis="y", labelleft=left, labelright=right, right=right, left=not right)


def _plain(value: float, place: int) -> str:
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")


def _label(table: Any, name: str) -> str:
    unit = pretty_unit(table.units.get(name, "1"))
    return literal(f"{name}\nin {unit}" if unit else name)
