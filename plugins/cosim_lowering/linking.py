"""A program as machine code: its functions, how they call each other, its constants."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cosim.kit import (
    ARRAYS,
    BLOCK_SIGNATURE,
    CARRIED_ENTRY_SIGNATURE,
    CONSTANT,
    ENTRIES,
    ENTRY_SIGNATURE,
    GROWING_TANGENTS,
    Carrier,
    Plan,
    Run,
    lower,
    name_of,
    names_at_rest,
    rows_of,
    with_loops_kept,
)
from cosim_lowering.entry_points import entry_point, group_of_arrays
from cosim_lowering.machine_code import MachineCode
from cosim_lowering.numbered_calls import (
    call_by_number,
    called_signatures,
    constant,
    declaration,
    global_name,
)
from cosim_lowering.optimizer import LEVEL, STEP_LEVEL
from cosim_lowering.program import EXPORTED, OF_TANGENTS, Program
from cosim_lowering.report_blocks import reported_alone
from cosim_lowering.schedule import Reports, Schedule

RETURNS = re.compile(r"\n  ret i32 (.*)")
"""The status in the text of a lowered function: 0, or another one where it raises."""
STEP_SIGNATURES = ENTRY_SIGNATURE, CARRIED_ENTRY_SIGNATURE
"""Signatures of the entry points of the Step."""
GROWS = ("h",)
"""Arrays that a host makes longer between calls."""


def machine_code(program: Program, entries: Sequence[str], raised: int, prefix: str = "cosim") -> MachineCode:
    """The functions of a program in pieces: the Step with the method, the walk, long blocks with their rows.

    Parameters
    ----------
    program : Program
    entries : sequence of str
        Names of entry points without their prefix; the code offers each as ``PREFIX_NAME``, see
        `entry_points`. Constant arrays are its own: what it receives in their place is ignored.
    raised : int
        The return value of an entry point in which a kernel function raised.
    prefix : str
    """
    functions = program.functions
    step, texts = lowered_texts(program)
    constants = constants_of(program)
    of_run = {name: program.arrays[name] for name, _, _ in ARRAYS}
    signatures = called_signatures([step, *texts.values()]) - {BLOCK_SIGNATURE}
    calls = [
        *(constant(name, program.arrays[name]) for name in constants),
        *(_calls(program, signature) for signature in sorted(signatures)),
        declaration(name_of(BLOCK_SIGNATURE), f"i{BLOCK_SIGNATURE}"),
        group_of_arrays(Run, of_run, {name: global_name(name) for name in constants}, GROWS),
        "!0 = !{}",
    ]
    if program.derivatives[0]:
        carried = {name: program.arrays[OF_TANGENTS + name] for name in Carrier._fields}
        calls.append(group_of_arrays(Carrier, carried, {}, GROWING_TANGENTS))
    for entry in entries:
        lowered = f"lowered_{entry}"
        calls.append(entry_point(f"{prefix}_{entry}", lowered, functions[lowered][1], raised))
    blocks, others = dict[str, str](), list[str]()
    for name, text in texts.items():
        if functions[name][1] == BLOCK_SIGNATURE:
            blocks[name] = text
        else:
            others.append(text)
    offered = [f"{prefix}_{entry}" for entry in entries]
    # Loops of the Step run over states, once a step. Written out turn by turn they would push the blocks,
    # which are called several times a step, out of a processor's cache of instructions.
    step_and_method = [with_loops_kept(text) for text in (step, *others)]
    once_a_step = ["\n".join(calls), *step_and_method]
    pieces = _schedule_pieces(program, texts, blocks)
    level = LEVEL if program.integrator.capabilities.implicit else STEP_LEVEL
    return MachineCode(pieces, offered, prefix=prefix, once_a_step=once_a_step, step_level=level)


def lowered_texts(program: Program) -> tuple[str, dict[str, str]]:
    """LLVM's text of the Step, whose functions share all that they call, and of every other function."""
    functions = program.functions
    with names_at_rest():
        step_entries = _step_entries(program)
        others = {name: lower({name: functions[name]}) for name in functions if name not in step_entries}
        return lowered_step(program), others


def lowered_step(program: Program) -> str:
    """LLVM's text of the Step.

    It has all entry points, also those that a library does not offer. Therefore it is the same for most
    models, and the package can bring it.
    """
    every = {f"lowered_{name}": (ENTRIES[name], ENTRY_SIGNATURE) for name in EXPORTED}
    return lower({**every, **_step_entries(program)})


def _step_entries(program: Program) -> dict[str, Any]:
    return {name: entry for name, entry in program.functions.items() if entry[1] in STEP_SIGNATURES}


def constants_of(program: Program) -> list[str]:
    """Arrays in which no entry point writes."""
    names = [name for name, _, role in ARRAYS if role == CONSTANT]
    has_tune = plan_of(program).method.tune != 0
    return names if has_tune else [*names, "coefficients"]


def _calls(program: Program, signature: str) -> str:
    """The function that calls others of a signature by their numbers, and their declarations."""
    functions = program.functions
    called = {name: number for name, number in program.numbers.items() if functions[name][1] == signature}
    return "\n".join([call_by_number(signature, called), *(declaration(name, signature) for name in called)])


def _schedule_pieces(
    program: Program, texts: Mapping[str, str], blocks: Mapping[str, str]
) -> list[list[str]]:
    """The walk, and each block with the rows of the table that call it."""
    arrays, functions, plan = program.arrays, program.functions, plan_of(program)
    table = arrays["table"]
    schedule = Schedule(
        table=table if table.any() else table[:0],  # a model without blocks has one row of zeros
        ints=arrays["ints"],
        names={number: name for name, number in program.numbers.items()},
        widths={name: f.__dict__["__row__"] for name, (f, _) in functions.items() if "__row__" in f.__dict__},
        lengths={name: text.count("\n") for name, text in blocks.items()},
        sizes={**{name: arrays[name].size for name in "ypdk"}, "c": program.system.new_cache().size},
        evaluation=(plan.derivatives.first, plan.derivatives.last),
        inner=program.system.inner_range,
        parts={"watched": arrays["watched"]} if arrays["watched"].any() else {},
        reports=Reports(plan.report_end, reported_alone(program, _can_raise(texts))),
    )
    constants, rows = schedule.constants(), schedule.far_rows()
    short = [text for name, text in blocks.items() if name not in rows]
    pieces = [["\n".join([constants, schedule.text(), _calls(program, BLOCK_SIGNATURE)]), *short]]
    for name, text in rows.items():
        pieces.append(["\n".join([constants, declaration(name, BLOCK_SIGNATURE), text]), blocks[name]])
    return pieces


def _can_raise(texts: Mapping[str, str]) -> set[str]:
    """The lowered functions that may return a status other than 0."""
    return {name for name, text in texts.items() if set(RETURNS.findall(text)) != {"0"}}


def plan_of(program: Program) -> Plan:
    """The plan of a run of a program, by its system and its method."""
    plan: Plan = rows_of(Plan, program.arrays["program"], 0, 1)[0]
    return plan
