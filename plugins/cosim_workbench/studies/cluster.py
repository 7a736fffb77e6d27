"""A Dask cluster as an executor."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from typing import cast

import cosim
from cosim_workbench.optional_library import import_optional

PATIENCE = 20.0
"""Time in which a scheduler has to answer, s."""


@contextmanager
def cluster_executor(address: str) -> Iterator[Executor]:
    """The workers of a Dask scheduler; `CosimError` where there is none, or Dask is not installed."""
    distributed = import_optional("distributed", "a cluster", "dask", "Dask")
    try:
        client = distributed.Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise cosim.CosimError(
            f"{address}: no Dask scheduler answers ({error}); start one with `dask scheduler`"
        ) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors are raised with messages of our own
    try:
        yield cast(Executor, client.get_executor(retries=3))
    finally:
        with suppress(Exception):  # the scheduler may have gone
            client.close(timeout=5)
