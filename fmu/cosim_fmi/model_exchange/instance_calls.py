"""The calls of one Model Exchange FMU in continuous-time mode, from compiled code.

An instance has an array of integers, its *block*: addresses of its functions and of the buffers for their
values, and the outcome of the calls. Functions here take the address of the block as `at`. They answer `OK`,
or `FAULT` where a call has failed; which one, and with which status, stands in the block then.
"""

from __future__ import annotations

import math

from cosim.kit import call_with_array, call_with_interval, foreign
from cosim_fmi.binding.rounding import restore_rounding
from cosim_fmi.binding.statuses import DISCARD, OK, is_bad

integers_at, reals_at = foreign.integers_at, foreign.reals_at

(
    HANDLE,  # address of the instance; 0: none
    STOPPED,  # 1: it has asked for the end of the run, and stays in event mode
    OUTPUTS_LAG,  # 1: outputs follow the states only when the derivatives have been asked for
    FAULT_IN, STATUS,  # the word of the function that has failed (below; 0: none), and what it has returned
    FAILED,  # 1: one has failed with more than a *discard*, after which none is called any more
    UNDEFINED, UNDEFINED_AT,  # what is not defined at the last point (below), and the time there: a double
    WANTS_EVENT,  # 1: it has asked for event mode at the end of a step
    SET_TIME, SET_STATES, GET_RATES, GET_INDICATORS, COMPLETE,
    COMPLETE_1, COMPLETE_2, COMPLETE_3, ANSWERS_AT,  # arguments of the last one, and where it answers
    STATES, INDICATORS,
    STATES_AT, RATES_AT, INDICATORS_AT,
    NUMBERS_AT,  # since when (s) each event indicator has been a number; infinite: it never was
    CALLING_AT,  # address of a word that says which function is being called; 0: none is told
    TOLD_SET_TIME, TOLD_SET_STATES, TOLD_GET_RATES, TOLD_GET_INDICATORS, TOLD_COMPLETE,  # what stands there
    TOLD_SET, TOLD_GET, TOLD_RESTORE,
    ROUNDING_AT,  # that of `rounding`
    SIZE,
) = range(35)  # fmt: skip
FAULT = 1
DEFINED, RATES_DISCARDED, RATES_UNDEFINED, INDICATORS_LOST = range(4)
"""`UNDEFINED`: nothing; the derivatives, as the instance says; derivatives that are not finite; event
indicators that are NaN and were numbers before."""
REAL = 8


def store_fault(at, function, status):
    """Store which function has failed."""
    block = integers_at(at, SIZE)
    block[FAULT_IN] = function
    block[STATUS] = status
    block[UNDEFINED] = DEFINED
    if status != DISCARD:
        block[FAILED] = 1
    return FAULT


def report_call(block, number):
    """Let the process that outlives this one see which function is being called; 0: none."""
    if block[CALLING_AT] != 0:
        integers_at(block[CALLING_AT], 1)[0] = number


def end_call(block):
    """Mark the end of a call of the instance."""
    restore_rounding(block[ROUNDING_AT])
    report_call(block, 0)


def put_point(at, t):
    """Set the time and the states, from their buffer, in the instance: each evaluation begins so."""
    block = integers_at(at, SIZE)
    if block[FAILED] != 0:
        return FAULT
    block[FAULT_IN] = 0
    block[UNDEFINED] = DEFINED
    if block[STOPPED] != 0:
        return OK
    report_call(block, block[TOLD_SET_TIME])
    status = call_with_interval(block[SET_TIME], block[HANDLE], t, 0.0, 0, 0, 0, 0, 0)
    end_call(block)
    if is_bad(status):
        return store_fault(at, SET_TIME, status)
    if block[STATES] > 0:
        report_call(block, block[TOLD_SET_STATES])
        status = call_with_array(block[SET_STATES], block[HANDLE], block[STATES_AT], block[STATES], 0, 0)
        end_call(block)
        if is_bad(status):
            return store_fault(at, SET_STATES, status)
    return OK


def compute(at):
    """Compute all values that depend on the present point: derivatives are NaN where they are not defined."""
    block = integers_at(at, SIZE)
    if block[STOPPED] != 0 or block[STATES] == 0:
        return OK
    return read_reals(at, GET_RATES, block[RATES_AT], block[STATES])


