"""Mechanisms in motion: shapes of bodies, and a page of HTML that plays a run in 3-D."""

import cosim.kit

__getattr__, __dir__ = cosim.kit.late_names(__name__)
