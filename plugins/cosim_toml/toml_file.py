"""Reading a TOML file that was written by people: every fault has its line."""

from __future__ import annotations

import re
import tomllib
from functools import cached_property
from pathlib import Path
from typing import Any

from cosim import ModelError
from cosim_toml.plain_toml import read_plain
from cosim_toml.toml_lines import KeyPath, toml_lines

LARGEST = 10_000_000
"""Bytes of the largest file that is read."""
INTEGERS = "an integer has at most 64 bits in TOML; write a number as large as that with an exponent: 1e20"

LONG_KEY = re.compile(r"""(?<![\w.-])(?:["']?[\w-]+["']?[ \t]*\.[ \t]*){200}""")
"""A key with so many dots, for which tomllib takes time with the square of their number."""


class TomlFile:
    """The data of a TOML file and the line of each of its keys and values.

    Attributes
    ----------
    path : pathlib.Path
    data : dict
    """

    def __init__(self, path: Path, text: str) -> None:
        self.path, self._text = path, text
        plain = read_plain(text)
        if plain is not None:
            self.data: dict[str, Any] = plain
            return
        if (key := LONG_KEY.search(text)) is not None:
            line = text.count("\n", 0, key.start()) + 1
            raise ModelError.of(f"{path}:{line}", "has a key with more than 200 dots")
        try:
            self.data = tomllib.loads(text)
            _ = self.lines  # raises if values are nested too deeply
        except tomllib.TOMLDecodeError as error:
            line, fault = _place(str(error), text)
            raise ModelError.of(f"{path}:{line}", f"no valid TOML: {fault}{_in_quotes(text, line)}") from None
        except RecursionError:
            raise ModelError.of(str(path), "values are nested too deeply") from None
        except ValueError:  # Python converts no text of more than some thousand digits
            raise ModelError.of(str(path), f"has an integer of thousands of digits: {INTEGERS}") from None
        too_large = _beyond_64_bits(self.data)
        if too_large is not None:
            raise ModelError.of(self.where(too_large, ".".join(map(str, too_large))), INTEGERS)

    @cached_property
    def lines(self) -> dict[KeyPath, int]:
        """The line of each key path, read at the first fault."""
        return toml_lines(self._text)

    @classmethod
    def read(cls, path: Path) -> TomlFile:
        """Read a file.

        Raises
        ------
        ModelError
            With ``file:line`` as `where`.
        """
        try:
            if path.exists() and not path.is_file() and not path.is_dir():
                raise ModelError.of(str(path), "is a pipe or a device, needs a file")
            if path.stat().st_size > LARGEST:
                text = f"has {path.stat().st_size} bytes, a file that people write has at most {LARGEST}"
                raise ModelError.of(str(path), text)
            raw = path.read_bytes()
            return cls(path, raw.decode("utf-8-sig"))  # some editors begin the text with a mark
        except OSError as error:
            raise ModelError.of(str(path), (error.strerror or str(error)).lower()) from None
        except UnicodeDecodeError as error:
            if raw[:4] == b"PK\x03\x04":
                remedy = f'name an FMU in a scenario: [participants.x] fmu = "{path.name}"'
                raise ModelError.of(str(path), f"is an archive, needs a text file; {remedy}") from None
            line = raw.count(b"\n", 0, error.start) + 1
            raise ModelError.of(f"{path}:{line}", "is not UTF-8 text") from None

    @classmethod
    def of_data(cls, path: Path, data: dict[str, Any]) -> TomlFile:
        """A file object for the same data in another file, whose lines are not known."""
        file = cls(path, "")
        file.data = data
        return file

    def line(self, path: KeyPath) -> int | None:
        """The line of the longest part of a key path that is in the file."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return None

    def where(self, path: KeyPath, label: str) -> str:
        """The place of a key path and a label, such as ``mount.toml:14: elements.mount_left``."""
        line = self.line(path)
        place = f"{self.path}:{line}" if line else str(self.path)
        return ": ".join(filter(None, [place, label.replace("\n", r"\n")]))  # a key may have line ends

    def place(self, above: KeyPath, dotted: str) -> KeyPath:
        r"""The key path of a dotted name inside a table; that of the table if it is not there.

        The keys of the file may be dotted, quoted, or both: ``a.b = 1`` and ``"a.b" = 1`` are found alike.

        Examples
        --------
        >>> TomlFile(Path("x.toml"), '[starts]\na."b.c" = 1').place(("starts",), "a.b.c")
        ('starts', 'a', 'b.c')
        """
        table: Any = self.data
        for key in above:
            table = table[key] if isinstance(table, dict) and key in table else {}
        return _inside(table, dotted, above)

    def find(self, value: str) -> KeyPath | None:
        """The place at which a text is a value; None if there is none."""
        return _find(self.data, value, ())


def _beyond_64_bits(data: Any) -> KeyPath | None:
    """The place of an integer that TOML does not allow, however deep."""
    waiting: list[tuple[Any, Any]] = [(data, ())]  # each value, and its path from the inside out
    while waiting:
        value, path = waiting.pop()
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            keys: list[Any] = []
            while path:
                path, key = path
                keys.append(key)
            return tuple(reversed(keys))
        if isinstance(value, dict):
            waiting += [(inner, (path, key)) for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(inner, (path, i)) for i, inner in enumerate(value)]
    return None


QUOTELESS = re.compile(r"""\s*([\w.-]+)\s*=\s*([^"'\[{#]*[A-Za-z][^"'\[{#]*)""")


def _in_quotes(text: str, line: int) -> str:
    """A hint for text, or a number with a unit, without quotes; empty elsewhere."""
    lines = text.splitlines()
    assignment = QUOTELESS.fullmatch(lines[line - 1]) if line <= len(lines) else None
    return (
        ""
        if assignment is None
        else f'. Text, and numbers with units, have quotes: {assignment[1]} = "{assignment[2].strip()}"'
    )


def _place(message: str, text: str) -> tuple[int, str]:
    """Line and text of a message of tomllib."""
    match = re.fullmatch(r"(.*?) ?\(at (?:line (\d+), column (\d+)|end of document)\)", message, re.DOTALL)
    if match is None:
        return 1, message
    if match[2] is None:
        return text.rstrip().count("\n") + 1, f"{match[1]} (the file ends too early)"
    return int(match[2]), f"{match[1]} (column {match[3]})"


def _inside(table: Any, dotted: str, above: KeyPath) -> KeyPath:
    for key, value in table.items() if isinstance(table, dict) else ():
        if key == dotted:
            return (*above, key)
        if isinstance(value, dict) and dotted.startswith(f"{key}."):
            return _inside(value, dotted.removeprefix(f"{key}."), (*above, key))
    return above


def _find(data: Any, value: str, path: KeyPath) -> KeyPath | None:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, inner in items:
        if inner == value and isinstance(inner, str):
            return (*path, key)
        key_path = _find(inner, value, (*path, key))
        if key_path is not None:
            return key_path
    return None
