"""Tables of a model as the text of a TOML file."""

from __future__ import annotations

import json
from typing import Any

from cosim_robots.robot_tables import ModelTables

NAMED = ("bodies", "looks", "joints", "constraints", "elements")
"""Tables whose entries have tables of their own."""


def toml_text(tables: ModelTables, source: str) -> str:
    """The text of the model file; what was not taken over stands in comments at its head.

    Numbers have all their digits: the file makes the same model.
    """
    lines = [f"# Imported from {_one_line(source)}."]
    if tables.remarks:
        lines += ["#", "# Not taken over, or changed:", *(f"# - {_one_line(r)}" for r in tables.remarks)]
    for table, content in tables.data.items():
        entries = content.items() if table in NAMED else [("", content)]
        for name, entry in entries:
            header = f"{table}.{name}" if name else table
            lines += ["", f"[{header}]", *(f"{key} = {_value(value)}" for key, value in entry.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_value(item)}' for key, item in value.items())} }}"
    return str(value)


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
