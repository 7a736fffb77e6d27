"""The outcomes of an attempt at a step.

ACCEPTED: it is the step. CUT: it met a kink, and the step ends there. UNSURE: it may lie beside one, and is
tried once more. REJECTED: its error is too large, or its end cannot be computed.
"""

ACCEPTED, CUT, UNSURE, REJECTED = range(4)
