"""Tables of a model as the text of a TOML file."""

from __future__ import annotations

import json
from typing import Any

from cosim_robots.robot_tables import ModelTables

TABLES_OF_TABLES = ("bodies", "looks", "joints", "constraints", "elements")
"""Tables whose entries have tables of their own."""


def toml_text(tables: ModelTables, source: str) -> str:
    """The text of the model file. Comments at its head list what was not imported, or changed.

    Numbers have all their digits: the file makes the same model. Names of tables and keys are not
    quoted: they have to be bare keys of TOML (letters, digits, ``_`` and ``-``).
    """
    lines = [f"# Imported from {_one_line(source)}."]
    if tables.remarks:
        lines += ["#", "# Not taken over, or changed:", *(f"# - {_one_line(r)}" for r in tables.remarks)]
    for table, content in tables.data.items():
        entries = content.items() if table in TABLES_OF_TABLES else [("", content)]
        for name, entry in entries:
            header = f"{table}.{name}" if name else table
            lines += ["", f"[{header}]", *(f"{key} = {_value(value)}" for key, value in entry.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """A value in the syntax of TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        # JSON escapes all characters that TOML forbids in a string, but U+007F
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_value(item)}' for key, item in value.items())} }}"
    return str(value)


def _one_line(text: str) -> str:
    """A text without line ends and control characters, for a comment."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
