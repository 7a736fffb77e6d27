"""Signals: sources with units, and blocks."""

import cosim.kit

__getattr__, __dir__ = cosim.kit.late_names(__name__)
