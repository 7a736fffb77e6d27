"""Facts of a run for programs, without its arrays: public, for commands of other packages."""

from __future__ import annotations

from typing import Any

from cosim import Result


def reported_result(result: Result) -> dict[str, Any]:
    """The outcome of a run in names and numbers, for `Command.report`.

    Returns
    -------
    dict
        ``points``, ``from`` and ``to`` (s), ``signals`` (unit and last value of each), ``events`` (how many
        are on record), ``findings``, ``warnings``, ``message``, ``unfinished`` and ``statistics``.
    """
    times, points = result.time, len(result)
    return {
        "points": points,
        "from": times[0] if points else None,
        "to": times[-1] if points else None,
        "signals": {
            name: {"unit": result.unit(name), "last": values[-1] if points else None}
            for name, values in result.signals.items()
        },
        "events": len(result.events),
        "findings": list(result.findings),
        "warnings": result.warnings,
        "message": result.message,
        "unfinished": result.unfinished,
        "statistics": {n: v for n, v in result.statistics.items() if n not in ("warnings", "references")},
    }
