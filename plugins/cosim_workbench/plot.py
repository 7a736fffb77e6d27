"""Pictures of results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cosim
from cosim_workbench.atomic_file import replaced_file

WIDTH, PANEL_HEIGHT, NAME_WIDTH = 8.0, 2.6, 1.8
"""Inches; a column of names beside the panels makes the picture wider."""
NAMED = 4
"""Signals that are text, in the line below a picture."""
LEGEND = 8
"""Names that fit into a panel; more of them stand beside it, in columns of up to twice as many."""


class Plot(cosim.ResultSink):
    """Signals over time below the model's name; those of one unit share a panel, with it at the axis.

    Text is not drawn; a line below the picture names what is.
    """

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

        texts = _some([name for name, values in result.columns().items() if values.dtype == object])
        panels: dict[str, list[str]] = {}
        columns = result.numbers()
        for name in columns:
            panels.setdefault(result.unit(name), []).append(name)
        if not panels:
            has = f"all signals are text ({texts})" if texts else "the result has no signals but the time"
            raise cosim.CosimError(f"nothing to draw: {has}")
        beside = max(map(_columns_beside, panels.values()))
        size = (WIDTH + NAME_WIDTH * beside, PANEL_HEIGHT * len(panels) + 0.6)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for panel, (unit, names) in zip(axes, panels.items(), strict=True):
            colors = _colors(len(names))
            for name, color in zip(names, colors, strict=True):
                panel.plot(result.time, columns[name], label=name, linewidth=1.2, color=color)
            panel.set_ylabel(unit if unit != "1" else names[0] if len(names) == 1 else "[1]")
            panel.grid(True, alpha=0.3)
            columns_beside = _columns_beside(names)
            if columns_beside:
                place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
                panel.legend(fontsize="x-small", ncols=columns_beside, **place)
            else:
                panel.legend(fontsize="small", loc="best")
        axes[-1].set_xlabel("time in s" + (f"\nnot drawn, since it is text: {texts}" if texts else ""))
        figure.suptitle(str(result.statistics.get("model", "")))
        return figure


def _some(names: list[str]) -> str:
    """The first names of a list, in a line."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _colors(count: int) -> list[Any]:
    """The usual ten colors; where they do not suffice, as many as there are curves."""
    from matplotlib import colormaps

    if count <= 10:
        return [f"C{i}" for i in range(count)]
    return [colormaps["turbo"](0.05 + 0.9 * i / (count - 1)) for i in range(count)]


def _columns_beside(names: list[str]) -> int:
    """Columns of a legend that does not fit into its panel; 0 when it does."""
    return 0 if len(names) <= LEGEND else 1 + (len(names) - 1) // (2 * LEGEND)


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
