"""Lines of the keys of a TOML text, for messages."""

from __future__ import annotations

import re

KEY = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)"""
PATH = re.compile(rf"\s*({KEY}(?:\s*\.\s*{KEY})*)\s*")
PART = re.compile(KEY)
STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL
)


def lines_of_keys(text: str) -> dict[str, int]:
    r"""Where each key of a valid TOML text stands.

    Keys inside inline tables and arrays are not listed: they stand where the key of their value begins.

    Parameters
    ----------
    text : str
        That ``tomllib`` has accepted.

    Returns
    -------
    dict of str to int
        Dotted key, elements of an array of tables with their index (``connections.1.from``), to line, from 1.

    Examples
    --------
    >>> lines_of_keys('[master]\nstep = 1\n[[connections]]\nfrom = "a"\n')
    {'master': 1, 'master.step': 2, 'connections.0': 3, 'connections.0.from': 4}
    """
    blank = STRING.sub(_blanked, text)
    source, plain = text.split("\n"), blank.split("\n")
    found: dict[str, int] = {}
    table, depth = "", 0
    counts: dict[str, int] = {}
    for number, (line, bare) in enumerate(zip(source, plain, strict=True), start=1):
        stripped = line.strip()
        if depth == 0 and stripped.startswith("["):
            several = stripped.startswith("[[")
            match = PATH.match(line, line.index("[") + 1 + several)
            if match is not None:
                table = _with_index(_dotted(match[1]), counts)
                if several:
                    index = counts.get(table, 0)
                    counts[table] = index + 1
                    table = f"{table}.{index}"
                found.setdefault(table, number)
            continue
        if depth == 0:
            match = PATH.match(line)
            if match is not None and line[match.end() : match.end() + 1] == "=":
                found.setdefault(f"{table}.{_dotted(match[1])}" if table else _dotted(match[1]), number)
        depth += sum(bare.count(ch) for ch in "[{") - sum(bare.count(ch) for ch in "]}")
    return found


def line_of(lines: dict[str, int], key: str) -> int:
    """The line of a dotted key, or of the innermost table around it that is listed; 1 when there is none."""
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key, 1)


def _dotted(path: str) -> str:
    parts = (part[1:-1] if part[0] in "\"'" else part for part in PART.findall(path))
    return ".".join(parts)


def _with_index(table: str, counts: dict[str, int]) -> str:
    """A table inside an element of an array of tables belongs to the last element."""
    for known, count in counts.items():
        if table.startswith(known + "."):
            return f"{known}.{count - 1}{table[len(known) :]}"
    return table


def _blanked(match: re.Match[str]) -> str:
    """Text of the same lines without anything in it."""
    return "\n" * match[0].count("\n")
