"""The sentences of a second opinion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

from cosim_workbench.agreement import MOST_DIGITS, Agreement
from cosim_workbench.wording import counted

WORST = 3
"""Signals that a verdict names."""


class Compared(Protocol):
    """What a verdict is about: runs of one model, and how far they agree (`RunComparison`)."""

    runs: list[Any]
    set_aside: list[Any]
    agreements: list[Agreement]
    expected: float

    @property
    def failed(self) -> Sequence[Any]: ...
    @property
    def event_differences(self) -> Sequence[Any]: ...
    @property
    def events_of_moved_starts(self) -> Sequence[Any]: ...
    @property
    def nearly_at_once(self) -> Sequence[tuple[float, str, str]]: ...
    @property
    def doubtful(self) -> Sequence[Agreement]: ...
    @property
    def outcome(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    def thresholds_crossed(self, run: Any) -> Any: ...


def outcome_of(comparison: Compared) -> str:
    """Whether it is "confirmed", "not confirmed" or "sensitive"."""
    if comparison.failed or not comparison.agreements or comparison.event_differences:
        return "not confirmed"
    doubtful = comparison.doubtful
    if any(agreement.standing != "sensitive" for agreement in doubtful):
        return "not confirmed"
    if doubtful or comparison.events_of_moved_starts or comparison.nearly_at_once:
        return "sensitive"
    return "confirmed"


def verdict_of(comparison: Compared) -> str:
    """The verdict of the other runs about the first one, in a sentence."""
    if comparison.failed:
        return f"Not confirmed: {', '.join(run.name for run in comparison.failed)} failed."
    if not comparison.agreements:
        return (
            "Not confirmed: nothing to compare: no signal was recorded, or the runs have no times in common."
        )
    if comparison.outcome == "confirmed":
        return _confirmed(comparison.agreements)
    reasons = []
    if comparison.event_differences:
        reasons.append(str(comparison.event_differences[0]))
    off = [a for a in comparison.doubtful if a.standing != "sensitive"]
    if off:
        odd = {a.odd for a in off} - {""}
        odd_run = f"; the odd one out is: {', '.join(sorted(odd))}" if odd else ""
        some = f"{len(off)} of {counted(len(comparison.agreements), 'signal')}"
        verb = "is" if len(off) == 1 else "are"
        promise = f"{comparison.expected:.1f} are promised"
        reasons.append(f"{some} {verb} in doubt: {_named(off)}; {promise}{odd_run}")
    reasons += _sensitive(comparison)
    return f"Not confirmed: {'; '.join(reasons)}."


def _confirmed(agreements: Sequence[Agreement]) -> str:
    counting = [a for a in agreements if a.standing in ("agrees", "grows", "zero at the end")]
    least = min((_least(a) for a in counting), default=MOST_DIGITS)
    sentence = f"All signals agree to {least:.1f} digits at least"
    at_zero = [a for a in agreements if a.standing == "zero at the end"]
    if at_zero:
        values = [f"{a.signal} (below {_most(a):.1g})" for a in at_zero[:WORST]]
        more = f" and {len(at_zero) - WORST} more" if len(at_zero) > WORST else ""
        sentence += f"; only that they are small is known at the end of {', '.join(values)}{more}"
    rounding = [a.signal for a in agreements if a.standing == "at rounding level"]
    if rounding:
        more = f" and {len(rounding) - WORST} more" if len(rounding) > WORST else ""
        sentence += f"; at rounding level: {', '.join(rounding[:WORST])}{more}"
    growth = max((a.growth for a in agreements if a.standing == "grows"), default=0.0)
    if growth:
        sentence += f"; the problem itself multiplies errors by {growth:.2g}"
    return f"{sentence}."


def _sensitive(comparison: Compared) -> list[str]:
    """Sentences about signals and events that are sensitive to the start."""
    reasons = []
    if comparison.events_of_moved_starts:
        reasons.append(f"sensitive: {comparison.events_of_moved_starts[0]}")
    sensitive = [a for a in comparison.doubtful if a.standing == "sensitive"]
    by_rounding = [a for a in sensitive if a.moved_by_rounding > 10.0**-comparison.expected]
    grown = [a for a in sensitive if a not in by_rounding]
    if by_rounding:
        most = max(by_rounding, key=lambda a: a.moved_by_rounding)
        far = f"{most.moved_by_rounding:.1g} of the largest value"
        far = "another value" if math.isinf(most.moved_by_rounding) else far
        cause = "the problem itself amplifies the rounding of its start (1e-16)"
        reasons.append(f"sensitive: {cause} to {far} of {most.signal}")
    if grown:
        most = max(grown, key=lambda a: a.growth)
        cause = f"the problem itself multiplies errors of its start by {most.growth:.2g}, so that"
        if math.isinf(most.growth):
            cause = "an error of an accuracy at the start changes counts or modes;"
        reasons.append(f"sensitive: {cause} {most.signal} agrees to {most.digits:.1f} digits")
    if comparison.nearly_at_once:
        time, earlier, later = comparison.nearly_at_once[0]
        times = f"{counted(len(comparison.nearly_at_once), 'time')}, first at t = {time:.9g} s"
        cause = f"{earlier} and {later} are scheduled so close that rounding decides their order"
        reasons.append(f"sensitive: {cause} ({times})")
    return reasons


def report_of(comparison: Compared) -> str:
    """Runs, their cost, signals with digits, and the verdict."""
    width = max(len(run.name) for run in [*comparison.runs, *comparison.set_aside])
    lines = []
    for run in comparison.runs:
        outcome = f"failed: {run.failure}" if run.failure else counted(run.events, "event")
        if run.start_moved_by and comparison.thresholds_crossed(run):
            beyond = ", ".join(sorted(comparison.thresholds_crossed(run)))
            outcome += f", not compared: it starts beyond the threshold of {beyond}"
        lines.append(f"{run.name:<{width}}  {run.method}, {outcome}")
    for run in comparison.set_aside:
        lines.append(f"{run.name:<{width}}  {run.method}, set aside: with a smaller tolerance it agrees")
    lines.append(_cost(comparison))
    width = max([len(a.signal) for a in comparison.agreements], default=0)
    lines += ["", f"{'signal':<{width}}  digits that agree"]
    for agreement in comparison.agreements:
        line = f"{agreement.signal:<{width}}  {agreement.digits:4.1f}"
        remarks = _remarks(agreement)
        lines.append(f"{line}  ({'; '.join(remarks)})" if remarks else line)
    return "\n".join([*lines, "", comparison.verdict])


def _cost(comparison: Compared) -> str:
    """How many further runs there were, and how long they took."""
    walls = [
        float(run.result.statistics.get("wall_time", 0.0))
        for run in [*comparison.runs, *comparison.set_aside]
    ]
    further = counted(len(walls) - 1, "further run")
    return f"{further}: {sum(walls[1:]):.2g} s, the run as given {walls[0]:.2g} s (without compiling)"


def _remarks(agreement: Agreement) -> list[str]:
    remarks = []
    if agreement.odd:
        remarks.append(f"{agreement.digits_without:.1f} without: {agreement.odd}")
    if agreement.digits < MOST_DIGITS and agreement.is_doubtful and agreement.time == agreement.time:
        remarks.append(f"worst at t = {agreement.time:.6g} s")
    if agreement.digits_at_end < agreement.digits - 1.0 and agreement.standing != "at rounding level":
        remarks.append(f"{agreement.digits_at_end:.1f} at the end, of {agreement.size_at_end:.2g}")
    if agreement.standing not in ("agrees", "differs"):
        remarks.append(agreement.standing)
    return remarks


def _least(agreement: Agreement) -> float:
    """Digits of a signal, of its largest value and at the end."""
    if agreement.standing == "zero at the end":
        return agreement.digits
    return min(agreement.digits, agreement.digits_at_end)


def _most(agreement: Agreement) -> float:
    """What a signal is below at its end, as far as the runs know."""
    return float(agreement.size_at_end)


def _named(off: Sequence[Agreement]) -> str:
    """The worst of these signals, each with its digits and where."""
    phrases = []
    for a in sorted(off, key=_least)[:WORST]:
        if a.standing == "differs at the end":
            size = f"its size at the end, {a.size_at_end:.2g}"
            phrases.append(f"{a.signal} agrees to {a.digits_at_end:.1f} digits of {size}")
        else:
            phrases.append(f"{a.signal} agrees to {a.digits:.1f} digits at t = {a.time:.6g} s")
    return ", ".join(phrases) + (f" and {len(off) - WORST} more" if len(off) > WORST else "")
