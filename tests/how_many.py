"""How many examples a property test tries: few in the normal run, many in `tox -e thorough`."""

from __future__ import annotations

import os

FACTOR = int(os.environ.get("COSIM_TEST_FACTOR", "1"))


def many(examples: int) -> int:
    """The number for this run."""
    return examples * FACTOR
