"""How many workers an executor has."""

from __future__ import annotations

from typing import Any


def workers_of(executor: Any) -> int:
    """How many workers an executor has, as far as it says."""
    client = getattr(executor, "_client", None)
    if client is not None:  # Dask
        try:
            return int(sum(client.nthreads().values())) or 1
        except Exception:
            return 1  # the scheduler is gone, as whoever sends work is going to be told
    return int(getattr(executor, "count", 0) or getattr(executor, "_max_workers", 0) or 1)
