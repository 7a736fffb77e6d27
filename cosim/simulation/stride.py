"""How many steps one call of the Step may take."""

from __future__ import annotations

FIRST_STRIDE, LONGEST_STRIDE = 16, 1_000_000
MOST_VALUES = 2**17  # recorded in one stride, 1 MB: a run that is streamed needs no more
PATIENCE = 0.1  # s, wall-clock time, that such a call may take: Ctrl-C waits for it


def next_stride(stride: int, seconds: float, values: int) -> int:
    """The number of steps that would take a tenth of a second and record no more than 1 MB.

    Parameters
    ----------
    stride : int
        Steps that the last call was allowed.
    seconds : float
        Wall-clock time that it took.
    values : int
        Numbers that it recorded.
    """
    longer = min(16.0, PATIENCE / max(seconds, 1e-6), MOST_VALUES / max(values, 1))
    return min(max(1, int(stride * longer)), LONGEST_STRIDE)
