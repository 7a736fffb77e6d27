"""Measures of signals: delays, sums, integrals, sources."""

import cosim.kit

__getattr__, __dir__ = cosim.kit.late_names(__name__)
