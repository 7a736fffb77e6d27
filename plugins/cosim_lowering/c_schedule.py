"""The calls of a program's schedule as C: one statement for each block, and `walk`, which runs them.

The table of blocks and their integers are known when the file is written. Therefore each row becomes a direct
call of a function whose arguments `ints`, `first` and `count` are constants. `schedule` writes the same as
LLVM's text.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import BlockRow, LoweredC

Integers = NDArray[np.int64]
PARAMETERS = "double t, reals y, reals p, reals d, integers k, reals h, reals c"
"""The parameters that all functions here share: the time, and the arrays of a run."""
ARGUMENTS = "t, y, p, d, k, h, c"
UNREAD = "".join(f"(void){name}; " for name in ARGUMENTS.split(", ")).strip()
"""Avoids warnings about parameters that no call reads."""
MOST_ALONE = 8
"""Rows of up to this number of components get a function for each component; longer rows get one for all."""
LINE = 110
"""Characters in a line of C."""


@dataclass(frozen=True)
class KnownCall:
    """A call of a block's function with known integers.

    Attributes
    ----------
    name : str
        The name of the function that is written for this call.
    function : str
        The function of the block, of which it is a special case.
    first : int
        Where in `ints` the integers of its components begin.
    count : int
        The number of its components.
    """

    name: str
    function: str
    first: int
    count: int

    @property
    def known(self) -> dict[str, Any]:
        """The constant arguments of the function."""
        return {"ints": "ints", "first": self.first, "count": self.count}


class CCall(NamedTuple):
    """A call in C.

    Attributes
    ----------
    text : str
        The call, without a semicolon.
    raises : bool
        Whether it returns a status, which is not 0 where the function has raised.
    """

    text: str
    raises: bool


class CSchedule:
    """A table of blocks, as functions of C.

    Parameters
    ----------
    table : ndarray of int64, shape (rows, 3)
        A `BlockRow` of each block, with the number of its function.
    names : mapping of int to str
        Functions by number.
    widths : mapping of str to int
        For functions that treat components one after the other, the number of integers of a component.
    labels : sequence of str
        A comment for each row.
    evaluation, inner : pair of int
        The first row, and the one behind the last, of the two ranges that are walked most: an evaluation of
        the derivatives, and the part of it that an integrator repeats within a step.
    watched : ndarray of int64, shape (rows, 3)
        The rows that witnesses need, of another table; each of them is also a row of `table`.

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
        call_of_name: dict[str, KnownCall] = {}
        for row in self.table:
            if row not in self.calls:
                known_calls = _calls_of(names[row.function], row, widths)
                self.calls[row] = [_with_own_name(call, call_of_name) for call in known_calls]

    def text(self, lowered: LoweredC, report_end: int, reported_later: list[int], holds: bool) -> str:
        """All functions in C; others call `walk` alone.

        Parameters
        ----------
        lowered : LoweredC
            Has the functions of `calls`.
        report_end : int
            The row behind those that only readers of results need; they follow the evaluation.
        reported_later : list of int
            Rows of the evaluation that only readers of results need, so that it leaves them out.
        holds : bool
            Whether a run also has tables that are not known here, for witnesses that are held.
        """
        evaluated, inner = (
            [row for row in range(*rows) if row not in reported_later]
            for rows in (self.evaluation, self.inner)
        )
        parts = [
            self._sequence(lowered, "evaluation", evaluated),
            self._sequence(lowered, "inner_evaluation", inner),
        ]
        if reported_later:
            parts.append(self._sequence(lowered, "reported_later", reported_later))
        parts.append(self._row_of_table(lowered))
        if self.watched:
            parts.append(self._rows_of_watched())
        parts.append(self._walk(report_end if reported_later else None, holds))
        return "\n".join(parts)

    def row(self, lowered: LoweredC, row: BlockRow) -> list[CCall]:
        """The calls of a row, each with those arguments that the function still takes."""
        calls = []
        for call in self.calls[row]:
            name, parameters = lowered.rows[call.name]
            constants = {"ints": "model_ints", "first": str(call.first), "count": str(call.count)}
            arguments = ", ".join(constants.get(parameter, parameter) for parameter in parameters)
            calls.append(CCall(f"{name}({arguments})", name in lowered.raising))
        return calls

    def _sequence(self, lowered: LoweredC, name: str, rows: Sequence[int]) -> str:
        """A function that calls these rows; it returns 0, or 1 + the row that has raised."""
        lines = [f"static int64_t {name}({PARAMETERS}) {{", f"    {UNREAD}"]
        for i in rows:
            comment = f" /* {_in_a_comment(self.labels[i])} */"  # behind the first call of a row
            for call in self.row(lowered, self.table[i]):
                statement = f"if ({call.text} != 0) return {i + 1};" if call.raises else f"{call.text};"
                lines.append(f"    {statement}{comment}")
                comment = ""
        return "\n".join([*lines, "    return 0;", "}", ""])

    def _row_of_table(self, lowered: LoweredC) -> str:
        """A function that calls one row by its number; equal rows share their statements."""
        cases: dict[str, list[str]] = {}
        for i, row in enumerate(self.table):
            cases.setdefault(done_and_returned(self.row(lowered, row)), []).append(f"case {i}:")
        lines = [f"    {' '.join(labels)} {statements}" for statements, labels in cases.items()]
        return "\n".join(
            [
                f"static int32_t row_of_table(int64_t row, {PARAMETERS}) {{",
                f"    {UNREAD}",
                "    switch (row) {",
                *lines,
                "    default: return 1;",
                "    }",
                "}",
                "",
            ]
        )

    def _rows_of_watched(self) -> str:
        """An array: for each row of the watched table the same row of the whole table."""
        rows = ", ".join(str(self.table.index(row)) for row in self.watched)
        lines = textwrap.fill(rows, LINE, initial_indent="    ", subsequent_indent="    ")
        return f"static const int64_t rows_of_watched[] = {{\n{lines},\n}};\n"

    def _walk(self, report_end: int | None, holds: bool) -> str:
        """The function `walk`, which runs rows of any table.

        It knows a table by its address. Where tables of a run are there too, their integers decide as well,
        and their rows are called by the numbers of the functions.
        """
        is_known = "rows.at == {table}.at" + (" && ints.at == model_ints.at" if holds else "")
        lines = [
            "/* Rows of a table one after the other: 0, or 1 + the row that could not be computed. */",
            f"static int64_t walk(table rows, integers ints, int64_t first, int64_t last, {PARAMETERS}) {{",
            *([] if holds else ["    (void)ints;"]),
            f"    if ({is_known.format(table='model_table')}) {{",
            *self._ranges_of_table(report_end),
            *_each_row("i"),
        ]
        if self.watched:
            lines += [
                f"    if ({is_known.format(table='model_watched')}) {{",
                *_each_row("rows_of_watched[i]"),
            ]
        if holds:
            lines += [
                "    for (int64_t i = first; i < last; i++) {",
                "        const int64_t *row = rows.at + i * rows.m;",
                f"        if (call_block(row[0], {ARGUMENTS}, ints, row[1], row[2]) != 0) return i + 1;",
                "    }",
            ]
        return "\n".join([*lines, "    return 0;", "}", ""])

    def _ranges_of_table(self, report_end: int | None) -> list[str]:
        """The statements of `walk` for the ranges of the table that have functions of their own.

        The reports continue with the other rows behind the evaluation, so they return nothing.
        """
        first, last = self.evaluation
        lines = [f"        if (first == {first} && last == {last}) return evaluation({ARGUMENTS});"]
        if report_end is not None:
            lines.append(
                f"        if (first == {last} && last == {report_end}) (void)reported_later({ARGUMENTS});"
            )
        inner_first, inner_last = self.inner
        return [
            *lines,
            f"        if (first == {inner_first} && last == {inner_last})",
            f"            return inner_evaluation({ARGUMENTS});",
        ]


