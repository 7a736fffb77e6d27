"""The calls of a Model Exchange FMU that is a component, for compiled code.

A component has one array of integers, its *control block*, with its present instance and the buffers of
variables. The State holds no address of an instance: kernel functions receive the address of the block.
`instance_calls` explains the calls in continuous-time mode and their codes.
"""

from __future__ import annotations

import math

from cosim.kit import call_with_array, foreign
from cosim_fmi.binding.statuses import OK, is_bad
from cosim_fmi.model_exchange.instance_calls import (
    DEFINED,
    FAILED,
    OUTPUTS_LAG,
    RATES_AT,
    STATES,
    STATES_AT,
    STOPPED,
    TOLD_GET,
    TOLD_RESTORE,
    TOLD_SET,
    UNDEFINED,
    WANTS_EVENT,
    answer,
    complete,
    compute,
    end_call,
    put_point,
    report_call,
    store_fault,
)
from cosim_fmi.model_exchange.instance_calls import HANDLE as INSTANCE_HANDLE
from cosim_fmi.model_exchange.instance_calls import INDICATORS as INSTANCE_INDICATORS
from cosim_fmi.model_exchange.instance_calls import INDICATORS_AT as INSTANCE_INDICATORS_AT
from cosim_fmi.model_exchange.instance_calls import SIZE as INSTANCE_SIZE

integers_at, reals_at = foreign.integers_at, foreign.reals_at

(
    INSTANCE,  # address of the block of `instance_calls`; 0: there is no instance
    EPOCH,  # number of the last event mode, which identifies the discrete part of the instance's state
    ANY_EPOCH_WILL_DO,  # 1: the instance has no such part, so a State of any epoch fits
    INPUTS, INPUTS_AT,  # number of continuous inputs; address of their values
    INPUT_CALLS,  # address of the calls that write them, CALL words for each
    OUTPUTS_AT, OUTPUT_CALLS,  # the same for outputs, with a call for each group
    RESTORE, KEPT_AT, KEPT,  # the function that restores a state; the stored epochs and states; their number
    SIZE,
) = range(12)  # fmt: skip
REAL = 8
CALL = 6
"""Words of the call that writes an input, or reads outputs (`Access.words`)."""


def has_instance(live, epoch):
    """Whether this State has been initialized with an FMU; before that its outputs are 0.

    Raises
    ------
    ValueError
        That FMU was closed.
    """
    if epoch != 0 and integers_at(int(live), SIZE)[INSTANCE] == 0:
        raise ValueError("this State belongs to a run whose FMU was closed: initialize the simulation again")
    return epoch != 0


def move_to(live, t, z, scale, epoch):
    """Set time and states of the instance.

    Raises
    ------
    ValueError
        The State belongs to another run, or the FMU refuses.
    """
    block = integers_at(int(live), SIZE)
    instance = integers_at(block[INSTANCE], INSTANCE_SIZE)
    if instance[FAILED] != 0:
        raise ValueError("a call of the FMU has failed")
    if block[EPOCH] != epoch and block[ANY_EPOCH_WILL_DO] == 0 and not restore_epoch(live, epoch):
        raise ValueError(
            "this State does not belong to the present run of the FMU, or is before an event to which the "
            "FMU cannot return: an FMU serves one run at a time, and returns only to states that it has saved"
        )
    count = instance[STATES]
    states = reals_at(instance[STATES_AT], count)
    for i in range(count):
        states[i] = z[i] * scale[i]
    if put_point(block[INSTANCE], t) != OK:
        raise ValueError("a call of the FMU has failed")


def restore_epoch(live, epoch):
    """Restore the state of the FMU after an event mode. Returns whether that state is still stored."""
    block = integers_at(int(live), SIZE)
    instance = integers_at(block[INSTANCE], INSTANCE_SIZE)
    stored_epochs = integers_at(block[KEPT_AT], 2 * block[KEPT])
    for i in range(block[KEPT]):
        if stored_epochs[2 * i] == epoch:
            handle = instance[INSTANCE_HANDLE]
            report_call(instance, instance[TOLD_RESTORE])
            status = call_with_array(block[RESTORE], handle, stored_epochs[2 * i + 1], 0, 0, 0)
            end_call(instance)
            if is_bad(status):
                raise ValueError("the FMU refuses to go back to a state that it has saved")
            block[EPOCH] = epoch
            instance[STOPPED] = 0
            return True
    return False


def write_input(live, index, value):
    """Write one input."""
    block = integers_at(int(live), SIZE)
    if integers_at(block[INSTANCE], INSTANCE_SIZE)[STOPPED] != 0:
        return
    reals_at(block[INPUTS_AT] + REAL * index, 1)[0] = value
    make_call(live, block[INPUT_CALLS], index, index)


def make_call(live, calls, index, number):
    """Make the call `index` of a list of calls; `number` is that of its access, for errors."""
    words = integers_at(calls + 8 * CALL * index, CALL)
    block = integers_at(int(live), SIZE)
    instance = integers_at(block[INSTANCE], INSTANCE_SIZE)
    report_call(instance, instance[TOLD_SET] if number < block[INPUTS] else instance[TOLD_GET])
    status = call_with_array(words[0], words[1], words[2], words[3], words[4], words[5])
    end_call(instance)
    if is_bad(status):
        store_fault(integers_at(int(live), SIZE)[INSTANCE], -1 - number, status)
        raise ValueError("a call of the FMU has failed")


def completed_step(live):
    """Report the end of an integrator step. Returns whether the FMU asks for event mode or for the end."""
    at = integers_at(int(live), SIZE)[INSTANCE]
    if complete(at) != OK:
        raise ValueError("a call of the FMU has failed")
    instance = integers_at(at, INSTANCE_SIZE)
    return instance[STOPPED] != 0 or instance[WANTS_EVENT] != 0


def read_outputs(live, group):
    """Read the outputs of a group into their buffer."""
    block = integers_at(int(live), SIZE)
    if integers_at(block[INSTANCE], INSTANCE_SIZE)[OUTPUTS_LAG] != 0 and compute(block[INSTANCE]) != OK:
        raise ValueError("a call of the FMU has failed")
    make_call(live, block[OUTPUT_CALLS], group, block[INPUTS] + group)


def output(live, index):
    """The value of an output that has been read."""
    block = integers_at(int(live), SIZE)
    return reals_at(block[OUTPUTS_AT] + REAL * index, 1)[0]


def read_rates(live, t, scale, z_dot, indicators):
    """Derivatives of the states and event indicators; NaN where they are not defined."""
    at = integers_at(int(live), SIZE)[INSTANCE]
    if answer(at, t) != OK:
        raise ValueError("a call of the FMU has failed")
    instance = integers_at(at, INSTANCE_SIZE)
    rates = reals_at(instance[RATES_AT], instance[STATES])
    for i in range(instance[STATES]):
        z_dot[i] = rates[i] / scale[i]
    if instance[STATES] == 0:  # a placeholder state then shows whether indicators are defined
        z_dot[0] = math.nan if instance[UNDEFINED] != DEFINED else 0.0
    values = reals_at(instance[INSTANCE_INDICATORS_AT], instance[INSTANCE_INDICATORS])
    for i in range(instance[INSTANCE_INDICATORS]):
        indicators[i] = values[i]
