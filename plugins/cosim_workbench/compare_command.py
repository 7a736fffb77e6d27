"""``cosim compare A B``."""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

import cosim
from cosim_workbench.figure import new_figure, save_figure
from cosim_workbench.plot import check_plot, require_matplotlib
from cosim_workbench.plot_names import literal
from cosim_workbench.result_comparison import (
    Deviation,
    compare_results,
    converted,
    have_common_time,
    spans_differ,
)
from cosim_workbench.wording import counted

DIFFERENT = 1
MOST_LINES = 20


class CompareCommand(cosim.Command):
    """Compare results with a reference: exit status 0 when they agree, 1 when they do not."""

    name: ClassVar[str] = "compare"
    known_as: ClassVar[tuple[str, ...]] = ("diff",)
    summary: ClassVar[str] = "compare results with a reference, within tolerances of time and value"
    examples = (
        ("cosim compare reference.csv mount.csv", ""),
        ('cosim compare reference.csv mount.csv --tol 1e-3 --time-tol "1 ms" --signals "engine.*"', ""),
    )
    failure: ClassVar[str] = "the results differ"

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Two files, the band, the signals."""
        parser.add_argument("reference", type=Path, help="results: .csv of any tool, .parquet")
        parser.add_argument("other", type=Path, help="results to compare with the reference")
        parser.add_argument(
            "--tol",
            metavar="NUMBER",
            default="1e-6",
            help="allowed difference, relative to a signal's largest magnitude (1e-6)",
        )
        parser.add_argument(
            "--absolute",
            metavar="NUMBER",
            default="0",
            help="allowed difference in addition, in the signal's unit (0)",
        )
        parser.add_argument(
            "--time-tol", metavar="TIME", default="0 s", help='allowed shift in time: "1 ms" (0 s)'
        )
        parser.add_argument(
            "--signals", metavar="PATTERN", action="append", help='signals of the reference: "plant.*"'
        )
        parser.add_argument("--plot", metavar="FILE", type=Path, help="a picture of the first difference")
        parser.add_argument("-q", "--quiet", action="store_true", help="print only differences")

    def run(self, arguments: argparse.Namespace) -> int:
        """Compare, print, draw."""
        tolerance = _number(arguments.tol, "1", "--tol")
        absolute = _number(arguments.absolute, "1", "--absolute")
        time_tolerance = _number(arguments.time_tol, "s", "--time-tol")
        if arguments.plot is not None:
            check_plot(arguments.plot)
        reference, other = cosim.read_result(arguments.reference), cosim.read_result(arguments.other)
        if arguments.signals:
            reference = reference.select(arguments.signals)
        if not reference.names:
            raise cosim.CosimError(f"{arguments.reference}: has no signals, so nothing can be compared")
        deviations = compare_results(reference, other, tolerance, absolute, time_tolerance)
        span = spans_differ(reference, other, time_tolerance)
        different = [deviation for deviation in deviations if not deviation.is_within]
        agree = not (different or span)
        self.report(agree=agree, span=span or None, signals={d.name: _reported(d) for d in deviations})
        for deviation in different[:MOST_LINES]:
            print(_line(deviation, reference.unit(deviation.name)))
        if len(different) > MOST_LINES:
            print(f"and {counted(len(different) - MOST_LINES, 'signal')} more")
        if span:
            print(span)
        if not arguments.quiet and (different or have_common_time(reference, other)):
            print(_verdict(deviations, different))
        drawn = next((deviation for deviation in different if not deviation.text), None)
        if arguments.plot is not None and drawn is not None:
            _draw(arguments.plot, drawn, reference, other, arguments)
            if not arguments.quiet:
                print(f"plot → {arguments.plot}")
        return 0 if agree else DIFFERENT


def _reported(deviation: Deviation) -> dict[str, Any]:
    return {**asdict(deviation), "is_within": deviation.is_within}


def _line(deviation: Deviation, unit: str) -> str:
    if deviation.text:
        return f"{deviation.name}: {deviation.text}"
    shown = "" if unit == "1" else f" {unit}"
    values = f"{deviation.found:.9g}{shown} instead of {deviation.expected:.9g}{shown}"
    distance = f"at most {deviation.largest:.3g} off, {deviation.allowed:.3g} allowed"
    return f"{deviation.name}: differs from t = {deviation.time:.9g} s on: {values}; {distance}"


def _verdict(deviations: list[Deviation], different: list[Deviation]) -> str:
    if different:
        return f"{len(different)} of {counted(len(deviations), 'signal')} differ{'s' * (len(different) == 1)}"
    farthest = max(deviations, key=lambda d: d.largest / d.allowed if d.allowed > 0.0 else 0.0, default=None)
    text = f"{counted(len(deviations), 'signal')} agree{'s' * (len(deviations) == 1)}"
    if farthest is not None and farthest.largest > 0.0:
        difference = f"{farthest.largest:.3g} off of {farthest.allowed:.3g} allowed"
        difference = f"{farthest.largest:.3g} off of {farthest.allowed:.3g} allowed"
        text += f"; the farthest is {farthest.name}, {difference}"
    return text


def _draw(
    path: Path,
    deviation: Deviation,
    reference: cosim.Result,
    other: cosim.Result,
    arguments: argparse.Namespace,
) -> None:
    """Draw the signal that leaves the band first: over the whole run, and near the time when it does."""
    require_matplotlib()
    name, unit = deviation.name, reference.unit(deviation.name)
    figure = new_figure(8.0, 6.0)
    panels: Any = figure.subplots(2, 1)
    span = float(reference.time[-1] - reference.time[0])
    for panel, width in zip(panels, (math.inf, 0.02 * span), strict=True):
        for result, file, style in ((reference, arguments.reference, "-"), (other, arguments.other, "--")):
            near = _near(result.time, deviation.time, width)
            values = converted(result[name], result.unit(name), unit)
            panel.plot(result.time[near], values[near], style, label=literal(str(file)), linewidth=1.2)
        values, times = reference[name], reference.time
        near = _near(times, deviation.time, width)
        low, high = values[near] - deviation.allowed, values[near] + deviation.allowed
        panel.fill_between(times[near], low, high, alpha=0.2, label="band")
        panel.axvline(deviation.time, color="0.5", linewidth=0.8)
        panel.set_ylabel(literal(name if unit == "1" else f"{name} in {unit}"))
        panel.grid(True, alpha=0.3)
    panels[0].legend(fontsize="small")
    panels[1].set_xlabel("time in s")
    save_figure(figure, path)


def _near(times: Any, time: float, width: float) -> Any:
    """The points that are near a time, and their neighbors, so that lines reach the borders."""
    near = abs(times - time) <= width
    widened = near.copy()
    widened[1:] |= near[:-1]
    widened[:-1] |= near[1:]
    return widened


def _number(text: str, unit: str, option: str) -> float:
    try:
        number = cosim.parse_quantity(text, unit)
    except cosim.UnitError as error:
        raise cosim.UnitError(f"{option}: {error}") from None
    if not (math.isfinite(number) and number >= 0.0):
        raise cosim.CosimError(f"{option}: is {text}, needs a number from 0 on")
    return number
