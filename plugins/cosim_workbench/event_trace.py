"""Events as lines of text."""

from __future__ import annotations

from collections import Counter

import cosim

MOST_HANDLERS = 6


def event_lines(result: cosim.Result) -> list[str]:
    """A line for each event and for each thing that was noticed about witnesses, in order of time."""
    timed_lines = [(event.time, _event_line(event)) for event in result.events]
    timed_lines += [
        (f.time, f"{f.time:>14.9g} s  {f.kind:<14} {f.witness} {f.message}") for f in result.findings
    ]
    return [line for _, line in sorted(timed_lines, key=lambda pair: pair[0])]


def counted_events(result: cosim.Result) -> str:
    """The number of calls of each handler, the most frequent first."""
    counts = Counter(event.handler for event in result.events).most_common()
    parts = [f"{count} × {handler}" for handler, count in counts[:MOST_HANDLERS]]
    if len(counts) > MOST_HANDLERS:
        parts.append(f"{len(counts) - MOST_HANDLERS} more handlers")
    return ", ".join(parts)


def _event_line(event: cosim.EventRecord) -> str:
    row = event.row()
    text = f"{event.time:>14.9g} s  {row['cause']:<14} {event.handler}"
    if event.name != event.handler.rpartition(".")[2]:
        text += f" on {event.name}"
    if event.severity is not cosim.Severity.SUCCEEDED:
        text += f": {row['status'].replace('_', ' ')}"
    if event.message:
        text += f": {event.message}"
    return text + (f"   {row['changed']}" if event.changed else "")
