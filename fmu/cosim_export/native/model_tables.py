"""Writes the generated C file of a native FMU: the tables that `shell/model.h` declares."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence, Sized

import numpy as np
from numpy.typing import NDArray

from cosim.kit import (
    EVENT,
    FAILED,
    GROW,
    GROWING_TANGENTS,
    REACHED,
    REASONS,
    SAME_TIME,
    SENTENCES,
    STEPPED,
    TERMINATED,
    CarryNotes,
    Clock,
    Options,
    PlacesHeader,
    Ring,
    StepCode,
    StepFailure,
    evaluation,
    place_in,
)
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.native.c_tables import c_integer, c_real, c_start, c_table, c_text, name_or_null
from cosim_export.native.fmu_array import variables_of
from cosim_export.native.run_derivatives import ROWS_OF_TANGENTS
from cosim_lowering.linking import plan_of
from cosim_lowering.program import EXPORTED, OF_TANGENTS, Program

KINDS = {"me": 1, "cs": 2}
"""The interfaces of an FMU, as bits."""
TYPES = {
    "Real": "REAL",
    "Integer": "INTEGER",
    "Enumeration": "INTEGER",
    "Boolean": "BOOLEAN",
    "String": "STRING",
}
ROLES = {
    "constant": "CONSTANT",
    "given": "SCRATCH",
    "state": "STATE",
    "computed": "SCRATCH",
    "scratch": "SCRATCH",
}
GROWING = "h", *(OF_TANGENTS + name for name in GROWING_TANGENTS)
"""Arrays that the shell enlarges when they are full."""
COMPUTED = "c", ROWS_OF_TANGENTS
"""Arrays whose variables have to be computed before they are read."""
RAISED = -1
"""The return value of an entry point in which a kernel function raised."""

ENTRY_POINTS = (*EXPORTED, "frame_angles", "turned_frame", "tangents", "adjoints")
"""The entry points that the shell may call; a missing one is a null pointer."""
PLACES = {
    "given_meeting": place_in(Options, "meeting"),
    "clock_time": place_in(Clock, "time"),
    "clock_jumped": place_in(Clock, "jumped"),
    "clock_next_event": place_in(Clock, "next_event"),
    "clock_changed": place_in(Clock, "states_changed"),
    "places_stage": place_in(PlacesHeader, "evaluation.stage"),
    "places_needed": place_in(PlacesHeader, "failure.needed"),
    "places_halts": place_in(PlacesHeader, "course.halts"),
    "places_entry": place_in(PlacesHeader, "failure.handler"),
    "places_most": place_in(PlacesHeader, "course.most_steps"),
    "nothing": evaluation.NOTHING,
    "restored": evaluation.RESTORED,
    "reached": REACHED,
    "terminated": TERMINATED,
    "full": GROW,
    "stepped": STEPPED,
    "event_happened": EVENT,
    "first_failure": FAILED,
}
"""Numbers that the shell reads from these members of a `Model`: places in arrays, stages, return values."""


def model_tables(
    program: Program,
    interface: ExportedInterface,
    kinds: Sequence[str],
    version: int,
    history_room: int,
    token: str,
    digest: bytes,
    prefix: str = "cosim",
) -> str:
    """The text of the C file.

    Parameters
    ----------
    program : Program
    interface : ExportedInterface
    kinds : sequence of str
        "cs", "me" or both.
    version : int
        Of FMI: in FMI 3.0 the elements of an array are read and set by the value reference of the first one.
    history_room : int
        Numbers for all histories together, allocated once; 0 if histories grow.
    token : str
        guid of FMI 2.0, instantiation token of FMI 3.0.
    digest : bytes
        16 bytes that identify saved states of this model.
    prefix : str
        The beginning of the names of the model and of its entry points.
    """
    names = [name for name, _, _ in program.listed_arrays]
    parts = [
        '#include "model.h"\n\n#include <math.h>\n#include <stddef.h>\n',
        *_starts(program),
        variable_tables(interface, _places(program, names), has_arrays=version == 3),
        _states(interface.variables),
        _indicators(program.indicators),
        c_table("int64_t", "clocks", (str(entry) for entry, _ in program.periodic.values())),
        c_table("int64_t", "discretes", map(str, discretes(interface.variables))),
        _sentences(program),
        _checks(program),
        _replacements(program),
        _histories(program),
        _losses(program),
        _entry_points(program, prefix),
        _model(program, interface, kinds, token, digest, names, history_room, prefix),
    ]
    return re.sub("\n\n\n+", "\n\n", "\n".join(part for part in parts if part))


def _starts(program: Program) -> list[str]:
    """The start values of arrays, without zeros; those of constant arrays are in the machine code."""
    parts, rows = [], []
    for name, letter, role in program.listed_arrays:
        array: NDArray[np.generic] = program.arrays[name]
        flat = array.reshape(-1)
        is_written = role != "constant" and flat.view(np.uint64).any()
        if is_written:
            if letter == "F":
                parts.append(c_start("double", name, [c_real(float(x)) for x in flat], "0.0"))
            else:
                parts.append(c_start("int64_t", name, [c_integer(int(x)) for x in flat], "0"))
        columns = array.shape[1] if array.ndim == 2 else 1
        start = f"start_{name}" if is_written else "NULL"
        row = f"{len(array)}, {columns}, {ROLES[role]}, {int(name in GROWING)}"
        rows.append(f"{{{c_text(name)}, {start}, {row}}}")
    return [*parts, c_table("ArrayStart", "array_starts", rows)]


Place = tuple[int, int, tuple[int, int]]
"""The place of a variable: its array, the index there, the indices of its slope and its value's time."""


