"""Results as pictures."""

from __future__ import annotations

import importlib.util
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_workbench.replace_file import replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, PANEL_HEIGHT, MARGIN = 9.0, 2.4, 0.9  # inches
STYLES = ("-", "--", "-.", ":")
COLORS, ENTRIES_IN_A_COLUMN = 10, 10
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Plot(cosim.ResultSink):
    """Draws signals over time with matplotlib: a panel for each unit, one line for each scalar.

    The elements of a vector signal are lines of their own. An instant with an event, which a result may hold
    twice, is a vertical piece of the line.

    Raises
    ------
    CosimError
        When matplotlib is not installed, or there is nothing to draw.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".png", ".svg", ".pdf")

    def write(self, result: cosim.Result, path: Path) -> Path:
        """Write a picture in the format that the ending of the path says; no window is opened."""
        need_matplotlib()
        path = Path(path)
        if path.suffix.lower() not in self.suffixes:
            raise cosim.CosimError(f"{path}: a picture ends with one of {', '.join(self.suffixes)}")
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure()
        FigureCanvasAgg(figure)  # for a PNG; those for SVG and PDF are chosen by the format
        draw(result, figure)
        format = path.suffix.lower().removeprefix(".")
        stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format)
        picture = io.BytesIO()
        with matplotlib.rc_context({"svg.hashsalt": "cosim"}):  # the same result, the same bytes
            figure.savefig(picture, format=format, metadata=stamp)
        return replace_file(path, [picture.getvalue()])

    def show(self, result: cosim.Result) -> Figure:
        """A figure of pyplot, which a notebook and ``matplotlib.pyplot.show()`` display."""
        need_matplotlib()
        from matplotlib import pyplot

        return draw(result, pyplot.figure())


def need_matplotlib() -> None:
    """Raise an error that says how to install matplotlib when it is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        raise cosim.CosimError(
            "a plot needs matplotlib, which is not installed: pip install 'cosim-framework[plot]'"
        )


def draw(result: cosim.Result, figure: Any) -> Any:
    """Draw all signals of a result into an empty figure of matplotlib, and return the figure."""
    panels: dict[str, dict[str, NDArray[np.float64]]] = {}
    for name, values in result.columns().items():
        panels.setdefault(result.unit(name), {})[name] = values
    if not panels or not len(result):
        raise cosim.CosimError("nothing to plot: the result has no signals, or no points")
    figure.set_size_inches(WIDTH, MARGIN + PANEL_HEIGHT * len(panels))
    figure.set_layout_engine("constrained")
    rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (unit, lines) in zip(rows, panels.items(), strict=True):
        for index, (name, values) in enumerate(lines.items()):
            style = STYLES[index // COLORS % len(STYLES)]
            axes.plot(result.time, values, style, color=f"C{index % COLORS}", linewidth=1.2, label=name)
        axes.set_ylabel(axis_label(list(lines), unit))
        axes.grid(True, alpha=0.3)
        columns = 1 + (len(lines) - 1) // ENTRIES_IN_A_COLUMN
        beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.3}
        axes.legend(**beside, fontsize="small", ncols=columns, frameon=False)
    rows[-1].set_xlabel("time [s]")
    title = str(result.statistics.get("model", ""))
    figure.suptitle(" – ".join(text for text in (title, result.message) if text) or _title_of(panels))
    return figure


def axis_label(names: list[str], unit: str) -> str:
    """What the vertical axis of a panel says.

    >>> axis_label(["felt"], "m/s"), axis_label(["a", "b"], "kg.m2"), axis_label(["a", "b"], "1")
    ('felt [m/s]', '[kg·m²]', '[1]')
    """
    shown = re.sub(r"(?<=[A-Za-z])-?\d+", lambda match: match[0].translate(SUPERSCRIPTS), unit)
    return f"{names[0] if len(names) == 1 else ''} [{shown.replace('.', '·')}]".lstrip()


def _title_of(panels: dict[str, dict[str, NDArray[np.float64]]]) -> str:
    """For a result that does not say which model it is of."""
    names = [name for lines in panels.values() for name in lines]
    return ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
