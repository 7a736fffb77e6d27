"""The walk of a program's schedule as LLVM text, written out call by call.

There is a function for each row of the table (`_row`), for sequences of rows that are walked often
(`_sequence`), for any rows of a known table (`_known`), and `walk` itself, which chooses among them by the
addresses of its tables and by `first` and `last` (`_walk`). Rows that call long functions have texts of their
own (`far_rows`), so that little is compiled again after an edit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cosim.kit import BLOCK_SIGNATURE, WALK, WALK_SIGNATURE, BlockRow, name_of
from cosim_lowering.numbered_calls import constant, global_name, parameters

EVALUATION = "cosim_evaluation"
INNER = "cosim_inner"
LATER = "cosim_later"
ROW = "cosim_row"
OFTEN = 4
"""A block with this number of calling rows stays a separate function."""
WRITTEN_OUT = 600
"""Instructions of what is written out for each component of a row; more would crowd a processor's cache."""

Integers = NDArray[np.int64]
FAR = "cosim_far"
KNOWN = "known_ints"
"""The integers once more, in each piece of code: the optimizer reads them, and seldom leaves any."""
REPEATED = 4096
"""Up to this number of integers, all rows read those of their piece; else only rows that are written out."""
SHORT = 150
"""Blocks of up to this number of instructions are compiled with the walk, which inlines them."""
WORDS = {"t": "double", **dict.fromkeys("ypdkh", "ptr"), "grown": "i64", "c": "ptr"}
"""What a row needs, in the order in which it stands in the frame of a walk; `grown` is the length of `h`."""
ITEM = 8
PARAMETERS = ", ".join(
    f"{kind} noalias %{name}" if kind == "ptr" else f"{kind} %{name}" for name, kind in WORDS.items()
)
"""Parameters of the function of a row: each number lies in one array alone."""
ARGUMENTS = ", ".join(f"{kind} %{name}" for name, kind in WORDS.items())
FRAME = f"ptr %frame, {PARAMETERS}"
"""Parameters of what calls rows; those of other pieces need the frame alone."""
OF_WALK = f"ptr %frame, {ARGUMENTS}".replace("%grown", "%h.rows")
"""Arguments with which `walk` calls them."""


