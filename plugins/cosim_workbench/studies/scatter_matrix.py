"""A matrix of scatter plots."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

import cosim
from cosim_workbench.atomic_file import replaced_file
from cosim_workbench.figure import new_figure
from cosim_workbench.plot import check_plot, require_matplotlib

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
        At most twelve.
    path : path-like, optional
        Where to write the picture; without it the figure is returned.
    """
    if path is not None:
        check_plot(Path(path))
    require_matplotlib()
    from matplotlib.ticker import MaxNLocator

    columns = {name: table[name].astype(np.float64) for name in names}
    columns = {name: values for name, values in columns.items() if np.isfinite(values).any()}
    if not columns:
        raise cosim.CosimError("nothing to draw: no column has numbers")
    if len(columns) > MOST:
        raise cosim.CosimError(f"{len(columns)} columns are too many for one picture: name at most {MOST}")
    count = len(columns)
    figure = new_figure(PANEL * count + 1.0, PANEL * count + 0.6)
    axes: Any = figure.subplots(count, count, squeeze=False)
    failed = table["status"] == "failed"
    alpha = min(1.0, max(0.05, (MANY / max(len(table), 1)) ** 0.5))
    style = {"s": 9.0, "alpha": 0.8 * alpha, "linewidths": 0.0}
    for i, (below, y) in enumerate(columns.items()):
        for j, (beside, x) in enumerate(columns.items()):
            panel = axes[i, j]
            if i == j:
                panel.hist(x[np.isfinite(x)], bins=min(40, max(5, int(len(table) ** 0.5))), color="C0")
                panel.set_yticks([])
            else:
                panel.scatter(x[~failed], y[~failed], color="C0", **style)
                if failed.any() and beside in table.inputs and below in table.inputs:
                    panel.scatter(x[failed], y[failed], color="C3", marker="x", s=14.0)
            panel.tick_params(labelsize="x-small")
            panel.xaxis.set_major_locator(MaxNLocator(3))
            panel.ticklabel_format(axis="both" if i != j else "x", scilimits=(-3, 4))
            panel.xaxis.get_offset_text().set_visible(i == count - 1)
            panel.yaxis.get_offset_text().set_visible(j == 0)
            if i == count - 1:
                panel.set_xlabel(_label(table, beside), fontsize="small")
            else:
                panel.set_xticklabels([])
            if j == 0:
                panel.set_ylabel(_label(table, below), fontsize="small")
            elif i != j:
                panel.set_yticklabels([])
    if path is None:
        return figure
    with replaced_file(Path(path)) as draft:
        figure.savefig(draft, dpi=120)
    return Path(path)


def _label(table: Any, name: str) -> str:
    unit = table.units.get(name, "1")
    return name if unit == "1" else f"{name}\nin {unit}"
