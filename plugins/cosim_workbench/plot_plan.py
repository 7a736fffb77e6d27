"""The plan of a picture of results for any plotting library: panels of lines, marks of events, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_workbench.plot_names import axis_label, listed, pretty_unit

MOST_PANELS, MOST_LINES = 4, 8
"""Panels and lines of a picture for which no signals were named; lines are those of a panel."""
MOST_ROWS, MOST_MARKS = 5, 400
"""Handlers whose events are marked, and events of one handler: more would look like a bar."""
MOST_COMPARED = 64
"""Lines of a panel with which a signal is compared."""
EQUAL = 1e-9
"""Two signals that differ by a smaller part of the range are drawn as one line with two names."""
CLOSE, FLAT = 0.008, 0.05
"""Parts of a panel's range: lines that are closer hide each other; lines with a smaller range are flat."""
BALANCE = ("kinetic", "potential", "dissipated", "supplied", "total", "residual")
RESIDUAL = "energy.residual"
LEAST_BALANCE = 3
"""The least number of energies of a system of which a balance is drawn."""
FAR = 2.0
"""An energy whose start exceeds the largest change in a balance by this factor is drawn from its start."""
BALANCE_KEY = ("J", 1.0)
SIMILAR = 8.0
"""Ratio of the ranges of signals without a unit that share a panel."""

Values = NDArray[np.float64]
Groups = dict[tuple[str, float], dict[str, Values]]
"""Columns by name, of each panel by its unit and size (see `_key`)."""


@dataclass(frozen=True)
class PlotLine:
    """A line of a panel, with the first name of its signal and the text in the legend."""

    name: str
    label: str
    values: Values
    dashed: bool = False


@dataclass(frozen=True)
class PlotPanel:
    """Lines of one unit, and the label of the axis."""

    label: str
    lines: tuple[PlotLine, ...]


@dataclass(frozen=True)
class PlotPlan:
    """The content of a picture.

    Attributes
    ----------
    title : str
        The name of the model.
    time : ndarray, shape (n,), s
    panels : tuple of PlotPanel
    marks : dict of str to ndarray
        Times of events, by what the row is called.
    notes : tuple of str
        The signals that are not drawn, and the reasons.
    """

    title: str
    time: Values
    panels: tuple[PlotPanel, ...]
    marks: dict[str, Values]
    notes: tuple[str, ...]


def plot_plan(result: cosim.Result, signals: Sequence[str] = ()) -> PlotPlan:
    """The plan of a picture of a result.

    Named signals are all drawn. Where none are named: at most four panels of at most eight lines, in the
    order in which they were recorded (outputs and measures first); of energies the balance, with its
    residual, and not those of the parts. Signals of one unit share a panel; of those without one, as in CSV
    files, those of a similar size. Constant signals, and those that find no place, are in notes.

    Parameters
    ----------
    result : Result
    signals : sequence of str
        Names and patterns.

    Raises
    ------
    CosimError
        When there is nothing to draw.
    """
    chosen = result.select(signals) if signals else result
    columns = chosen.numbers()
    texts = listed(name for name in chosen.columns() if name not in columns)
    if not columns:
        has = f"all signals are text ({texts})" if texts else "the result has no signals but the time"
        raise cosim.CosimError(f"nothing to draw: {has}")
    notes = [f"text, not drawn: {texts}"] * bool(texts)
    named = {name for name in columns if {name, name.rpartition("[")[0]} & set(signals)}
    moving = _moving(result, columns, named, notes)
    balance = [f"energy.{kind}" for kind in BALANCE if f"energy.{kind}" in moving]
    if len(balance) < LEAST_BALANCE:
        balance = []
    if balance and not signals:
        moving = _without_energies_of_parts(result, moving, notes)
    groups = _by_panel(result, moving, balance)
    if not signals:
        groups = _most_telling(groups, notes)
    panels = []
    for (unit, _), group in groups.items():
        lines, undrawn = _lines(group, None if signals else MOST_LINES)
        if undrawn:
            notes.append(f"not drawn in {pretty_unit(unit) or 'no unit'}: {listed(undrawn)}")
        panels.append(PlotPanel(axis_label([line.name for line in lines], unit), tuple(lines)))
    marks = _marks(result, notes)
    title = str(result.statistics.get("model", ""))
    return PlotPlan(title, result.time, tuple(panels), marks, tuple(notes))


def _moving(
    result: cosim.Result, columns: Mapping[str, Values], named: set[str], notes: list[str]
) -> dict[str, Values]:
    """The columns that change or were named, or all where none does; the constant ones are noted."""
    constant = {
        name: float(values[0])
        for name, values in columns.items()
        if name not in named and values.size and np.ptp(values) == 0.0
    }
    if len(constant) == len(columns):
        return dict(columns)
    if constant:
        units = {name: pretty_unit(result.unit(name)) for name in constant}
        notes.append(f"constant: {listed(f'{n} = {v:.4g} {units[n]}'.strip() for n, v in constant.items())}")
    return {name: values for name, values in columns.items() if name not in constant}


def _without_energies_of_parts(
    result: cosim.Result, moving: dict[str, Values], notes: list[str]
) -> dict[str, Values]:
    """The columns without the energies of single parts, which the balance contains; these are noted."""
    # files without units have 1
    parts = [n for n in moving if n.endswith("_energy") and result.unit(n) in ("J", "1")]
    if parts:
        notes.append(f"energies of parts, together in the balance: {listed(parts)}")
    return {name: values for name, values in moving.items() if name not in parts}


