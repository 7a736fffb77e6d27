"""Watching the status slots of a system."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cosim.simulation.event_log import Finding
from cosim.system.state import State
from cosim.system.system import System


class StatusWatch:
    """Tells when a slot that has a notice is no longer 0 at the end of a step, once until it is 0 again.

    Parameters
    ----------
    system : System
    tell : callable
        Gets each `Finding`.
    """

    def __init__(self, system: System, tell: Callable[[Finding], None]) -> None:
        slots = system._assembly.layout.slots
        found = [
            (f"{name}.{d.name}", d.options["notice"], slots[name, d.name])
            for name, part in system.parts.items()
            for d in part.declarations.values()
            if d.kind == "cache" and d.options.get("notice")
        ]
        self._found = [(path, text) for path, text, _ in found]
        self._offsets = np.array([slot.offset for _, _, slot in found], dtype=np.int64)
        self._told = np.zeros(len(found), dtype=np.bool_)
        self._tell = tell

    @property
    def looks(self) -> bool:
        """Whether there are such slots."""
        return bool(self._offsets.size)

    def start(self) -> None:
        """Forget what was told."""
        self._told[:] = False

    def look(self, state: State) -> None:
        """Tell what is new; the State is realized to Acceleration."""
        if not self._offsets.size:
            return
        now = state._arrays["c"][self._offsets] != 0.0
        if now.any():
            for i in np.flatnonzero(now & ~self._told):
                path, text = self._found[i]
                self._tell(Finding(state.time, "status", path, text))
        self._told = now
