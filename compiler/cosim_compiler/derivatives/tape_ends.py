"""A tape, for functions that record and go back and are written by hand, not by `recording_writer`.

The first number of a tape is the place behind its last number. The second one is not 0 if something did not
fit.
"""

from cosim_compiler.errors import FullTapeError

END, OVERFLOW = 0, 1
HEAD = 2
"""The place behind these two numbers, at which an empty tape ends."""


def clear_tape(tape):
    """Make a tape empty."""
    tape[END] = HEAD * 1.0
    tape[OVERFLOW] = 0.0


def has_overflowed(tape):
    """Whether something did not fit on the tape since it was cleared."""
    return tape[OVERFLOW] != 0.0


def end_of_tape(tape):
    """The place behind the last number."""
    return tape[END]


def cut_tape(tape, end):
    """Make a tape end at a place."""
    tape[END] = end * 1.0


def push(tape, number):
    """Append a number.

    Raises
    ------
    FullTapeError
        The tape has no more room; it has then overflowed.
    """
    at = int(tape[END])
    if at + 1 > len(tape):
        tape[OVERFLOW] = 1.0
        raise FullTapeError()
    tape[at] = number
    tape[END] = at + 1.0


def reserve(tape, count):
    """Append so many numbers, whatever they are, and return the place of the first.

    Raises
    ------
    FullTapeError
        The tape has no more room; it has then overflowed.
    """
    at = int(tape[END])
    if at + count > len(tape):
        tape[OVERFLOW] = 1.0
        raise FullTapeError()
    tape[END] = float(at + count)
    return at


def pop(tape):
    """Remove the last number and return it."""
    at = int(tape[END]) - 1
    tape[END] = at * 1.0
    return tape[at]
