"""The outcomes of an attempt at a step.

ACCEPTED: the attempt becomes the step. CUT: a kink lies inside; the step is repeated up to the kink. UNSURE:
a kink may be near; the attempt is repeated once. REJECTED: the error is too large, or the end cannot be
computed.
"""

ACCEPTED, CUT, UNSURE, REJECTED = range(4)
