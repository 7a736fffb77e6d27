"""The table of a model file that says what bodies look like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import cosim

Report = Callable[[str, str], None]


class LooksTable(cosim.ModelTable):
    """``[looks.cab]``: a shape with ``type`` (box, sphere, cylinder …, mesh), ``body``, its values."""

    table = "looks"
    prefix: ClassVar[str] = "animation"

    def read(self, model: cosim.Model, name: str, entry: dict[str, Any], report: Report) -> None:
        """Add a shape to the model."""
        self.add_part(model, name, entry, report)

    def schema(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """A part of this plugin."""
        return self.part_schema({id: part for id, part in parts.items() if id.startswith("animation.")})
