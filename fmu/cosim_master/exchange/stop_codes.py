"""Why the interpreter of exchanges stops, and what is under way in an algorithm."""

# Stop codes
DONE, SET_FAILED, STEP_FAILED, READ_FAILED, NOT_FINITE, STEP_LEFT, SLOPES_FAILED = range(7)
SAVE_FAILED, RESTORE_FAILED, NOT_SETTLED, DERIVES, PAUSED, SAVES, RESTORES, TOGETHER, CUTS = range(7, 16)
"""Beyond what failed: directional derivatives are wanted (DERIVES), the budget of exchanges or rows is used
up (PAUSED), a state is saved or restored in a step in which Python had to do something (SAVES, RESTORES), all
step in several threads (TOGETHER), the next part of a communication step is wanted (CUTS)."""

# `Progress.under_way`
BETWEEN, DECIDING, EXCHANGING, CUT = range(4)
