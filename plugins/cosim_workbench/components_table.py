"""Table ``[components.name]`` of a model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cosim


class ComponentsTable(cosim.ModelTable):
    """Components of any kind: ``[components.controller]`` with ``type``, the whole id of a component."""

    table = "components"

    def read(self, model: cosim.Model, name: str, entry: dict[str, Any], report: Any) -> None:
        """Add a part to the model."""
        self.add_part(model, name, entry, report)

    def schema(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """A part of any kind."""
        return self.part_schema(parts)
