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
"""Values whose text is in memory at once; Python writes fewer values faster than machine code is loaded."""
WIDE_VALUES = 1 << 21
"""Values that are read at once if there are many columns; their text follows in pieces of a few rows."""
FEW_ROWS = 64


def quoted(text: str) -> str:
    """A text between double quotes, with those inside it doubled."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def row_texts(result: cosim.Result, first: int) -> Iterator[bytes | memoryview]:
    """The rows from `first` on, many lines at a time; each text is overwritten by the next one.

    A real has the shortest text that reads back as the same number, that of `repr`.
    """
    columns = [result.time, *result.signals.values()]
    width = sum([column.shape[1] if column.ndim == 2 else 1 for column in columns])
    rows = max(1, VALUES // width)
    piece = rows if rows >= FEW_ROWS else max(rows, WIDE_VALUES // width)
    is_small = (len(result) - first) * width <= VALUES
    has_empty = any(column.shape[1:] == (0,) for column in columns)
    write = _lines if is_small or is_plain() or has_empty else _compiled_writer(columns, piece, rows)
    for begin in range(first, len(result), piece):
        yield from write([column[begin : begin + piece] for column in columns])


def _lines(columns: Sequence[NDArray[Any]]) -> Iterator[bytes]:
    yield ("\n".join(map(",".join, zip(*map(_cells, columns), strict=True))) + "\n").encode()


def _cells(values: NDArray[Any]) -> Iterable[str]:
    """Text of each row."""
    write: Callable[[Any], str] = quoted if values.dtype == object else repr
    if values.dtype == np.bool_:
        values = values.astype(np.int64)
    if values.ndim == 1:
        return map(write, values.tolist())
    return (" ".join(map(write, row)) for row in values.tolist())


def _compiled_writer(
    columns: Sequence[NDArray[Any]], most_rows: int, rows: int
) -> Callable[[Sequence[NDArray[Any]]], Iterator[bytes | memoryview]]:
    """A function like `_lines` for at most `most_rows` rows, which returns the text of `rows` at a time."""
    widths = [column.shape[1] if column.ndim == 2 else 1 for column in columns]
    kinds = np.repeat(np.array([_kind(column) for column in columns], dtype=np.int64), widths)
    ends = np.full(len(kinds), ord(" "), dtype=np.int64)
    ends[np.cumsum(widths) - 1] = ord(",")
    ends[-1] = ord("\n")
    numbers = np.zeros((most_rows, len(kinds)), dtype=np.int64)
    text = np.zeros(rows * len(kinds) * LONGEST // 8 + 2, dtype=np.int64)
    append = compile_function(append_rows, ROWS_SIGNATURE)
    has_texts = bool(np.any(kinds == TEXT))
    are_reals = len(kinds) == len(columns) and bool(np.all(kinds == REAL))

    def write(parts: Sequence[NDArray[Any]]) -> Iterator[bytes | memoryview]:
        count = len(parts[0])
        if are_reals:
            numbers[:count] = np.array(parts).view(np.int64).T
        else:
            numbers[:count] = np.hstack([_bits(_flat(part)) for part in parts])
        for begin in range(0, count, rows):
            piece = numbers[begin : begin + min(rows, count - begin)]
            length = append(piece.ravel(), kinds, ends, text, len(piece))
            written = text.view(np.uint8)[:length].data
            if has_texts:
                table = [_flat(part[begin : begin + rows]) for part in parts if part.dtype == object]
                yield _with_texts(bytes(written), map(quoted, np.hstack(table).ravel().tolist()))
            else:
                yield written

    return write


def _flat(values: NDArray[Any]) -> NDArray[Any]:
    return values if values.ndim == 2 else values[:, None]


def _kind(values: NDArray[Any]) -> int:
    return {"O": TEXT, "b": WHOLE}.get(values.dtype.kind, REAL)


def _bits(values: NDArray[Any]) -> NDArray[np.int64]:
    if values.dtype == object:
        return np.zeros(values.shape, dtype=np.int64)
    return values.astype(np.int64) if values.dtype == np.bool_ else values.view(np.int64)


def _with_texts(written: bytes, texts: Iterable[str]) -> bytes:
    """The bytes with the zero bytes replaced by the texts."""
    first, *following = written.split(b"\0")
    return first + b"".join(chain.from_iterable(zip(map(str.encode, texts), following, strict=True)))
