"""Exchanges with a participant in another process through memory that both share, as kernel functions.

The master's process asks for an exchange: it writes inputs, times and a request into the memory, and posts a
semaphore of POSIX that lies there. The other process, which waits for it, calls the functions of C of the
participant (`NativeCalls`), writes the outputs and posts a second semaphore. Both sides leave to Python what
is not as usual, by messages.
"""

from __future__ import annotations

from typing import Any

from cosim.kit import Record, call_with_array, call_with_interval, integers_at, reals_at, rows_of, width_of

# Requests, and sums of them
SET, LEAD, STEP, READ, SAVE, RESTORE, LEAVE = (1 << i for i in range(7))

# `Exchange.calling`, `Exchange.unusual`
NOTHING, SETTING, LEADING, STEPPING, READING, SAVING, RESTORING, FREEING = range(8)
"""Which function of the participant is being called, or was not as usual."""
FLAGS = 5
"""Numbers that are the flags of `NativeCalls`, from `TakenStep.event` on."""
MONOTONIC = 1
"""The number of this clock, on Linux."""
SECOND = 1_000_000_000
"""ns"""

OK, LEFT = 0, 3
"""What the functions of the master's process return: LEFT leaves the call to Python."""


class Exchange(Record):
    """What both processes see; a `TakenStep`, inputs, their slopes, and outputs follow in the same memory."""

    request: int
    is_served: int  # the other process waits for a request, or answers one
    calling: int  # which function of the participant is being called (`NOTHING` …)
    unusual: int  # which call of the last request is left to Python, or NOTHING
    status: int  # that it answered


class TakenStep(Record):
    """The step that is asked for, and what the participant tells about it."""

    time: float  # s
    size: float
    event: float  # these five are the flags of `NativeCalls`
    end: float
    early: float
    reached: float
    latest: float


class Semaphores(Record):
    """The two semaphores, and the functions of the C library for them."""

    asked_at: int
    answered_at: int
    nanoseconds: int  # that compiled code waits before Python looks around
    deadline_at: int  # a ``struct timespec``
    clock_gettime_at: int
    sem_clockwait_at: int
    sem_post_at: int


class Caller(Record):
    """In the master's process: where the memory is, and what waits for the next request."""

    semaphores: Semaphores
    exchange_at: int
    inputs_at: int
    slopes_at: int
    outputs_at: int
    pending: int  # requests that go with the next one
    is_fresh: int  # the outputs are those of now
    is_awaited: int  # an answer has not come yet
    has_begun: int  # it is that of a step that has not been finished
    is_asked: int  # the last call has sent a request


class Server(Record):
    """In the other process: where the memory is, and the participant's functions."""

    semaphores: Semaphores
    exchange_at: int
    inputs_at: int
    slopes_at: int
    outputs_at: int
    inputs: int
    outputs: int
    instance: int
    access: int
    set_at: int
    input_references: int
    input_count: int
    set_slopes_at: int
    slope_orders: int
    step_at: int
    get_at: int
    output_references: int
    output_count: int
    save_at: int
    restore_at: int
    free_at: int
    state_at: int


EXCHANGE, TAKEN_STEP, CALLER, SERVER = (width_of(cls) for cls in (Exchange, TakenStep, Caller, Server))


def exchange_at(address):
    """What both processes see."""
    return rows_of(Exchange, integers_at(address, EXCHANGE), 0, 1)[0]


def step_at(exchange_at):
    """The step, which lies behind that."""
    return rows_of(TakenStep, reals_at(exchange_at + 8 * EXCHANGE, TAKEN_STEP), 0, 1)[0]


def caller_at(address):
    """The record of the master's process."""
    return rows_of(Caller, integers_at(address, CALLER), 0, 1)[0]


def server_at(address):
    """The record of the other process."""
    return rows_of(Server, integers_at(address, SERVER), 0, 1)[0]


def copy(source_at, target_at, count):
    """Numbers from one place to another."""
    source = reals_at(source_at, count)
    target = reals_at(target_at, count)
    for i in range(count):
        target[i] = source[i]