def read_reals(at, function, into, count):
    """Read derivatives or event indicators; a *discard* means that they are not defined."""
    block = integers_at(at, SIZE)
    report_call(block, block[function + TOLD_SET_TIME - SET_TIME])
    status = call_with_array(block[function], block[HANDLE], into, count, 0, 0)
    end_call(block)
    block[STATUS] = status
    if status == DISCARD:
        values = reals_at(into, count)
        for i in range(count):
            values[i] = math.nan
    elif is_bad(status):
        return store_fault(at, function, status)
    return OK


def answer(at, t):
    """Read and check derivatives and event indicators at the present point, whose time is `t` (s).

    All hosts of an instance evaluate it by this function. `UNDEFINED` says what is wrong with the values.
    Where an event indicator is NaN that was a number before, an event could be missed: then the derivatives
    become NaN, too, so that steps end before that point. Where the states themselves are not finite nothing
    is reported, since the integrator gives up such a step.
    """
    block = integers_at(at, SIZE)
    block[UNDEFINED] = DEFINED
    if block[STOPPED] != 0:
        return OK
    if compute(at) != OK:
        return FAULT
    if block[STATES] > 0:
        is_discarded = block[STATUS] == DISCARD
        if not are_finite(block[STATES_AT], block[STATES]):
            return read_indicators(at)
        if not are_finite(block[RATES_AT], block[STATES]):
            store_undefined(at, RATES_DISCARDED if is_discarded else RATES_UNDEFINED, t)
            return read_indicators(at)
    if read_indicators(at) != OK:
        return FAULT
    if lose_indicators(at, t) > 0:
        store_undefined(at, INDICATORS_LOST, t)
        lose_rates(at)
    return OK


def read_indicators(at):
    """Event indicators at the present point."""
    block = integers_at(at, SIZE)
    if block[INDICATORS] == 0:
        return OK
    return read_reals(at, GET_INDICATORS, block[INDICATORS_AT], block[INDICATORS])


def lose_indicators(at, t):
    """The number of event indicators that have become NaN since a restored state; the time is stored."""
    block = integers_at(at, SIZE)
    count = block[INDICATORS]
    if count == 0:
        return 0
    indicators = reals_at(block[INDICATORS_AT], count)
    numbers = reals_at(block[NUMBERS_AT], count)
    lost = 0
    for i in range(count):
        is_number = indicators[i] == indicators[i]
        if is_number and t < numbers[i]:
            numbers[i] = t
        elif not is_number and numbers[i] < t:  # later than now where a step was tried and given up
            lost += 1
    return lost


def store_undefined(at, what, t):
    """Store what is not defined at the present point."""
    integers_at(at, SIZE)[UNDEFINED] = what
    reals_at(at + REAL * UNDEFINED_AT, 1)[0] = t


def forget(at):
    """Forget the evaluated points, which may be later than a restored state."""
    block = integers_at(at, SIZE)
    block[UNDEFINED] = DEFINED
    if block[INDICATORS] > 0:
        numbers = reals_at(block[NUMBERS_AT], block[INDICATORS])
        for i in range(block[INDICATORS]):
            numbers[i] = math.inf


def are_finite(at, count):
    """Whether all these numbers are."""
    numbers, finite = reals_at(at, count), True
    for i in range(count):
        finite = finite and math.isfinite(numbers[i])
    return finite


def lose_rates(at):
    """Replace the derivatives by NaN."""
    block = integers_at(at, SIZE)
    if block[STATES] > 0:
        rates = reals_at(block[RATES_AT], block[STATES])
        for i in range(block[STATES]):
            rates[i] = math.nan


def complete(at):
    """Report the end of an integrator step at the present point: WANTS_EVENT, STOPPED."""
    block = integers_at(at, SIZE)
    block[WANTS_EVENT] = 0
    if block[STOPPED] != 0:
        return OK
    answers = integers_at(block[ANSWERS_AT], 2)
    answers[0] = 0
    answers[1] = 0
    report_call(block, block[TOLD_COMPLETE])
    status = call_with_array(
        block[COMPLETE], block[HANDLE], block[COMPLETE_1], block[COMPLETE_2], block[COMPLETE_3], 0
    )
    end_call(block)
    if is_bad(status):
        return store_fault(at, COMPLETE, status)
    if answers[1] != 0:
        block[STOPPED] = 1
    elif answers[0] != 0:
        block[WANTS_EVENT] = 1
    return OK
