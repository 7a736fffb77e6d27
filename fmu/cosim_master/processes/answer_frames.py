"""Steps of participants for another process without Python: kernel functions over records.

A *plan* is a message of steps (`calls.numbers_of_steps`) that has come before: the same participants, the
same variables, other values. Every other message, and a step that is not as usual, is left to Python.
"""

from __future__ import annotations

from typing import Any

from cosim.kit import Record, call_with_array, call_with_interval, integers_at, reals_at, rows_of, width_of
from cosim_master.processes.step_frames import FIRST, WORD, copy_bytes, wire_of, write_bytes


class Service(Record):
    """What a process of participants waits for."""

    wire_at: int
    plans: int
    plans_at: int  # addresses of their records
    room: int  # bytes for a message
    request_at: int
    arrived: int
    plan: int  # the one that is carried out
    member: int  # of it, and what is called of it, where that was not as usual
    calling: int
    status: int
    is_left: int  # 1: it is a step, and was not called
    busy: int
    served: int  # messages
    calling_at: int  # 40 bytes that say to others what is called


class Plan(Record):
    """Steps that go with one message."""

    size: int  # bytes of the message
    head_at: int  # its whole numbers, as they have to be
    head_size: int  # bytes
    answer_at: int  # the answer; its whole numbers are there
    answer_head: int  # bytes before the reals
    answer_size: int
    members: int
    members_at: int


class Planned(Record):
    """A step of a participant in a plan."""

    callee_at: int
    writes: int  # nothing, inputs (1), inputs and slopes (2)


class Callee(Record):
    """A participant: the functions of `NativeCalls`, and where its values are."""

    set_at: int
    slopes_at: int
    step_at: int
    get_at: int
    instance: int
    access: int
    input_references: int
    input_count: int
    inputs: int
    output_references: int
    output_count: int
    outputs: int
    slope_orders: int
    same_size: int
    flags_at: int  # `NativeCalls`: three bytes in a word each, a time, and the time beyond which Python steps
    request_at: int  # time, size, inputs, slopes
    answer_at: int  # the time reached, outputs
    usual_size_at: int
    names_at: int  # 40 bytes each: what `Service.calling_at` says in `SETTING` …


SERVICE, PLAN, PLANNED, CALLEE = (width_of(cls) for cls in (Service, Plan, Planned, Callee))
OTHER_MESSAGE, NOT_USUAL = range(2)
SETTING, LEADING, STEPPING, READING = range(4)
NAME_WIDTH = 40
WARNING = 1


def service_of(address):
    """A record of this kind."""
    return rows_of(Service, integers_at(address, SERVICE), 0, 1)[0]


def plan_of(address):
    """A record of this kind."""
    return rows_of(Plan, integers_at(address, PLAN), 0, 1)[0]


def callee_of(address):
    """A record of this kind."""
    return rows_of(Callee, integers_at(address, CALLEE), 0, 1)[0]


def serve_steps(address):
    """Answer messages until one is not a plan (OTHER_MESSAGE), or a step is not as usual (NOT_USUAL)."""
    service = service_of(address)
    wire = wire_of(service.wire_at)
    while True:
        if not receive_plan(service, wire):
            return OTHER_MESSAGE
        service.served += 1
        service.busy = 1
        if not carry_out(service, wire):
            return NOT_USUAL
        service.busy = 0
        plan = plan_of(service.plan)
        service.arrived = 0
        if not write_bytes(wire, plan.answer_at, plan.answer_size):
            return OTHER_MESSAGE


def receive_plan(service, wire):
    """Wait for a message; whether it is one of the plans."""
    service.arrived = 0
    service.plan = 0
    size = FIRST
    while service.arrived < size:
        at = service.request_at + service.arrived
        count = call_with_array(wire.read_at, wire.reading, at, service.room - service.arrived, 0, 0)
        if count <= 0:
            return False
        service.arrived += count
        if service.plan == 0 and service.arrived >= FIRST:
            head = integers_at(service.request_at, 2)
            for plan_at in integers_at(service.plans_at, service.plans):
                plan = plan_of(plan_at)
                known = integers_at(plan.head_at, 2)
                if service.plan == 0 and known[0] == head[0] and known[1] == head[1]:
                    service.plan = plan_at
                    size = plan.size
            if service.plan == 0:
                return False
    # several plans may begin alike
    for plan_at in integers_at(service.plans_at, service.plans):
        plan = plan_of(plan_at)
        if (
            service.arrived == plan.size
            and call_with_array(wire.compare_at, service.request_at, plan.head_at, plan.head_size, 0, 0) == 0
        ):
            service.plan = plan_at
            return True
    return False


