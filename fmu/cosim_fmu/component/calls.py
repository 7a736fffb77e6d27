"""The calls of a Model Exchange FMU, from compiled code.

A component has one array of integers, its *control block*: which instance it has now, and the addresses of
its functions and of the buffers between it and us. The State holds no address: a kernel function gets that of
the block.
"""

from __future__ import annotations

import math

from cosim.kit import call_with_array, call_with_interval, foreign
from cosim_fmu.master.evaluation.instance_calls import OK, WANTS_EVENT, complete
from cosim_fmu.master.evaluation.instance_calls import SIZE as INSTANCE_SIZE
from cosim_fmu.master.evaluation.instance_calls import STOPPED as HAS_STOPPED

integers_at, reals_at = foreign.integers_at, foreign.reals_at

(
    HANDLE,  # address of the instance; 0: none
    EPOCH,  # number of the last event mode: it names what the instance holds besides time, states and inputs
    LOOSE,  # 1: that is nothing, so that any epoch will do
    LAZY,  # 1: outputs follow the states only when the derivatives have been asked for
    STOPPED,  # 1: it has asked for the end of the run, and stays in event mode
    SET_TIME, SET_STATES, GET_RATES, GET_INDICATORS,
    STATES_AT, RATES_AT, INDICATORS_AT, INPUTS_AT, INPUT_CALLS, OUTPUTS_AT, OUTPUT_CALLS,
    STATES, INDICATORS,
    RESTORE, KEPT_AT, KEPT,  # the function that goes back to a saved state; epochs and states that are kept
    INSTANCE,  # address of the block of `instance_calls`
    SIZE,
) = range(23)  # fmt: skip
REAL = 8
CALL = 6
"""Words of the call that writes an input, or reads outputs (`Access.words`)."""
WARNING, DISCARD = 1, 2


def has_instance(live, epoch):
    """Whether this State has been initialized with an FMU; before, its outputs are 0.

    Raises
    ------
    ValueError
        It has, and that FMU is gone.
    """
    if epoch != 0 and integers_at(int(live), SIZE)[HANDLE] == 0:
        raise ValueError("this State is that of a run whose FMU is gone: initialize the simulation again")
    return epoch != 0


def move_to(live, t, z, scale, epoch):
    """Make time and states those of this point.

    Raises
    ------
    ValueError
        The State belongs to another run, or the FMU refuses.
    """
    block = integers_at(int(live), SIZE)
    if block[EPOCH] != epoch and block[LOOSE] == 0 and not go_back(live, epoch):
        raise ValueError(
            "this State is not that of the run that the FMU is in, or lies before an event that it does not "
            "go back over: an FMU serves one run, and goes back as far as its states are kept"
        )
    if block[STOPPED] != 0:
        return
    status = call_with_interval(block[SET_TIME], block[HANDLE], t, 0.0, 0, 0, 0, 0, 0)
    if status > WARNING:
        raise ValueError("the FMU refuses the time")
    count = block[STATES]
    if count > 0:
        states = reals_at(block[STATES_AT], count)
        for i in range(count):
            states[i] = z[i] * scale[i]
        status = call_with_array(block[SET_STATES], block[HANDLE], block[STATES_AT], count, 0, 0)
        if status > WARNING:
            raise ValueError("the FMU refuses its states")


def go_back(live, epoch):
    """Put the FMU back to what it was after that event mode; whether that is kept."""
    block = integers_at(int(live), SIZE)
    kept = integers_at(block[KEPT_AT], 2 * block[KEPT])
    for i in range(block[KEPT]):
        if kept[2 * i] == epoch:
            status = call_with_array(block[RESTORE], block[HANDLE], kept[2 * i + 1], 0, 0, 0)
            if status > WARNING:
                raise ValueError("the FMU refuses to go back to a state that it has saved")
            block[EPOCH] = epoch
            block[STOPPED] = 0
            return True
    return False


def write_input(live, index, value):
    """Write one input."""
    block = integers_at(int(live), SIZE)
    if block[STOPPED] != 0:
        return
    reals_at(block[INPUTS_AT] + REAL * index, 1)[0] = value
    if make_call(block[INPUT_CALLS], index) > WARNING:
        raise ValueError("the FMU refuses an input")


def make_call(calls, index):
    """Make one of the calls that lie there."""
    words = integers_at(calls + 8 * CALL * index, CALL)
    return call_with_array(words[0], words[1], words[2], words[3], words[4], words[5])


def completed_step(live):
    """Tell that an integrator step has ended at this point; whether event mode, or the end, is wanted."""
    block = integers_at(int(live), SIZE)
    if block[STOPPED] == 0:
        if complete(block[INSTANCE]) != OK:
            raise ValueError("the FMU refuses the end of a step")
        answer = integers_at(block[INSTANCE], INSTANCE_SIZE)
        block[STOPPED] = answer[HAS_STOPPED]
        if block[STOPPED] == 0:
            return answer[WANTS_EVENT] != 0
    return True


def read_outputs(live, group):
    """Read the outputs of a group into their buffer."""
    block = integers_at(int(live), SIZE)
    if block[LAZY] != 0 and block[STOPPED] == 0:
        call_with_array(block[GET_RATES], block[HANDLE], block[RATES_AT], block[STATES], 0, 0)
    if make_call(block[OUTPUT_CALLS], group) > WARNING:
        raise ValueError("the FMU does not return its outputs")


def output(live, index):
    """An output that has been read."""
    block = integers_at(int(live), SIZE)
    return reals_at(block[OUTPUTS_AT] + REAL * index, 1)[0]


def read_rates(live, scale, z_dot, indicators):
    """Derivatives of the states and event indicators; NaN where they are not defined."""
    block = integers_at(int(live), SIZE)
    if block[STOPPED] != 0:
        return
    count = block[STATES]
    if count > 0:
        rates = reals_at(block[RATES_AT], count)
        status = call_with_array(block[GET_RATES], block[HANDLE], block[RATES_AT], count, 0, 0)
        if status > DISCARD:
            raise ValueError("the FMU does not return its derivatives")
        for i in range(count):
            z_dot[i] = rates[i] / scale[i] if status != DISCARD else math.nan
    crossings = block[INDICATORS]
    if crossings > 0:
        found = reals_at(block[INDICATORS_AT], crossings)
        status = call_with_array(block[GET_INDICATORS], block[HANDLE], block[INDICATORS_AT], crossings, 0, 0)
        if status > DISCARD:
            raise ValueError("the FMU does not return its event indicators")
        for i in range(crossings):
            indicators[i] = found[i] if status != DISCARD else math.nan