class Schedule:
    """A table of blocks that is known when its walk is lowered.

    It is written out call by call, with every argument that is known; the optimizer does the rest.

    Parameters
    ----------
    table : ndarray of int64, shape (rows, 3)
        A `BlockRow` of each block, with the number of its function.
    ints : ndarray of int64
    names : mapping of int to str
        Functions by number.
    widths : mapping of str to int
        For functions that treat components one after the other, the number of integers for each.
    lengths : mapping of str to int
        The number of instructions of each block's function.
    sizes : mapping of str to int
        How long y, p, d, k and c are, at least.
    evaluation, inner : pair of int
        First and last row of what is walked most: all of an evaluation, and what derivatives alone need of
        it. A row that stands in the table again is the same.
    parts : mapping of str to ndarray of int64, shape (rows, 3)
        Names of the arrays of other tables, of rows that stand in `table` as well.
    reports : int and list of int
        Rows up to which are walked after an evaluation for those who look at results, and rows of the
        evaluation that are left until then.
    """

    def __init__(
        self,
        table: Integers,
        ints: Integers,
        names: Mapping[int, str],
        widths: Mapping[str, int],
        lengths: Mapping[str, int],
        sizes: Mapping[str, int],
        evaluation: tuple[int, int],
        inner: tuple[int, int],
        parts: Mapping[str, Integers],
        reports: tuple[int, list[int]],
    ) -> None:
        self.table, self.ints, self.names, self.sizes = table, ints, names, sizes
        self.widths, self.lengths = widths, lengths
        self.evaluation, self.inner, self.parts, self.reports = evaluation, inner, parts, reports
        self._rows = [BlockRow(*row) for row in table.tolist()]
        self._places: dict[BlockRow, int] = {}
        for i, row in enumerate(self._rows):
            self._places.setdefault(row, i)
        self._uses = Counter(row.function for row in self._places)

    def constants(self) -> str:
        """What the text of any row needs: the integers."""
        shared = f"@{global_name('ints')} = external constant i64\n"
        return constant(KNOWN, self.ints, "internal") + shared

    def far_rows(self) -> dict[str, str]:
        """By the name of each long function: the text of the rows that call it, which the walk reaches."""
        texts = {name: "" for name in self.lengths if self._is_far(name)}
        for row, i in self._places.items():
            if self._is_far(name := self.names[row.function]):
                texts[name] += self._row(i, row) + _reached(i)
        return texts

    def _is_far(self, name: str) -> bool:
        return self.lengths[name] > SHORT

    def text(self) -> str:
        """The walk, written out, with the rows that call short functions."""
        places, later = self._places, self.reports[1]
        functions = [
            f"declare i32 @{FAR}_{i}(ptr)" if self._is_far(self.names[row.function]) else self._row(i, row)
            for row, i in places.items()
        ]
        functions += [f"@{global_name(name)} = external constant i64" for name in ("table", *self.parts)]
        tables = {"table": [places[row] for row in self._rows]}
        inner = tables["table"][slice(*self.inner)]
        functions.append(self._sequence(INNER, [i for i in inner if i not in later]))
        functions.append(self._sequence(EVALUATION, [i for i in range(*self.evaluation) if i not in later]))
        functions.append(self._sequence(LATER, later))
        for name, table in self.parts.items():
            tables[name] = [places[BlockRow(*row)] for row in table.tolist()]
        functions += [self._known(name, indices) for name, indices in tables.items()]
        functions.append(self._walk(list(tables)))
        return "\n".join(functions)

    def _row(self, index: int, row: BlockRow) -> str:
        """The function of a row: its status is that of the first component that raised.

        Components are called one by one, and inlined, where the function is short or few rows use it.
        """
        name = self.names[row.function]
        arguments = ["ptr %result", "double %t"]
        for array in "ypdkhc":
            arguments += [f"ptr %{array}", f"i64 {'%grown' if array == 'h' else self.sizes[array]}"]
        width = self.widths.get(name, 0)
        if width and row.components * self.lengths[name] <= WRITTEN_OUT:
            calls = [(row.first + width * i, 1) for i in range(row.components)]
        else:
            calls = [(row.first, row.components)]
        is_repeated = len(calls) == row.components or self.ints.size <= REPEATED
        arguments += [f"ptr @{global_name(KNOWN if is_repeated else 'ints')}", f"i64 {self.ints.size}"]
        inlined = " alwaysinline" if self._uses[row.function] < OFTEN or len(calls) == row.components else ""
        lines = [
            f"define internal i32 @{ROW}_{index}({PARAMETERS}) {{",
            "  %result = alloca ptr",
            "  br label %call0",
        ]
        for i, (begin, most) in enumerate(calls):
            rows = [f"i64 {begin}", f"i64 {most}"]
            lines += [
                f"call{i}:",
                f"  %status{i} = call i32 @{name}({', '.join([*arguments, *rows])}){inlined}",
                f"  %good{i} = icmp eq i32 %status{i}, 0",
                f"  br i1 %good{i}, label %call{i + 1}, label %failed{i}",
                f"failed{i}:",
                f"  ret i32 %status{i}",
            ]
        return "\n".join([*lines, f"call{len(calls)}:", "  ret i32 0", "}", ""])

    def _call(self, label: str, index: int) -> str:
        """The call of the row at a place of the table."""
        is_far = self._is_far(self.names[self._rows[index].function])
        called = f"@{FAR}_{index}(ptr %frame)" if is_far else f"@{ROW}_{index}({ARGUMENTS})"
        return f"  %status{label} = call i32 {called}"

    def _sequence(self, name: str, rows: Sequence[int]) -> str:
        """Call rows one after the other; 0, or 1 + the index of the one that raised."""
        lines = [f"define internal i64 @{name}({FRAME}) {{", "  br label %call0"]
        for i, row in enumerate(rows):
            lines += [
                f"call{i}:",
                self._call(str(i), row),
                f"  %good{i} = icmp eq i32 %status{i}, 0",
                f"  br i1 %good{i}, label %call{i + 1}, label %failed{i}",
                f"failed{i}:",
                f"  ret i64 {row + 1}",
            ]
        return "\n".join([*lines, f"call{len(rows)}:", "  ret i64 0", "}", ""])

    def _known(self, name: str, indices: Sequence[int]) -> str:
        """Rows `first` to `last` of a table, whichever they are."""
        cases = " ".join(f"i64 {i}, label %row{i}" for i in range(len(indices)))
        lines = [
            f"define internal i64 @{WALK}_{name}(i64 %first, i64 %last, {FRAME}) {{",
            "  br label %test",
            "test:",
            "  %i = phi i64 [ %first, %0 ], [ %next, %good ]",
            "  %more = icmp slt i64 %i, %last",
            "  br i1 %more, label %choose, label %done",
            "choose:",
            f"  switch i64 %i, label %called [{cases}]",
        ]
        statuses = ["[ 1, %choose ]"]
        for i, row in enumerate(indices):
            lines += [
                f"row{i}:",
                self._call(str(i), row),
                "  br label %called",
            ]
            statuses.append(f"[ %status{i}, %row{i} ]")
        return "\n".join(
            [
                *lines,
                "called:",
                f"  %status = phi i32 {', '.join(statuses)}",
                "  %next = add i64 %i, 1",
                "  %is_good = icmp eq i32 %status, 0",
                "  br i1 %is_good, label %good, label %failed",
                "good:",
                "  br label %test",
                "failed:",
                "  ret i64 %next",
                "done:",
                "  ret i64 0",
                "}",
                "",
            ]
        )

    def _walk(self, tables: Sequence[str]) -> str:
        """The function `walk`: tables and sizes that are known go to what is written out, others to calls."""
        letters = WALK_SIGNATURE.split(">")[0]
        names = ["table", "ints", "first", "last", "t", *"ypdkhc"]
        head = ", ".join(["ptr %result", *parameters(letters, names)])
        lines = [f"define i32 @{WALK}({head}) {{", f"  %frame = alloca [{len(WORDS)} x i64]"]
        for i, (word, kind) in enumerate(WORDS.items()):
            value = "h.rows" if word == "grown" else word
            lines += [
                f"  %{word}.at = getelementptr i8, ptr %frame, i64 {ITEM * i}",
                f"  store {kind} %{value}, ptr %{word}.at",
            ]
        lines += self._compared_sizes()
        for i, name in enumerate(tables):
            next_label = f"try{i + 1}" if i + 1 < len(tables) else "any"
            lines += [
                f"try{i}:",
                f"  %its{i} = icmp eq ptr %table, @{global_name(name)}",
                f"  br i1 %its{i}, label %known{i}, label %{next_label}",
                f"known{i}:",
                *(self._whole_sequences() if name == "table" else []),
                f"  %walked{i} = call i64 @{WALK}_{name}(i64 %first, i64 %last, {OF_WALK})",
                f"  store i64 %walked{i}, ptr %result",
                "  ret i32 0",
            ]
        return "\n".join([*lines, *_walk_by_number(), ""])

    def _compared_sizes(self) -> list[str]:
        """To `any` unless the integers are the known ones, and no array is shorter than the program's."""
        lines = [f"  %is0 = icmp eq ptr %ints, @{global_name('ints')}"]
        for i, (name, size) in enumerate(self.sizes.items()):
            lines += [
                f"  %size{i} = icmp sge i64 %{name}.rows, {size}",
                f"  %is{i + 1} = and i1 %is{i}, %size{i}",
            ]
        return [*lines, f"  br i1 %is{len(self.sizes)}, label %try0, label %any"]

    def _whole_sequences(self) -> list[str]:
        """The sequences of the program's own table: a whole evaluation, reports, inner rows, or others.

        What reports need comes before the inner rows: without derivatives these are none, and begin
        where the evaluation ends.
        """
        return [
            f"  %begins = icmp eq i64 %first, {self.evaluation[0]}",
            f"  %ends = icmp eq i64 %last, {self.evaluation[1]}",
            "  %whole = and i1 %begins, %ends",
            "  br i1 %whole, label %evaluation, label %parts",
            "evaluation:",
            f"  %evaluated = call i64 @{EVALUATION}({OF_WALK})",
            "  store i64 %evaluated, ptr %result",
            "  ret i32 0",
            "parts:",
            f"  %follows = icmp eq i64 %first, {self.evaluation[1]}",
            f"  %reports = icmp eq i64 %last, {self.reports[0]}",
            "  %all = and i1 %follows, %reports",
            "  br i1 %all, label %later, label %others",
            "later:",
            f"  %computed = call i64 @{LATER}({OF_WALK})",
            "  br label %rest",
            "others:",
            f"  %inwards = icmp eq i64 %first, {self.inner[0]}",
            f"  %stays = icmp eq i64 %last, {self.inner[1]}",
            "  %inside = and i1 %inwards, %stays",
            "  br i1 %inside, label %inner, label %rest",
            "inner:",
            f"  %derived = call i64 @{INNER}({OF_WALK})",
            "  store i64 %derived, ptr %result",
            "  ret i32 0",
            "rest:",
        ]


