"""The walk of a program's schedule, which is known, written out as C; as `schedule`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
VARIABLES = "double t, reals y, reals p, reals d, integers k, reals h, reals c"
HANDED = "t, y, p, d, k, h, c"
UNREAD = "".join(f"(void){name}; " for name in HANDED.split(", ")).strip()


class CSchedule:
    """A table of blocks, as functions of C.

    Parameters
    ----------
    table : ndarray of int64, shape (rows, 3)
        Number of the block's function, first integer of its rows, how many rows.
    names : mapping of int to str
        Functions in C by number.
    raising : set of str
        Those that return a status.
    labels : sequence of str
        For readers: what each row is.
    evaluation, inner : pair of int
        First and last row of what is walked most.
    watched : ndarray of int64, shape (rows, 3)
        Rows of another table, which stand in `table` as well.
    reports : int and list of int
        As for `Schedule`.
    """

    def __init__(
        self,
        table: Integers,
        names: Mapping[int, str],
        raising: set[str],
        labels: Sequence[str],
        evaluation: tuple[int, int],
        inner: tuple[int, int],
        watched: Integers,
        reports: tuple[int, list[int]],
    ) -> None:
        self.table, self.names, self.raising, self.labels = table.tolist(), names, raising, labels
        self.evaluation, self.inner, self.watched, self.reports = evaluation, inner, watched.tolist(), reports

    def text(self) -> str:
        """The functions; `walk` is what others call."""
        later = self.reports[1]
        parts = [
            self._sequence("evaluation", [i for i in range(*self.evaluation) if i not in later]),
            self._sequence("inner_evaluation", [i for i in range(*self.inner) if i not in later]),
            *([self._sequence("reported_later", later)] if later else []),
            self._rows("row_of_table", self.table),
            *([self._rows("row_of_watched", self.watched)] if self.watched else []),
            self._walk(bool(later)),
        ]
        return "\n".join(parts)

    def _call(self, row: Sequence[int]) -> tuple[str, bool]:
        number, first, count = row
        name = self.names[number]
        return f"{name}({HANDED}, model_ints, {first}, {count})", name in self.raising

    def _sequence(self, name: str, rows: Sequence[int]) -> str:
        lines = []
        for i in rows:
            call, raises = self._call(self.table[i])
            comment = f" /* {_in_a_comment(self.labels[i])} */"
            lines.append(f"    if ({call} != 0) return {i + 1};{comment}" if raises else f"    {call};{comment}")
        head = f"static int64_t {name}({VARIABLES}) {{"
        return "\n".join([head, *lines, *([] if lines else [f"    {UNREAD}"]), "    return 0;", "}", ""])

    def _rows(self, name: str, rows: Sequence[Sequence[int]]) -> str:
        lines = []
        for i, row in enumerate(rows):
            call, raises = self._call(row)
            lines.append(f"    case {i}: return {call};" if raises else f"    case {i}: {call}; return 0;")
        return "\n".join(
            [
                f"static int32_t {name}(int64_t row, {VARIABLES}) {{",
                *([] if rows else [f"    {UNREAD}"]),
                "    switch (row) {",
                *lines,
                "    default: return 1;",
                "    }",
                "}",
                "",
            ]
        )

    def _walk(self, has_later: bool) -> str:
        evaluated, stop = self.evaluation
        later = [
            f"        if (first == {stop} && last == {self.reports[0]}) reported_later({HANDED});"
        ] if has_later else []
        lines = [
            "/* Rows of a table one after the other: 0, or 1 + the row that could not be computed. */",
            f"static int64_t walk(table rows, integers ints, int64_t first, int64_t last, {VARIABLES}) {{",
            "    if (rows.at == model_table.at && ints.at == model_ints.at) {",
            f"        if (first == {evaluated} && last == {stop}) return evaluation({HANDED});",
            *later,
            f"        if (first == {self.inner[0]} && last == {self.inner[1]}) return inner_evaluation({HANDED});",
            "        for (int64_t i = first; i < last; i++)",
            f"            if (row_of_table(i, {HANDED}) != 0) return i + 1;",
            "        return 0;",
            "    }",
        ]
        if self.watched:
            lines += [
                "    if (rows.at == model_watched.at && ints.at == model_ints.at) {",
                "        for (int64_t i = first; i < last; i++)",
                f"            if (row_of_watched(i, {HANDED}) != 0) return i + 1;",
                "        return 0;",
                "    }",
            ]
        return "\n".join(
            [
                *lines,
                "    for (int64_t i = first; i < last; i++) {",
                "        const int64_t *row = rows.at + i * rows.m;",
                f"        if (call_block(row[0], {HANDED}, ints, row[1], row[2]) != 0) return i + 1;",
                "    }",
                "    return 0;",
                "}",
                "",
            ]
        )


def _in_a_comment(text: str) -> str:
    return text.replace("*/", "* /").replace("/*", "/ *").encode("ascii", "replace").decode()
