"""The verdict of a second opinion: whether the other runs confirm the first one, and in one sentence why not.

A run is confirmed where all runs ended, had the same events, and agree about each signal to the digits that
the accuracy promises. It is "sensitive" where all that differs follows from its start, moved by rounding or
by an accuracy; otherwise it is not confirmed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from cosim_workbench.agreement import MOST_DIGITS, Agreement, Standing
from cosim_workbench.compared_runs import ComparedRuns
from cosim_workbench.wording import counted

MOST_NAMED = 3
"""Signals that a verdict names."""


def outcome_of(comparison: ComparedRuns) -> str:
    """Whether it is "confirmed", "not confirmed" or "sensitive"."""
    if comparison.failed or not comparison.agreements or comparison.event_differences:
        return "not confirmed"
    if _in_doubt(comparison):
        return "not confirmed"
    if comparison.doubtful or comparison.events_of_moved_starts or comparison.nearly_at_once:
        return "sensitive"
    return "confirmed"


def verdict_of(comparison: ComparedRuns) -> str:
    """The verdict of the other runs about the first one, in a sentence."""
    if comparison.failed:
        return f"Not confirmed: {', '.join(run.name for run in comparison.failed)} failed."
    if not comparison.agreements:
        return (
            "Not confirmed: nothing to compare: no signal was recorded, or the runs have no times in common."
        )
    if comparison.outcome == "confirmed":
        return _confirmed(comparison.agreements)
    reasons = [
        *(str(difference) for difference in comparison.event_differences[:1]),
        *_differing_signals(comparison),
        *(f"sensitive: {difference}" for difference in comparison.events_of_moved_starts[:1]),
        *_sensitive_signals(comparison),
        *_order_of_events(comparison),
    ]
    return f"Not confirmed: {'; '.join(reasons)}."


def _confirmed(agreements: Sequence[Agreement]) -> str:
    """The number of digits that all signals have, and the signals of which fewer are confirmed."""
    by_standing: dict[Standing, list[Agreement]] = {standing: [] for standing in Standing}
    for agreement in agreements:
        by_standing[agreement.standing].append(agreement)
    zero, growing = by_standing[Standing.ZERO_AT_END], by_standing[Standing.GROWS]
    with_digits = [*by_standing[Standing.AGREES], *growing, *zero]
    least = min(map(_least_digits, with_digits), default=MOST_DIGITS)
    phrases = [f"All signals agree to {least:.1f} digits at least"]
    if zero:
        ends = _listed([f"{a.signal} (below {a.size_at_end:.1g})" for a in zero])
        phrases.append(f"only that they are small is known at the end of {ends}")
    if rounding := by_standing[Standing.ROUNDING_LEVEL]:
        phrases.append(f"at rounding level: {_listed([a.signal for a in rounding])}")
    if growing:
        growth = max(a.growth for a in growing)
        phrases.append(f"the problem itself multiplies errors by {growth:.2g}")
    return f"{'; '.join(phrases)}."


def _in_doubt(comparison: ComparedRuns) -> list[Agreement]:
    """Signals that differ for another reason than their start."""
    return [a for a in comparison.doubtful if a.standing is not Standing.SENSITIVE]


def _differing_signals(comparison: ComparedRuns) -> list[str]:
    """A phrase about the signals in doubt, if there are any."""
    signals = _in_doubt(comparison)
    if not signals:
        return []
    odd = {a.odd for a in signals} - {""}
    odd_run = f"; the odd one out is: {', '.join(sorted(odd))}" if odd else ""
    part = f"{len(signals)} of {counted(len(comparison.agreements), 'signal')}"
    verb = "is" if len(signals) == 1 else "are"
    worst = _listed([_digits_phrase(a) for a in sorted(signals, key=_least_digits)])
    return [f"{part} {verb} in doubt: {worst}; {comparison.expected:.1f} are promised{odd_run}"]


def _sensitive_signals(comparison: ComparedRuns) -> list[str]:
    """Phrases about the signal that rounding of the start moves most, and about the one that grows most."""
    sensitive = [a for a in comparison.doubtful if a.standing is Standing.SENSITIVE]
    by_rounding = [a for a in sensitive if a.moved_by_rounding > 10.0**-comparison.expected]
    decided = [a for a in sensitive if a not in by_rounding and a.decided_at == a.decided_at]
    grown = [a for a in sensitive if a not in by_rounding and a not in decided]
    phrases = []
    if decided:
        first = min(decided, key=lambda a: a.decided_at)
        cause = "a decision falls otherwise after an error of an accuracy at the start"
        phrases.append(f"sensitive: {cause}: {first.signal} differs from t = {first.decided_at:.6g} s on")
    if by_rounding:
        worst = max(by_rounding, key=lambda a: a.moved_by_rounding)
        size = f"{worst.moved_by_rounding:.1g} of the largest value"
        size = "another value" if math.isinf(worst.moved_by_rounding) else size
        cause = "the problem itself amplifies the rounding of its start (1e-16)"
        phrases.append(f"sensitive: {cause} to {size} of {worst.signal}")
    if grown:
        worst = max(grown, key=lambda a: a.growth)
        cause = f"the problem itself multiplies errors of its start by {worst.growth:.2g}, so that"
        if math.isinf(worst.growth):
            cause = "an error of an accuracy at the start changes counts or modes;"
        phrases.append(f"sensitive: {cause} {worst.signal} agrees to {worst.digits:.1f} digits")
    return phrases


def _order_of_events(comparison: ComparedRuns) -> list[str]:
    """A phrase about scheduled events whose order rounding decides, if there are any."""
    if not comparison.nearly_at_once:
        return []
    time, earlier, later = comparison.nearly_at_once[0]
    times = f"{counted(len(comparison.nearly_at_once), 'time')}, first at t = {time:.9g} s"
    return [
        f"sensitive: {earlier} and {later} are scheduled so close that rounding decides their order ({times})"
    ]


def _least_digits(agreement: Agreement) -> float:
    """The least digits of a signal, of its largest value and at the end; not at an end near zero."""
    if agreement.standing is Standing.ZERO_AT_END:
        return agreement.digits
    return min(agreement.digits, agreement.digits_at_end)


def _digits_phrase(agreement: Agreement) -> str:
    """The digits to which a signal agrees, and the time."""
    if agreement.standing is Standing.DIFFERS_AT_END:
        size = f"its size at the end, {agreement.size_at_end:.2g}"
        return f"{agreement.signal} agrees to {agreement.digits_at_end:.1f} digits of {size}"
    return f"{agreement.signal} agrees to {agreement.digits:.1f} digits at t = {agreement.time:.6g} s"


def _listed(phrases: Sequence[str]) -> str:
    """The first of these, and how many more there are."""
    more = len(phrases) - MOST_NAMED
    return ", ".join(phrases[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
