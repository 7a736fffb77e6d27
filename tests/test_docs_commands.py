"""The commands, options and TOML tables that the texts show exist."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.command_line.command_entries import commands
from cosim.command_line.command_parser import CommandParser

ROOT = Path(__file__).parents[1]
TEXTS = sorted(
    [
        *(ROOT / "docs").glob("*.md"),
        *ROOT.glob("examples/*/README.md"),
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "CHANGELOG.md",
    ]
)
TYPED = re.compile(r"^(?: {4}|\$ )(cosim (?:[^\n]*\\\n)*[^\n]*)$|`(cosim [a-z][^`]*)`", re.MULTILINE)
TOML = re.compile(r"^```toml(?: title=\"(\S+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def options() -> dict[str, set[str]]:
    """The options of each command, by the name of the command."""
    options_of_commands = {}
    for name, entry in commands().items():
        command = entry.cls()
        options_of_commands[name] = {
            flag for action in CommandParser(command).arguments for flag in action.option_strings
        }
    return options_of_commands


def unknown(text: str, options: dict[str, set[str]]) -> list[str]:
    """The commands and options in a text that do not exist."""
    faults = []
    for typed in (a or b for a, b in TYPED.findall(text)):
        words = shlex.split(typed.replace("\\\n", " ").replace("…", " "), comments=True)
        if len(words) < 2 or words[1].startswith("-") or not re.fullmatch(r"[a-z]+", words[1]):
            continue
        if words[1] not in options:
            faults.append(f"no command: {typed}")
            continue
        flags = [word.partition("=")[0] for word in words[2:] if re.match(r"--?[a-z]", word)]
        faults += [f"no option {flag}: {typed}" for flag in flags if flag not in options[words[1]]]
    return faults


def test_the_commands_in_the_texts_exist(options: dict[str, set[str]]) -> None:
    texts = {path.name: path.read_text("utf-8") for path in TEXTS}
    assert sum(len(TYPED.findall(text)) for text in texts.values()) > 100
    assert [f"{name}: {fault}" for name, text in texts.items() for fault in unknown(text, options)] == []


@pytest.mark.parametrize(
    "text", ["`cosim rum x.toml`", "    cosim run x.toml --plott y", "$ cosim run x \\\n  --no"]
)
def test_an_unknown_command_or_option_is_noticed(text: str, options: dict[str, set[str]]) -> None:
    assert len(unknown(text, options)) == 1


def lenient(schema: Any) -> Any:
    """A schema without requirements, for parts of a file."""
    if isinstance(schema, dict):
        kept = {key: lenient(value) for key, value in schema.items() if key not in ("required", "oneOf")}
        return kept | ({"anyOf": lenient(schema["oneOf"])} if "oneOf" in schema else {})
    return [lenient(item) for item in schema] if isinstance(schema, list) else schema


def test_the_tables_in_the_texts_fit_the_schemas() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schemas = [entry.cls().schema() for entry in cosim.registry().entries("file_schema")]
    checked = 0
    for path in TEXTS:
        for title, text in TOML.findall(path.read_text("utf-8")):
            table = tomllib.loads(text)
            foreign = re.search(r'type = "(?!mechanics|measures|signals|dynamics)\w+\.', text)
            if "project" in table or title == "broken.toml" or foreign:
                continue
            kinds = [s for s in schemas if set(table) <= set(s["properties"])]
            assert kinds, f"{path.name}: no kind of file has the tables {sorted(table)}"
            faults = [list(jsonschema.Draft202012Validator(lenient(s)).iter_errors(table)) for s in kinds]
            assert [] in faults, f"{path.name}: {faults[0][0].message}"
            checked += 1
    assert checked >= 8
