"""Table ``[measures.name]`` of a model file."""

from __future__ import annotations

from typing import Any

import cosim


class MeasuresTable(cosim.ModelTable):
    """Measures: ``[measures.felt]`` with ``type``; an id without a dot belongs to ``measures``."""

    table = "measures"
    prefix = "measures"

    def read(self, model: cosim.Model, name: str, entry: dict[str, Any], report: Any) -> None:
        """Add one measure."""
        self.add_part(model, name, entry, report)
