"""Several Model Exchange FMUs as one system, and the connections between them, for compiled code.

A system has an array of integers, its *head*, with the addresses of all other arrays and the outcome of the
last evaluation. Time, states and inputs are in buffers. The operations of an evaluation before the request
of derivatives are a list of integers: ``kind, first, second, third``.

============ ==================================================================================
`PUT`        instance, access of the inputs that are given from outside (-1: none)
`READ`       access: outputs into their slots
`PASS_ON`    first link, number of links: from slots of outputs into slots of inputs
`WRITE`      access: inputs from their slots
`SOLVE`      loop, number of operations that read its outputs, and of those that pass them on; these
             operations follow
============ ==================================================================================
"""

from __future__ import annotations

import math

from cosim.kit import call_with_array, foreign
from cosim_fmi.binding.rounding import restore_rounding
from cosim_fmi.binding.statuses import DISCARD, OK, is_bad
from cosim_fmi.model_exchange import instance_calls as instance
from cosim_fmi.model_exchange.instance_calls import (
    DEFINED,
    FAULT,
    INDICATORS_LOST,
    STOPPED,
    UNDEFINED,
    WANTS_EVENT,
    answer,
    complete,
    compute,
    lose_rates,
    put_point,
    store_fault,
)
from cosim_master.coupling.link import convert_value
from cosim_master.model_exchange import loop_calls as loops
from cosim_master.model_exchange.loop_calls import next_point, place, start_search, store_value

integers_at, reals_at = foreign.integers_at, foreign.reals_at

(
    TIME,  # a double: s
    STATES, INDICATORS, INPUTS, STATES_AT, RATES_AT, INDICATORS_AT, INPUTS_AT,
    EVALUATE, COMPLETE, EXCHANGE, SOLVER,  # addresses of functions below; of `solve` for loops
    INSTANCES, INSTANCES_AT,  # addresses of their blocks, and of WANTS_STEPS for each
    OPERATIONS, OPERATIONS_AT, ACCESSES_AT, LINKS_AT, FACTORS_AT, TABLES_AT, VALUES_AT, LOOPS_AT,
    PLACE,  # the instance that was called last
    FAILED,  # 1: an instance has failed or is closed, so that none is called any more
    WANTS,  # 1: at the end of a step an instance has requested event mode, or the end of the run
    LOST, LOST_AT, LOST_TIME, LOST_VALUE,  # of missing derivatives: reason, link or loop, time, value
    REMEMBERS,  # 1: the point belongs to the solution, and is not a trial
    IS_LOST,  # 1: there are no derivatives at the last point
    ALONG,  # address of a function that derives along a direction; 0: none
    DIRECTION_AT, CHANGES_AT,  # tangents of time, states and inputs; those of the derivatives
    SIZE,
) = range(35)  # fmt: skip
PUT, READ, PASS_ON, WRITE, SOLVE = range(5)
OPERATION = 4
PART, FUNCTION, OBJECT, REFERENCES, COUNT, VALUES, WORDS, ACCESS = range(8)
"""The words of an access: the instance, then the arguments of `call_with_array`."""
SOURCE, TARGET, FIRST_PAIR, PAIRS, LINK = range(5)
"""The words of a link: slots of output and input, and its part of the table of replacements."""
WITHOUT_INPUTS = 2
"""Returned if inputs cannot be determined at this point."""
NOT_LOST, LINK_LOST, LOOP_LOST = range(3)
REAL = 8


def evaluate(head_at, no, none, nothing, void):
    """Derivatives and event indicators at the point in the buffers; NaN where they are not defined."""
    head = integers_at(head_at, SIZE)
    t = reals_at(head_at + REAL * TIME, 1)[0]
    put = put_all(head_at)
    if put == FAULT:
        return FAULT
    lost = 0 if put == OK else 1
    for i in range(head[INSTANCES]):
        head[PLACE] = i
        at = block_of(head_at, i)
        if answer(at, t) != OK:
            return fail(head_at)
        block = integers_at(at, instance.SIZE)
        if put == WITHOUT_INPUTS:
            block[UNDEFINED] = DEFINED  # the instance is not the reason
        elif block[UNDEFINED] == INDICATORS_LOST:
            lost = 1
    head[IS_LOST] = lost
    if lost != 0:
        for i in range(head[INSTANCES]):
            lose_rates(block_of(head_at, i))
    return OK


