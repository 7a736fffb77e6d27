"""The arrays that compiled steps take: their records and vectors.

All compiled steps have the signature `cosim.walker.STEP_SIGNATURE`:

    step(table, ints, first, last, t, y, p, d, k, h, c,
         coefficients, settings, memory, work, slots, t_stop, limit)

and return a code (`DONE` …, the numbers of `cosim.kit.StepCode`). On entry ``c[0:n]`` is the derivative at
`t`; after DONE, `y` and `c` are those of the end ``work.end``; after any other code `y`, `c` and `memory`
are as on entry. Steps that are taken again have `REDO_SIGNATURE`, dense outputs
`cosim.walker.DENSE_SIGNATURE`:

    redo(table, ints, first, last, t_event, y, p, d, k, h, c, coefficients, settings, memory, work, slots)
    dense(t, coefficients, work, y, out)

The beginning of a run, going on after a jump, and completing what dense output needs have it, too; the last
one gets a copy of `y` and `c` that it may overwrite. `cosim.contracts.method_entries` makes such functions of
those that take two groups of arguments, `OdeSystem` and `MethodArrays`, which show what lies where.

================ ==========================================================================
``coefficients`` constant numbers of the method
``settings``     `Settings`, then the relative and the absolute tolerances, `n` numbers each, a
                 `ToleranceRule`, then for each state the size that its absolute tolerance is held to (0: it
                 follows the largest value so far)
``memory``       part of the State: `StepMemory`, then what the method needs
``work``         `StepWork`, `OWN_NUMBERS` numbers of the method's own, then the state at the start and at the
                 end of the step, a spare vector and the derivative at the start, `n` numbers each, then what
                 the method needs
``slots``        `MethodSlots`, then the offsets in the cache that it counts; then what the method needs
================ ==========================================================================
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.walker import REDO_SIGNATURE as REDO_SIGNATURE
from cosim.walker import Walked, WalkedDots, walk
from cosim_compiler.record import Record, rows_of, width_of

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

TUNE_SIGNATURE = "FF>v"  # settings, coefficients: writes those coefficients that depend on the accuracy

# How a step ended; the numbers of `cosim.kit.StepCode`.
DONE = 0
NOT_FINITE = 1
MINIMUM_STEP = 2
BLOCK_FAILED = 3
NOT_INITIALIZED = 4
NO_CONVERGENCE = 5
CONSTRAINTS_NOT_MET = 6

# What decided where a step ends; the numbers of `cosim.StepReason`.
BY_METHOD = 0
BY_TARGET = 1
BY_LIMIT = 2
BY_KINK = 3
BY_MAXIMUM = 4


class Settings(Record):
    """The options of a method, from the user and from the system."""

    accuracy: float
    smallest_step: float  # s
    largest_step: float
    fixed_step: float  # 0: none
    error_order: float  # the exponent of the step in the error estimate
    first_step: float  # 0: it is chosen
    is_cubic: float  # whether dense output that is not completed is a cubic
    step_accuracy: float  # of one step
    floors_at: float  # where in ``memory`` the absolute tolerances of the step begin; 0: they do not change


class StepMemory(Record):
    """The memory of a method from step to step; part of the State."""

    next_step: float  # s; 0: not initialized
    last_error: float  # of the last step, relative to the tolerance; 0: none


class StepWork(Record):
    """Results of the last step and of the attempts at one; counts since a system was prepared."""

    start: float  # time of the last step, s; NaN: there is none
    end: float
    failed_block: float
    failed_time: float
    steps: float
    rejections: float
    evaluations: float
    accepted_end: float  # of the last step, before it was taken again
    reason: float  # what decided where it ended: `BY_METHOD` …
    dense_ready: float  # whether everything that dense output needs is there
    stiff_hits: float
    stiff_misses: float
    stiff_time: float
    jacobians: float
    factorizations: float
    newton_failures: float
    worst_state: float  # of implicit methods: that with the largest error or correction; -1: none
    returned_state: float  # 1 + the one that has grown back from below its tolerance; 0: none
    usual_error: float  # of an attempt that was too large, in tolerances of states of size 1
    has_size_1: float  # whether states were held to a size of 1 because no step was short enough
    kink_cuts: float  # how often the step may still be taken again for the sake of kinks
    kink_size: float  # of the kink inside the step, see `cosim_integrators.kit.kinks`; 0: not known
    kink_time: float  # where the step has to end for its sake, s; NaN: nowhere

    def accept(work, start, end, reason):
        """Record an accepted step, and the reason why it ends where it does."""
        work.start = start
        work.end = work.accepted_end = end
        work.reason = float(reason)
        work.steps += 1.0
        work.dense_ready = 0.0


class ToleranceRule(Record):
    """How the accuracy of one step and the absolute tolerances follow from the accuracy of the run."""

    factor: float  # see `cosim.contracts.tolerances.accuracy_of_step`
    power: float
    least_absolute: float  # the least absolute tolerance of any state


class Corrections(Record):
    """Rows of the table that correct a solution (`cosim.contracts.constraints`): a group ends at the next."""

    normalize: int
    prepare: int  # a movement
    move: int
    speeds: int
    estimates: int  # those that an error estimate goes through: first,
    displaced: int  # with the coordinates displaced by it,
    rates: int  # last
    end: int
    errors: int  # where in the cache `ConstraintErrors` lie
    motion_first: int  # the blocks that compute the motion, up to stage VELOCITY
    motion_last: int


class ConstraintErrors(Record):
    """The distances of a solution from its constraints; in the cache."""

    changed: float  # whether something was changed
    position: float  # the largest one
    speed: float
    allowed: float  # which part of the tolerance: 1; 0 where they are corrected to rounding


class MethodSlots(Record):
    """Offsets in the cache that a method reads, and the rows of the table that it walks."""

    corrections: Corrections
    # the rows that a derivative needs inside a step: the cache is complete at its ends alone
    inner_first: int
    inner_last: int
    errors: int  # how many slots report an error,
    smooth: int  # how many until when they are smooth,
    kinks: int  # how many change their sign at a kink
    holds: int  # whether witnesses are held: the rates of a held one are differences


OWN_NUMBERS = 8
OWN = width_of(StepWork)
SETTINGS_HEADER, MEMORY_HEADER, SLOTS_HEADER = width_of(Settings), width_of(StepMemory), width_of(MethodSlots)
WORK_HEADER = OWN + OWN_NUMBERS
RULE_WIDTH = width_of(ToleranceRule)


def store_state(vector, y, c):
    """Store a state in a vector; whether it and its derivative, with which `c` begins, are finite numbers."""
    total = 0.0
    for m in range(vector.shape[0]):
        vector[m] = y[m]
        # 0 unless one of the two is infinite or NaN.
        total += 0.0 * y[m] + 0.0 * c[m]
    return total == 0.0


class OdeSystem(NamedTuple):
    """A system of differential equations, y' = f(t, y), as a method evaluates it.

    `c` begins with y' once it is evaluated; what else f depends on stays as it is.
    """

    table: Integers  # address, start in `ints`, rows of each block
    ints: Integers
    first: int  # row that is evaluated
    last: int
    y: Reals
    p: Reals
    d: Reals
    k: Integers
    h: Reals
    c: Reals

    @property
    def size(system):
        """The number of states."""
        return system.y.shape[0]

    def evaluate(system, t):
        """Compute y' and the cache at a time; 0, or 1 + the index of the block that raised."""
        return system.evaluate_rows(system.first, system.last, t)

    def evaluate_rows(system, first, last, t):
        """Evaluate other rows of the table at a time; 0, or 1 + the index of the block that raised."""
        return walk(
            system.table, system.ints, first, last, t,
            system.y, system.p, system.d, system.k, system.h, system.c,
        )  # fmt: skip

    def walked_at(system, t):
        """The arguments with which `walk` evaluates the system at a time."""
        return Walked(
            system.table, system.ints, system.first, system.last, t,
            system.y, system.p, system.d, system.k, system.h, system.c,
        )  # fmt: skip

    def with_rows(system, first, last):
        """A copy that evaluates other rows of the table."""
        return OdeSystem(
            system.table, system.ints, first, last,
            system.y, system.p, system.d, system.k, system.h, system.c,
        )  # fmt: skip

    def errors(system, corrections):
        """The distances of the solution from its constraints at the last evaluation."""
        return rows_of(ConstraintErrors, system.c, corrections.errors, 1)[0]


