"""Pages of the keys of model and scenario files, from their schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kind_pages import registered
from page_parts import plural_title, table_lines

from cosim_workbench.contracts import FileSchema


def file_page(file: FileSchema) -> str:
    """The keys of a kind of file, a section for each table."""
    schema = file.schema()
    lines = [
        f"# Keys of {file.what}",
        "",
        f"`cosim schema {file.name}` writes the same as a JSON Schema.",
        "",
    ]
    for name, table in schema["properties"].items():
        if name == "variants":
            lines += [f"## {name}", "", "Tables by name, laid over the others; the same keys.", ""]
            continue
        lines += [f"## {name}", ""]
        rows = [(f"`{key}`", kind, default, text) for key, kind, default, text in _keys(table, name, schema)]
        lines += [*table_lines(("key", "value", "default", "meaning"), rows), ""]
    return "\n".join(lines)


def _keys(schema: dict[str, Any], path: str, root: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Path, kind of value, default and description of all keys, nested ones included."""
    schema = _resolved(schema, root)
    choices = _choices(schema)
    default = f"`{schema['default']}`" if "default" in schema else ""
    yield path, _value(schema), default, schema.get("description", "")
    ids = sorted({id for choice in choices for id in _ids(choice)})
    if ids:
        kinds = [kind for kind, entries in registered().items() if {entry.id for entry in entries} & set(ids)]
        links = ", ".join(f"[{plural_title(kind).lower()}]({kind}.md)" for kind in kinds)
        yield f"{path}.type", "id", "", f"{links}; the other keys are those that the class declares"
        return
    for inner in [schema, *choices]:
        for name, below in inner.get("properties", {}).items():
            yield from _keys(below, f"{path}.{name}", root)
        for step, key in ((".NAME", "additionalProperties"), ("[]", "items")):
            below = inner.get(key)
            if isinstance(below, dict) and (_choices(below) or below.get("properties")):
                yield from _keys(below, f"{path}{step}", root)


def _resolved(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """The schema with its references replaced by their targets."""
    while "$ref" in schema:
        node: Any = root
        for key in schema["$ref"].removeprefix("#/").split("/"):
            node = node[key]
        schema = {**node, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def _ids(schema: dict[str, Any]) -> list[str]:
    """The registered ids that the key ``type`` of a table may name."""
    kind = schema.get("properties", {}).get("type", {})
    return [id for id in kind.get("enum", [kind.get("const", "")]) if "." in id]


def _choices(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The alternatives of a schema that are tables or lists."""
    return [c for key in ("oneOf", "anyOf") for c in schema.get(key, []) if "properties" in c or "items" in c]


def _value(schema: dict[str, Any]) -> str:
    """The kind of value of a key, as text."""
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return " or ".join({"object": "table", "string": "text", "array": "list"}.get(n, n) for n in names)
    kinds = [_value(choice) for key in ("anyOf", "oneOf") for choice in schema.get(key, [])]
    return " or ".join(dict.fromkeys(filter(None, kinds)))
