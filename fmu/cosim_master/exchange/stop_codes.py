"""The stop codes of the interpreter of exchanges, and the phases of an algorithm."""

# Stop codes
DONE, SET_FAILED, STEP_FAILED, READ_FAILED, NOT_FINITE, STEP_LEFT, SLOPES_FAILED = range(7)
SAVE_FAILED, RESTORE_FAILED, NOT_SETTLED, DERIVES, PAUSED, SAVES, RESTORES, TOGETHER, CUTS = range(7, 16)
"""Codes without a failure, for the work of Python:

=========================== ======================================================================
`STEP_LEFT`                 take a step that reaches an event
`DERIVES`                   write directional derivatives of the interface
`PAUSED`                    empty the rows, or check for Ctrl-C: the budget of both is used up
`SAVES`, `RESTORES`         save or restore a state in a step in which Python was called
`TOGETHER`                  step all participants in several threads
`CUTS`                      begin the next part of a communication step
=========================== ======================================================================
"""

# `Progress.under_way`
BETWEEN, DECIDING, EXCHANGING, CUT = range(4)
