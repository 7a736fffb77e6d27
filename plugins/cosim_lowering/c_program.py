"""A program as one file of C99: its functions, how they call each other, its constants, its entry points."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cosim.kit import (
    ARRAYS,
    BLOCK_SIGNATURE,
    COLUMNS_IN_GROUP,
    C_HEAD,
    DENSE_SIGNATURE,
    ENTRY_SIGNATURE,
    PYTHON_SIGNATURE,
    REDO_SIGNATURE,
    STEP_SIGNATURE,
    WALK,
    WALK_SIGNATURE,
    KnownArray,
    LoweredC,
    lower_to_c,
    name_of,
    parameters_in_c,
    place_in,
    records,
)
from cosim_lowering.c_schedule import CSchedule
from cosim_lowering.linking import GROWS, constants_of, plan_of
from cosim_lowering.program import Program
from cosim_lowering.reported import reported_alone

CALLERS = {
    BLOCK_SIGNATURE: "call_block",
    STEP_SIGNATURE: "call_step",
    REDO_SIGNATURE: "call_redo",
    DENSE_SIGNATURE: "call_dense",
    PYTHON_SIGNATURE: "call_python",
}
NEVER_WRITTEN = [place_in(records.PlacesHeader, f"output.{name}") for name in ("recording", "logging")]
"""In `places`: a host without Python neither records nor reads the log of events."""
RESULTS = {"i": "int64_t", "f": "double", "v": "void"}


class CProgram:
    """All functions of a program as C.

    Parameters
    ----------
    program : Program
    entries : sequence of str
        Names of entry points without their prefix, as for `machine_code`.
    raised : int
        What an entry point returns where a kernel function raised.

    Attributes
    ----------
    text : str
        The file. It includes ``arrays_of_c.h``, which declares `Array`.
    """

    def __init__(self, program: Program, entries: Sequence[str], raised: int) -> None:
        self.program = program
        constants = constants_of(program)
        functions = program.functions
        lowered = lower_to_c(functions, "Run", _known(program, constants), program.numbers)
        signatures = {BLOCK_SIGNATURE} | {
            letters for symbol, _ in lowered.called.items() for letters in CALLERS if name_of(letters) == symbol
        }
        others = {s for s in lowered.called if s != WALK and s not in map(name_of, CALLERS)}
        signatures |= {f[1] for f in functions.values() if name_of(f[1]) in others}
        parts = [C_HEAD, "", '#include "array.h"', "", *lowered.types]
        parts += [f"#define {WALK} walk", *(f"#define {name_of(s)} {_caller(s)}" for s in sorted(signatures))]
        parts += [*(f"static {_head(s)};" for s in sorted(signatures)), f"static {_walk_head()};", ""]
        parts += [*lowered.tables, "", *lowered.functions]
        parts += [self._call_by_number(lowered, letters) for letters in sorted(signatures)]
        parts += [self._schedule(lowered), _run_of(program, constants)]
        parts += [_entry(entry, functions[f"lowered_{entry}"][1], lowered, raised) for entry in entries]
        self.text = "\n".join(parts)

    def _call_by_number(self, lowered: LoweredC, letters: str) -> str:
        is_block = letters == BLOCK_SIGNATURE
        names = [f"a{i}" for i in range(len(letters.split(">")[0]))]
        result = RESULTS[letters[-1]]
        lines = []
        functions = self.program.functions
        for name, number in self.program.numbers.items():
            if functions[name][1] != letters:
                continue
            called, arguments = lowered.names[name], ", ".join(names)
            raises = called in lowered.raising
            if is_block:
                done = f"return {called}({arguments});" if raises else f"{called}({arguments}); return 0;"
            elif letters[-1] == "v":
                done = f"(void){called}({arguments}); return;"
            elif raises:
                done = f"(void){called}({arguments}, &found); return found;"
            else:
                done = f"return {called}({arguments});"
            lines.append(f"    case {number}: {done}")
        room = [f"    {result} found = 0;"] if any("&found" in line for line in lines) else []
        end = "1" if is_block else "" if letters[-1] == "v" else "0"
        unread = [] if lines else [f"    {''.join(f'(void){name}; ' for name in names).strip()}"]
        return "\n".join(
            [
                f"static {_head(letters)} {{",
                *unread,
                *room,
                "    switch (number) {",
                *lines,
                f"    default: return{' ' if end else ''}{end};",
                "    }",
                "}",
                "",
            ]
        )

    def _schedule(self, lowered: LoweredC) -> str:
        program, plan = self.program, plan_of(self.program)
        table, watched = program.arrays["table"], program.arrays["watched"]
        names = {number: lowered.names[name] for name, number in program.numbers.items()}
        can_raise = {name for name in program.numbers if lowered.names[name] in lowered.raising}
        return CSchedule(
            table if table.any() else table[:0],
            names,
            lowered.raising,
            program.blocks,
            (plan.derivatives.first, plan.derivatives.last),
            program.system.inner_range,
            watched if watched.any() else watched[:0],
            (plan.report_end, reported_alone(program, can_raise)),
        ).text()


def _known(program: Program, constants: Collection[str]) -> dict[str, KnownArray]:
    known = {}
    for name, letter, _ in ARRAYS:
        array = program.arrays[name]
        length = None if name in GROWS else len(array)
        numbers = array.reshape(-1).tolist() if name in constants else None
        columns = COLUMNS_IN_GROUP if letter == "T" else 1
        fixed = {at: int(array[at]) for at in NEVER_WRITTEN} if name == "places" else {}
        known[name] = KnownArray(length, columns, numbers, fixed)
    return known


def _caller(letters: str) -> str:
    return CALLERS.get(letters, name_of(letters))


def _head(letters: str) -> str:
    """The head of what calls a function of a signature by its number; that of a block answers with the status."""
    arguments = parameters_in_c(letters, [f"a{i}" for i in range(len(letters.split(">")[0]))])
    result = "int64_t" if letters == BLOCK_SIGNATURE else RESULTS[letters[-1]]
    return f"{result} {_caller(letters)}(int64_t number, {', '.join(arguments)})"


def _walk_head() -> str:
    names = ["rows", "ints", "first", "last", "t", *"ypdkhc"]
    return f"int64_t walk({', '.join(parameters_in_c(WALK_SIGNATURE, names))})"


def _run_of(program: Program, constants: Collection[str]) -> str:
    """How the arrays of an instance become those of a run."""
    lines = []
    for i, (name, letter, _) in enumerate(ARRAYS):
        length = f"arrays[{i}].rows" if name in GROWS else str(len(program.arrays[name]))
        if name in constants:
            lines.append(f"    run.{name}.at = model_{name}.at, run.{name}.n = {length};")
        else:
            lines.append(f"    run.{name}.at = arrays[{i}].data, run.{name}.n = {length};")
    return "\n".join(["static group_Run run_of(const Array *arrays) {", "    group_Run run;", *lines, "    return run;", "}", ""])


def _entry(entry: str, letters: str, lowered: LoweredC, raised: int) -> str:
    """What others call: all arrays of an instance, and a time."""
    name = lowered.names[f"lowered_{entry}"]
    arguments = ["&run", "time"]
    lines = ["    const group_Run run = run_of(arrays);"]
    if letters != ENTRY_SIGNATURE:
        lines, arguments = [], [f"(reals){{arrays[{i}].data, arrays[{i}].rows}}" for i in range(len(letters) - 3)]
        arguments.append("time")
    if name in lowered.raising:
        lines += ["    int64_t found = 0;", f"    int32_t status = {name}({', '.join([*arguments, '&found'])});"]
        lines += [f"    return status != 0 ? {raised} : found;"]
    else:
        lines += [f"    return {name}({', '.join(arguments)});"]
    return "\n".join([f"int64_t cosim_{entry}(Array *arrays, double time) {{", *lines, "}", ""])
