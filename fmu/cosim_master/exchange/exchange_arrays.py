"""The arrays of the interpreter of exchanges: participants, connections, values, and the progress of the run.

All of it lies in arrays that are found by one address (`machine_at`), so that a call hands over one number.
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
    step_multiple: int  # it steps once in so many communication steps
    rereads_inputs: int  # inputs are set once more at the end of an exchange before outputs are read
    first_input: int
    inputs: int
    first_output: int
    outputs: int
    first_value: int  # of `own_values`
    values: int
    rounding_at: int  # `rounding.ROUNDING_AT`
    calling: int  # which of its functions is being called (`NOTHING` …): who outlives the process looks here


class Link(Record):
    """The source of an input, and its conversion."""

    source: int  # the output
    line: int  # the value of the interface that this is, or -1
    first_pair: int
    pairs: int
    check: int  # which values the input refuses: `coupling.link`


class Answer(Record):
    """The answer of a participant to its last step, and limits for its next one."""

    event: float  # these three are bytes: any number but 0 is yes
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
    begin: float  # of what the algorithm advances: a communication step, or its part up to a tick
    end: float
    sampled: float  # until when the coupling is in samples


class Progress(Record):
    """The progress of an algorithm in its exchange."""

    under_way: int
    place: int  # of the next operation
    request: int  # what is left to be done of it; -1: nothing
    watched: int  # Python did something since the last state was saved
    always_watched: int


class Report(Record):
    """The progress of the run, and the reason of a stop."""

    step: int  # the communication step under way
    algorithm: int  # 0, or the loop that is iterated
    part: int  # whose state could not be saved or restored
    status: int  # that a participant has answered
    rows: int
    left: int  # so many exchanges before PAUSED
    noticed: int  # a participant that was called in Python has brought something about
    ticks: int  # Python is asked where a communication step is cut
    inputs_at: int
    outputs_at: int
    answers_at: int


# `Part.calling`
NOTHING, SETTING, LEADING, STEPPING, READING, SAVING, RESTORING, FREEING = range(8)
"""Which of the functions of `NativeCalls`: `set`, `set_slopes`, `step`, `get`, `save`, `restore`, `free`."""

# `inputs`: so many rows, each of one number for each input
HELD, SLOPES, BEGAN, COURSES, MEANS, MEAN_SLOPES, ENDS, REGIONS = range(8)
"""Values and slopes as they were set last; both as they were when the step under way began; means since the
last sample of the coupling; values with which outputs were read last."""


class Machine(NamedTuple):
    """All arrays of a run."""

    part_words: Integers
    link_words: Integers
    scales: Reals  # factor and offset of each input
    pairs: Reals  # of mapped connections: values, and what they become
    own_values: Integers  # of each participant, one after the other: its values of the interface
    columns: Integers  # what is recorded: an output, or a place of `inputs` as -1 - place
    inputs: Reals
    outputs: Reals
    answer_words: Reals
    step_time_words: Reals
    rows: Reals  # time, whether it is a communication point, and the recorded values
    report_words: Integers
    clock_words: Reals
    grid: Integers  # of the communication points (`CommunicationPoints.grid`), and how many steps there are
    algorithm_words: Integers  # for each algorithm the address and the length of each of its arrays


class Algorithm(NamedTuple):
    """The arrays of an algorithm: of the master's, or of the iteration of a loop inside its exchange."""

    program: Integers  # pairs *(call, participant)* of one exchange; ITERATE has the loop in place of it
    ports: Integers  # for each value of its interface the output
    members: Integers  # participants whose states it saves
    saved: Reals  # all outputs as they were when it saved
    counts: Integers  # these four: `exchange_layout`
    numbers: Reals
    table: Reals
    bonds: Integers
    progress_words: Integers


PART, LINK, ANSWER, STEP_TIMES = (width_of(cls) for cls in (Part, Link, Answer, StepTimes))
ANSWERED = 5
"""The participant writes this number of numbers of an `Answer`."""


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
    """The times of the exchange that is under way."""
    return rows_of(Clock, machine.clock_words, 0, 1)[0]


def progress_of(algorithm):
    """The progress of an algorithm."""
    return rows_of(Progress, algorithm.progress_words, 0, 1)[0]
