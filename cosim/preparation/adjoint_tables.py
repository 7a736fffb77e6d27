"""The tables for going back along a run: its arrays, and the functions whose addresses stand in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.contracts.constraints import settle_by_address
from cosim.contracts.integrator import Integrator
from cosim.contracts.method_kernels import slots_named
from cosim.derivatives.trail import TRAIL_NOTES, AdjointPlan
from cosim.errors import Problem
from cosim.preparation.tangent_tables import (
    FIXED_IN_DENSE,
    FIXED_IN_STEPS,
    Function,
    own_kernels,
    rows_of_run,
)
from cosim.run_data.run import Run
from cosim.step.sliding_field import sliding_field
from cosim.system.system_adjoints import FIRST_TAPE, function_adjoint, new_tape
from cosim.walker import (
    DENSE_RECORD_SIGNATURE,
    DENSE_REVERSE_SIGNATURE,
    DENSE_SIGNATURE,
    REDO_RECORD_SIGNATURE,
    REDO_REVERSE_SIGNATURE,
    REDO_SIGNATURE,
)
from cosim_compiler import native
from cosim_compiler.derivatives.adjoints import adjoint_function
from cosim_compiler.errors import NoTangentError
from cosim_compiler.record import words_of

if TYPE_CHECKING:
    from cosim.preparation.held_tables import HeldTables

    System = Any

DELAYED = "delayed_time", "window_start"
"""Cache slots of these names are times whose values are read from what is remembered, s."""


def start_adjoint_arrays(
    system: System, run: Run, carried: Mapping[str, NDArray[Any]], methods: Mapping[str, Function]
) -> dict[str, NDArray[Any]]:
    """The arrays of `AdjointArrays`, zeros mostly, for a run in which no witness is held.

    Parameters
    ----------
    system : System
    run : Run
    carried : mapping of str to ndarray
        The arrays of the tangents that go along the run.
    methods : mapping of str to Function
        Adjoints of the method, by their names in `AdjointPlan`.
    """
    addresses = {name: native.function_address(*function) for name, function in methods.items()}
    plan = AdjointPlan(**{**dict.fromkeys(AdjointPlan.declared, 0), **addresses})
    states, parameters, discrete = (carried[letter].size for letter in "ypd")
    points = int(run.plan.points_inside) if system.rings else 0
    delayed = [slot for name in DELAYED for slot in slots_named(system, name)]
    return {
        "table": system.adjoints.table,
        "held_table": run.held_table.copy(),
        "held_ints": run.held_ints.copy(),
        "numbers": np.array(words_of(plan), dtype=np.int64),
        "notes_numbers": np.zeros(TRAIL_NOTES),
        "trail": np.zeros(0),
        "tape": new_tape(FIRST_TAPE),
        "weights": np.zeros(0),
        "delayed": np.array(delayed, dtype=np.int64),
        # adjoints of what a run has
        **{name: np.zeros_like(carried[name]) for name in ("y", "p", "d", "c", "memory", "work")},
        "memory_flow": np.zeros_like(carried["memory"]),
        "h": np.zeros(0),
        "inner_c": np.zeros(points * carried["c"].size),
        "kinks": np.zeros(len(run.kinks)),
        "bars": np.zeros(1),
        # room
        "spare_y": np.zeros(states),
        "spare_c": np.zeros_like(carried["c"]),
        "working": np.zeros(states + parameters + discrete),
        "former": np.zeros(parameters + discrete),
        "changed": np.zeros(parameters + discrete),
        "known_past": np.zeros(0),
        "former_past": np.zeros(0),
    }


def recorded_holds(system: System, run: Run, held: HeldTables) -> dict[str, NDArray[np.int64]]:
    """Tables of what holds witnesses: with what records, and behind it with what goes back over the record.

    Behind the integers stand the pairs of both functions, and how many there are.
    """
    recording = {"held_table": run.held_table.copy(), "held_ints": run.held_ints.copy()}
    reverse = run.held_table.copy()
    pairs: dict[int, int] = {}
    table = system.adjoints.table
    for name, place, row in held.copies:
        record, back = int(table[row, 0]), int(table[row + len(table) // 2, 0])
        recording[name].reshape(-1)[place] = record
        if name == "held_table":
            reverse.reshape(-1)[place] = back
        pairs[record] = back
    for place, rate in held.rates:
        adjoint = function_adjoint(rate)
        record = native.function_address(adjoint.record, adjoint.record_signature)
        recording["held_ints"][place] = record
        pairs[record] = native.function_address(adjoint.reverse, adjoint.reverse_signature)
    field = function_adjoint(sliding_field)
    recording["held_table"][-1, 0] = native.function_address(field.record, field.record_signature)
    reverse[-1, 0] = native.function_address(field.reverse, field.reverse_signature)
    listed = [address for pair in pairs.items() for address in pair]
    return {
        "held_table": np.concatenate([recording["held_table"], reverse]),
        "held_ints": np.concatenate([recording["held_ints"], listed, [len(pairs)]]).astype(np.int64),
    }


def method_adjoints(integrator: Integrator, system: System) -> tuple[dict[str, Function], list[Problem]]:
    """The adjoints of a method's functions, by their names in `AdjointPlan`, and why some have none."""
    name, kernels = type(integrator).__name__, own_kernels(integrator, system)
    assert kernels is not None
    if reason := integrator.unlowered(system):
        return {}, [Problem("integrator", f"{name}: its steps have no adjoint: {reason}")]
    functions: dict[str, Function] = {}
    redo = REDO_SIGNATURE, FIXED_IN_STEPS, (REDO_RECORD_SIGNATURE, REDO_REVERSE_SIGNATURE)
    dense = DENSE_SIGNATURE, FIXED_IN_DENSE, (DENSE_RECORD_SIGNATURE, DENSE_REVERSE_SIGNATURE)
    for which, function, (signature, fixed, wanted) in (
        ("step", kernels.followed_step, redo),
        ("settle", settle_by_address, redo),
        ("complete", kernels.functions["complete"], redo),
        ("dense", kernels.functions["dense"], dense),
    ):
        if function is None:
            continue
        try:
            adjoint = adjoint_function(function, signature, fixed)  # type: ignore[arg-type]
        except NoTangentError as fault:
            return {}, [Problem("integrator", f"{name}: its steps have no adjoint: {fault}")]
        assert (adjoint.record_signature, adjoint.reverse_signature) == wanted
        functions[which] = adjoint.record, adjoint.record_signature
        functions[f"{which}_back"] = adjoint.reverse, adjoint.reverse_signature
    return functions, []


def faults_of_adjoints(system: System, held: HeldTables | None) -> list[Problem]:
    """The reasons against gradients of runs in which witnesses may be held; the adjoints are made."""
    handlers = [row for row in system.handler_blocks.values() if row >= 0]
    of_held = [] if held is None else [row for _, _, row in held.copies]
    rows = [*rows_of_run(system), *handlers, *of_held]
    return [
        Problem(", ".join(system.tangents.block_of(row).owners), reason)
        for row, reason in system.adjoints.prepare(rows).items()
    ]
