"""Record of what events did."""

from __future__ import annotations

from dataclasses import dataclass

from cosim.cause import EventCause
from cosim.simulation.status import Severity


@dataclass(frozen=True)
class EventRecord:
    """One handled event.

    Attributes
    ----------
    time : float
        s
    cause : EventCause
    does : str
        "unrestricted", "discrete" or "publish".
    handler : str
        ``"ball.bounce"``.
    window : (float, float)
        Between which times it happened, s; the same twice unless it was located.
    witness : str
        Of a triggered event.
    severity : Severity
    message : str
    changed : tuple of str
        Paths of the variables that it changed.
    """

    time: float
    cause: EventCause
    does: str
    handler: str
    window: tuple[float, float]
    witness: str = ""
    severity: Severity = Severity.SUCCEEDED
    message: str = ""
    changed: tuple[str, ...] = ()
