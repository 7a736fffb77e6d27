"""The arrays of the interpreter of exchanges: participants, connections, values, and the progress of the run.

All arrays are found from one address (`machine_at`), so that a call passes one number.
"""

from __future__ import annotations

from typing import NamedTuple

from cosim.kit import Integers, Reals, Record, group_reader, integers_at, rows_of, width_of


class Part(Record):
    """A participant: the addresses of its functions (`NativeCalls`), and where its values are."""

    instance: int
    set_at: int
    step_at: int
    begin_at: int  # 0 where a step takes place in its function
    get_at: int
    access: int
    input_references: int
    output_references: int
    input_count: int  # of these
    output_count: int
    set_slopes_at: int  # 0 where its inputs do not run along lines
    slope_orders: int
    save_at: int
    restore_at: int
    free_at: int
    state_at: int
    same_size: int
    step_multiple: int  # communication steps in one of its steps
    rereads_inputs: int  # inputs are set once more at the end of an exchange before outputs are read
    first_input: int
    inputs: int
    first_output: int
    outputs: int
    first_value: int  # of `own_values`
    values: int
    rounding_at: int  # `rounding.ROUNDING_AT`
    calling: int  # the function that is being called (`NOTHING` …), for the process that watches this one


class Link(Record):
    """The source of an input, and its conversion."""

    source: int  # the output
    line: int  # the value of the interface that this is, or -1
    first_pair: int
    pairs: int
    check: int  # which values the input refuses: `coupling.link`


class Answer(Record):
    """The answer of a participant to its last step, and limits for its next one."""

    event: float  # these three are flags of one byte, true unless 0
    end: float
    early: float
    reached: float
    latest: float  # a step beyond this time (s) is left to Python
    stop: float  # a stop code
    status: float


class StepTimes(Record):
    """The steps of a participant, s."""

    since: float  # the first one since the last sample of the coupling
    began: float  # the last one
    reached: float


class Clock(Record):
    """Times, s."""

    step: float  # the communication step
    until: float
    begin: float  # of the present communication step, or of its part up to a tick
    end: float
    sampled: float  # the end of the last sample of the coupling


class Progress(Record):
    """The progress of an algorithm in its exchange."""

    under_way: int
    place: int  # of the next operation
    request: int  # the remaining bits of the last request; -1 if there are none
    watched: int  # whether Python was called since the last state was saved
    always_watched: int


class Report(Record):
    """The progress of the run, and the reason of a stop."""

    step: int  # the present communication step
    algorithm: int  # 0, or the loop that is iterated
    part: int  # the participant whose state could not be saved or restored
    status: int  # the status that a participant has returned
    rows: int
    left: int  # number of exchanges before PAUSED
    noticed: int  # whether a participant that was called in Python has added a record
    ticks: int  # whether Python decides where a communication step is cut
    inputs_at: int
    outputs_at: int
    answers_at: int


# `Part.calling`
NOTHING, SETTING, LEADING, STEPPING, READING, SAVING, RESTORING, FREEING = range(8)
"""Which of the functions of `NativeCalls`: `set`, `set_slopes`, `step`, `get`, `save`, `restore`, `free`."""

# The rows of `inputs`, with one number for each input
HELD, SLOPES, BEGAN, COURSES, MEANS, MEAN_SLOPES, ENDS, REGIONS = range(8)
"""Values and slopes as they were set last; both at the start of the present step; means and slopes since the
last sample of the coupling; values with which outputs were read last."""


class Machine(NamedTuple):
    """All arrays of a run."""

    part_words: Integers
    link_words: Integers
    scales: Reals  # factor and offset of each input
    pairs: Reals  # of mapped connections: values and their replacements
    own_values: Integers  # the values of the interface, participant by participant
    columns: Integers  # of recorded rows: a place of `outputs`, or -1 - place of `inputs`
    inputs: Reals
    outputs: Reals
    answer_words: Reals
    step_time_words: Reals
    rows: Reals  # time, whether it is a communication point, and the recorded values
    report_words: Integers
    clock_words: Reals
    grid: Integers  # `CommunicationPoints.grid`, and the number of steps
    algorithm_words: Integers  # for each algorithm the address and the length of each of its arrays


class Algorithm(NamedTuple):
    """The arrays of an algorithm: of the master's, or of the iteration of a loop inside its exchange."""

    program: Integers  # pairs (call, participant) of one exchange; of ITERATE (call, loop)
    ports: Integers  # the place in `outputs` of each value of its interface
    members: Integers  # participants whose states it saves
    saved: Reals  # all outputs as they were when it saved
    counts: Integers  # these four: `exchange_layout`
    numbers: Reals
    table: Reals
    bonds: Integers
    progress_words: Integers


PART, LINK, ANSWER, STEP_TIMES = (width_of(cls) for cls in (Part, Link, Answer, StepTimes))
ANSWERED = 5
"""The first numbers of an `Answer`, which the participant writes."""

read_machine, read_algorithm = group_reader(Machine), group_reader(Algorithm)
HEAD, ALGORITHM_HEAD = (2 * len(group._fields) for group in (Machine, Algorithm))


def machine_at(address):
    """The arrays that begin with a head of addresses and lengths."""
    return read_machine(integers_at(address, HEAD))


def algorithm_of(machine, number):
    """The arrays of an algorithm."""
    return read_algorithm(machine.algorithm_words[ALGORITHM_HEAD * number : ALGORITHM_HEAD * (number + 1)])


def parts_of(machine):
    """The records of the participants."""
    return rows_of(Part, machine.part_words, 0, machine.part_words.shape[0] // PART)


def links_of(machine):
    """The sources of all inputs."""
    return rows_of(Link, machine.link_words, 0, machine.link_words.shape[0] // LINK)


def answers_of(machine):
    """The answers of all participants."""
    return rows_of(Answer, machine.answer_words, 0, machine.answer_words.shape[0] // ANSWER)


def step_times_of(machine):
    """The steps of each participant."""
    return rows_of(StepTimes, machine.step_time_words, 0, machine.step_time_words.shape[0] // STEP_TIMES)


def report_of(machine):
    """The report of the run."""
    return rows_of(Report, machine.report_words, 0, 1)[0]


def clock_of(machine):
    """The times of the present exchange."""
    return rows_of(Clock, machine.clock_words, 0, 1)[0]


def progress_of(algorithm):
    """The progress of an algorithm."""
    return rows_of(Progress, algorithm.progress_words, 0, 1)[0]
