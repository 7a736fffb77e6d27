"""Calls of participants for another process without Python: kernel functions over records.

The whole numbers of each usual call are written down beforehand (`Member.heads_at`) and compared with what
arrives. Every other message, and a call with an unusual result, is left to Python.
"""

from __future__ import annotations

from typing import Any

from cosim.kit import Record, integers_at, reals_at, rows_of, width_of
from cosim_fmi.binding.statuses import is_bad
from cosim_master.exchange.call_part import (
    lead_part,
    read_part,
    restore_part,
    save_part,
    step_part,
    write_part,
)
from cosim_master.exchange.exchange_arrays import (
    LEADING,
    NOTHING,
    PART,
    READING,
    RESTORING,
    SAVING,
    SETTING,
    STEPPING,
    Part,
)
from cosim_master.processes.step_frames import (
    CALL_INTEGERS,
    FIRST,
    FLAGS,
    HEAD,
    HIGH,
    INTEGER,
    KINDS_OF_WRITES,
    RESTORE,
    SAVE,
    STEP,
    WORD,
    StepFlags,
    answer_head_at,
    answer_head_length,
    answer_length,
    head_at,
    head_length,
    member_of,
    request_length,
)
from cosim_master.processes.wire import (
    ELSEWHERE,
    NOTHING_CAME,
    are_equal,
    copy_bytes,
    receive_bytes,
    send_bytes,
    wire_of,
)


class Service(Record):
    """The state of the service in a process of participants; names with ``_at`` are addresses."""

    wire_at: int
    members: int  # number of participants
    members_at: int  # addresses of their records, by number; 0: its calls are Python's
    room: int  # bytes for a message, and for an answer
    request_at: int
    answer_at: int
    call_at: int  # two words for the first numbers of a call
    arrived: int  # bytes of the message that have come
    integers: int  # whole numbers in the message
    answer_head: int  # bytes of the answer before its reals
    answer_size: int  # bytes of the answer
    member: int  # place in the message of the call that was not as usual
    calling: int  # the function that was called there (`exchange_arrays.NOTHING`: the step is for Python)
    status: int  # that it returned
    busy: int  # 1 while a message is carried out
    served: int  # messages that were answered here


SERVICE = width_of(Service)
OTHER_MESSAGE, NOT_USUAL, STILL = range(3)
"""Return values of `serve_calls`; STILL: no message has come for some time."""
LOW = HIGH - 1
"""Mask of the first of two whole numbers in a word; the second is in the higher half."""
SAME_SIZE = 1e-9  # of a step: sizes that differ by less are the same one, rounded differently


def service_of(address):
    """The record of the service at an address."""
    return rows_of(Service, integers_at(address, SERVICE), 0, 1)[0]


def part_of(member):
    """The record with the functions of a participant."""
    return rows_of(Part, integers_at(member.part_at, PART), 0, 1)[0]


def serve_calls(address):
    """Answer messages until one is of another kind, a call is unusual, or none comes."""
    service = service_of(address)
    wire = wire_of(service.wire_at)
    while True:
        count = receive_request(service, wire)
        if count == NOTHING_CAME:
            return STILL
        if count == ELSEWHERE or not write_answer_head(service, wire):
            return OTHER_MESSAGE
        service.served += 1
        service.busy = 1
        if not carry_out(service, wire):
            return NOT_USUAL
        service.busy = 0
        service.arrived = 0
        wire.is_pending = 0
        if not send_bytes(wire, service.answer_at, service.answer_size):
            return OTHER_MESSAGE


def receive_request(service, wire):
    """Wait for a message of numbers. Returns its bytes, else `ELSEWHERE` or `NOTHING_CAME`."""
    service.arrived = 0
    size = FIRST
    while service.arrived < size:
        room = service.room - service.arrived
        count = receive_bytes(wire, service.request_at + service.arrived, room)
        if count <= 0:
            return count if service.arrived == 0 else ELSEWHERE
        wire.is_pending = 1
        service.arrived += count
        if service.arrived >= FIRST:
            head = integers_at(service.request_at, 2)
            if head[0] < FIRST - HEAD or head[0] > service.room - HEAD or head[1] & LOW != 0:
                return ELSEWHERE
            size = head[0] + HEAD
    service.integers = (integers_at(service.request_at, 2)[1] >> 32) & LOW
    return service.arrived if service.arrived == size else ELSEWHERE


