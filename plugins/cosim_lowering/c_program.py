"""A program as one file of C99: its functions, how they call each other, its constants, its entry points.

`letters` is the signature of a function throughout: a letter for each argument, then ``>`` and the letter of
the result. For each signature the file has a function that calls all others by their numbers, with a
``switch``.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from cosim.kit import (
    ARRAYS,
    BLOCK_SIGNATURE,
    COLUMNS_IN_GROUP,
    DENSE_SIGNATURE,
    ENTRY_SIGNATURE,
    PYTHON_SIGNATURE,
    REDO_SIGNATURE,
    STEP_SIGNATURE,
    TANGENT_SIGNATURE,
    WALK,
    WALK_SIGNATURE,
    KnownArray,
    LoweredC,
    PlacesHeader,
    lower_to_c,
    name_of,
    parameters_in_c,
    place_in,
)
from cosim_lowering.c_schedule import CSchedule, KnownCall, done_and_returned
from cosim_lowering.linking import GROWS, constants_of, plan_of
from cosim_lowering.program import Program
from cosim_lowering.report_blocks import reported_alone

CALLERS = {
    BLOCK_SIGNATURE: "call_block",
    TANGENT_SIGNATURE: "call_tangent",
    STEP_SIGNATURE: "call_step",
    REDO_SIGNATURE: "call_redo",
    DENSE_SIGNATURE: "call_dense",
    PYTHON_SIGNATURE: "call_python",
}
RETURNING_STATUS = (BLOCK_SIGNATURE, TANGENT_SIGNATURE)
"""Functions of these signatures have no result; what calls them by number returns whether they raised."""
NEVER_WRITTEN = [
    place_in(PlacesHeader, name) for name in ("output.recording", "output.logging", "evaluation.touched")
]
"""Places in `places` that are never written: without Python nothing is recorded, and all is evaluated."""
RESULTS = {"i": "int64_t", "f": "double", "v": "void"}
"""Types in C by the letters of results."""


class CProgram:
    """The functions of a program as C.

    Parameters
    ----------
    program : Program
    entries : sequence of str
        Names of entry points without their prefix, as for `machine_code`.
    raised : int
        The return value of an entry point in which a kernel function raised.
    prefix : str
        Prefix of the names of the entry points.

    Attributes
    ----------
    text : str
        The file. It includes ``arrays_of_c.h``, which declares `Array`.
    """

    def __init__(self, program: Program, entries: Sequence[str], raised: int, prefix: str = "cosim") -> None:
        self.program = program
        constants = constants_of(program)
        functions = program.functions
        self.schedule = self._schedule()
        self.holds = bool(program.arrays["held_table"].any())
        state_sizes = {name: program.arrays[name].size for name in "ypdk"}
        self.lowered = lower_to_c(
            functions,
            group="Run",
            arrays=_known(program, constants),
            numbers=program.numbers,
            rows={call.name: (call.function, call.known) for call in self._known_calls()},
            sizes=state_sizes | {"c": program.system.new_cache().size},
            keeps_all=self.holds,
        )
        by_symbol = {name_of(letters): letters for letters in {f[1] for f in functions.values()} | {*CALLERS}}
        called = {by_symbol[symbol] for symbol in self.lowered.called if symbol != WALK}
        signatures = sorted(called | ({BLOCK_SIGNATURE} if self.holds else set()))
        parts = [self.lowered.head, "", '#include "array.h"', "", *self.lowered.types]
        parts += [f"#define {WALK} walk", *(f"#define {name_of(s)} {_caller(s)}" for s in signatures)]
        parts += [*(f"static {_head(s)};" for s in signatures), f"static {_walk_head()};", ""]
        parts += [*self.lowered.tables, "", *self.lowered.functions]
        parts += [self._call_by_number(letters) for letters in signatures]
        parts += [self._walk(), _run_of(program, constants)]
        parts += [
            _entry(f"{prefix}_{entry}", f"lowered_{entry}", functions, self.lowered, raised)
            for entry in entries
        ]
        self.text = "\n".join(parts)

    def _call_by_number(self, letters: str) -> str:
        """The function that calls one of all functions of a signature, by its number.

        Where a function raises, a caller with a result returns what the function has written before.
        """
        returns_status = letters in RETURNING_STATUS
        names = _argument_names(letters)
        result = RESULTS[letters[-1]]
        lines = []
        for name, number in self.program.numbers.items():
            called, arguments = self.lowered.names.get(name), ", ".join(names)
            if self.program.functions[name][1] != letters or called is None:
                continue
            raises = called in self.lowered.raising
            if returns_status:
                statements = (
                    f"return {called}({arguments});" if raises else f"{called}({arguments}); return 0;"
                )
            elif letters[-1] == "v":
                statements = f"(void){called}({arguments}); return;"
            elif raises:
                statements = f"(void){called}({arguments}, &found); return found;"
            else:
                statements = f"return {called}({arguments});"
            lines.append(f"    case {number}: {statements}")
        declaration = [f"    {result} found = 0;"] if any("&found" in line for line in lines) else []
        unknown = "return 1;" if returns_status else "return;" if letters[-1] == "v" else "return 0;"
        rows = self._known_rows() if letters == BLOCK_SIGNATURE and not self.holds else []
        unread = "".join(f"(void){name}; " for name in names).strip()
        return "\n".join(
            [
                f"static {_head(letters)} {{",
                f"    {unread}",
                *declaration,
                *rows,
                "    switch (number) {",
                *lines,
                f"    default: {unknown}",
                "    }",
                "}",
                "",
            ]
        )

    def _known_rows(self) -> list[str]:
        """Statements that call known rows, chosen by the first integer of a row and the function's number."""
        by_first: dict[int, list[str]] = {}
        for row in self.schedule.calls:
            number, first, _ = row
            statements = done_and_returned(self.schedule.row(self.lowered, row))
            by_first.setdefault(first, []).append(f"        if (number == {number}) {{ {statements} }}")
        cases = [[f"    case {first}:", *lines, "        break;"] for first, lines in by_first.items()]
        lines = [line for case in cases for line in case]
        return ["    switch (first) {", *lines, "    default: break;", "    }"]

    def _schedule(self) -> CSchedule:
        program, plan = self.program, plan_of(self.program)
        table, watched = program.arrays["table"], program.arrays["watched"]
        functions = {name: function for name, (function, _) in program.functions.items()}
        return CSchedule(
            table=table if table.any() else table[:0],
            names={number: name for name, number in program.numbers.items()},
            widths={n: f.__dict__["__row__"] for n, f in functions.items() if "__row__" in f.__dict__},
            labels=program.blocks,
            evaluation=(plan.derivatives.first, plan.derivatives.last),
            inner=program.system.inner_range,
            watched=watched if watched.any() else watched[:0],
        )

    def _known_calls(self) -> Iterator[KnownCall]:
        """The calls of all rows of the schedule."""
        for calls in self.schedule.calls.values():
            yield from calls

    def _walk(self) -> str:
        """The function that calls rows of the table one after the other."""
        lowered = self.lowered
        raising = {
            call.function for call in self._known_calls() if lowered.rows[call.name][0] in lowered.raising
        }
        reported_later = reported_alone(self.program, raising)
        return self.schedule.text(lowered, plan_of(self.program).report_end, reported_later, self.holds)


