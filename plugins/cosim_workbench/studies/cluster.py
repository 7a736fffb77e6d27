"""A Dask cluster as an executor."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import cast

import cosim


@contextmanager
def cluster_executor(address: str) -> Iterator[Executor]:
    """The workers of a Dask scheduler; `CosimError` where there is none, or Dask is not installed."""
    try:
        from distributed import Client
    except ImportError:
        text = "a cluster needs Dask, which is not installed: pip install 'cosim-framework[dask]'"
        raise cosim.CosimError(text) from None
    try:
        client = Client(address, timeout=20)
    except (OSError, ValueError, TimeoutError) as error:
        raise cosim.CosimError(f"{address}: no Dask scheduler answers: {error}") from None
    try:
        yield cast(Executor, client.get_executor(retries=3))
    finally:
        client.close()
