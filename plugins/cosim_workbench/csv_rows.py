"""The rows of a CSV file of results as columns: numbers, booleans and texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cosim

QUOTED = re.compile(r' *"((?:[^"]|"")*)" *')
MISSING = ["nan"]
"""An empty cell, as pandas writes NaN."""
WORDS = {"true": "1", "false": "0"}
"""Booleans as fmpy and pandas write them."""


class CsvRow(NamedTuple):
    """A line of a CSV file."""

    line: int
    cells: list[list[str]]  # numbers of each column
    texts: dict[int, str]  # quoted texts by column
    raw: list[str]  # cells as they are written

    def bare_texts(self) -> dict[int, str]:
        """Cells without quotes that are not numbers, by column."""
        return {
            i: cell
            for i, cell in enumerate(map(str.strip, self.raw))
            if i not in self.texts and cell[:1] not in ("", '"') and not all(map(_is_number, self.cells[i]))
        }


def read_rows(body: str, separator: str, first: int) -> Iterator[CsvRow]:
    """The lines that are not empty; `first` is the number of the first one."""
    return (_quoted_rows if '"' in body else _bare_rows)(body, separator, first)


def _bare_rows(body: str, separator: str, first: int) -> Iterator[CsvRow]:
    """The rows of a text without quotes."""
    for number, line in enumerate(body.split("\n"), start=first):
        if line.strip():
            raw = line.split(separator)
            yield CsvRow(number, [_numbers(cell, separator) for cell in raw], {}, raw)


def _quoted_rows(body: str, separator: str, first: int) -> Iterator[CsvRow]:
    """The rows of a text with quotes, between which separators and line ends belong to the cell."""
    bare = re.compile(rf"[^{re.escape(separator)}\r\n]*")
    place, number = 0, first
    while place < len(body):
        row, is_complete = CsvRow(number, [], {}, []), False
        while not is_complete:
            match = QUOTED.match(body, place)
            if match is not None and body[match.end() : match.end() + 1] in (separator, "\r", "\n", ""):
                row.texts[len(row.cells)] = match[1].replace('""', '"')
                row.cells.append(["nan"])
                number += match[1].count("\n")
            else:
                match = bare.match(body, place)
                assert match is not None  # it may be empty
                row.cells.append(_numbers(match[0], separator))
            row.raw.append(match[0])
            place = match.end() + 1
            is_complete = body[match.end() : place] != separator
        place += body[place - 1 : place + 1] == "\r\n"
        if len(row.cells) > 1 or row.texts or row.cells[0] != MISSING:
            yield row._replace(line=number)
        number += 1


def _numbers(cell: str, separator: str) -> list[str]:
    return (cell if separator == "," else cell.replace(",", ".")).split() or MISSING


def _is_number(text: str) -> bool:
    try:
        float(WORDS.get(text.lower(), text))
    except ValueError:
        return False
    return True


def read_columns(path: Path, names: list[str], rows: Iterator[CsvRow]) -> dict[str, Any]:
    """The columns by name; `CosimError` with the line in which something is wrong."""
    table: list[list[float]] = []
    texts: dict[int, list[str]] = {}
    booleans: set[int] = set()
    widths: list[int] = []
    for row in rows:
        if not widths:  # a column is text if it is text in the first line
            texts = {column: [] for column in (*row.texts, *row.bare_texts())}
        if texts:
            bare_texts = row.bare_texts()
            for column in texts.keys() & bare_texts.keys():
                row.texts[column], row.cells[column] = bare_texts[column], list(MISSING)
        sizes = [len(cell) for cell in row.cells]
        widths = widths or sizes
        if len(sizes) != len(names) or sizes != widths or 0 in widths:
            raise cosim.CosimError(f"{path}:{row.line}: does not have the columns of the lines above")
        if row.texts.keys() != texts.keys():
            odd = names[min(row.texts.keys() ^ texts.keys())]
            raise cosim.CosimError(f"{path}:{row.line}: {odd} is text in some lines and not in others")
        for column, text in row.texts.items():
            texts[column].append(text)
        table.append(_row_numbers(path, row, booleans))
    widths = widths or [1] * len(names)
    numbers = np.array(table, dtype=np.float64).reshape(len(table), sum(widths))
    return _signals(names, widths, numbers, texts, booleans)


def _row_numbers(path: Path, row: CsvRow, booleans: set[int]) -> list[float]:
    """The numbers of a line; columns that have a word for one are added to `booleans`."""
    try:
        return [float(text) for cell in row.cells for text in cell]
    except ValueError as error:
        numerals = [[WORDS.get(text.lower(), text) for text in cell] for cell in row.cells]
        booleans.update(i for i, cell in enumerate(row.cells) if cell != numerals[i])
        try:
            return [float(text) for cell in numerals for text in cell]
        except ValueError:
            raise cosim.CosimError(f"{path}:{row.line}: {error}") from None


def _signals(
    names: list[str], widths: list[int], numbers: Any, texts: Mapping[int, list[str]], booleans: set[int]
) -> dict[str, Any]:
    """The columns of a table of numbers by name, with texts and booleans in their places."""
    signals: dict[str, Any] = {}
    end = 0
    for i, (name, width) in enumerate(zip(names, widths, strict=True)):
        end += width
        signals[name] = numbers[:, end - 1] if width == 1 else numbers[:, end - width : end]
        if i in texts:
            signals[name] = np.array(texts[i], dtype=object)
        elif i in booleans:
            signals[name] = signals[name] != 0.0
    return signals
