"""What a run calls by its address and the walker does not know."""

from __future__ import annotations

from cosim.contracts.method_layout import TUNE_SIGNATURE
from cosim_compiler.calls import indirect_call

call_tune = indirect_call(TUNE_SIGNATURE)
"""What of an integrator's coefficients depends on the accuracy."""
