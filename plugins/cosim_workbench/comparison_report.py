"""The report of a second opinion: a table of runs, a table of signals with their digits, and the verdict."""

from __future__ import annotations

from cosim_workbench.agreement import MOST_DIGITS, Agreement, Standing
from cosim_workbench.compared_runs import ComparedRuns
from cosim_workbench.wording import counted


def report_of(comparison: ComparedRuns) -> str:
    """Runs, their cost, signals with digits, and the verdict."""
    signal_width = max([len(agreement.signal) for agreement in comparison.agreements], default=0)
    return "\n".join(
        [
            *_run_lines(comparison),
            _cost(comparison),
            "",
            f"{'signal':<{signal_width}}  digits that agree",
            *(_signal_line(agreement, signal_width) for agreement in comparison.agreements),
            "",
            comparison.verdict,
        ]
    )


def _run_lines(comparison: ComparedRuns) -> list[str]:
    """A line for each run: its method, and how it ended or why it does not count."""
    width = max(len(run.name) for run in [*comparison.runs, *comparison.set_aside])
    lines = []
    for run in comparison.runs:
        outcome = f"failed: {run.failure}" if run.failure else counted(run.events, "event")
        if run.start_moved_by and (crossed := comparison.thresholds_crossed(run)):
            beyond = ", ".join(sorted(crossed))
            outcome += f", not compared: it starts beyond the threshold of {beyond}"
        lines.append(f"{run.name:<{width}}  {run.method}, {outcome}")
    for run in comparison.set_aside:
        lines.append(f"{run.name:<{width}}  {run.method}, set aside: with a smaller tolerance it agrees")
    return lines


def _signal_line(agreement: Agreement, width: int) -> str:
    """The digits of a signal, and remarks about them."""
    line = f"{agreement.signal:<{width}}  {agreement.digits:4.1f}"
    remarks = _remarks(agreement)
    return f"{line}  ({'; '.join(remarks)})" if remarks else line


def _cost(comparison: ComparedRuns) -> str:
    """The number of further runs, and the time that they took."""
    walls = [
        float(run.result.statistics.get("wall_time", 0.0))
        for run in [*comparison.runs, *comparison.set_aside]
    ]
    further = counted(len(walls) - 1, "further run")
    return f"{further}: {sum(walls[1:]):.2g} s, the run as given {walls[0]:.2g} s (without compiling)"


def _remarks(agreement: Agreement) -> list[str]:
    """Remarks: the odd run, the time of the largest difference, the digits at the end, the standing."""
    remarks = []
    if agreement.odd:
        remarks.append(f"{agreement.digits_without:.1f} without: {agreement.odd}")
    if agreement.digits < MOST_DIGITS and agreement.is_doubtful and agreement.time == agreement.time:
        remarks.append(f"worst at t = {agreement.time:.6g} s")
    if agreement.digits_at_end < agreement.digits - 1.0 and agreement.standing is not Standing.ROUNDING_LEVEL:
        remarks.append(f"{agreement.digits_at_end:.1f} at the end, of {agreement.size_at_end:.2g}")
    if agreement.standing not in (Standing.AGREES, Standing.DIFFERS):
        remarks.append(agreement.standing)
    return remarks
