"""Values of signals in the past, as kernel functions: interpolation, its error, points that a history lacks.

Public: measures of other packages that look back import from here. They are called with ``s.past`` of a view,
or with two arguments, ``past, past_ring``.
"""

from cosim_measures.histories.flat import before_start as before_start
from cosim_measures.histories.flat import delayed_value as delayed_value
from cosim_measures.histories.flat import extrapolation_error as extrapolation_error
from cosim_measures.histories.flat import has_derivatives as has_derivatives
from cosim_measures.histories.flat import interpolate_history as interpolate_history
from cosim_measures.histories.flat import refine_history as refine_history
from cosim_measures.histories.flat import value_in_piece as value_in_piece

__all__ = [
    "before_start",
    "delayed_value",
    "extrapolation_error",
    "has_derivatives",
    "interpolate_history",
    "refine_history",
    "value_in_piece",
]
