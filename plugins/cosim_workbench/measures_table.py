"""Table ``[measures.name]`` of a model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cosim


class MeasuresTable(cosim.ModelTable):
    """Measures: ``[measures.felt]`` with ``type``; an id without a dot belongs to ``measures``."""

    table = "measures"
    prefix = "measures"

    def read(self, model: cosim.Model, name: str, entry: dict[str, Any], report: Any) -> None:
        """Add one measure."""
        self.add_part(model, name, entry, report)

    def schema(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """A part of any kind."""
        return self.part_schema(parts)
