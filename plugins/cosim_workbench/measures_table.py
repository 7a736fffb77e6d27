"""Table ``[measures.name]`` of a model file."""

from __future__ import annotations

from cosim_workbench.components_table import ComponentsTable


class MeasuresTable(ComponentsTable):
    """Measures: ``[measures.felt]`` with ``type``; an id without a dot belongs to ``measures``."""

    table = "measures"
    prefix = "measures"