def is_posted(sems, semaphore_at):
    """Wait some milliseconds for a semaphore; whether it has been posted."""
    call_with_array(sems.clock_gettime_at, MONOTONIC, sems.deadline_at, 0, 0, 0)
    deadline = integers_at(sems.deadline_at, 2)
    nanoseconds = deadline[1] + sems.nanoseconds
    deadline[0] += nanoseconds // SECOND
    deadline[1] = nanoseconds % SECOND
    return call_with_array(sems.sem_clockwait_at, semaphore_at, MONOTONIC, sems.deadline_at, 0, 0) == 0


def post(sems, semaphore_at):
    """Let the other process go on that waits for this semaphore."""
    return call_with_array(sems.sem_post_at, semaphore_at, 0, 0, 0, 0)


# In the master's process: the functions of `NativeCalls`


def set_there(instance, references, count, values, size):
    """Inputs, which go with the next request."""
    c = caller_at(instance)
    if drop_begun(c) != OK:
        return LEFT
    copy(values, c.inputs_at, size)
    c.pending = c.pending | SET
    c.is_fresh = 0
    return OK


def lead_there(instance, references, count, orders, slopes):
    """Slopes of the inputs, which go with the next request."""
    c = caller_at(instance)
    if drop_begun(c) != OK:
        return LEFT
    copy(slopes, c.slopes_at, count)
    c.pending = c.pending | LEAD
    c.is_fresh = 0
    return OK


def begin_there(instance, time, size, flag, event, end, early, reached):
    """Have a step made, and the outputs read behind it; `step_there` waits for the answer."""
    c = caller_at(instance)
    if drop_begun(c) != OK:
        return LEFT
    taken = step_at(c.exchange_at)
    taken.time = time
    taken.size = size
    c.is_fresh = 0
    sent = send(c, exchange_at(c.exchange_at), STEP | READ)
    c.has_begun = c.is_awaited
    return sent


def step_there(instance, time, size, flag, event, end, early, reached):
    """A step, and the outputs behind it, unless it has begun before."""
    c = caller_at(instance)
    if c.has_begun == 0:
        sent = begin_there(instance, time, size, flag, event, end, early, reached)
        if sent != OK:
            return sent
    c.has_begun = 0
    return await_answer(c, exchange_at(c.exchange_at))


def get_there(instance, references, count, values, size):
    """Outputs, which may have come with the step."""
    c = caller_at(instance)
    if c.is_fresh == 0:
        if ask(c, exchange_at(c.exchange_at), READ) != OK:
            return LEFT
        if c.is_fresh == 0:
            return LEFT
    copy(c.outputs_at, values, size)
    return OK


def save_there(instance, state, third, fourth, fifth):
    """The state, which stays in the other process."""
    c = caller_at(instance)
    integers_at(state, 1)[0] = 1
    return ask(c, exchange_at(c.exchange_at), SAVE)


def restore_there(instance, state, third, fourth, fifth):
    """Go back to it."""
    c = caller_at(instance)
    c.is_fresh = 0
    return ask(c, exchange_at(c.exchange_at), RESTORE)


def drop_begun(c):
    """Wait for a step that was begun and is not wanted any more; OK when none is left."""
    if c.has_begun == 0:
        return OK
    c.has_begun = 0
    await_answer(c, exchange_at(c.exchange_at))
    c.is_fresh = 0
    return OK if c.is_awaited == 0 else LEFT


def ask(c, e, request):
    """Send a request, and what waits for it, and wait for the answer."""
    if drop_begun(c) != OK:
        return LEFT
    sent = send(c, e, request)
    return sent if sent != OK else await_answer(c, e)


def send(c, e, request):
    """Send a request, and what waits for it."""
    c.is_asked = 0
    if e.is_served == 0 or c.is_awaited != 0:
        return LEFT
    c.is_asked = 1
    e.request = c.pending | request
    e.unusual = NOTHING
    c.is_awaited = 1
    c.pending = 0
    post(c.semaphores, c.semaphores.asked_at)
    return OK


