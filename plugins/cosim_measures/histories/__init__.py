"""Values of signals in the past, as kernel functions: interpolation, its error, points that a history lacks.

Public: measures of other packages that look back import from here. `past` is ``s.past`` of a view, or two
arguments, ``past, past_ring``.
"""

from cosim.kit import History, flattened
from cosim_measures.histories import lookup, refinement

before_start = flattened(lookup.before_start, past=History)
delayed_value = flattened(lookup.delayed_value, past=History)
extrapolation_error = flattened(lookup.extrapolation_error, past=History)
has_derivatives = flattened(lookup.has_derivatives, past=History)
interpolate_history = flattened(lookup.interpolate_history, past=History)
refine_history = flattened(refinement.refine_history, past=History)
value_in_piece = flattened(lookup.value_in_piece, past=History)
