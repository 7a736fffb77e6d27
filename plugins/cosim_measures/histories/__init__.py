"""Values of signals in the past, as kernel functions: interpolation, its error, points that a history lacks.

Public: measures of other packages that look back import from here.
"""

from cosim_measures.histories.lookup import before_start as before_start
from cosim_measures.histories.lookup import delayed_value as delayed_value
from cosim_measures.histories.lookup import extrapolation_error as extrapolation_error
from cosim_measures.histories.lookup import has_derivatives as has_derivatives
from cosim_measures.histories.lookup import interpolate_history as interpolate_history
from cosim_measures.histories.lookup import value_in_piece as value_in_piece
from cosim_measures.histories.refinement import refine_history as refine_history
