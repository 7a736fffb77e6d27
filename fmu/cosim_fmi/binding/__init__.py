"""Calls of FMUs, whichever version of FMI they are of.

`open_library` loads one, `new_instance` makes an `FmuInstance` of it: one class for each version, which knows
the signatures of its functions and which call is allowed when. Nothing here imports more than the standard
library, so that `cosim validate` can run an FMU in a bare interpreter.
"""
