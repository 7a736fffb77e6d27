"""Integrators: explicit and implicit methods, methods for second-order form, and those of other libraries."""

import cosim.kit

__getattr__, __dir__ = cosim.kit.late_names(__name__)
