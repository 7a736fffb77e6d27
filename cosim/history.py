"""Names of `cosim.history_buffer` for imports that have not moved there yet."""

from __future__ import annotations

from cosim.history_buffer import append_to_history as append
from cosim.history_buffer import grow as grow
from cosim.history_buffer import interpolate_history as interpolate
from cosim.history_buffer import trim_history as trim

__all__ = ["append", "grow", "interpolate", "trim"]
