"""The text of a model file that is written from the tables of a robot."""

from __future__ import annotations

import tomllib

import pytest

from cosim_robots.robot_tables import ModelTables
from cosim_robots.toml_text import toml_text


@pytest.mark.parametrize("character", ["\x00", "\n", "\x1f", '"', "\\", "\x7f", "\x80", "é", "\U0001f600"])
def test_every_character_of_a_string_is_read_back(character: str) -> None:
    """TOML forbids control characters in strings, also U+007F, which JSON allows."""
    tables = ModelTables("crane", {"model": {"name": f"a{character}b"}}, [], {}, {})
    assert tomllib.loads(toml_text(tables, "crane.urdf"))["model"]["name"] == f"a{character}b"
