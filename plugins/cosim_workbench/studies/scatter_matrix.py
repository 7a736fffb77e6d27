"""A matrix of scatter plots."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_workbench.figure import new_figure, save_figure
from cosim_workbench.plot import check_plot, require_matplotlib
from cosim_workbench.plot_names import literal, pretty_unit
from cosim_workbench.wording import counted

PANEL = 1.9
"""Width of a panel, inches."""
MOST_COLUMNS = 12
"""Columns of a picture: panels of more would be too small to read."""
MANY = 2000
"""The largest number of points with dark dots; if there are more, dots are fainter."""
CROSSES = {"color": "C3", "marker": "x", "s": 14.0, "linewidths": 0.8}
"""The look of failed points."""


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

    columns = _shown_columns(table, names)
    count = len(columns)
    figure = new_figure(PANEL * count + 1.0, PANEL * count + 0.9)
    axes: Any = figure.subplots(count, count, squeeze=False, sharex="col")
    for i, vertical in enumerate(columns):
        for j, horizontal in enumerate(columns):
            panel = axes[i, j]
            if i == j:
                _draw_histogram(panel, table, vertical)
            else:
                _draw_points(panel, table, horizontal, vertical)
            _scale(panel, has_y=i != j, left=j == 0, right=i == 0 and j == count - 1)
            if i == count - 1:
                panel.set_xlabel(_label(table, horizontal), fontsize="small")
            if j == 0:
                panel.set_ylabel(_label(table, vertical), fontsize="small")
    figure.align_ylabels(axes[:, 0])
    failed = int((table["status"] == "failed").sum())
    failures = f"; {failed} failed (×)" if failed else ""
    figure.suptitle(f"{counted(len(table), 'point')}{failures}", fontsize="medium")
    return figure if path is None else save_figure(figure, Path(path))


def _shown_columns(table: Any, names: Sequence[str]) -> list[str]:
    """The columns with numbers among those that are named; of all of them the first that vary.

    Raises
    ------
    CosimError
        There are none, or too many for a picture.
    """
    columns = {name: _numbers(table, name) for name in names or [*table.inputs, *table.objectives]}
    shown = [name for name, values in columns.items() if np.isfinite(values).any()]
    if not names:
        varying = [name for name in shown if np.nanmax(columns[name]) > np.nanmin(columns[name])]
        shown = varying[:MOST_COLUMNS] or shown
    if not shown:
        raise cosim.CosimError("nothing to draw: no column has numbers")
    if len(shown) > MOST_COLUMNS:
        raise cosim.CosimError(
            f"{len(shown)} columns are too many for one picture: name at most {MOST_COLUMNS}"
        )
    return shown


def _numbers(table: Any, name: str) -> NDArray[np.float64]:
    numbers: NDArray[np.float64] = table[name].astype(np.float64)
    return numbers


def _draw_histogram(panel: Any, table: Any, name: str) -> None:
    """Draw how often the values of a column occur, and the inputs of failed points on the axis."""
    values, failed = _numbers(table, name), table["status"] == "failed"
    panel.hist(values[np.isfinite(values)], bins=min(40, max(5, int(len(table) ** 0.5))), color="C0")
    if name in table.inputs:
        on_axis = {"transform": panel.get_xaxis_transform(), "clip_on": False, "zorder": 3}
        panel.scatter(values[failed], np.zeros(int(failed.sum())), **CROSSES, **on_axis)


def _draw_points(panel: Any, table: Any, horizontal: str, vertical: str) -> None:
    """Draw a column against another one; of two inputs failed points, too."""
    x, y, failed = _numbers(table, horizontal), _numbers(table, vertical), table["status"] == "failed"
    alpha = min(1.0, max(0.05, (MANY / max(len(table), 1)) ** 0.5))
    panel.scatter(x[~failed], y[~failed], color="C0", s=9.0, alpha=0.8 * alpha, linewidths=0.0)
    if horizontal in table.inputs and vertical in table.inputs:
        panel.scatter(x[failed], y[failed], **CROSSES)


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