def settle(head_at, no, none, nothing, void):
    """Move all instances to the point in the buffers, and compute all their values."""
    code = put_all(head_at)
    return code if code != OK else compute_all(head_at, 0, 0, 0, 0)


def compute_all(head_at, no, none, nothing, void):
    """Compute all values that depend on the present point."""
    head = integers_at(head_at, SIZE)
    for i in range(head[INSTANCES]):
        head[PLACE] = i
        if compute(block_of(head_at, i)) != OK:
            return fail(head_at)
    return OK


def complete_all(head_at, no, none, nothing, void):
    """Report the end of an integrator step, at the point in the buffers, to instances that need it."""
    code = put_all(head_at)
    if code != OK:
        return code
    head = integers_at(head_at, SIZE)
    head[WANTS] = 0
    for i in range(head[INSTANCES]):
        if integers_at(head[INSTANCES_AT], 2 * head[INSTANCES])[2 * i + 1] == 0:
            continue
        head[PLACE] = i
        at = block_of(head_at, i)
        if complete(at) != OK:
            return fail(head_at)
        block = integers_at(at, instance.SIZE)
        if block[WANTS_EVENT] != 0 or block[STOPPED] != 0:
            head[WANTS] = 1
    return OK


def exchange(head_at, no, none, nothing, void):
    """Write all inputs that instances feed at the present point."""
    head = integers_at(head_at, SIZE)
    operations = integers_at(head[OPERATIONS_AT], OPERATION * head[OPERATIONS])
    i = head[INSTANCES]
    while i < head[OPERATIONS]:
        code = OK
        if operations[OPERATION * i] == SOLVE:
            code = call_with_array(head[SOLVER], head_at, i, 0, 0, 0)
            i += operations[OPERATION * i + 2] + operations[OPERATION * i + 3]
        else:
            code = perform_operation(head_at, i)
        if code != OK:
            return code
        i += 1
    return OK


def put_all(head_at):
    """Move all instances to the point in the buffers; if one has requested the end, exchange no values."""
    head = integers_at(head_at, SIZE)
    if head[FAILED] != 0:
        return FAULT
    code = perform_operations(head_at, 0, head[INSTANCES])  # the first operations are one PUT for each
    if code != OK or head[OPERATIONS] == head[INSTANCES]:
        return code  # a failure, or there are no connections
    for i in range(head[INSTANCES]):
        if integers_at(block_of(head_at, i), instance.SIZE)[STOPPED] != 0:
            return code
    return call_with_array(head[EXCHANGE], head_at, 0, 0, 0, 0)


def block_of(head_at, i):
    """Address of the block of an instance."""
    head = integers_at(head_at, SIZE)
    return integers_at(head[INSTANCES_AT], 2 * head[INSTANCES])[2 * i]


def fail(head_at):
    """Return FAULT for a failed instance; after anything worse than a *discard* none is called any more."""
    head = integers_at(head_at, SIZE)
    if integers_at(block_of(head_at, head[PLACE]), instance.SIZE)[instance.STATUS] != DISCARD:
        head[FAILED] = 1
    return FAULT


def lose(head_at, why, which, value):
    """Store the reason why there are no derivatives."""
    head = integers_at(head_at, SIZE)
    head[LOST] = why
    head[LOST_AT] = which
    reals_at(head_at + REAL * LOST_TIME, 1)[0] = reals_at(head_at + REAL * TIME, 1)[0]
    reals_at(head_at + REAL * LOST_VALUE, 1)[0] = value
    return WITHOUT_INPUTS


