"""What a run calls by its address and the walker does not know."""

from __future__ import annotations

from cosim.contracts.method_layout import TUNE_SIGNATURE
from cosim.walker import plain_blocks


def call_tune(address, arguments):
    """What of an integrator's coefficients depends on the accuracy."""
    plain_blocks[address](*arguments)


call_tune.__dict__["__indirect__"] = TUNE_SIGNATURE
