"""Expressions as C."""

from __future__ import annotations

from cosim_compiler.printers.c_arithmetic import ArithmeticWriter
from cosim_compiler.printers.c_calls import CallWriter
from cosim_compiler.printers.c_views import ViewWriter


class ValueWriter(ArithmeticWriter, ViewWriter, CallWriter):
    """Writes all expressions, and the lines that have to stand before them; see `c99.FunctionWriter`."""
