"""The entry point of the command line: it imports nothing before it can answer Ctrl-C and SIGTERM."""

from __future__ import annotations

import sys

from cosim.simulation.early_sigterm import TERMINATED, answer_early_sigterm, answer_no_more

SEARCHED_AFTER = 150_000
"""Containers that a command makes before garbage is searched for: nearly all of them stay."""
TYPE_CHECKING = bool(0)
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        Words after ``cosim``; by default those of this process, which does nothing else then.
    """
    try:
        import atexit
        import gc

        if argv is None:
            answer_early_sigterm()
            gc.set_threshold(SEARCHED_AFTER)  # after 700, all searches of a short run take a tenth of it

        from cosim.command_line.dispatch import dispatch
        from cosim.command_line.supervised import record_status

        atexit.register(gc.freeze)  # what ends with the process is not searched for garbage: 0.2 s
        status = dispatch(sys.argv[1:] if argv is None else argv, is_program=argv is None)
        record_status(status)
        if argv is None:
            answer_no_more()
    except KeyboardInterrupt as error:  # while modules are imported, or after all was said
        print(str(error) or "interrupted", file=sys.stderr)
        status = 143 if str(error) == TERMINATED else 130
        if argv is None:
            answer_no_more()
    # Python ends as after Ctrl-C where a KeyboardInterrupt came out of an `exec` (of a dataclass);
    # the next `exec` forgets it
    exec("")
    return status