def await_answer(c, e):
    """Wait some milliseconds for the answer; OK when it is there and as usual."""
    if not is_posted(c.semaphores, c.semaphores.answered_at):
        return LEFT
    c.is_awaited = 0
    if e.request & READ != 0 and e.unusual == NOTHING:
        c.is_fresh = 1
    if e.unusual == READING and e.request & STEP != 0:
        return OK  # the step went well; reading is an error of its own
    return OK if e.unusual == NOTHING else LEFT


def wait_there(address):
    """Wait once more for an answer that has not come; as `await_answer`."""
    c = caller_at(address)
    return await_answer(c, exchange_at(c.exchange_at))


# In the other process


def serve(address):
    """Answer requests until none comes for some time, one is not as usual, or asks to leave; returns 0."""
    s = server_at(address)
    e = exchange_at(s.exchange_at)
    while e.is_served != 0:
        if not is_posted(s.semaphores, s.semaphores.asked_at):
            return 0
        e.unusual = answer_request(s, e)
        e.calling = NOTHING
        if e.unusual != NOTHING or e.request & LEAVE != 0:
            e.is_served = 0
        post(s.semaphores, s.semaphores.answered_at)
    return 0


def answer_request(s, e):
    """Do what is asked for, in this order; returns which call is left to Python."""
    request = e.request
    if request & SET != 0 and s.inputs != 0:
        e.calling = SETTING
        e.status = call_with_array(
            s.set_at, s.access, s.input_references, s.input_count, s.inputs_at, s.inputs
        )
        if e.status > 1:
            return SETTING
    if request & LEAD != 0 and s.inputs != 0:
        e.calling = LEADING
        e.status = call_with_array(
            s.set_slopes_at, s.instance, s.input_references, s.inputs, s.slope_orders, s.slopes_at
        )
        if e.status > 1:
            return LEADING
    if request & STEP != 0:
        taken = step_at(s.exchange_at)
        at = s.exchange_at + 8 * (EXCHANGE + 2)
        e.calling = STEPPING
        e.status = call_with_interval(
            s.step_at, s.instance, taken.time, taken.size, 1, at, at + 8, at + 16, at + 24
        )
        if e.status > 1 or taken.event != 0.0 or taken.end != 0.0 or taken.early != 0.0:
            return STEPPING
    if request & READ != 0 and s.outputs != 0:
        e.calling = READING
        e.status = call_with_array(
            s.get_at, s.access, s.output_references, s.output_count, s.outputs_at, s.outputs
        )
        if e.status > 1:
            return READING
    if request & SAVE != 0:
        return save_state(s, e)
    if request & RESTORE != 0:
        e.calling = RESTORING
        state = integers_at(s.state_at, 1)[0]
        e.status = call_with_array(s.restore_at, s.instance, state, 0, 0, 0)
        if e.status > 1:
            return RESTORING
    return NOTHING


def save_state(s, e):
    """Save the state in place of the one before."""
    state = integers_at(s.state_at, 1)
    if s.free_at != 0 and state[0] != 0:
        e.calling = FREEING
        e.status = call_with_array(s.free_at, s.instance, s.state_at, 0, 0, 0)
        state[0] = 0
        if e.status > 1:
            return SAVING
    e.calling = SAVING
    e.status = call_with_array(s.save_at, s.instance, s.state_at, 0, 0, 0)
    return SAVING if e.status > 1 else NOTHING


ARRAY_CALL, STEP_CALL, ENTRY = "iiiii>i", "iffiiiii>i", "i>i"
ENTRIES: dict[Any, str] = {
    **dict.fromkeys((set_there, lead_there, get_there, save_there, restore_there), ARRAY_CALL),
    **{begin_there: STEP_CALL, step_there: STEP_CALL, wait_there: ENTRY, serve: ENTRY},
}
"""What is called from outside, with its signature."""
