"""The tables for tangents along a run: their arrays, and the functions whose addresses stand in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.component.history import RING, Ring
from cosim.contracts.constraints import settle_by_address
from cosim.contracts.integrator import Integrator
from cosim.contracts.method_kernels import SMOOTH_UNTIL
from cosim.contracts.method_layout import WORK_HEADER
from cosim.derivatives import carrier
from cosim.derivatives.carrier import CARRY_NOTES, Carrier, CarryPlan
from cosim.derivatives.instant_copies import size_of_copies
from cosim.errors import Problem
from cosim.run_data.run import Run
from cosim.stage import Stage
from cosim.step.sliding_field import sliding_field
from cosim.system.auto_updates import BREAK_ORDER
from cosim.system.system_tangents import function_tangent
from cosim.walker import (
    DENSE_SIGNATURE,
    LANE_REDO_SIGNATURE,
    REDO_SIGNATURE,
    TANGENT_DENSE_SIGNATURE,
    TANGENT_REDO_SIGNATURE,
    TANGENT_SIGNATURE,
)
from cosim_compiler import native
from cosim_compiler.errors import NoTangentError
from cosim_compiler.language.types import LANE_COUNTS
from cosim_compiler.record import words_of

if TYPE_CHECKING:
    from cosim.contracts.method_kernels import MethodKernels
    from cosim.preparation.held_tables import HeldTables

    System = Any

Reals = NDArray[np.float64]
Function = tuple[Any, str]
"""A kernel function and its signature."""
FIXED_IN_STEPS, FIXED_IN_DENSE = frozenset({11, 12}), frozenset({1})
"""The arguments of a method's functions that do not vary: its coefficients and settings."""
CONSTANT = (
    "table",
    "held_table",
    "held_ints",
    "numbers",
    "integers",
    "break_orders",
    "lane_table",
    "last_lane_table",
    "slots_before_motion",
    "error_weights",
    "second_weights",
    "jump_weights",
)
"""Arrays that stay as they begin."""
OF_A_STEP = frozenset(
    {
        *("spare_y", "spare_y_dot", "spare_c", "spare_c_dot", "spare_work", "inner_caches", "inner_dots"),
        *("working", "working_dots", "event_dots", "kept", "pace_before", "flow_errors", "rows"),
        *("start_memory", "work", "work_dots", "heads", "lanes", "refused_lanes"),
    }
)
"""Arrays that a step fills before it reads them."""
SAVED = [name for name in Carrier._fields if name not in CONSTANT and name not in OF_A_STEP]
"""What is saved of tangents, in its order."""
ERRORS = "largest_dots", "dot_errors", "likely_errors", "worst_errors", "worst_times"
"""What errors of derivatives are added up in."""
OF_HANDLERS = {
    carrier.GRAZES: "its witness touches zero and does not cross it: grazing",
    carrier.CHANGES_ORDER: "two events at one instant whose order changes: one-sided",
    carrier.IS_PYTHON: "a handler in plain Python",
    carrier.IS_CONDITION: "a condition says when, not how fast: make it a number",
    carrier.HAS_PERIOD: "a handler has changed the parameters of its times at this instant",
    carrier.IS_AT_JUMP: "it rounds values or decides by them exactly where that jumps: one-sided",
}
OF_STATES = {
    carrier.JUMPS: "its derivative jumps where no event is: make a witness of it",
    carrier.JUMPS_MEET: "two jumps of its derivative meet at one instant and move apart: one-sided",
    carrier.WAS_CHANGED: "it was changed in a way that is not recorded",
}
OF_RUNS = {
    carrier.FAILED: "a step could not be taken once more",
    carrier.IS_HELD: "a witness is held, by an implicit method or in a way that varies: that is not followed",
    carrier.BLOCK_FAILED: "its tangent cannot be computed",
    carrier.LOOKS_AHEAD: (
        "a step looks into itself, since a delay is shorter: gradients do not go back over that yet"
    ),
    carrier.MEETS_EXCHANGE: "an event whose time moves falls on an exchange of values: one-sided",
    carrier.TAPE_IS_FULL: "an instant has more events than a host has room for",
}
REASONS = {**OF_HANDLERS, **OF_STATES, **OF_RUNS}
"""Why there are no derivatives any more, by the number in ``notes.lost``."""


