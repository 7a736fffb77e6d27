"""The records of a batch: which runs it has, where these start, and where their results go.

Fields that end with ``_at`` are addresses of arrays or of other records.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cosim.kit import ARRAYS, ArrayPlace, Record, integers_at, place_in, rows_of, width_of

BATCH_SIGNATURE = "iif>i"
REDUCTION_SIGNATURE = "FF>f"
"""The signature of a reduction: times, and the values of its signals, one signal behind the other."""
BYTES_PER_NUMBER = 8


class Batch(Record):
    """Runs that are done in one call."""

    next: int  # the number of the next run, or of the run that has begun
    last: int  # the number behind that of the last run
    phase: int  # the phase of that run: FRESH …
    stop: int  # address of an integer: not 0 where all threads are to stop
    images: int  # the number of `Image` records
    images_at: int
    room: int  # how long `h` may become before Python has to make it longer
    changes: int  # how many numbers differ from run to run; their `Change` records; their values by run
    changes_at: int
    values_at: int
    points: int  # of the grid
    series_at: int  # values by run, point and signal; 0: they are not kept
    final_at: int  # values by run and signal, at the end
    reductions: int  # how many; their `ListedReduction` records; their results by run
    reductions_at: int
    reduced_at: int
    columns_at: int  # memory for the times and columns of a reduction
    codes_at: int  # by run: its code, the time at its end (s), its counts
    ends_at: int
    counts_at: int


class Image(Record):
    """An array as it is at the start of each run."""

    array: int  # its number among those of a run
    at: int
    length: int


class Change(Record):
    """A variable that differs from run to run."""

    array: int  # its number among those of a run
    place: int


class ListedReduction(Record):
    """A reduction: its address, and the columns that it takes."""

    function: int
    columns_at: int
    columns: int


class RunCounts(Record):
    """The counts of a run."""

    steps: int
    events: int


FRESH, BEGUN, ADVANCING, PENDING, ENDED = range(5)
"""The phases of a run: the arrays still have values of another run; they have its own start values; it
advances; events that are due at its end are pending; a handler has ended it at its start."""

_NAMES = [name for name, _, _ in ARRAYS]
HISTORY, INTEGERS = _NAMES.index("h"), _NAMES.index("k")
"""Numbers of arrays of a run: of the histories, and of the one that has whole numbers."""
HISTORY_LENGTH = width_of(ArrayPlace) * HISTORY + place_in(ArrayPlace, "length")
"""The place of the length of `h` in `CompiledStep.head`."""


def rows_at(kind: type[Record]) -> Callable[..., Any]:
    """A kernel function that finds records of a kind by their address."""
    width = width_of(kind)

    def find_rows(address, count):
        return rows_of(kind, integers_at(address, width * count), 0, count)

    return find_rows


batches_at, arrays_of_run, images_at, changes_at, reductions_at, counts_at = map(
    rows_at, (Batch, ArrayPlace, Image, Change, ListedReduction, RunCounts)
)