def _by_panel(result: cosim.Result, moving: Mapping[str, Values], balance: Sequence[str]) -> Groups:
    """The columns of each panel; those of the balance stand in its own order."""
    groups: Groups = {}
    for name, values in moving.items():
        if name in balance:
            groups[BALANCE_KEY] = {kind: moving[kind] for kind in balance}
        else:
            groups.setdefault(_key(result.unit(name), values, groups), {})[name] = values
    return groups


def _key(unit: str, values: Values, groups: Groups) -> tuple[str, float]:
    """The key of a signal's panel: the unit, and without one the size of the first signal there."""
    if unit != "1":
        return unit, 0.0
    size = _range(values)
    near = (k for k in groups if k[0] == "1" and (not size or k[1] / SIMILAR <= size <= k[1] * SIMILAR))
    return next(near, ("1", size))


def _most_telling(groups: Groups, notes: list[str]) -> Groups:
    """The first panels, and the balance as the last one. The others are noted."""
    unbalanced = [key for key in groups if key != BALANCE_KEY]
    most_panels = MOST_PANELS - (BALANCE_KEY in groups)
    counts: dict[str, int] = {}
    for unit, size in unbalanced[most_panels:]:
        counts[unit] = counts.get(unit, 0) + len(groups[unit, size])
    omitted = ", ".join(f"{count} in {pretty_unit(unit) or 'no unit'}" for unit, count in counts.items())
    if omitted:
        notes.append(f"not drawn: {omitted}; name the signals to see them")
    shown = unbalanced[:most_panels] + [BALANCE_KEY] * (BALANCE_KEY in groups)
    return {key: groups[key] for key in shown}


def _offsets(balance: Mapping[str, Values]) -> dict[str, float]:
    """The start values of energies that are so large that changes would not be visible, J."""
    change = max(map(_range, balance.values()))
    starts = {name: float(values[0]) for name, values in balance.items() if values.size}
    return {name: start for name, start in starts.items() if abs(start) > FAR * change}


def _lines(group: Mapping[str, Values], most_lines: int | None) -> tuple[list[PlotLine], list[str]]:
    """Lines of a panel, and undrawn names. Equal signals share a line; one that hides another is dashed."""
    shifts = _offsets(group) if set(group) <= {f"energy.{kind}" for kind in BALANCE} else {}
    group = {name: values - shifts.get(name, 0.0) for name, values in group.items()}
    equal_names, undrawn = _equal_signals(group, most_lines)
    low = min((np.nanmin(group[n]) for n in equal_names if np.isfinite(group[n]).any()), default=0.0)
    high = max((np.nanmax(group[n]) for n in equal_names if np.isfinite(group[n]).any()), default=0.0)
    lines: list[PlotLine] = []
    for name, names in equal_names.items():
        values, label = group[name], " = ".join(names[:3]) + (" = …" if len(names) > 3 else "")
        if name == RESIDUAL:
            label += f" (at most {np.nanmax(np.abs(values), initial=0.0):.2g} J)"
        if name in shifts:
            label += f" {'−' if shifts[name] > 0.0 else '+'} {abs(shifts[name]):.4g} J"
        least_range = 0.0 if name == RESIDUAL else FLAT  # a residual is flat, and may lie on a shifted total
        earlier = lines[:MOST_COMPARED]
        below = next((line for line in earlier if _hides(values, line.values, high - low, least_range)), None)
        if below is not None:
            label += f" ≈ {below.name.removeprefix('energy.')}"
        lines.append(PlotLine(name, label, values, below is not None))
    return lines, undrawn


def _equal_signals(
    group: Mapping[str, Values], most_lines: int | None
) -> tuple[dict[str, list[str]], list[str]]:
    """Names of equal signals by the first of them, and the names of signals for which no line is left."""
    names: dict[str, list[str]] = {}
    undrawn = []
    for name, values in group.items():
        drawn_names = () if name == RESIDUAL else islice(names, MOST_COMPARED)
        equal = (drawn for drawn in drawn_names if _gap(values, group[drawn]) <= EQUAL * _range(values))
        first = next(equal, None)
        if first is not None:
            names[first].append(name)
        elif most_lines is None or len(names) < most_lines:
            names[name] = [name]
        else:
            undrawn.append(name)
    return names, undrawn


def _hides(values: Values, other: Values, height: float, least_range: float) -> bool:
    """Whether one of two lines hides the other, if one is not flatter than a part of the panel."""
    return max(_range(values), _range(other)) > least_range * height and _gap(values, other) < CLOSE * height


def _gap(first: Values, second: Values) -> float:
    gap = np.abs(first - second)
    return float(gap.max()) if gap.size and np.isfinite(gap).all() else np.inf


def _range(values: Values) -> float:
    finite = values[np.isfinite(values)]
    return float(np.ptp(finite)) if finite.size else 0.0


def _marks(result: cosim.Result, notes: list[str]) -> dict[str, Values]:
    """Times of events by handler, those with the fewest events first; handlers without marks are noted."""
    times: dict[str, list[float]] = {}
    for event in result.events:
        if event.cause.name in ("TRIGGERED", "SCHEDULED", "SIGNALED"):
            times.setdefault(event.handler, []).append(event.time)
    few = [n for n in sorted(times, key=lambda n: len(times[n])) if len(times[n]) <= MOST_MARKS][:MOST_ROWS]
    unmarked = [f"{len(times[name])} × {name}" for name in times if name not in few]
    if unmarked:
        notes.append(f"events, not marked: {listed(unmarked)}")
    return {f"{len(times[name])} × {name}": np.array(times[name]) for name in few}
