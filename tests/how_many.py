"""The number of examples that a property test tries: few in a short run, many in `tox -e thorough`."""

from __future__ import annotations

import os

FACTOR = int(os.environ.get("COSIM_TEST_FACTOR", "1"))


def many(examples: int) -> int:
    """The number of examples in this run, from that in a short run."""
    return examples * FACTOR
