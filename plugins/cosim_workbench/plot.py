"""Pictures of results."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import cosim
from cosim.kit import check_folder, quote, replaced_file
from cosim_workbench.figure import new_figure, save_figure
from cosim_workbench.interactive_plot import interactive_page
from cosim_workbench.optional_library import import_optional
from cosim_workbench.plot_names import literal, pretty_unit
from cosim_workbench.plot_plan import PlotLine, PlotPanel, PlotPlan, plot_plan

PICTURES = (".png", ".svg", ".pdf")
WIDTH, PANEL_HEIGHT, NAME_WIDTH, NAME_HEIGHT, ROW_HEIGHT, NOTE_HEIGHT = 8.0, 2.2, 1.8, 0.2, 0.17, 0.16
"""Inches; a column of names beside the panels makes the picture wider."""
LEGEND = 8
"""Names that fit above a panel; more of them are beside it, in columns of up to twice as many."""
LETTERS_ABOVE = 108
"""Letters in a row of names above a panel."""
NOTE_LENGTH = 118
"""Letters in a line below the panels."""
MOST_EVENT_LINES = 40
"""Lines across the panels at times of events: more would hide the curves."""
FRAME_HEIGHT, NOTE_MARGIN = 0.6, 0.08
"""Inches: title and time axis; space above notes."""
DASHED = (0, (4, 3))


class Plot(cosim.ResultSink):
    """Signals over time below the model's name; those of one unit share a panel.

    Named signals are all drawn. Where none are named, `plot_plan` chooses.
    """

    suffixes: ClassVar[tuple[str, ...]] = (*PICTURES, ".html")

    def write(self, result: cosim.Result, path: Path, signals: Sequence[str] = ()) -> Path:
        """Draw to a file; its ending says what kind. HTML is a page to zoom and read values off."""
        check_plot(path, self.suffixes)
        if path.suffix.lower() == ".html":
            page = interactive_page(plot_plan(result, signals))
            with replaced_file(path) as draft:
                draft.write_text(page, "utf-8")
            return path
        return save_figure(self.show(result, signals), path)

    def show(self, result: cosim.Result, signals: Sequence[str] = ()) -> Any:
        """The figure (`matplotlib.figure.Figure`)."""
        require_matplotlib()
        figure, _ = draw_panels(plot_plan(result, signals))
        return figure

    def draw(self, result: cosim.Result, signals: Sequence[str], axes: Any) -> Any:
        """Draw into axes of the user's, all signals in the one panel; returns the axes."""
        if not hasattr(axes, "plot"):
            raise cosim.ModelError.of("ax", f"is {quote(axes)}, needs matplotlib axes: ax=plt.gca()")
        plan = plot_plan(result, signals)
        lines = [line for panel in plan.panels for line in panel.lines]
        several = len(plan.panels) > 1
        for line, color in zip(lines, _colors(len(lines)), strict=True):
            unit = result.unit(line.name)
            name = f"{line.label} in {pretty_unit(unit)}" if several and unit != "1" else line.label
            _draw_line(axes, plan, line, literal(name), color)
        if not several and plan.panels:
            axes.set_ylabel(literal(plan.panels[0].label))
        axes.set_xlabel("time in s")
        if lines:
            axes.legend(fontsize="small")
        return axes


def draw_panels(plan: PlotPlan) -> tuple[Any, list[Any]]:
    """The figure of a plan, and the axes of its panels; those of the marks are not among them."""
    notes = [
        line for note in plan.notes for line in textwrap.wrap(note, NOTE_LENGTH, subsequent_indent="    ")
    ]
    figure, axes = _lay_out(plan, len(notes))
    panels = axes[: len(plan.panels)]
    for axis, panel in zip(panels, plan.panels, strict=True):
        _draw_panel(axis, plan, panel)
    if plan.marks:
        _draw_marks(axes[-1], plan)
        _draw_event_lines(panels, plan)
    axes[-1].set_xlabel("time in s")
    figure.suptitle(literal(plan.title))
    if notes:
        text, bottom = literal("\n".join(notes)), 0.04 / figure.get_size_inches()[1]
        figure.text(0.012, bottom, text, fontsize="x-small", color="0.35", va="bottom")
    return figure, panels


