"""Table ``[[connections]]`` of a model file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cosim
from cosim_workbench.wording import unknown

Report = Callable[[str, str], None]
KEYS = ("from", "to", "factor", "offset")


class ConnectionsTable(cosim.ModelTable):
    """Connections: ``[[connections]]`` with ``from``, a signal, and ``to``, an input.

    The input gets ``factor * signal + offset``.
    """

    table = "connections"
    form = "rows"

    def read(self, model: cosim.Model, name: str, entry: dict[str, Any], report: Report) -> None:
        """Connect one signal to one input."""
        for key in entry:
            if key not in KEYS:
                report(key, unknown("key", key, KEYS))
        ends = [entry.get("from"), entry.get("to")]
        for key, end in zip(("from", "to"), ends, strict=True):
            if not isinstance(end, str):
                fault = "is missing" if end is None else f"is {end!r}"
                report(key, f'{key} {fault}, needs a path such as "controller.speed"')
        if all(isinstance(end, str) for end in ends):
            conversion = {key: entry[key] for key in ("factor", "offset") if key in entry}
            model.connect(str(ends[0]), str(ends[1]), **conversion)

    def schema(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """Two paths, a factor and an offset."""
        paths = {
            "from": {"type": "string", "description": "path of a signal"},
            "to": {"type": "string", "description": "path of an input"},
        }
        numbers = {"anyOf": [{"type": "number"}, {"type": "string"}]}
        properties = {
            **paths,
            "factor": {**numbers, "default": 1.0, "description": "number, also with a unit: 40 N/m"},
            "offset": {**numbers, "default": 0.0, "description": "in the unit of factor times signal"},
        }
        return {
            "type": "object",
            "properties": properties,
            "required": [*paths],
            "additionalProperties": False,
        }
