"""Messages to another process as compiled code sends and receives them: kernel functions over a record.

They go over handles of the operating system, or lie in memory that both processes share. There a semaphore
says that a message has come, and a word has its length.
"""

from __future__ import annotations

from cosim.kit import Record, call_with_array, integers_at, rows_of, width_of


class Wire(Record):
    """The functions of the C library by which messages reach the other process and come back.

    A field ``…_at`` is an address, of one of these functions or of data.
    """

    patience: int  # how long this side waits for a message, ms; -1: for ever
    copy_at: int
    compare_at: int
    reading: int  # handle
    writing: int  # handle
    read_at: int
    write_at: int
    poll_at: int
    watched_at: int  # what `poll` takes
    sent_length_at: int  # of a message in memory; 0: messages go over handles
    arrived_length_at: int
    sent_at: int  # semaphores
    arrives_at: int
    deadline_at: int  # a ``struct timespec``
    clock_gettime_at: int
    sem_clockwait_at: int
    sem_post_at: int
    is_pending: int  # a message in memory has not been answered


WIRE = width_of(Wire)
ELSEWHERE, NOTHING_CAME = 0, -1
"""Return values of `receive_bytes` other than a count: the message comes another way, or the end is closed;
none has come in time."""
MONOTONIC = 1
"""The number of this clock, on Linux."""
SECOND, MILLISECOND = 1_000_000_000, 1_000_000
"""ns"""


def wire_of(address):
    """A record of this kind."""
    return rows_of(Wire, integers_at(address, WIRE), 0, 1)[0]


def send_bytes(wire, at, length):
    """Send a message; in shared memory its bytes are in place. Returns whether it was sent."""
    if wire.sent_length_at != 0:
        integers_at(wire.sent_length_at, 1)[0] = length
        return call_with_array(wire.sem_post_at, wire.sent_at, 0, 0, 0, 0) == 0
    done = 0
    while done < length:
        count = call_with_array(wire.write_at, wire.writing, at + done, length - done, 0, 0)
        if count <= 0:
            return False
        done += count
    return True


def receive_bytes(wire, at, room):
    """Wait for bytes that go to an address, in memory those that lie there; their number."""
    if wire.sent_length_at != 0:
        if not is_posted(wire, wire.patience):
            return NOTHING_CAME
        arrived = integers_at(wire.arrived_length_at, 1)
        length = arrived[0]
        arrived[0] = 0
        return length
    if wire.patience >= 0 and call_with_array(wire.poll_at, wire.watched_at, 1, wire.patience, 0, 0) <= 0:
        return NOTHING_CAME
    return max(ELSEWHERE, call_with_array(wire.read_at, wire.reading, at, room, 0, 0))


def is_posted(wire, patience):
    """Wait some milliseconds for the semaphore of arrivals. Returns whether it was posted."""
    call_with_array(wire.clock_gettime_at, MONOTONIC, wire.deadline_at, 0, 0, 0)
    deadline = integers_at(wire.deadline_at, 2)
    nanoseconds = deadline[1] + MILLISECOND * patience
    deadline[0] += nanoseconds // SECOND
    deadline[1] = nanoseconds % SECOND
    return call_with_array(wire.sem_clockwait_at, wire.arrives_at, MONOTONIC, wire.deadline_at, 0, 0) == 0


def copy_bytes(wire, target, source, length):
    """Copy bytes as `memcpy` does."""
    call_with_array(wire.copy_at, target, source, length, 0, 0)


def are_equal(wire, first, second, length):
    """Whether the bytes at two addresses are equal."""
    return call_with_array(wire.compare_at, first, second, length, 0, 0) == 0
