"""Communication steps as a kernel function: only C calls and copies, no Python between them.

============ ==============================================================================
``program``  pairs *(operation, participant)*, one communication step
``parts``    for each participant `WIDTH` integers, see `PART`
``places``   for each input the output that feeds it
``scales``   for each input factor and offset of the conversion
``columns``  what is recorded: an output, or an input as -1 - index
``flags``    `FLAGS` for each participant: what FMI 3.0 asks for after a step (event mode, end, early
             return: a byte each, so any number but 0), the time that was reached, and the time beyond
             which a step is left to Python
``rows``     the recorded values, one row for each step of this call
``report``   where the run stopped: step, index in the program, status or input, participant
============ ==============================================================================
"""

from __future__ import annotations

from cosim.kit import call_with_array, call_with_interval

SET, ADVANCE, READ = 0, 1, 2
# Stop codes
DONE, SET_FAILED, STEP_FAILED, READ_FAILED, NOT_FINITE, STEP_LEFT = 0, 1, 2, 3, 4, 5
PART = (
    "instance",
    "set",
    "step",
    "get",
    "first_input",
    "inputs",
    "input_references",
    "first_output",
    "outputs",
    "output_references",
    "same_size",
    "every",
)
WIDTH = 12
FLAGS = 5
SIGNATURE = "IIIFIFFFFIfffiii>i"


def run_steps(
    program,
    parts,
    places,
    scales,
    columns,
    inputs,
    outputs,
    flags,
    rows,
    report,
    start,
    step,
    until,
    count,
    first,
    last,
):
    """Take the communication steps `first` … `last` - 1 of `count`, at the times of `CommunicationPoints`.

    `report` begins with the step under way. On entry its last three are the addresses of the first input, the
    first output and the first flag.
    """
    inputs_at = report[4]
    outputs_at = report[5]
    flags_at = report[6]
    for i in range(first, last):
        report[0] = i  # who ends the process inside a call looks here
        time = start + i * step
        for j in range(program.shape[0] // 2):
            part = WIDTH * program[2 * j + 1]
            operation = program[2 * j]
            every = parts[part + 11]
            # Slow participants take part in one step of many, and then go further.
            point = i + 1 if operation == READ else i
            if point % every != 0 and point != count:
                continue
            status = 0
            stop = DONE
            if operation == SET:
                begin = parts[part + 4]
                for slot in range(begin, begin + parts[part + 5]):
                    value = outputs[places[slot]]
                    if scales[2 * slot] != 1.0 or scales[2 * slot + 1] != 0.0:
                        value = scales[2 * slot] * value + scales[2 * slot + 1]
                    if value - value != 0.0:
                        report[1] = j
                        report[2] = slot
                        report[3] = program[2 * j + 1]
                        return NOT_FINITE
                    inputs[slot] = value
                if parts[part + 5] > 0:
                    stop = SET_FAILED
                    status = call_with_array(
                        parts[part + 1],
                        parts[part],
                        parts[part + 6],
                        parts[part + 5],
                        inputs_at + 8 * begin,
                        parts[part + 5],
                    )
            elif operation == ADVANCE:
                ahead = min(i + every, count)
                length = (start + ahead * step if ahead < count else until) - time
                # Who cannot vary the step gets the very same number each time, not one an ulp away.
                if parts[part + 10] != 0 and abs(length - every * step) <= 1e-9 * length:
                    length = every * step
                stop = STEP_FAILED
                flag = FLAGS * program[2 * j + 1]
                if time + length > flags[flag + 4]:
                    report[1] = j
                    report[2] = 0
                    report[3] = program[2 * j + 1]
                    return STEP_LEFT
                at = flags_at + 8 * flag
                status = call_with_interval(
                    parts[part + 2], parts[part], time, length, 1, at, at + 8, at + 16, at + 24
                )
                if flags[flag] != 0.0 or flags[flag + 1] != 0.0 or flags[flag + 2] != 0.0:
                    report[1] = j
                    report[2] = status
                    report[3] = program[2 * j + 1]
                    return STEP_FAILED
            elif parts[part + 8] > 0:
                stop = READ_FAILED
                status = call_with_array(
                    parts[part + 3],
                    parts[part],
                    parts[part + 9],
                    parts[part + 8],
                    outputs_at + 8 * parts[part + 7],
                    parts[part + 8],
                )
            if status > 1:  # 0 is OK and 1 a warning, in every version of FMI
                report[1] = j
                report[2] = status
                report[3] = program[2 * j + 1]
                return stop
        row = (i - first) * columns.shape[0]
        for j in range(columns.shape[0]):
            rows[row + j] = outputs[columns[j]] if columns[j] >= 0 else inputs[-1 - columns[j]]
    return DONE