def carry_out(service, wire):
    """Make all steps of a plan; whether each was as usual."""
    plan = plan_of(service.plan)
    given = service.request_at + plan.head_size
    found = plan.answer_at + plan.answer_head
    service.member = 0
    for planned in rows_of(Planned, integers_at(plan.members_at, PLANNED * plan.members), 0, plan.members):
        callee = callee_of(planned.callee_at)
        length = WORD * (2 + planned.writes * callee.inputs)
        copy_bytes(wire, callee.request_at, given, length)
        given += length
        if not step_callee(service, wire, callee, planned.writes):
            return False
        length = WORD * (1 + callee.outputs)
        copy_bytes(wire, found, callee.answer_at, length)
        found += length
        service.member += 1
    say_calling(service, wire, 0)
    return True


def step_callee(service, wire, callee, writes):
    """Write inputs, step, and read outputs of a participant; whether all was as usual."""
    request = reals_at(callee.request_at, 2 + writes * callee.inputs)
    values = callee.request_at + 2 * WORD
    if writes != 0:
        say_calling(service, wire, callee.names_at + NAME_WIDTH * SETTING)
        service.calling = SETTING
        service.status = call_with_array(
            callee.set_at, callee.access, callee.input_references, callee.input_count, values, callee.inputs
        )
        if service.status > WARNING:
            return False
    if writes == 2:
        say_calling(service, wire, callee.names_at + NAME_WIDTH * LEADING)
        service.calling = LEADING
        service.status = call_with_array(
            callee.slopes_at,
            callee.instance,
            callee.input_references,
            callee.inputs,
            callee.slope_orders,
            values + WORD * callee.inputs,
        )
        if service.status > WARNING:
            return False
    flags = reals_at(callee.flags_at, 5)
    service.calling = STEPPING
    service.status = 0
    service.is_left = 1
    if request[0] + request[1] > flags[4]:
        return False
    service.is_left = 0
    size = request[0] + request[1] - request[0]  # as `FmuParticipant.step`, which steps from event to event
    if callee.same_size != 0:
        usual = reals_at(callee.usual_size_at, 1)
        if abs(size - usual[0]) > 1e-9 * size:
            usual[0] = size
        size = usual[0]
    at = callee.flags_at
    say_calling(service, wire, callee.names_at + NAME_WIDTH * STEPPING)
    service.status = call_with_interval(
        callee.step_at, callee.instance, request[0], size, 1, at, at + WORD, at + 2 * WORD, at + 3 * WORD
    )
    if service.status > WARNING or flags[0] != 0.0 or flags[1] != 0.0 or flags[2] != 0.0:
        return False
    reals_at(callee.answer_at, 1)[0] = request[0] + request[1]
    if callee.outputs != 0:
        say_calling(service, wire, callee.names_at + NAME_WIDTH * READING)
        service.calling = READING
        service.status = call_with_array(
            callee.get_at,
            callee.access,
            callee.output_references,
            callee.output_count,
            callee.answer_at + WORD,
            callee.outputs,
        )
        if service.status > WARNING:
            return False
    return True


def say_calling(service, wire, name_at):
    """Tell who outlives this process what is called; 0: nothing."""
    if name_at != 0:
        copy_bytes(wire, service.calling_at, name_at, NAME_WIDTH)
        return
    words = integers_at(service.calling_at, NAME_WIDTH // WORD)
    for i in range(NAME_WIDTH // WORD):
        words[i] = 0


ENTRIES: dict[Any, str] = {serve_steps: "i>i"}
"""What is called by address, with its signature."""