def _each_row(row: str) -> list[str]:
    """The statements of `walk` that call the rows of a known table; `row` is the number of each in C."""
    return [
        "        for (int64_t i = first; i < last; i++)",
        f"            if (row_of_table({row}, {ARGUMENTS}) != 0) return i + 1;",
        "        return 0;",
        "    }",
    ]


def done_and_returned(calls: Sequence[CCall]) -> str:
    """Statements that make these calls, and return 1 or the last status where one raises, else 0."""
    *before, last = calls
    statements = [f"if ({call.text} != 0) return 1;" if call.raises else f"{call.text};" for call in before]
    end = f"return {last.text};" if last.raises else f"{last.text}; return 0;"
    return " ".join([*statements, end])


def _calls_of(function: str, row: BlockRow, widths: Mapping[str, int]) -> list[KnownCall]:
    """The calls of a row: one for each component where these are few, else one for all."""
    plain_name = re.sub(r"^block_\d+_", "", function)
    width = widths.get(function, 0)
    if width and 1 < row.components <= MOST_ALONE:
        firsts = [row.first + width * i for i in range(row.components)]
        return [KnownCall(f"{plain_name}_{first}", function, first, count=1) for first in firsts]
    return [KnownCall(f"{plain_name}_{row.first}", function, row.first, row.components)]


def _with_own_name(call: KnownCall, call_of_name: dict[str, KnownCall]) -> KnownCall:
    """A call under a name that no other call has, which is entered in `call_of_name`.

    Functions of two modules may have the same name: the second one gets a number.
    """
    name, number = call.name, 1
    while call_of_name.setdefault(name, call) != call:
        number += 1
        name = f"{call.name}_{number}"
    return replace(call, name=name)


def _in_a_comment(text: str) -> str:
    """A text that cannot end a comment of C, in ASCII."""
    return text.replace("*/", "* /").replace("/*", "/ *").encode("ascii", "replace").decode()