def perform_operation(head_at, i):
    """Do one operation that is not a loop."""
    head = integers_at(head_at, SIZE)
    operations = integers_at(head[OPERATIONS_AT], OPERATION * head[OPERATIONS])
    kind = operations[OPERATION * i]
    first = operations[OPERATION * i + 1]
    second = operations[OPERATION * i + 2]
    if kind == PUT:
        head[PLACE] = first
        at = block_of(head_at, first)
        if put_point(at, reals_at(head_at + REAL * TIME, 1)[0]) != OK:
            return fail(head_at)
        if second < 0 or integers_at(at, instance.SIZE)[STOPPED] != 0:
            return OK
        return access(head_at, second)
    if kind == PASS_ON:
        return pass_on(head_at, first, second)
    if kind == READ:
        part = integers_at(head[ACCESSES_AT] + REAL * ACCESS * first, ACCESS)[PART]
        head[PLACE] = part
        at = block_of(head_at, part)
        if integers_at(at, instance.SIZE)[instance.OUTPUTS_LAG] != 0 and compute(at) != OK:
            return fail(head_at)
    return access(head_at, first)


def access(head_at, number):
    """Read or write variables of an instance."""
    head = integers_at(head_at, SIZE)
    words = integers_at(head[ACCESSES_AT] + REAL * ACCESS * number, ACCESS)
    head[PLACE] = words[PART]
    status = call_with_array(
        words[FUNCTION], words[OBJECT], words[REFERENCES], words[COUNT], words[VALUES], words[WORDS]
    )
    at = block_of(head_at, words[PART])
    restore_rounding(integers_at(at, instance.SIZE)[instance.ROUNDING_AT])
    if is_bad(status):
        store_fault(at, -1 - number, status)
        return fail(head_at)
    return OK


def pass_on(head_at, first, count):
    """Pass outputs on to inputs, converted; values that are not finite are refused."""
    head = integers_at(head_at, SIZE)
    for i in range(first, first + count):
        words = integers_at(head[LINKS_AT] + REAL * LINK * i, LINK)
        factors = reals_at(head[FACTORS_AT] + REAL * 2 * i, 2)
        value = convert_value(
            reals_at(head[VALUES_AT] + REAL * words[SOURCE], 1)[0],
            reals_at(head[TABLES_AT] + REAL * 2 * words[FIRST_PAIR], 2 * words[PAIRS]),
            factors[0],
            factors[1],
        )
        if not math.isfinite(value):
            return lose(head_at, LINK_LOST, i, value)
        reals_at(head[VALUES_AT] + REAL * words[TARGET], 1)[0] = value
    return OK


def perform_operations(head_at, first, count):
    """Do several operations that are not loops."""
    for i in range(first, first + count):
        code = perform_operation(head_at, i)
        if code != OK:
            return code
    return OK


def solve(head_at, i, none, nothing, void):
    """Solve a loop for its outputs; the instances then have the solution as inputs."""
    head = integers_at(head_at, SIZE)
    words = integers_at(head[OPERATIONS_AT] + REAL * OPERATION * i, OPERATION)
    row = head[LOOPS_AT] + REAL * loops.LOOP * words[1]
    loop = integers_at(row, loops.LOOP)
    code = perform_operations(head_at, i + 1, words[2]) if loop[loops.KNOWN] == 0 else OK
    if code != OK:
        return code
    slots = reals_at(head[VALUES_AT] + REAL * loop[loops.FIRST], loop[loops.COUNT])
    start_search(row, slots)
    request = next_point(row, head[REMEMBERS])
    while request == loops.TRY:
        tried = reals_at(place(row, loops.TRIED), loop[loops.COUNT])
        for j in range(loop[loops.COUNT]):
            slots[j] = tried[j]
        code = perform_operations(head_at, i + 1 + words[2], words[3])
        if code == OK:
            code = perform_operations(head_at, i + 1, words[2])
        if code == FAULT:
            return FAULT
        store_value(row, slots, code == OK)
        request = next_point(row, head[REMEMBERS])
    if request == loops.SOLVED:
        return OK
    return lose(head_at, LOOP_LOST, words[1], 0.0)


ENTRIES = (evaluate, settle, compute_all, complete_all, exchange)
"""The functions that are called by address, besides `solve`, which only loops need."""