def write_answer_head(service, wire):
    """Write the whole numbers of the answer to a message; whether all its calls are known."""
    at = service.request_at + FIRST
    end = at + INTEGER * service.integers
    last = service.request_at + service.arrived
    if end > last:
        return False
    write_at = service.answer_at + FIRST
    requested, reals = 0, 0
    while at < end:
        handle = participant_of_call(service, wire, at, end)
        if handle == 0:
            return False
        member = member_of(handle)
        action, writes = called_action(service), called_writes(service)
        at += head_length(action, writes)
        requested += request_length(member, writes)
        reals += answer_length(member, action)
        length = answer_head_length(action)
        if write_at + length + reals > service.answer_at + service.room:
            return False
        copy_bytes(wire, write_at, answer_head_at(member, action), length)
        write_at += length
    service.answer_head = write_at - service.answer_at
    service.answer_size = service.answer_head + reals
    head = integers_at(service.answer_at, 2)
    head[0] = service.answer_size - HEAD
    head[1] = (service.answer_head - FIRST) // INTEGER * HIGH
    return end + requested == last


def participant_of_call(service, wire, at, end):
    """The participant of the call whose whole numbers begin at an address; 0 where they are not known."""
    if end - at < INTEGER * CALL_INTEGERS:
        return 0
    copy_bytes(wire, service.call_at, at, INTEGER * CALL_INTEGERS)
    number = integers_at(service.call_at, 1)[0] & LOW
    action, writes = called_action(service), called_writes(service)
    if number >= service.members or action > RESTORE or writes >= KINDS_OF_WRITES:
        return 0
    handle = integers_at(service.members_at, service.members)[number]
    if handle == 0:
        return 0
    member = member_of(handle)
    part = part_of(member)
    if writes == 2 and part.set_slopes_at == 0:
        return 0
    if action in (SAVE, RESTORE) and part.state_at == 0:
        return 0
    length = head_length(action, writes)
    if end - at < length or not are_equal(wire, at, head_at(member, action, writes), length):
        return 0
    return handle


def called_action(service):
    """The action of the call whose first numbers have been copied."""
    return (integers_at(service.call_at, 2)[0] >> 32) & LOW


def called_writes(service):
    """The number of kinds of writes in this call."""
    return integers_at(service.call_at, 2)[1] & LOW


def carry_out(service, wire):
    """Make all calls of a message. Returns whether each was as expected."""
    at = service.request_at + FIRST
    reals_begin = at + INTEGER * service.integers
    answer_begin = service.answer_at + service.answer_head
    end = reals_begin
    service.member = 0
    while at < end:
        handle = participant_of_call(service, wire, at, end)
        member = member_of(handle)
        action, writes = called_action(service), called_writes(service)
        at += head_length(action, writes)
        length = request_length(member, writes)
        copy_bytes(wire, member.request_at, reals_begin, length)
        reals_begin += length
        if not do_call(service, member, action, writes):
            return False
        length = answer_length(member, action)
        copy_bytes(wire, answer_begin, member.answer_at, length)
        answer_begin += length
        service.member += 1
    return True


def do_call(service, member, action, writes):
    """Write inputs, and carry out an action of a participant. Returns whether all was as expected."""
    part = part_of(member)
    request = reals_at(member.request_at, 2 + writes * member.inputs)
    values = member.request_at + 2 * WORD
    if writes != 0 and not is_usual(service, SETTING, write_part(part, values)):
        return False
    if writes == 2 and not is_usual(service, LEADING, lead_part(part, values + WORD * member.inputs)):
        return False
    if action == SAVE:
        return is_usual(service, SAVING, save_part(part))
    if action == RESTORE:
        return is_usual(service, RESTORING, restore_part(part))
    reals_at(member.answer_at, 1)[0] = request[0]
    if action == STEP and not do_step(service, member, request[0], request[1]):
        return False
    return is_usual(service, READING, read_part(part, member.answer_at + WORD))


def do_step(service, member, time, requested_size):
    """Make a step. Returns whether the participant went all the way, and reported nothing."""
    part = part_of(member)
    flags = rows_of(StepFlags, reals_at(member.flags_at, FLAGS), 0, 1)[0]
    if time + requested_size > flags.latest:
        service.calling = NOTHING
        return False
    size = requested_size
    if part.same_size != 0:
        if abs(size - flags.usual_size) > SAME_SIZE * size:
            flags.usual_size = size
        size = flags.usual_size
    if not is_usual(service, STEPPING, step_part(part, time, size, member.flags_at)):
        return False
    if flags.event != 0.0 or flags.end != 0.0 or flags.early != 0.0:
        return False
    reals_at(member.answer_at, 1)[0] = time + requested_size
    return True


def is_usual(service, calling, status):
    """Whether a function has answered with a status that is OK or a warning."""
    service.calling = calling
    service.status = status
    return not is_bad(status)


ENTRIES: dict[Any, str] = {serve_calls: "i>i"}
"""The functions that are called by address, with their signatures."""
