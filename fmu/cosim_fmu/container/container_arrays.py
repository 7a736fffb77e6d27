"""The arrays of the FMU of a scenario without Python: those of the interpreter of exchanges, and its own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.kit import c_header
from cosim_export.native.c_tables import c_integer, c_real, c_start, c_text
from cosim_fmi.binding.process_guard import SUMS
from cosim_master.exchange.exchange_arrays import Algorithm, Answer, Machine, Part, Progress, Report
from cosim_master.exchange.exchange_machine import numbers_of, records
from cosim_master.exchange.row_samples import AT_ONCE, Sampling
from cosim_master.exchange.stop_codes import READ_FAILED, SET_FAILED, STEP_FAILED
from cosim_master.recording.collect_samples import STORED, Collected
from cosim_master.run.stepped_run import SteppedRun
from cosim_master.trust.assess_samples import NOT_KNOWN, Assessment
from cosim_master.trust.coupling_assessment import assessment_of
from cosim_master.trust.run_in_intervals import Wired
from cosim_master.trust.verdict import UNKNOWN

MEMBER_WORDS, MESSAGE_WORDS, LIFE_WORDS = 64, 256, 9
"""Counts of words of eight bytes."""
ROWS = 32
OWN = {
    **dict.fromkeys(("parameters", "inputs", "shown", "clock", "places"), ""),
    "growing": "none: members have their own",
    **dict.fromkeys(("whole", "numbers"), ""),
    "handed": "what members have of the parameters, then of the inputs",
    "written": "whether it was handed over since the last step",
    **dict.fromkeys(("lives", "members", "room", "message"), ""),
    "times": "of members that are values over time: where they are, and where an algorithm goes back to",
    "foreign": "the address of what FMUs of others need, which belongs to the instance",
    "head": "",
    "before": "how outputs are passed on at the start, before members are initialized,",
    "after": "and after that",
    "order": "",
}
"""Arrays before those of the interpreter, and what they are for where the name does not say it."""
GROUPS = (Machine, Sampling, Collected, Wired, Assessment)
"""The arrays that follow, in the order of `run_arrays`; then an `Algorithm` for each algorithm."""
NUMBERS = {
    **{"MEMBER_WORDS": MEMBER_WORDS, "MESSAGE_WORDS": MESSAGE_WORDS},
    **{"STORED": STORED, "AT_ONCE": AT_ONCE, "IS_UNKNOWN": UNKNOWN},
    **{
        "SUM_COUNT": len(SUMS),
        "SET_FAILED": SET_FAILED,
        "STEP_FAILED": STEP_FAILED,
        "READ_FAILED": READ_FAILED,
    },
}
"""Constants of the shell in C that have the same names."""
SAVED = frozenset(
    (
        *("parameters", "inputs", "clock", "handed", "written", "lives", "times"),
        *("machine.inputs", "machine.outputs", "machine.answer_words", "machine.step_time_words"),
        *("machine.report_words", "machine.clock_words", "machine.grid"),
        *("algorithm.counts", "algorithm.numbers", "algorithm.table", "algorithm.progress_words"),
        *("samples.counts", "samples.clock", "samples.present", "samples.rates", "samples.bends"),
        *("samples.teeth", "samples.sample", "samples.first", "samples.kept", "assessed.outcome"),
    )
)
KNOWN_OF_PARTS = (
    *("step_multiple", "rereads_inputs", "first_input", "inputs", "first_output", "outputs"),
    *("first_value", "values"),
)
"""Fields of `Part` that do not depend on the process."""


Vector = NDArray[np.generic]


def records_header() -> str:
    """The text of ``exchange_records.h``: arrays and records that the shell in C reads and writes."""
    own = [f"{name.upper()}, /* {text} */" if text else f"{name.upper()}," for name, text in OWN.items()]
    others = [f"{name}," for group in GROUPS for name in _array_names(group)]
    sizes = {f"{cls.__name__.upper()}_ARRAYS": len(cls._fields) for cls in (*GROUPS, Algorithm)}
    return "\n".join(
        (
            "/* Made by container_arrays.records_header: not for editing. */",
            "#ifndef COSIM_EXCHANGE_RECORDS_H",
            "#define COSIM_EXCHANGE_RECORDS_H",
            "",
            "/* The arrays, in this order; behind them those of each algorithm, then those of each member,",
            "   then copies of these for members that are stepped again. */",
            "enum {",
            *(f"    {line}" for line in (*own, *others)),
            "    FIRST_ALGORITHM",
            "};",
            f"enum {{ {', '.join(_array_names(Algorithm))} }};",
            f"enum {{ {', '.join(f'{name} = {number}' for name, number in (sizes | NUMBERS).items())} }};",
            "",
            c_header(Part, Report, Progress, prefix="Exchange"),
            "/* `process_guard.SUMS`: they tell whether sums are rounded as usual. */",
            f"#define ROUNDING_SUMS {{{', '.join(map(c_real, SUMS))}}}",
            "",
            "#endif",
            "",
        )
    )


def _array_names(group: Any) -> list[str]:
    """The names in C of a group of arrays."""
    return [f"{group.__name__}_{name}".upper() for name in group._fields]


def own_arrays(
    settings: Sequence[float], parameters: int, outputs: int, members: int, room: int, times: int
) -> dict[str, Vector]:
    """The arrays before those of the interpreter at the start of an instance, without orders.

    Parameters
    ----------
    settings : sequence of float
        Start values of what the host sets, parameters first.
    parameters : int
        The number of parameters.
    outputs, members : int
    room : int
        Words that a member needs for the length of a call.
    times : int
        Numbers of members that are values over time.
    """
    reals = {"shown": outputs, "clock": 6, "growing": 0, "numbers": 3, "handed": len(settings)}
    reals["times"] = times
    integers = {"places": 5, "whole": 0, "written": len(settings), "lives": LIFE_WORDS * members}
    integers |= {"members": MEMBER_WORDS * members, "room": room, "message": MESSAGE_WORDS}
    integers |= {"head": 2 * len(Machine._fields), "foreign": 0}
    arrays: dict[str, Vector] = {name: np.zeros(size) for name, size in reals.items()}
    arrays |= {name: np.zeros(size, dtype=np.int64) for name, size in integers.items()}
    arrays["parameters"] = np.array(settings[:parameters], dtype=np.float64)
    arrays["inputs"] = np.array(settings[parameters:], dtype=np.float64)
    return arrays


def run_arrays(run: SteppedRun, *, is_assessed: bool) -> Iterator[tuple[str, Vector]]:
    """The arrays of the interpreter at the start of a run, without addresses, which an instance writes.

    Parameters
    ----------
    run : SteppedRun
        It has begun.
    is_assessed : bool
        Whether the error of the coupling is estimated; then rows are what its samples are of.
    """
    machine = run.machine
    columns = np.array(machine.arrays.columns if is_assessed else [], dtype=np.int64)
    heads = 2 * len(Algorithm._fields) * len(machine.algorithms)
    replaced: dict[str, Vector] = {
        "columns": columns,
        "rows": np.zeros((columns.size + 2) * ROWS),
        "algorithm_words": np.zeros(heads, dtype=np.int64),
        "part_words": numbers_of(_parts(run)),
        "report_words": numbers_of(Report()),
        "answer_words": _answers(len(machine.names)),
    }
    for name, array in machine.arrays._asdict().items():
        yield f"machine.{name}", replaced.get(name, np.array(array))
    yield from _sample_arrays(run, is_assessed)
    for i, algorithm in enumerate(machine.algorithms):
        progress = Progress(0, 0, -1)  # no Python does anything in between
        fresh = {"progress_words": np.frombuffer(progress, dtype=np.int64)}
        for name, array in {**algorithm.arrays._asdict(), **fresh}.items():
            yield f"{i}.algorithm.{name}", np.array(array)


def _sample_arrays(run: SteppedRun, is_assessed: bool) -> Iterator[tuple[str, Vector]]:
    """Samples of the coupling, and what is known of it; empty where its error is not estimated."""
    samples, places = run.coupled.samples, [place for kind in run.machine.sampled for place in kind]
    collected = samples.collected
    row = 1 + collected.jumps.size + 3 * collected.sources.size
    most = np.array([samples.capacity * collected.present.size], dtype=np.int64)
    sampling = Sampling(np.array(places, dtype=np.int64), np.zeros(row), most)
    wired, assessment = assessment_of(run.coupled, run.algorithm)
    outcome = np.full(assessment.outcome.size + 1, NOT_KNOWN)  # the last one never is
    outcome[0] = UNKNOWN
    groups: dict[str, Any] = {"sampling": sampling, "samples": collected, "wired": wired}
    groups["assessed"] = assessment._replace(outcome=outcome)
    for prefix, group in groups.items():
        for name, array in group._asdict().items():
            yield f"{prefix}.{name}", array if is_assessed else np.zeros(0, dtype=array.dtype)


def _parts(run: SteppedRun) -> Any:
    machine, descriptions = run.machine, run.coupled.descriptions
    parts = records(Part, len(machine.names))
    for name, of, part in zip(machine.names, machine.parts, parts, strict=True):
        for field in KNOWN_OF_PARTS:
            setattr(part, field, getattr(of, field))
        part.input_count, part.output_count = of.inputs, of.outputs
        part.same_size = int(not descriptions[name].variable_step)
    return parts


def _answers(count: int) -> Vector:
    """Answers at the start: none was given, and no step is left to Python."""
    answers = records(Answer, count)
    for answer in answers:
        answer.latest = math.inf
    return np.frombuffer(answers, dtype=np.float64)


def array_tables(arrays: Mapping[str, Vector]) -> tuple[list[str], list[str]]:
    """The numbers with which they begin, as tables of C, and a row for each array."""
    tables, rows = list[str](), list[str]()
    for i, (name, array) in enumerate(arrays.items()):
        flat, start = array.reshape(-1), "NULL"
        if flat.size and flat.view(np.uint64).any():
            start = f"start_{i}"
            if flat.dtype == np.float64:
                tables.append(c_start("double", str(i), [c_real(float(x)) for x in flat], "0.0"))
            else:
                tables.append(c_start("int64_t", str(i), [c_integer(int(x)) for x in flat], "0"))
        grows = int(name == "samples.kept")
        rows.append(f"{{{c_text(name)}, {start}, {flat.size}, 1, {role_of(name)}, {grows}}}")
    return tables, rows


def role_of(name: str) -> str:
    """The role of an array when a state is saved."""
    name = name.lstrip("0123456789").lstrip(".")
    return "CONSTANT" if name == "foreign" else "STATE" if name in SAVED else "SCRATCH"
