"""The walk of a program's schedule as LLVM's text, written out call by call.

There is a function for each row of the table (`_row`), for sequences of rows that are walked often
(`_sequence`), for any rows of a known table (`_known`), and `walk` itself, which chooses among them by the
addresses of its tables and by `first` and `last` (`_walk`). Rows that call long functions are in texts of
their own (`far_rows`), so that little is compiled again after an edit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import BLOCK_SIGNATURE, WALK, WALK_SIGNATURE, BlockRow, name_of
from cosim_lowering.numbered_calls import constant, global_name, parameters

Integers = NDArray[np.int64]

# names of functions, the last two with the place of a row behind
EVALUATION, INNER, LATER = "cosim_evaluation", "cosim_inner", "cosim_later"
ROW, FAR = "cosim_row", "cosim_far"
KNOWN = "known_ints"
"""A copy of the integers in each piece of code, which the optimizer reads: they turn into constants there."""

MANY_USES = 4
"""A block that so many rows call is not inlined into them."""
LONGEST_ROW = 600
"""Instructions of a row up to which each of its components has a call of its own.

More would crowd a processor's cache.
"""
LONGEST_BLOCK = 150
"""Instructions up to which a block is compiled with the walk, which inlines it."""
MOST_COPIED = 4096
"""Up to this number of integers all rows read the copy of their piece; else only written-out rows do."""

WORDS = {"t": "double", **dict.fromkeys("ypdkh", "ptr"), "grown": "i64", "c": "ptr"}
"""The words that a row needs, in their order in the frame of a walk; `grown` is the length of `h`."""
ITEM = 8
PARAMETERS = ", ".join(
    f"{kind} noalias %{name}" if kind == "ptr" else f"{kind} %{name}" for name, kind in WORDS.items()
)
"""Parameters of the function of a row. With ``noalias`` LLVM may assume that no two arrays overlap."""
ARGUMENTS = ", ".join(f"{kind} %{name}" for name, kind in WORDS.items())
FRAME = f"ptr %frame, {PARAMETERS}"
"""Parameters of functions that call rows: rows in other pieces are called with the frame alone."""
FRAME_OF_WALK = f"ptr %frame, {ARGUMENTS}".replace("%grown", "%h.rows")
"""Arguments with which `walk` calls these functions."""


class Reports(NamedTuple):
    """What only readers of results need.

    Attributes
    ----------
    end : int
        The row behind those that are walked after an evaluation, for reports.
    later : list of int
        Rows of the evaluation that are left until then.
    """

    end: int
    later: list[int]


class Schedule:
    """A table of blocks that is known when its walk is lowered.

    Each call is written out with all arguments that are known; the optimizer does the rest.

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
        The first row, and the one behind the last, of the two ranges that are walked most: a whole
        evaluation, and the part of it that derivatives need. Equal rows of the table are the same row.
    parts : mapping of str to ndarray of int64, shape (rows, 3)
        Other tables by the names of their arrays; their rows stand in `table` as well.
    reports : Reports
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
        reports: Reports,
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
        """The integers, which the text of every row needs."""
        shared = f"@{global_name('ints')} = external constant i64\n"
        return constant(KNOWN, self.ints, "internal") + shared

    def far_rows(self) -> dict[str, str]:
        """The text of the rows that call a long function, with their entries; by the name of the function."""
        texts = {name: "" for name in self.lengths if self._is_far(name)}
        for row, i in self._places.items():
            if self._is_far(name := self.names[row.function]):
                texts[name] += self._row(i, row) + _entry_of_far_row(i)
        return texts

    def _is_far(self, name: str) -> bool:
        return self.lengths[name] > LONGEST_BLOCK

    def text(self) -> str:
        """The walk, written out, with the rows that call short functions."""
        places, later = self._places, self.reports.later
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

        Components have a call each where the function is short. The calls are inlined then, and also where
        few rows use the function.
        """
        name = self.names[row.function]
        arguments = ["ptr %result", "double %t"]
        for array in "ypdkhc":
            arguments += [f"ptr %{array}", f"i64 {'%grown' if array == 'h' else self.sizes[array]}"]
        width = self.widths.get(name, 0)
        if width and row.components * self.lengths[name] <= LONGEST_ROW:
            calls = [(row.first + width * i, 1) for i in range(row.components)]
        else:
            calls = [(row.first, row.components)]
        is_repeated = len(calls) == row.components or self.ints.size <= MOST_COPIED
        arguments += [f"ptr @{global_name(KNOWN if is_repeated else 'ints')}", f"i64 {self.ints.size}"]
        inlined = (
            " alwaysinline" if self._uses[row.function] < MANY_USES or len(calls) == row.components else ""
        )
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
        """A function that calls rows one after the other: 0, or 1 + the index of the one that raised."""
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
        """A function that calls any rows of a table, from `first` to before `last`."""
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
        """The function `walk`: it calls functions of known tables, and rows of other tables by number."""
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
                f"  %walked{i} = call i64 @{WALK}_{name}(i64 %first, i64 %last, {FRAME_OF_WALK})",
                f"  store i64 %walked{i}, ptr %result",
                "  ret i32 0",
            ]
        return "\n".join([*lines, *_walk_by_number(), ""])

    def _compared_sizes(self) -> list[str]:
        """A jump to `any`, unless the integers are known and no array is shorter than the program's."""
        lines = [f"  %is0 = icmp eq ptr %ints, @{global_name('ints')}"]
        for i, (name, size) in enumerate(self.sizes.items()):
            lines += [
                f"  %size{i} = icmp sge i64 %{name}.rows, {size}",
                f"  %is{i + 1} = and i1 %is{i}, %size{i}",
            ]
        return [*lines, f"  br i1 %is{len(self.sizes)}, label %try0, label %any"]

    def _whole_sequences(self) -> list[str]:
        """Jumps to the sequences of the program's own table: a whole evaluation, reports, or inner rows.

        Reports are tried before the inner rows: a system without states has no inner rows, and their empty
        range may begin where the evaluation ends.
        """
        return [
            f"  %begins = icmp eq i64 %first, {self.evaluation[0]}",
            f"  %ends = icmp eq i64 %last, {self.evaluation[1]}",
            "  %whole = and i1 %begins, %ends",
            "  br i1 %whole, label %evaluation, label %parts",
            "evaluation:",
            f"  %evaluated = call i64 @{EVALUATION}({FRAME_OF_WALK})",
            "  store i64 %evaluated, ptr %result",
            "  ret i32 0",
            "parts:",
            f"  %follows = icmp eq i64 %first, {self.evaluation[1]}",
            f"  %reports = icmp eq i64 %last, {self.reports.end}",
            "  %all = and i1 %follows, %reports",
            "  br i1 %all, label %later, label %others",
            "later:",
            f"  %computed = call i64 @{LATER}({FRAME_OF_WALK})",
            "  br label %rest",
            "others:",
            f"  %inwards = icmp eq i64 %first, {self.inner[0]}",
            f"  %stays = icmp eq i64 %last, {self.inner[1]}",
            "  %inside = and i1 %inwards, %stays",
            "  br i1 %inside, label %inner, label %rest",
            "inner:",
            f"  %derived = call i64 @{INNER}({FRAME_OF_WALK})",
            "  store i64 %derived, ptr %result",
            "  ret i32 0",
            "rest:",
        ]


def _entry_of_far_row(index: int) -> str:
    """The function by which the walk calls a row of another piece: it takes the arguments from the frame."""
    lines = [f"define i32 @{FAR}_{index}(ptr %frame) {{"]
    for i, (word, kind) in enumerate(WORDS.items()):
        lines += [
            f"  %{word}.at = getelementptr i8, ptr %frame, i64 {ITEM * i}",
            f"  %{word} = load {kind}, ptr %{word}.at",
        ]
    # not inlined, since the row would lose what ``noalias`` says of its parameters
    lines += [f"  %status = call i32 @{ROW}_{index}({ARGUMENTS}) noinline", "  ret i32 %status", "}", ""]
    return "\n".join(lines)


def _walk_by_number() -> list[str]:
    """The end of `walk`, from `any` on: rows of any table, each called by the number of its function."""
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