def _places(program: Program, names: Sequence[str]) -> Callable[[FmuVariable], Place]:
    """The place of a variable of a model among the arrays of these names."""

    def place(variable: FmuVariable) -> Place:
        if variable.causality != "input":
            return names.index(variable.array), variable.offset, (-1, -1)
        slot = program.system.written_slot(variable.path)  # the value in the cache is a copy
        course = program.system.course_offsets(variable.path) if variable.type == "Real" else (-1, -1)
        return names.index(slot.array), slot.offset, course

    return place


def variable_tables(
    interface: ExportedInterface, place_of: Callable[[FmuVariable], Place], *, has_arrays: bool
) -> str:
    """The table of variables, with the time as the last one, and the tables of their texts."""
    rows = []
    scalars = interface.variables
    words = {v.items: f"words_{i}" for i, v in enumerate(scalars) if v.items}
    discrete = {at: place for place, at in enumerate(discretes(scalars))}
    sizes = {a.reference: len(a.elements) for a in variables_of(interface)} if has_arrays else None
    for i, variable in enumerate(scalars):
        size = 1 if sizes is None else sizes.get(i, 0)
        cells = _variable_cells(variable, *place_of(variable), size)
        listed = f"{discrete.get(i, -1)}, {len(variable.items)}, {words.get(variable.items, 'NULL')}"
        rows.append(f"{{{cells}, {listed}}}")
    infinite = f"{c_real(-math.inf)}, {c_real(math.inf)}"
    rows.append(f'{{"time", -1, 0, -1, -1, REAL, 0, NEVER, 0, {infinite}, 1.0, -1, 1, -1, 0, NULL}}')
    tables = [c_table("char *const", name, map(c_text, listed)) for listed, name in words.items()]
    return "\n".join([*tables, c_table("Variable", "variables", rows)])


def discretes(variables: Sequence[FmuVariable]) -> list[int]:
    """Indices of the variables that change at events only."""
    shown = [i for i, v in enumerate(variables) if v.causality in ("output", "local")]
    return [i for i in shown if variables[i].variability == "discrete"]


def _variable_cells(
    variable: FmuVariable, array: int, offset: int, course: tuple[int, int], size: int
) -> str:
    settable = {"input": "INPUT", "parameter": "TUNABLE"}.get(variable.causality)
    if settable is None or variable.variability == "fixed":
        settable = "UNTIL_STARTED" if variable.is_settable else "NEVER"
    lowest = -math.inf if variable.minimum is None else variable.minimum
    highest = math.inf if variable.maximum is None else variable.maximum
    cells = [
        c_text(variable.name),
        str(array),
        str(offset),
        *map(str, course),
        TYPES[variable.type],
        str(int(variable.array == "k")),
        settable,
        str(int(variable.array in COMPUTED and variable.causality != "input")),
        c_real(lowest),
        c_real(highest),
        c_real(abs(variable.nominal) if variable.nominal else 1.0),
        str(-1 if variable.angle is None else variable.angle),
        str(size),
    ]
    return ", ".join(cells)


def _checks(program: Program) -> str:
    parts, rows = [], []
    for i, check in enumerate(program.system.checks):
        reads = [at for slot in check.reads for at in slot.elements]
        parts.append(c_table("char *const", f"refusals_{i}", map(c_text, check.sentences)))
        parts.append(c_table("int64_t", f"judged_{i}", map(str, reads)))
        cells = [c_text(check.part), str(check.slot.offset), str(check.slot.size)]
        cells += [str(len(check.sentences)), name_or_null(f"refusals_{i}", check.sentences)]
        cells += [str(len(reads)), name_or_null(f"judged_{i}", reads)]
        rows.append(f"{{{', '.join(cells)}}}")
    return "\n".join([*parts, c_table("Check", "checks", rows)])


def _replacements(program: Program) -> str:
    options = program.system.options_in_model_exchange
    return c_table("Replacement", "replacements", (f"{{{at}, {c_real(x)}}}" for at, x in options.items()))


def _histories(program: Program) -> str:
    system = program.system
    capacity, count = (place_in(Ring, name) for name in ("capacity", "count"))
    rows = (
        f"{{{c_text(part)}, {ring.offset + capacity}, {ring.offset + count}}}"
        for part, ring in zip(system.remembering, system.rings, strict=True)
    )
    return c_table("History", "histories", rows)


