"""The walk of a program's schedule, which is known, written out as C; as `schedule`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.kit import BlockRow, LoweredC

Integers = NDArray[np.int64]
VARIABLES = "double t, reals y, reals p, reals d, integers k, reals h, reals c"
HANDED = "t, y, p, d, k, h, c"
UNREAD = "".join(f"(void){name}; " for name in HANDED.split(", ")).strip()
MOST_ALONE = 8
"""Components of a row for each of which a function of its own is written."""


@dataclass(frozen=True)
class KnownCall:
    """A call of a block's function for rows that are known.

    Attributes
    ----------
    name : str
        The name of the function.
    function : str
        The function whose form for these rows it is.
    first, count : int
        First integer of its rows, how many.
    """

    name: str
    function: str
    first: int
    count: int

    @property
    def known(self) -> dict[str, Any]:
        """The arguments that are known."""
        return {"ints": "ints", "first": self.first, "count": self.count}


class CSchedule:
    """A table of blocks, as functions of C.

    Parameters
    ----------
    table : ndarray of int64, shape (rows, 3)
        A `BlockRow` of each block, with the number of its function.
    names : mapping of int to str
        Functions by number.
    widths : mapping of str to int
        For functions that treat components one after the other, the number of integers for each.
    labels : sequence of str
        For readers: what each row is.
    evaluation, inner : pair of int
        First and last row of what is walked most.
    watched : ndarray of int64, shape (rows, 3)
        Rows of another table, which stand in `table` as well.

    Attributes
    ----------
    calls : dict of BlockRow to list of KnownCall
        The calls of each row.
    """

    def __init__(
        self,
        table: Integers,
        names: Mapping[int, str],
        widths: Mapping[str, int],
        labels: Sequence[str],
        evaluation: tuple[int, int],
        inner: tuple[int, int],
        watched: Integers,
    ) -> None:
        self.table: list[BlockRow] = [BlockRow(*row) for row in table.tolist()]
        self.watched: list[BlockRow] = [BlockRow(*row) for row in watched.tolist()]
        self.labels, self.evaluation, self.inner = labels, evaluation, inner
        self.calls: dict[BlockRow, list[KnownCall]] = {}
        taken: dict[str, KnownCall] = {}
        for row in self.table:
            if row not in self.calls:
                known_calls = _calls_of(names[row.function], row.first, row.components, widths)
                self.calls[row] = [_renamed(call, taken) for call in known_calls]

    def text(self, lowered: LoweredC, reports: tuple[int, list[int]], holds: bool) -> str:
        """The functions; `walk` is what others call.

        Parameters
        ----------
        lowered : LoweredC
            Has the functions of `calls`.
        reports : int and list of int
            As for `Schedule`.
        holds : bool
            Whether there are tables that only a run knows.
        """
        later = reports[1]
        parts = [
            self._sequence(lowered, "evaluation", [i for i in range(*self.evaluation) if i not in later]),
            self._sequence(lowered, "inner_evaluation", [i for i in range(*self.inner) if i not in later]),
            *([self._sequence(lowered, "reported_later", later)] if later else []),
            self._rows(lowered),
            *([self._places_of_watched()] if self.watched else []),
            self._walk(reports[0] if later else None, holds),
        ]
        return "\n".join(parts)

    def row(self, lowered: LoweredC, row: BlockRow) -> list[tuple[str, bool]]:
        """The calls of a row in C, and whether each returns a status."""
        texts = []
        for call in self.calls[row]:
            name, taken = lowered.rows[call.name]
            known = {"ints": "model_ints", "first": str(call.first), "count": str(call.count)}
            arguments = ", ".join(known.get(argument, argument) for argument in taken)
            texts.append((f"{name}({arguments})", name in lowered.raising))
        return texts

    def _sequence(self, lowered: LoweredC, name: str, rows: Sequence[int]) -> str:
        lines = []
        for i in rows:
            comment = f" /* {_in_a_comment(self.labels[i])} */"
            for call, raises in self.row(lowered, self.table[i]):
                lines.append(
                    f"    if ({call} != 0) return {i + 1};{comment}" if raises else f"    {call};{comment}"
                )
                comment = ""
        head = f"static int64_t {name}({VARIABLES}) {{"
        return "\n".join([head, f"    {UNREAD}", *lines, "    return 0;", "}", ""])

    def _rows(self, lowered: LoweredC) -> str:
        cases: dict[str, list[str]] = {}
        for i, row in enumerate(self.table):
            cases.setdefault(done_and_returned(self.row(lowered, row)), []).append(f"case {i}:")
        lines = [f"    {' '.join(labels)} {done}" for done, labels in cases.items()]
        return "\n".join(
            [
                f"static int32_t row_of_table(int64_t row, {VARIABLES}) {{",
                f"    {UNREAD}",
                "    switch (row) {",
                *lines,
                "    default: return 1;",
                "    }",
                "}",
                "",
            ]
        )

    def _places_of_watched(self) -> str:
        rows = [str(self.table.index(row)) for row in self.watched]
        lines = textwrap.fill(", ".join(rows), 110, initial_indent="    ", subsequent_indent="    ")
        return f"static const int64_t rows_of_watched[] = {{\n{lines},\n}};\n"

    def _walk(self, report_end: int | None, holds: bool) -> str:
        begin, stop = self.evaluation
        lines = [
            "/* Rows of a table one after the other: 0, or 1 + the row that could not be computed. */",
            f"static int64_t walk(table rows, integers ints, int64_t first, int64_t last, {VARIABLES}) {{",
            *([] if holds else ["    (void)ints;"]),
        ]
        is_table = "rows.at == model_table.at" + (" && ints.at == model_ints.at" if holds else "")
        lines += [
            f"    if ({is_table}) {{",
            f"        if (first == {begin} && last == {stop}) return evaluation({HANDED});",
        ]
        if report_end is not None:
            lines.append(
                f"        if (first == {stop} && last == {report_end}) (void)reported_later({HANDED});"
            )
        lines += [
            f"        if (first == {self.inner[0]} && last == {self.inner[1]})",
            f"            return inner_evaluation({HANDED});",
            "        for (int64_t i = first; i < last; i++)",
            f"            if (row_of_table(i, {HANDED}) != 0) return i + 1;",
            "        return 0;",
            "    }",
        ]
        if self.watched:
            is_watched = is_table.replace("model_table", "model_watched")
            lines += [
                f"    if ({is_watched}) {{",
                "        for (int64_t i = first; i < last; i++)",
                f"            if (row_of_table(rows_of_watched[i], {HANDED}) != 0) return i + 1;",
                "        return 0;",
                "    }",
            ]
        if holds:
            lines += [
                "    for (int64_t i = first; i < last; i++) {",
                "        const int64_t *row = rows.at + i * rows.m;",
                f"        if (call_block(row[0], {HANDED}, ints, row[1], row[2]) != 0) return i + 1;",
                "    }",
            ]
        return "\n".join([*lines, "    return 0;", "}", ""])


def done_and_returned(calls: Sequence[tuple[str, bool]]) -> str:
    """Calls one after the other in a line, and the first status that is not 0."""
    *before, last = calls
    lines = [f"if ({call} != 0) return 1;" if raises else f"{call};" for call, raises in before]
    call, raises = last
    return " ".join([*lines, f"return {call};" if raises else f"{call}; return 0;"])


def _calls_of(function: str, first: int, count: int, widths: Mapping[str, int]) -> list[KnownCall]:
    width = widths.get(function, 0)
    plain = re.sub(r"^block_\d+_", "", function)
    if width and 1 < count <= MOST_ALONE:
        return [
            KnownCall(f"{plain}_{first + width * i}", function, first + width * i, 1) for i in range(count)
        ]
    return [KnownCall(f"{plain}_{first}", function, first, count)]


def _renamed(call: KnownCall, taken: dict[str, KnownCall]) -> KnownCall:
    """A call under a name that no other has: functions of two modules may be called alike."""
    name, count = call.name, 1
    while taken.setdefault(name, call) != call:
        count += 1
        name = f"{call.name}_{count}"
    return replace(call, name=name)


def _in_a_comment(text: str) -> str:
    return text.replace("*/", "* /").replace("/*", "/ *").encode("ascii", "replace").decode()
