"""The rows of a result as the text of a CSV file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import compile_function, is_plain
from cosim_workbench.number_text import LONGEST, REAL, ROWS_SIGNATURE, TEXT, WHOLE, append_rows

VALUES = 1 << 16
"""Whose text is in memory at once. For fewer, machine code takes longer to load than Python to write them."""


def quoted(text: str) -> str:
    """A text between double quotes, with those inside it doubled."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def row_texts(result: cosim.Result, first: int) -> Iterator[bytes | memoryview]:
    """The rows from one on, many lines at a time; what is handed out is overwritten by the next lines.

    A real has the shortest text that reads back as the same number, that of `repr`.
    """
    columns = [result.time, *result.signals.values()]
    widths = [column.shape[1] if column.ndim == 2 else 1 for column in columns]
    rows = max(1, VALUES // sum(widths))
    is_small = (len(result) - first) * sum(widths) <= VALUES
    write = _lines if is_small or is_plain() or 0 in widths else _compiled_writer(columns, rows)
    for begin in range(first, len(result), rows):
        yield write([column[begin : begin + rows] for column in columns])


def _lines(columns: Sequence[NDArray[Any]]) -> bytes:
    return ("\n".join(map(",".join, zip(*map(_cells, columns), strict=True))) + "\n").encode()


def _cells(values: NDArray[Any]) -> Iterable[str]:
    """Text of each row."""
    write: Callable[[Any], str] = quoted if values.dtype == object else repr
    if values.dtype == np.bool_:
        values = values.astype(np.int64)
    if values.ndim == 1:
        return map(write, values.tolist())
    return (" ".join(map(write, row)) for row in values.tolist())


def _compiled_writer(
    columns: Sequence[NDArray[Any]], rows: int
) -> Callable[[Sequence[NDArray[Any]]], bytes | memoryview]:
    """A function that does as `_lines`, of parts of these columns with so many rows at most."""
    flat = [_flat(column[:0]) for column in columns]
    kinds = np.concatenate([np.full(part.shape[1], _kind(part), dtype=np.int64) for part in flat])
    ends = np.full(len(kinds), ord(" "), dtype=np.int64)
    ends[np.cumsum([part.shape[1] for part in flat]) - 1] = ord(",")
    ends[-1] = ord("\n")
    numbers = np.zeros((rows, len(kinds)), dtype=np.int64)
    text = np.zeros(rows * len(kinds) * LONGEST // 8 + 2, dtype=np.int64)
    append = compile_function(append_rows, ROWS_SIGNATURE)
    has_texts = TEXT in kinds

    def write(parts: Sequence[NDArray[Any]]) -> bytes | memoryview:
        flat_parts, first = [_flat(part) for part in parts], 0
        for part in flat_parts:
            last = first + part.shape[1]
            numbers[: len(part), first:last] = 0 if part.dtype == object else _bits(part)
            first = last
        length = append(numbers.ravel(), kinds, ends, text, len(flat_parts[0]))
        written = text.view(np.uint8)[:length].data
        if not has_texts:
            return written
        table = np.hstack([part for part in flat_parts if part.dtype == object])
        return _with_texts(bytes(written), map(quoted, table.ravel().tolist()))

    return write


def _flat(values: NDArray[Any]) -> NDArray[Any]:
    return values if values.ndim == 2 else values[:, None]


def _kind(values: NDArray[Any]) -> int:
    return {"O": TEXT, "b": WHOLE}.get(values.dtype.kind, REAL)


def _bits(values: NDArray[Any]) -> NDArray[np.int64]:
    return values.astype(np.int64) if values.dtype == np.bool_ else values.view(np.int64)


def _with_texts(written: bytes, texts: Iterable[str]) -> bytes:
    """Texts in place of the zero bytes, by turns with what stands between them."""
    first, *following = written.split(b"\0")
    return first + b"".join(chain.from_iterable(zip(map(str.encode, texts), following, strict=True)))
