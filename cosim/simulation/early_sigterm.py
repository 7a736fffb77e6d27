"""SIGTERM while the program has just begun and imports its modules; this one imports next to nothing."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` wraps

TYPE_CHECKING = bool(0)
if TYPE_CHECKING:
    from types import FrameType

TERMINATED = "terminated"


def answer_early_sigterm() -> None:
    """Make SIGTERM end the program as Ctrl-C does, until `answering_sigterm` takes over."""
    if _signal.getsignal(_signal.SIGTERM) == _signal.SIG_DFL:
        _signal.signal(_signal.SIGTERM, terminate_early)


def answer_no_more() -> None:
    """Let Ctrl-C and SIGTERM end the program at once: all was said, and Python is about to end."""
    for number in (_signal.SIGINT, _signal.SIGTERM):
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, _signal.SIG_DFL)


def terminate_early(number: int, frame: FrameType | None) -> None:
    """The handler of SIGTERM meanwhile."""
    raise KeyboardInterrupt(TERMINATED)
