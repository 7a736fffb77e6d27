"""Numbers at the end of a tape, for functions that are written as recording ones by hand."""

from cosim_compiler.errors import FullTapeError


def push(tape, number):
    """Put a number behind the last one.

    Raises
    ------
    FullTapeError
        The tape has no more room; it says so in its second number, too.
    """
    at = int(tape[0])
    if at + 1 > len(tape):
        tape[1] = 1.0
        raise FullTapeError()
    tape[at] = number
    tape[0] = at + 1.0


def reserve(tape, count):
    """Where the next so many numbers stand, which may be any; fails as `push`."""
    at = int(tape[0])
    if at + count > len(tape):
        tape[1] = 1.0
        raise FullTapeError()
    tape[0] = float(at + count)
    return at


def pop(tape):
    """Take the last number."""
    at = int(tape[0]) - 1
    tape[0] = at * 1.0
    return tape[at]
