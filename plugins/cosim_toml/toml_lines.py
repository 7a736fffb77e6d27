"""Lines of a TOML file: tomllib gives the values, this gives the line on which each of them stands.

The text is read by tomllib first, so the scanner has to do with valid TOML only; it knows where strings,
arrays, inline tables and comments end, and nothing about values.
"""

from __future__ import annotations

import re
import tomllib

KeyPath = tuple[str | int, ...]

_BLANK = re.compile(r"[ \t]*")
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[^\s.=\]\[\"'#]+")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_LONG_BASIC = re.compile(r'"""(?:[^\\]|\\.)*?"""(?:""|"|)', re.DOTALL)
_LONG_LITERAL = re.compile(r"'''.*?'''(?:''|'|)", re.DOTALL)
_PLAIN = re.compile(r"[^,\]}#\n]*")


def toml_lines(text: str) -> dict[KeyPath, int]:
    r"""Line numbers, counted from 1, of everything in a valid TOML document.

    Parameters
    ----------
    text : str
        Must be readable by tomllib.

    Returns
    -------
    dict of tuple to int
        By key path: keys as text, elements of arrays (and of arrays of tables) as numbers, counted from 0.
        A table stands where its header does, or where it is mentioned first.

    Examples
    --------
    >>> lines = toml_lines('[a]\nb = [1,\n  { c = 2 }]\n[[d]]\ne = 3')
    >>> lines["a", "b"], lines["a", "b", 1, "c"], lines["d", 0], lines["d", 0, "e"]
    (2, 3, 4, 5)
    """
    scanner = _Scanner(text)
    scanner.document()
    return scanner.lines


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self._rows: dict[KeyPath, int] = {}
        self._line, self._counted = 1, 0

    def document(self) -> None:
        table: KeyPath = ()
        while self._skip(_SPACE) < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> KeyPath:
        """``[a.b]`` or ``[[a.b]]``; the path that the keys below it have."""
        line = self._now()
        brackets = 2 if self.text.startswith("[[", self.at) else 1
        self.at += brackets
        keys = self._dotted_key()
        self.at += brackets
        path: KeyPath = ()
        for key in keys[:-1]:
            path = self._inside((*path, key), line)
        path = (*path, keys[-1])
        if brackets == 1:
            self.lines[path] = line
            return path
        self.lines.setdefault(path, line)
        self._rows[path] = self._rows.get(path, -1) + 1
        path = (*path, self._rows[path])
        self.lines[path] = line
        return path

    def _inside(self, path: KeyPath, line: int) -> KeyPath:
        """A table that a longer header or a dotted key goes through: the newest row of an array of tables."""
        self.lines.setdefault(path, line)
        return (*path, self._rows[path]) if path in self._rows else path

    def _pair(self, table: KeyPath) -> None:
        line = self._now()
        keys = self._dotted_key()
        self.at += 1  # the sign =
        path = table
        for key in keys:
            path = (*path, key)
            self.lines.setdefault(path, line)
        self._skip(_BLANK)
        self._value(path)

    def _dotted_key(self) -> list[str]:
        keys = [self._key()]
        while self._skip(_BLANK) < len(self.text) and self.text[self.at] == ".":
            self.at += 1
            keys.append(self._key())
        return keys

    def _key(self) -> str:
        self._skip(_BLANK)
        sign = self.text[self.at]
        pattern = {'"': _BASIC, "'": _LITERAL}.get(sign, _BARE_KEY)
        raw = self._match(pattern)
        return raw if pattern is _BARE_KEY else next(iter(tomllib.loads(f"{raw}=0")))

    def _value(self, path: KeyPath) -> None:
        sign = self.text[self.at]
        if sign == "[":
            self._array(path)
        elif sign == "{":
            self._inline_table(path)
        elif sign == '"':
            self._match(_LONG_BASIC if self.text.startswith('"""', self.at) else _BASIC)
        elif sign == "'":
            self._match(_LONG_LITERAL if self.text.startswith("'''", self.at) else _LITERAL)
        else:
            self._match(_PLAIN)

    def _array(self, path: KeyPath) -> None:
        self.at += 1
        index = 0
        while self.text[self._skip(_SPACE)] != "]":
            self.lines[*path, index] = self._now()
            self._value((*path, index))
            if self.text[self._skip(_SPACE)] == ",":
                self.at += 1
            index += 1
        self.at += 1

    def _inline_table(self, path: KeyPath) -> None:
        self.at += 1
        while self.text[self._skip(_SPACE)] != "}":
            self._pair(path)
            if self.text[self._skip(_SPACE)] == ",":
                self.at += 1
        self.at += 1

    def _match(self, pattern: re.Pattern[str]) -> str:
        """Read what a pattern matches here, and go behind it."""
        match = pattern.match(self.text, self.at)
        if match is None or (match.end() == self.at and pattern is not _PLAIN):
            raise ValueError(f"line {self._now()}: not valid TOML")
        self.at = match.end()
        return match[0]

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def _now(self) -> int:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line
