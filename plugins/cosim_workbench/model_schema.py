"""JSON Schema of model files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import cosim
from cosim_workbench.component_schema import component_schema
from cosim_workbench.contracts import FileSchema


class ModelSchema(FileSchema):
    """The schema of a model file with the installed plugins: tables, parts, parameters."""

    name: ClassVar[str] = "model"
    what: ClassVar[str] = "a model file"

    def schema(self) -> dict[str, Any]:
        """A property for each registered table; parts are defined once and referred to."""
        parts, definitions = {}, {}
        for entry in cosim.registry().entries("component"):
            described = component_schema(entry.cls)
            shared = {
                name: {"$ref": f"#/$defs/{entry.id}/properties/{name}"} for name in described["properties"]
            }
            definitions[entry.id] = {"properties": described["properties"]}
            parts[entry.id] = {**described, "properties": shared}
        header: dict[str, Any] = {"name": {"type": "string"}}
        tables: dict[str, Any] = {}
        for entry in cosim.registry().entries("model_table"):
            table: cosim.ModelTable = entry.cls()
            header.update({key: _like(default) for key, default in table.settings.items()})
            inner = table.schema(parts)
            forms = {
                "entries": {"type": "object", "additionalProperties": inner},
                "rows": {"type": "array", "items": inner},
            }
            tables[table.table] = forms.get(table.form, inner)
        about = {"type": "object", "properties": header, "additionalProperties": False}
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "cosim model",
            "type": "object",
            "properties": {"model": about, **tables},
            "additionalProperties": False,
            "$defs": definitions,
        }


def _like(default: Any) -> dict[str, Any]:
    """The schema of a setting, by its default: a switch, a text, numbers (with units, as text)."""
    if isinstance(default, bool):
        return {"type": "boolean"}
    if isinstance(default, str):
        return {"type": "string"}
    if isinstance(default, (int, float)):
        return {"type": ["number", "string"]}
    if isinstance(default, Sequence):
        return {"type": "array", "items": _like(0.0), "minItems": len(default), "maxItems": len(default)}
    return {}