def follows_holds(integrator: Integrator, run: Run) -> bool:
    """Whether steps of a run are followed while witnesses are held."""
    return not integrator.capabilities.implicit and int(run.plan.held.last) > 0


def start_arrays(
    system: System, run: Run, directions: int, work: Reals, follows_holds: bool, first_direction: int = 0
) -> dict[str, NDArray[Any]]:
    """The arrays of a `Carrier`, zeros mostly; without addresses.

    Parameters
    ----------
    system : System
    run : Run
        Arrays of a run: tangents are as long.
    directions : int
        With that of the flow.
    work : ndarray
        What the work of the method begins with.
    follows_holds : bool
    first_direction : int
        The first one that goes along each step: 0 for the flow.
    """
    plan = {**dict.fromkeys(CarryPlan.declared, 0), **plan_of_groups(directions, first_direction)}
    plan["follows_holds"] = int(follows_holds)
    arrays = {
        "table": np.zeros((len(system.table), 3), dtype=np.int64),
        "held_table": run.held_table.copy(),
        "held_ints": run.held_ints.copy(),
        "numbers": np.array(words_of(CarryPlan(**plan)), dtype=np.int64),
        "notes_numbers": np.zeros(CARRY_NOTES),
        **_values_and_tangents(system, run, directions),
        **_method_and_tangents(run, directions, work),
        **_values_of_a_step(system, run, directions),
        "break_orders": break_orders(system, run.kinks),
        "swaps": np.zeros(directions * len(run.swaps)),
        "event_dots": np.zeros(directions),
        "kept": np.zeros((directions + 1) * len(run.kinks)),
        "rows": np.zeros(0),
        "lane_table": np.zeros((0, 3), dtype=np.int64),
        "last_lane_table": np.zeros((0, 3), dtype=np.int64),
        "lanes": np.zeros(0),
        "slots_before_motion": np.zeros(0, dtype=np.int64),
        "refused_lanes": np.zeros(directions),
        **{name: np.zeros(0) for name in ("error_weights", "second_weights", "jump_weights")},
        **{name: np.zeros(directions * run.y.size) for name in ERRORS},
    }
    # where something remembers, orders are not compared: a history has one time for each jump
    copies = 0 if system.rings else size_of_copies(arrays, len(run.handlers))
    arrays["order_copies"] = np.zeros(copies)
    return arrays


def _values_and_tangents(system: System, run: Run, directions: int) -> dict[str, NDArray[Any]]:
    """Arrays for the variables, histories and cache of a system, and for their tangents in each direction."""
    start = system.start_arrays()
    integers, cache = start["k"].size, run.c.size
    measured = np.flatnonzero(words_of(Ring(size_exponent=1, floor_exponent=1)))  # by the run alone
    of_histories = [ring.offset + m for ring in system.rings for m in range(RING) if m not in measured]
    former = start["p"].size + start["d"].size
    return {
        **{letter: np.zeros(start[letter].size) for letter in "ypd"},
        **{f"{letter}_dots": np.zeros(directions * start[letter].size) for letter in "ypd"},
        "k": np.zeros(directions * integers, dtype=np.int64),
        "integers": np.setdiff1d(np.arange(integers), of_histories),
        "h": np.zeros(0),  # histories grow
        "h_dots": np.zeros(0),
        "c": np.zeros(cache),
        "c_dots": np.zeros(directions * cache),
        "time_dots": np.zeros(directions),
        "former": np.full(former, np.nan),
        "former_dots": np.zeros(directions * former),
    }


def _method_and_tangents(run: Run, directions: int, work: Reals) -> dict[str, NDArray[Any]]:
    """Memory and work of the method, and their tangents."""
    memory, of_work = run.memory.size, run.work.size
    work_of_run = np.zeros(of_work)
    work_of_run[: work.size] = work
    return {
        "memory": np.zeros(memory),
        "start_memory": np.zeros(memory),
        "memory_dots": np.zeros(directions * memory),
        "work": work_of_run,
        "spare_work": np.zeros(of_work),
        "work_dots": np.zeros(directions * of_work),
        "heads": np.zeros(directions * WORK_HEADER),
    }


