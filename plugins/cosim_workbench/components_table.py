"""Table ``[components.name]`` of a model file."""

from __future__ import annotations

from typing import Any

import cosim


class ComponentsTable(cosim.ModelTable):
    """Components of any kind: ``[components.controller]`` with ``type``, the whole id of a component."""

    table = "components"

    def read(self, model: cosim.Model, name: str, entry: dict[str, Any], report: Any) -> None:
        """Add one component."""
        self.add_part(model, name, entry, report)
