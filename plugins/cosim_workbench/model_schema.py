"""JSON Schema of model files."""

from __future__ import annotations

from typing import Any, ClassVar

import cosim
from cosim.kit import component_schema


class ModelSchema(cosim.FileSchema):
    """What a model file may hold with the plugins that are installed: tables, parts, parameters."""

    name: ClassVar[str] = "model"
    what: ClassVar[str] = "a model file"

    def schema(self) -> dict[str, Any]:
        """One property for each registered table; parts are defined once and referred to."""
        parts, definitions = {}, {}
        for entry in cosim.registry().entries("component"):
            found = component_schema(entry.cls)
            shared = {name: {"$ref": f"#/$defs/{entry.id}/properties/{name}"} for name in found["properties"]}
            definitions[entry.id] = {"properties": found["properties"]}
            parts[entry.id] = {**found, "properties": shared}
        header: dict[str, Any] = {"name": {"type": "string"}}
        tables: dict[str, Any] = {}
        for entry in cosim.registry().entries("model_table"):
            table: cosim.ModelTable = entry.cls()
            header.update({key: {} for key in table.settings})
            inner = table.schema(parts)
            forms = {
                "entries": {"type": "object", "additionalProperties": inner},
                "rows": {"type": "array", "items": inner},
            }
            tables[table.table] = forms.get(table.form, inner)
        about = {"type": "object", "properties": header}
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "cosim model",
            "type": "object",
            "properties": {"model": about, **tables},
            "additionalProperties": False,
            "$defs": definitions,
        }
