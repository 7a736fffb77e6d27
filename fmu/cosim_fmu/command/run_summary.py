"""Text of the command about a co-simulation: participants and order before the run, figures after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import cosim
from cosim_fmu.co_simulation import CoSimulation
from cosim_master.coupling.coupling import file_paths
from cosim_master.coupling.feedthrough import direct_inputs
from cosim_master.participants.isolation import hosts_of_fmus, places_of_fmus
from cosim_master.recording.co_simulation_result import CoSimulationResult

MOST_NAMES = 8
"""Names in a line of the summary."""


def header(loop: CoSimulation) -> str:
    """The participants and their order."""
    rows, paths = [], {**file_paths(loop.participants), **loop.python_files}
    for name, description in loop.descriptions.items():
        path = paths[name]
        kind = "Python code, " * (name in loop.python_files)
        kind += description.kind + (", state saved and restored" if description.can_restore else "")
        rows.append((name, "" if path is None else path.name, kind))
    widths = [max([len(row[i]) for row in rows] + [5 * (i == 0)]) for i in (0, 1)]
    lines = [
        "  ".join(cell.ljust(w) for cell, w in zip(row, [*widths, 0], strict=True) if w or cell)
        for row in rows
    ]
    return "\n".join([*lines, f"{'order':<{widths[0]}}  {_describe_order(loop)}"])


def summary(
    result: CoSimulationResult, target: Path, participants: Mapping[str, cosim.Participant] = {}
) -> str:
    """The outcome of the run, and the processes in which FMUs ran."""
    figures = result.statistics
    counts = [(figures["steps"], "step"), (figures["events"], "event")]
    counted = [f"{count:,}".replace(",", " ") + f" {word}{'s' * (count != 1)}" for count, word in counts]
    counted.append(f"{figures['retries']} retr{'y' if figures['retries'] == 1 else 'ies'}")
    spent = figures["participant_time"]  # of those that Python calls
    slowest = max(spent.items(), key=lambda item: item[1], default=None)
    if slowest is not None and 2.0 * slowest[1] < figures["stepping_time"]:
        slowest = None  # what steps in compiled code is not measured: another may be slower
    if figures["overruns"]:
        late = f"{figures['overruns']} points late (by {figures['largest_lag']:.3g} s at most)"
        counted.append(late)
    line = ", ".join(counted)
    if slowest is not None:
        line += f"   most time in {slowest[0]}: {slowest[1]:.3g} s of {figures['wall_time']:.3g} s"
    message = [result.message] if result.message else []
    trust = [text] if (text := str(result.coupling)) else []
    files = figures["python_files"]
    code = [f"ran the Python code of {', '.join(dict.fromkeys(files.values()))} ({', '.join(files)})"]
    places = places_of_fmus(participants)
    ran = {"inside the process of the run": places["inside"], "each in its own process": places["isolated"]}
    ran |= {f"at {host}": names for host, names in hosts_of_fmus(participants).items()}
    where = [f"FMUs {place}: {shortened(names)}" for place, names in ran.items() if names]
    return "\n".join([*message, line, *trust, *(code if files else []), *where, f"results → {target}"])


def shortened(names: Sequence[str]) -> str:
    """Names, the first ones where there are many."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _describe_order(loop: CoSimulation) -> str:
    assert loop.algorithm is not None
    if not loop.algorithm.exchanges_within_step:
        return f"all step from the same values ({type(loop.algorithm).__name__})"
    place = {name: i for i, name in enumerate(loop.order)}
    back = dict.fromkeys(link.start for link in loop.links if place[link.source] >= place[link.target])
    free = [f"{name}.{output}" for name, output in back if not direct_inputs(loop.descriptions[name], output)]
    late = [f"{name}.{output}" for name, output in back if direct_inputs(loop.descriptions[name], output)]
    reasons = []
    if free:
        reasons.append(f"{', '.join(free)} {'has' if len(free) == 1 else 'have'} no direct feedthrough")
    if late:
        reasons.append(f"{', '.join(late)} {'is' if len(late) == 1 else 'are'} one step late")
    shown = loop.order
    if loop.joint is not None:
        names = {name: str(loop.joint) for name in loop.joint.names}
        shown = tuple(dict.fromkeys(names.get(name, name) for name in loop.order))
    return " → ".join(shown) + (f"   ({'; '.join(reasons)})" if reasons else "")


def real_time_factor(result: cosim.Result) -> str:
    """The speed of a run as text: ``18× real time``."""
    spent, span = result.statistics["wall_time"], float(result.time[-1] - result.time[0])
    return f"{span / spent:.3g}× real time" if spent > 0.0 and span > 0.0 else ""