def _reached(index: int) -> str:
    """The function by which the walk calls a row of another piece: the frame holds all that it needs."""
    lines = [f"define i32 @{FAR}_{index}(ptr %frame) {{"]
    for i, (word, kind) in enumerate(WORDS.items()):
        lines += [
            f"  %{word}.at = getelementptr i8, ptr %frame, i64 {ITEM * i}",
            f"  %{word} = load {kind}, ptr %{word}.at",
        ]
    # inlined, the row would no longer know that each number lies in one array alone
    lines += [f"  %status = call i32 @{ROW}_{index}({ARGUMENTS}) noinline", "  ret i32 %status", "}", ""]
    return "\n".join(lines)


def _walk_by_number() -> list[str]:
    """The end of `walk`, from `any` on: rows of a table that is not known, each called by its number."""
    block = parameters("fFFFIFFI", [*"typdkhc", "ints"])
    call = ", ".join(["ptr %answer", "i64 %number", *block, "i64 %begin", "i64 %count"])
    return [
        "any:",
        "  %answer = alloca i64",
        "  br label %test",
        "test:",
        "  %i = phi i64 [ %first, %any ], [ %next, %good ]",
        "  %more = icmp slt i64 %i, %last",
        "  br i1 %more, label %call, label %done",
        "call:",
        "  %at = mul i64 %i, %table.columns",
        "  %row = getelementptr i64, ptr %table, i64 %at",
        "  %number = load i64, ptr %row",
        "  %second = getelementptr i64, ptr %row, i64 1",
        "  %begin = load i64, ptr %second",
        "  %third = getelementptr i64, ptr %row, i64 2",
        "  %count = load i64, ptr %third",
        f"  %called = call i32 @{name_of(BLOCK_SIGNATURE)}({call})",
        "  %status = load i64, ptr %answer",
        "  %next = add i64 %i, 1",
        "  %is_good = icmp eq i64 %status, 0",
        "  br i1 %is_good, label %good, label %failed",
        "good:",
        "  br label %test",
        "failed:",
        "  store i64 %next, ptr %result",
        "  ret i32 0",
        "done:",
        "  store i64 0, ptr %result",
        "  ret i32 0",
        "}",
    ]
