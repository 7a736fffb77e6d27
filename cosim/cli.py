"""The entry point of the command line: it imports nothing before it can answer Ctrl-C."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        Words after ``cosim``; by default those of this process.
    """
    try:
        import atexit
        import gc

        from cosim.command_line.dispatch import dispatch

        atexit.register(gc.freeze)  # what ends with the process is not searched for garbage: 0.2 s
        return dispatch(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:  # while modules are imported, or after all was said
        print("interrupted", file=sys.stderr)
        return 130
