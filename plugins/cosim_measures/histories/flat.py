"""Functions of histories for other packages: with ``s.past`` of a view, or with ``past, past_ring``."""

from __future__ import annotations

from cosim.kit import History, flattened
from cosim_measures.histories import lookup, refinement

before_start = flattened(lookup.before_start, past=History)
delayed_value = flattened(lookup.delayed_value, past=History)
extrapolation_error = flattened(lookup.extrapolation_error, past=History)
has_derivatives = flattened(lookup.has_derivatives, past=History)
interpolate_history = flattened(lookup.interpolate_history, past=History)
refine_history = flattened(refinement.refine_history, past=History)
value_in_piece = flattened(lookup.value_in_piece, past=History)