def _lay_out(plan: PlotPlan, notes: int) -> tuple[Any, list[Any]]:
    """An empty figure with room for lines of notes, and its axes: of the panels, then of the marks."""
    legend_columns = max((_legend_columns(len(panel.lines)) for panel in plan.panels), default=0)
    above = [_rows_above(panel.label, [line.label for line in panel.lines]) for panel in plan.panels]
    rows = [PANEL_HEIGHT + NAME_HEIGHT * count for count in above]
    if plan.marks:
        rows.append(ROW_HEIGHT * len(plan.marks))
    below = NOTE_HEIGHT * notes + NOTE_MARGIN * bool(notes)
    width, height = WIDTH + NAME_WIDTH * legend_columns, sum(rows) + FRAME_HEIGHT + below
    figure = new_figure(width, height)
    figure.get_layout_engine().set(rect=(0.0, below / height, 1.0, 1.0 - below / height))
    options: dict[str, Any] = {"sharex": True, "squeeze": False, "height_ratios": rows}
    return figure, list(figure.subplots(len(rows), 1, **options)[:, 0])


def _draw_line(axis: Any, plan: PlotPlan, line: PlotLine, label: str, color: Any) -> None:
    style = DASHED if line.dashed else "-"
    axis.plot(plan.time, line.values, label=label, linewidth=1.2, color=color, linestyle=style)


def _draw_panel(axis: Any, plan: PlotPlan, panel: PlotPanel) -> None:
    """The signals of one unit."""
    for line, color in zip(panel.lines, _colors(len(panel.lines)), strict=True):
        _draw_line(axis, plan, line, literal(line.label), color)
    axis.set_ylabel(literal(panel.label))
    axis.yaxis.set_offset_position("right")  # "1e-6": on the left it lies on the names
    axis.grid(True, alpha=0.3)
    _legend(axis, panel.label, [line.label for line in panel.lines])


def _draw_event_lines(panels: Sequence[Any], plan: PlotPlan) -> None:
    """A line across all panels at each event, unless there are too many."""
    event_times = [time for times in plan.marks.values() for time in times]
    if len(event_times) > MOST_EVENT_LINES:
        return
    for axis in panels:
        for time in event_times:
            axis.axvline(time, color="0.6", linewidth=0.6, zorder=0)


def _draw_marks(axis: Any, plan: PlotPlan) -> None:
    """A row for each handler, and in it a tick for each of its events."""
    places = range(len(plan.marks))
    axis.eventplot(
        list(plan.marks.values()), lineoffsets=places, linelengths=0.7, linewidths=0.8, colors="0.25"
    )
    axis.set_yticks(places, map(literal, plan.marks), fontsize="x-small")
    axis.set_ylim(len(plan.marks) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)


def _legend(axis: Any, label: str, names: Sequence[str]) -> None:
    """Names of the lines, unless the axis says the only one."""
    columns = _legend_columns(len(names))
    if columns:
        place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
        axis.legend(fontsize="x-small", ncols=columns, **place)
    elif _rows_above(label, names):
        above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.1}
        axis.legend(fontsize="small", ncols=_columns_above(names), frameon=False, **above)


def _rows_above(label: str, names: Sequence[str]) -> int:
    """Rows of names above a panel, where they cover no line; none where the axis says the only one."""
    if _legend_columns(len(names)) or (len(names) == 1 and label.startswith(names[0])):
        return 0
    return -(-len(names) // _columns_above(names))


def _columns_above(names: Sequence[str]) -> int:
    return max(1, min(len(names), LETTERS_ABOVE // (max(map(len, names)) + 7)))


def _colors(count: int) -> list[Any]:
    """The usual ten colors; where they do not suffice, as many as there are curves."""
    from matplotlib import colormaps

    if count <= 10:
        return [f"C{i}" for i in range(count)]
    return [colormaps["turbo"](0.05 + 0.9 * i / (count - 1)) for i in range(count)]


def _legend_columns(names: int) -> int:
    """Columns of a legend that does not fit into its panel; 0 when it does."""
    return 0 if names <= LEGEND else 1 + (names - 1) // (2 * LEGEND)


def check_plot(path: Path, suffixes: Sequence[str] = PICTURES) -> None:
    """Raise a `CosimError` when a picture cannot be written there; worth asking before a long run."""
    if path.suffix.lower() not in suffixes:
        raise cosim.CosimError(f"{path}: the name of a picture ends in {', '.join(suffixes)}")
    check_folder(path)
    if path.suffix.lower() != ".html":
        require_matplotlib()


def require_matplotlib() -> None:
    """Raise a `CosimError` that says how to get it when it is not there."""
    try:
        import_optional("matplotlib.figure", "a plot", "plot", "matplotlib")
    except cosim.CosimError as error:
        raise cosim.CosimError(f"{error}; one that ends in .html does not") from None