def _values_of_a_step(system: System, run: Run, directions: int) -> dict[str, NDArray[Any]]:
    """Room in which values and tangents are worked out inside a step."""
    sizes = {letter: array.size for letter, array in system.start_arrays().items()}
    states, cache, variables = sizes["y"], run.c.size, sum(sizes[letter] for letter in "ypdk")
    points = int(run.plan.points_inside) if system.rings else 0
    return {
        "slopes_before": np.zeros(states),
        "pace_before": np.zeros(states),
        "flow_errors": np.zeros(states),
        "spare_y": np.zeros(states),
        "spare_y_dot": np.zeros(states),
        "spare_c": np.zeros(cache),
        "spare_c_dot": np.zeros(cache),
        "inner_caches": np.zeros(cache * points),
        "inner_dots": np.zeros(cache * points),
        "working": np.zeros(variables),
        "working_dots": np.zeros(directions * variables),
    }


def break_orders(system: System, kinks: Iterable[int]) -> NDArray[np.int64]:
    """For each kink the offset in the cache of the order of the delayed break there; -1: not a break."""
    orders = dict.fromkeys(map(int, kinks), -1)
    for slots in system.assembly.layout.slots.values():
        if SMOOTH_UNTIL in slots and BREAK_ORDER in slots:
            orders |= dict(zip(slots[SMOOTH_UNTIL].elements, slots[BREAK_ORDER].elements, strict=True))
    return np.array([orders[int(kink)] for kink in kinks], dtype=np.int64)


def own_kernels(integrator: Integrator, system: System) -> MethodKernels | None:
    """The functions of the method of a run once more, with numbers of their own: a run counts in its own."""
    return integrator.with_accuracy(integrator.accuracy).kernels(system)


def method_tangents(
    integrator: Integrator, kernels: MethodKernels | None
) -> tuple[dict[str, Function], list[Problem]]:
    """The tangents of a method's functions, by their names in `CarryPlan`, and why some have none."""
    name = type(integrator).__name__
    if kernels is None:
        return {}, [Problem("integrator", f"{name} takes its steps in Python: they have no tangents")]
    from cosim_compiler.derivatives.tangents import tangent_function  # most runs need none

    tangents: dict[str, Function] = {}
    functions = kernels.functions
    for which, function, signature, wanted, fixed in (
        ("step", kernels.followed_step, REDO_SIGNATURE, TANGENT_REDO_SIGNATURE, FIXED_IN_STEPS),
        ("settle", settle_by_address, REDO_SIGNATURE, TANGENT_REDO_SIGNATURE, FIXED_IN_STEPS),
        ("complete", functions["complete"], REDO_SIGNATURE, TANGENT_REDO_SIGNATURE, FIXED_IN_STEPS),
        ("dense", functions["dense"], DENSE_SIGNATURE, TANGENT_DENSE_SIGNATURE, FIXED_IN_DENSE),
    ):
        if function is None:
            continue
        try:
            tangent, tangent_signature = tangent_function(function, signature, 1, fixed)  # type: ignore[arg-type]
        except NoTangentError as fault:
            return {}, [Problem("integrator", f"{name}: its steps have no tangents: {fault}")]
        assert tangent_signature == wanted
        tangents[which] = tangent, tangent_signature
    return tangents, []


FEWEST_IN_LANES = {2: 2, 4: 3, 8: 6}
"""How many directions are worth so many lanes: five take as long in eight as four in four and one alone."""


def plan_of_groups(directions: int, first_direction: int) -> dict[str, int]:
    """The fields of `CarryPlan` that say how directions go in groups: the last group may be narrower."""
    count = directions - first_direction
    lanes = max((width for width, fewest in FEWEST_IN_LANES.items() if count >= fewest), default=2)
    last_group = first_direction + (count - 1) // lanes * lanes
    rest = directions - last_group
    last_lanes = lanes if rest == 1 else min(width for width in LANE_COUNTS if width >= rest)
    return {
        "directions": directions,
        "first_direction": first_direction,
        "lanes": lanes,
        "last_lanes": last_lanes,
        "last_group": last_group,
    }