def _known(program: Program, constants: Collection[str]) -> dict[str, KnownArray]:
    """What is known of each array when the file is written: its length, and its constant values."""
    known_arrays = {}
    for name, letter, _ in ARRAYS:
        array = program.arrays[name]
        length = None if name in GROWS else len(array)
        numbers = array.reshape(-1).tolist() if name in constants else None
        columns = COLUMNS_IN_GROUP if letter == "T" else 1
        fixed = {at: int(array[at]) for at in NEVER_WRITTEN} if name == "places" else {}
        known_arrays[name] = KnownArray(length, columns, numbers, fixed)
    return known_arrays


def _caller(letters: str) -> str:
    """The name of the function that calls those of a signature by number."""
    return CALLERS.get(letters, name_of(letters))


def _head(letters: str) -> str:
    """The head of the function that calls those of a signature by number."""
    arguments = parameters_in_c(letters, _argument_names(letters))
    result = "int64_t" if letters in RETURNING_STATUS else RESULTS[letters[-1]]
    return f"{result} {_caller(letters)}(int64_t number, {', '.join(arguments)})"


def _argument_names(letters: str) -> list[str]:
    """The names of the arguments of a signature."""
    if letters == BLOCK_SIGNATURE:
        return ["t", *"ypdkhc", "ints", "first", "count"]
    return [f"a{i}" for i in range(len(letters.split(">")[0]))]