def walked_dots(system_dot, t_dot):
    """The tangents of `OdeSystem.walked_at`; `system_dot` has those of a system, in its order."""
    dots = OdeSystem(*system_dot)
    return WalkedDots(t_dot, dots.y, dots.p, dots.d, dots.h, dots.c)


class MethodArrays(NamedTuple):
    """The arrays of a method, and what lies in them for all methods; families of methods show theirs, too."""

    n: int  # states
    coefficients: Reals
    settings_numbers: Reals
    memory_numbers: Reals
    work_numbers: Reals
    slot_numbers: Integers

    @property
    def settings(method):
        """The options of the method: `Settings`."""
        return rows_of(Settings, method.settings_numbers, 0, 1)[0]

    @property
    def is_controlled(method):
        """Whether the error estimate chooses the length of steps."""
        return method.settings.fixed_step == 0.0

    @property
    def relative_tolerances(method):
        """The relative tolerance of each state."""
        return method.settings_numbers[SETTINGS_HEADER : SETTINGS_HEADER + method.n]

    @property
    def absolute_tolerances(method):
        """The absolute tolerance of each state: of a state of size 1, or as the user set it."""
        return method.settings_numbers[SETTINGS_HEADER + method.n : SETTINGS_HEADER + 2 * method.n]

    @property
    def step_tolerances(method):
        """The absolute tolerance of each state in the last step; before the first one, of a size of 1."""
        at = int(method.settings.floors_at)
        if at > 0 and method.memory.next_step > 0.0:
            return method.memory_numbers[at : at + method.n]
        return method.absolute_tolerances

    @property
    def tolerance_rule(method):
        """How the tolerances follow from the accuracy."""
        return rows_of(ToleranceRule, method.settings_numbers, SETTINGS_HEADER + 2 * method.n, 1)[0]

    @property
    def state_sizes(method):
        """The size that each absolute tolerance is relative to; 0: the largest value so far."""
        first = SETTINGS_HEADER + 2 * method.n + RULE_WIDTH
        return method.settings_numbers[first : first + method.n]

    @property
    def least_absolute_tolerance(method):
        """The smallest absolute tolerance that a state may have."""
        return method.tolerance_rule.least_absolute

    def follows_size(method, m):
        """Whether the absolute tolerance of a state follows its size."""
        return method.state_sizes[m] == 0.0

    @property
    def memory(method):
        """The memory from step to step."""
        return rows_of(StepMemory, method.memory_numbers, 0, 1)[0]

    @property
    def work(method):
        """Results of the last step and of attempts."""
        return rows_of(StepWork, method.work_numbers, 0, 1)[0]

    def work_vector(method, index):
        """The vector of that index in ``work``."""
        return rows_of(float, method.work_numbers, WORK_HEADER + index * method.n, method.n)

    @property
    def start(method):
        """The state at the start of the step."""
        return method.work_vector(0)

    @property
    def end(method):
        """The state at the end of the step."""
        return method.work_vector(1)

    def near_end(method, late):
        """The state at the start of the step, or where a time is `late` at its end."""
        return method.work_vector(1 if late else 0)

    @property
    def spare(method):
        """A vector for temporary values; after a failed step, the state that failed."""
        return method.work_vector(2)

    @property
    def slope(method):
        """The derivative at the start of the step."""
        return method.work_vector(3)

    @property
    def slots(method):
        """Offsets in the cache, and rows of the table."""
        return rows_of(MethodSlots, method.slot_numbers, 0, 1)[0]

    @property
    def corrections(method):
        """The rows that correct a solution."""
        return method.slots.corrections

    @property
    def error_slots(method):
        """Offsets in the cache at which components report errors, relative to what they compute."""
        return method.slot_numbers[SLOTS_HEADER : SLOTS_HEADER + method.slots.errors]

    @property
    def smooth_slots(method):
        """Offsets in the cache of the times until which components are smooth, s."""
        first = SLOTS_HEADER + method.slots.errors
        return method.slot_numbers[first : first + method.slots.smooth]

    @property
    def kink_slots(method):
        """Offsets in the cache of numbers that change their sign at a kink."""
        first = SLOTS_HEADER + method.slots.errors + method.slots.smooth
        return method.slot_numbers[first : first + method.slots.kinks]

    @property
    def own_slots(method):
        """The integers that the method has added to ``slots``."""
        counted = method.slots.errors + method.slots.smooth + method.slots.kinks
        return method.slot_numbers[SLOTS_HEADER + counted :]

    def inner(method, system):
        """The system restricted to the rows that derivatives need inside a step."""
        return system.with_rows(method.slots.inner_first, method.slots.inner_last)