def _losses(program: Program) -> str:
    """The reasons, by number, why derivatives along the run were lost."""
    texts = {**dict.fromkeys(range(max(REASONS) + 1), ""), **REASONS} if program.derivatives[0] else {}
    return c_table("char *const", "losses", (c_text(texts[number]) for number in sorted(texts)))


def _states(variables: Sequence[FmuVariable]) -> str:
    index = {v.name: i for i, v in enumerate(variables)}
    rates = sorted((v.offset, i) for i, v in enumerate(variables) if v.derivative_of)  # as in the description
    rows = (f"{{{index[variables[i].derivative_of]}, {i}}}" for _, i in rates)
    return c_table("ContinuousState", "states", rows)


def _indicators(indicators: Mapping[str, tuple[int, int]]) -> str:
    return c_table(
        "EventIndicator", "indicators", (f"{{{at}, {level}}}" for at, level in indicators.values())
    )


def _failures(program: Program) -> dict[int, tuple[str, int | None, Sequence[str]]]:
    """The failures by number: the sentence, the place in `places` of its index, and the names it selects."""
    names = {
        "block": program.blocks,
        "handler": program.handlers,
        "witness": program.witnesses,
        "fastest": program.states,
        "step_code": [code.sentence for code in StepCode],
    }
    failures: dict[int, tuple[str, int | None, Sequence[str]]] = {}
    for cls in StepFailure.__subclasses__():
        if cls.number >= FAILED:
            place = place_in(PlacesHeader, f"failure.{cls.about}") if cls.about else None
            failures[cls.number] = (SENTENCES[cls.number].rstrip("."), place, names.get(cls.about, ()))
    return failures


def _sentences(program: Program) -> str:
    parts, rows = [], []
    for code, (sentence, place, about) in _failures(program).items():
        parts.append(c_table("char *const", f"names_{code}", map(c_text, about)))
        names = name_or_null(f"names_{code}", about)
        rows.append(
            f"{{{code}, {c_text(sentence)}, {-1 if place is None else place}, {len(about)}, {names}}}"
        )
    return "\n".join([*parts, c_table("Sentence", "sentences", rows)])


def _entry_points(program: Program, prefix: str) -> str:
    return "".join(
        f"extern EntryPoint {prefix}_{name};\n"
        for name in ENTRY_POINTS
        if f"lowered_{name}" in program.functions
    )


def _model(
    program: Program,
    interface: ExportedInterface,
    kinds: Sequence[str],
    token: str,
    digest: bytes,
    names: list[str],
    history_room: int,
    prefix: str,
) -> str:
    states = [v for v in interface.variables if v.derivative_of]
    values = {
        "name": c_text(interface.model_name),
        "token": c_text(token),
        "digest": "{" + ", ".join(map(str, digest)) + "}",
        "accuracy": c_real(interface.accuracy or 0.0),
        "kinds": str(sum(KINDS[kind] for kind in kinds)),
        **{"array_count": str(len(names)), "arrays": "array_starts"},
        **{"variable_count": str(len(interface.variables) + 1), "variables": "variables"},
        "parameters": str(names.index("p")),
        "cache": str(names.index("c")),
        **{"continuous": str(names.index("y")), "discrete": str(names.index("d"))},
        "whole": str(names.index("k")),
        "clock": str(names.index("times")),
        "places": str(names.index("places")),
        "history": str(names.index("h")),
        "integers": str(names.index("k")),
        "history_room": str(history_room),
        "history_free": str(plan_of(program).room),
        "given": str(names.index("numbers")),
        "same_time": c_real(SAME_TIME),
        **{name: str(number) for name, number in PLACES.items()},
    }
    tables: dict[str, Sized] = {
        **{"state": states, "indicator": program.indicators, "clock": program.periodic},
        **{"sentence": _failures(program), "check": program.system.checks},
        "discrete": discretes(interface.variables),
        "replacement": program.system.options_in_model_exchange,
    }
    if program.derivatives[0]:
        values |= {"notes": str(names.index(f"{OF_TANGENTS}notes_numbers")), "losses": "losses"}
        values |= {"notes_lost": str(place_in(CarryNotes, "lost"))}
        values |= {"notes_lost_time": str(place_in(CarryNotes, "lost_time"))}
        values |= {"notes_close": str(place_in(CarryNotes, "is_close"))}
        values |= {"notes_close_time": str(place_in(CarryNotes, "close_time"))}
    values |= {"history_count": str(len(program.system.rings))}
    values |= {"histories": name_or_null("histories", program.system.rings)}
    for name, table in tables.items():
        values |= {f"{name}_count": str(len(table)), f"{name}s": name_or_null(f"{name}s", table)}
    for name in ENTRY_POINTS:
        member = "accuracy_given" if name == "accuracy" else name
        values[member] = f"{prefix}_{name}" if f"lowered_{name}" in program.functions else "NULL"
    return model_structure(values, prefix)


def model_structure(values: Mapping[str, str], prefix: str = "cosim") -> str:
    """The structure by which the shell accesses a model."""
    listed = "".join(f"    .{name} = {value},\n" for name, value in values.items())
    return f"const Model {prefix}_model = {{\n{listed}}};\n"