def _walk_head() -> str:
    names = ["rows", "ints", "first", "last", "t", *"ypdkhc"]
    return f"int64_t walk({', '.join(parameters_in_c(WALK_SIGNATURE, names))})"


def _run_of(program: Program, constants: Collection[str]) -> str:
    """The C code that makes the arrays of a run from those of an instance."""
    members = []
    for i, (name, *_) in enumerate(ARRAYS):
        length = f"arrays[{i}].rows" if name in GROWS else str(len(program.arrays[name]))
        address = f"model_{name}.at" if name in constants else f"arrays[{i}].data"
        members.append(f".{name} = {{{address}, {length}}}")
    text = ", ".join(member.replace(" ", "~") for member in members)  # so that `fill` does not break members
    listed = textwrap.fill(text, 110, initial_indent=" " * 8, subsequent_indent=" " * 8).replace("~", " ")
    head = "static group_Run run_of(const Array *arrays) {\n    const group_Run run = {"
    return f"{head}\n{listed},\n    }};\n    return run;\n}}\n"


def _entry(entry: str, called: str, functions: Mapping[str, Any], lowered: LoweredC, raised: int) -> str:
    """The function of C that hosts call with all arrays of an instance and a time.

    The function that it calls takes a run if it has the `ENTRY_SIGNATURE`, otherwise the first arrays one by
    one.
    """
    name, letters = lowered.names[called], functions[called][1]
    if letters == ENTRY_SIGNATURE:
        lines = ["    const group_Run run = run_of(arrays);"]
        arguments = ["&run", "time"]
    else:
        lines = []
        count = len(letters) - len("f>i")  # arrays come first, then the time
        arguments = [f"(reals){{arrays[{i}].data, arrays[{i}].rows}}" for i in range(count)] + ["time"]
    if name in lowered.raising:
        lines += [
            "    int64_t found = 0;",
            f"    int32_t status = {name}({', '.join([*arguments, '&found'])});",
        ]
        lines += [f"    return status != 0 ? {raised} : found;"]
    else:
        lines += [f"    return {name}({', '.join(arguments)});"]
    return "\n".join([f"int64_t {entry}(Array *arrays, double time) {{", *lines, "}", ""])


def plain_functions_in_c(functions: Mapping[str, tuple[Callable[..., Any], str]]) -> str:
    """Functions of numbers alone as a file of C, each as ``int32_t NAME(RESULT *found, …)``.

    In C they write their result to ``*found`` and return a status, which is not 0 where they raised.

    Parameters
    ----------
    functions : mapping of str to (function, str)
        By name: plain function and signature.
    """
    lowered = lower_to_c(functions, group="Run", arrays={}, numbers={}, rows={}, sizes={}, keeps_all=True)
    parts = [lowered.head, "", *lowered.types, *lowered.tables, "", *lowered.functions]
    for name, (_, letters) in functions.items():
        called, names = lowered.names[name], _argument_names(letters)
        head = f"int32_t {name}({RESULTS[letters[-1]]} *found, {', '.join(parameters_in_c(letters, names))})"
        call = ", ".join(names)
        statements = f"*found = {called}({call});\n    return 0;"
        if called in lowered.raising:
            statements = f"return {called}({call}, found);"
        parts.append(f"{head};\n{head} {{\n    {statements}\n}}\n")
    return "\n".join(parts)
