"""Table ``[[connections]]`` of a model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cosim
from cosim_workbench.wording import unknown


class ConnectionsTable(cosim.ModelTable):
    """Connections: ``[[connections]]`` with ``from``, a signal, and ``to``, an input."""

    table = "connections"
    form = "rows"

    def read(self, model: cosim.Model, name: str, entry: dict[str, Any], report: Any) -> None:
        """Connect one signal to one input."""
        for key in entry:
            if key not in ("from", "to"):
                report(key, unknown("key", key, ["from", "to"]))
        ends = [entry.get("from"), entry.get("to")]
        for key, end in zip(("from", "to"), ends, strict=True):
            if not isinstance(end, str):
                given = "is missing" if end is None else f"is {end!r}"
                report(key, f'{key} {given}, needs a path such as "controller.speed"')
        if all(isinstance(end, str) for end in ends):
            model.connect(str(ends[0]), str(ends[1]))

    def schema(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """Two paths."""
        ends = {
            "from": {"type": "string", "description": "path of a signal"},
            "to": {"type": "string", "description": "path of an input"},
        }
        return {"type": "object", "properties": ends, "required": list(ends), "additionalProperties": False}
