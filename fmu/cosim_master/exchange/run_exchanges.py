"""The interpreter of exchanges: communication steps as kernel functions, over arrays (`exchange_arrays`).

All values are numbers: texts are represented by numbers of a table. An exchange is a list of operations. An
algorithm decides on its own arrays how often it is made (`next_request`). Functions of participants are
called by address: C functions, kernel functions, or Python in between. When the interpreter leaves an
operation to Python, it returns a stop code, and continues at the same place with the next call.
"""

from __future__ import annotations

from cosim_fmi.binding.statuses import is_bad
from cosim_master.algorithms.exchange_layout import (
    ADVANCE,
    ADVANCE_ALL,
    ALONG,
    BEGIN,
    BEGIN_STEP,
    COLLECT_STEP,
    DERIVE,
    END,
    FAILED,
    FINISH_STEP,
    FINISHED,
    ITERATE,
    KIND,
    NOTE_COURSE,
    NOW,
    ONCE,
    PASS,
    PHASE,
    PUT_END,
    READ,
    READ_AT_END,
    RESTORE,
    SAVE,
    SET,
    SET_ALONG,
    SIZE,
    TAKE_KNOWN,
)
from cosim_master.algorithms.extrapolate import follow_value
from cosim_master.algorithms.next_request import next_request
from cosim_master.exchange.call_part import (
    restore_part,
    save_part,
)
from cosim_master.exchange.exchange_arrays import (
    algorithm_of,
    clock_of,
    machine_at,
    parts_of,
    progress_of,
    report_of,
)
from cosim_master.exchange.part_steps import (
    advance,
    finish_step,
    point_time,
    send_step,
    start_step,
    start_steps,
    store_row,
    take_steps,
)
from cosim_master.exchange.part_values import read, set_along, set_end, set_held
from cosim_master.exchange.stop_codes import (
    BETWEEN,
    CUT,
    CUTS,
    DECIDING,
    DERIVES,
    DONE,
    EXCHANGING,
    NOT_SETTLED,
    PAUSED,
    RESTORE_FAILED,
    RESTORES,
    SAVE_FAILED,
    SAVES,
    TOGETHER,
)


def run_steps(address, first, last):
    """Take the communication steps `first` … `last` - 1, at the times of `CommunicationPoints`.

    Returns a stop code; `Report.step` is the present step.
    """
    machine = machine_at(address)
    report = report_of(machine)
    clock = clock_of(machine)
    main = algorithm_of(machine, 0)
    progress = progress_of(main)
    for i in range(first, last):
        report.step = i  # for a process that watches this one
        if progress.under_way == BETWEEN:
            clock.begin = point_time(machine, i)
            clock.end = point_time(machine, i + 1)
            if report.ticks != 0:
                progress.under_way = CUT
                return CUTS
            main.counts[PHASE] = BEGIN
            progress.under_way = DECIDING
        stop = run_algorithms(machine)
        if stop != DONE:
            return stop
        if clock.end < point_time(machine, i + 1):
            progress.under_way = CUT
            return CUTS
        store_row(machine, clock.end, 1.0)
        clock.sampled = clock.end
        progress.under_way = BETWEEN
        if report.noticed != 0:
            return DONE
    return DONE


def run_operation(address, call, number):
    """Do one operation of an exchange for a participant; returns a stop code."""
    machine = machine_at(address)
    return do_operation(machine, algorithm_of(machine, 0), call, number)


def end_step(address):
    """End a communication step at the end of the clock. Returns DONE."""
    machine = machine_at(address)
    store_row(machine, clock_of(machine).end, 1.0)
    clock_of(machine).sampled = clock_of(machine).end
    return DONE


def run_algorithms(machine):
    """Exchange until the algorithm of the master has finished."""
    report = report_of(machine)
    while True:
        algorithm = algorithm_of(machine, report.algorithm)
        progress = progress_of(algorithm)
        if progress.under_way == DECIDING:
            stop = decide(machine, algorithm)
            if stop != DONE:
                return stop
            if progress.under_way == BETWEEN:
                if report.algorithm == 0:
                    return DONE
                report.algorithm = 0
                progress_of(algorithm_of(machine, 0)).place += 1
                continue
        if progress.under_way == EXCHANGING:
            stop = exchange(machine, algorithm)
            if stop != DONE:
                return stop


def exchange(machine, algorithm):
    """Do the operations of an exchange, up to its end or the iteration of a loop; returns a stop code."""
    report = report_of(machine)
    progress = progress_of(algorithm)
    while progress.place < algorithm.program.shape[0] // 2:
        call = algorithm.program[2 * progress.place]
        number = algorithm.program[2 * progress.place + 1]
        if call == ITERATE:
            report.algorithm = number
            inner = algorithm_of(machine, number)
            inner.counts[PHASE] = BEGIN
            progress_of(inner).under_way = DECIDING
            return DONE
        stop = do_operation(machine, algorithm, call, number)
        if stop != DONE:
            return stop
        progress.place += 1
    progress.under_way = DECIDING
    return DONE