def method_in_lanes(kernels: MethodKernels | None, lanes: int) -> dict[str, Function]:
    """The tangents of a method's functions in lanes, by their names in `CarryPlan`; those that have some."""
    from cosim_compiler.derivatives.tangents import tangent_function  # most runs need none

    found: dict[str, Function] = {}
    if kernels is None or not native.has_lanes():
        return found
    functions = {"step_in_lanes": kernels.followed_step, "complete_in_lanes": kernels.functions["complete"]}
    for name, function in functions.items():
        with suppress(NoTangentError):
            if function is not None:
                found[name] = tangent_function(
                    function,  # type: ignore[arg-type]
                    REDO_SIGNATURE,
                    fixed=FIXED_IN_STEPS,
                    lanes=lanes,
                )
                assert found[name][1] == LANE_REDO_SIGNATURE
    return found


def rows_in_lanes(system: System) -> dict[str, list[int]]:
    """The rows of the table that are walked in lanes: in steps, for recorded rows, by updates."""
    whole = range(*system.block_range(Stage.TOPOLOGY, Stage.REPORT))
    in_steps = [*range(whole.start, system.derivative_range[1]), *range(*system.inner_range)]
    return {
        "step_in_lanes": [*in_steps, *correction_rows(system)],
        "rows_in_lanes": [*range(system.derivative_range[1], whole.stop)],
        "updates_in_lanes": [row for updates in system.update_ranges.values() for row in updates],
    }


def slots_before_motion(system: System) -> NDArray[np.int64]:
    """The slots of the cache that blocks before those of the motion write."""
    blocks = system.blocks[: system.derivative_range[0]]
    slots = (slot for block in blocks for slot in (*block.writes, *block.adds) if slot.array == "c")
    return np.unique([m for slot in slots for m in slot.elements]).astype(np.int64)


def held_tangents(system: System, held: HeldTables) -> Iterable[tuple[str, int, Function]]:
    """The tangents of the rows that are walked while witnesses are held: array, flat place in it, function.

    The tangents of the other rows of the run have been made by `faults_of_system`.
    """
    projection = system.assembly.projection
    for array, place, row in held.copies:
        if row >= len(system.blocks) and projection is not None:
            correction, _ = projection.all[row - len(system.blocks)]
            function = function_tangent(correction, with_histories=True)  # the states stand for histories
        else:
            function = system.run_tangents.functions[row]
        yield array, place, (function, TANGENT_SIGNATURE)
    for place, rate in held.rates:
        yield "held_ints", place, (function_tangent(rate, with_histories=True), TANGENT_SIGNATURE)
    sliding = function_tangent(sliding_field, with_histories=True)
    yield "held_table", 3 * (len(held.table) - 1), (sliding, TANGENT_SIGNATURE)


def faults_of_paths(system: System, by: Sequence[str]) -> list[Problem]:
    """The reasons against derivatives by these variables."""
    problems = []
    for path in by:
        signal = system.signal(path)
        slot = system.written_slot(path)
        if slot.array not in "ypd":
            problems.append(Problem(path, "is a whole number: nothing has a derivative by it"))
        elif slot.size > 1:
            problems.append(Problem(path, f"has {slot.size} elements: name one, {path}[0]"))
        elif signal.declaration.kind == "option":
            problems.append(Problem(path, "is an option: nothing has a derivative by it"))
    return problems


def correction_rows(system: System) -> range:
    """The rows of the table that correct a solution."""
    return range(system.corrections.normalize, system.corrections.estimates)


def rows_of_run(system: System) -> list[int]:
    """The rows of the table that a run walks, but for handlers."""
    return [
        *range(*system.block_range(Stage.TOPOLOGY, Stage.REPORT)),
        *range(*system.inner_range),
        *(row for updates in system.update_ranges.values() for row in updates),
        *correction_rows(system),
    ]


def faults_of_system(system: System) -> list[Problem]:
    """The reasons against derivatives of runs of a system; its tangents are made."""
    problems = []
    corrections, rows = correction_rows(system), rows_of_run(system)
    for row, reason in system.run_tangents.prepare(rows).items():
        owners = ["constraints"] if row in corrections else system.tangents.block_of(row).owners
        problems.append(Problem(", ".join(owners), reason))
    for key, row in system.handler_blocks.items():
        for reason in system.run_tangents.prepare([row]).values():
            problems.append(Problem(".".join(map(str, key)) if isinstance(key, tuple) else str(key), reason))
    return problems