def decide(machine, algorithm):
    """Carry out the next request of an algorithm; then it is EXCHANGING or BETWEEN. Returns a stop code."""
    report = report_of(machine)
    progress = progress_of(algorithm)
    n = algorithm.counts[SIZE]
    if progress.request < 0:
        if algorithm.counts[KIND] != ONCE or algorithm.counts[ALONG] != 0:
            for k in range(n):
                algorithm.table[NOW * n + k] = machine.outputs[algorithm.ports[k]]
        size = clock_of(machine).end - clock_of(machine).begin
        progress.request = next_request(
            algorithm.counts,
            algorithm.numbers,
            algorithm.table,
            algorithm.bonds,
            clock_of(machine).begin,
            size,
        )
    request = progress.request
    if request == FINISHED:
        progress.request = -1
        progress.under_way = BETWEEN
        return DONE
    if request == FAILED:
        return NOT_SETTLED
    if request == DERIVE:
        progress.request = -1
        return DERIVES
    is_full = (report.rows + 2) * (machine.columns.shape[0] + 2) > machine.rows.shape[0]
    if request & PASS != 0 and (is_full or report.left <= 0):
        return PAUSED
    if request & RESTORE != 0:
        stop = restore_states(machine, algorithm)
        if stop != DONE:
            return stop
    if request & SAVE != 0:
        stop = save_states(machine, algorithm)
        if stop != DONE:
            return stop
    progress.request = -1
    if request & PASS != 0:
        report.left -= 1
        progress.place = 0
        progress.under_way = EXCHANGING
    return DONE


def save_states(machine, algorithm):
    """Save the states of an algorithm's participants, and the values that were read of them."""
    progress = progress_of(algorithm)
    if progress.watched != 0:
        return SAVES
    for i in range(algorithm.members.shape[0]):
        part = parts_of(machine)[algorithm.members[i]]
        status = save_part(part)
        if is_bad(status):
            report_of(machine).part = algorithm.members[i]
            report_of(machine).status = status
            return SAVE_FAILED
        for k in range(part.first_output, part.first_output + part.outputs):
            algorithm.saved[k] = machine.outputs[k]
    progress.watched = progress.always_watched
    return DONE


def restore_states(machine, algorithm):
    """Restore the states of an algorithm's participants, and the values that were read of them."""
    progress = progress_of(algorithm)
    if progress.watched != 0:
        return RESTORES
    for i in range(algorithm.members.shape[0]):
        part = parts_of(machine)[algorithm.members[i]]
        status = restore_part(part)
        if is_bad(status):
            report_of(machine).part = algorithm.members[i]
            report_of(machine).status = status
            return RESTORE_FAILED
        for k in range(part.first_output, part.first_output + part.outputs):
            machine.outputs[k] = algorithm.saved[k]
    progress.watched = progress.always_watched
    return DONE


def do_operation(machine, algorithm, call, number):
    """Do one operation of an exchange; returns a stop code."""
    if call == ADVANCE_ALL:
        return TOGETHER
    if call == PUT_END:
        for k in range(algorithm.counts[SIZE]):
            machine.outputs[algorithm.ports[k]] = algorithm.table[END * algorithm.counts[SIZE] + k]
        return DONE
    part = parts_of(machine)[number]
    if call == TAKE_KNOWN:
        for o in range(part.first_value, part.first_value + part.values):
            k = machine.own_values[o]
            follow_value(
                algorithm.counts, algorithm.numbers, algorithm.table, k, machine.outputs[algorithm.ports[k]]
            )
        return DONE
    i = report_of(machine).step
    # a participant with a longer step takes part only where its steps begin and end
    point = i + 1 if call in (READ, READ_AT_END) else i
    if part.step_multiple > 1 and point % part.step_multiple != 0 and point != machine.grid[5]:
        return DONE
    if call == SET:
        return set_held(machine, part)
    if call == SET_ALONG:
        return set_along(machine, algorithm, part)
    if call == ADVANCE:
        return advance(machine, algorithm, number)
    if call == NOTE_COURSE:
        start_step(machine, algorithm, number)
        return DONE
    if call in (BEGIN_STEP, COLLECT_STEP):
        start_step(machine, algorithm, number)
        send_step(machine, algorithm, number, 1 if call == BEGIN_STEP else 0)
        return DONE
    if call == FINISH_STEP:
        return finish_step(machine, algorithm, number)
    if call == READ:
        return read(machine, part)
    if call == READ_AT_END:
        stop = set_end(machine, algorithm, part)
        return read(machine, part) if stop == DONE else stop
    return DONE


ENTRIES = {run_steps: 3, run_operation: 3, end_step: 1, start_steps: 4, take_steps: 4}
"""The functions that Python calls, with the number of their integer arguments."""
