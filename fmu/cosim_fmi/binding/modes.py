"""The modes of an instance: the state machines of FMI 2.0 and 3.0 in common words.

FMI 1.0 has no initialization mode and no event mode; its instance passes through them without a call
(`Fmi1Instance`).
"""

from __future__ import annotations

from collections.abc import Mapping

NEW = "new"
INSTANTIATED = "instantiated"
CONFIGURING = "in configuration mode"
INITIALIZING = "initializing"
EVENT = "in event mode"
CONTINUOUS = "in continuous-time mode"
STEPPING = "stepping"
TERMINATED = "terminated"
FAILED = "failed"
FATAL = "fatal"
FREED = "freed"

RUNNING = frozenset((EVENT, CONTINUOUS, STEPPING))
INITIALIZED = RUNNING | {INITIALIZING}
LIVE = INITIALIZED | {INSTANTIATED, CONFIGURING, TERMINATED}
"""All modes of an instance that has not failed."""
FREEABLE = LIVE | {FAILED}


def allowed_modes_since_fmi2(
    readable: frozenset[str], saving: frozenset[str], of_states: Mapping[str, str]
) -> dict[str, frozenset[str]]:
    """For each function that FMI 2.0 and 3.0 have in common, the modes in which it may be called.

    Parameters
    ----------
    readable, saving : frozenset of str
        Modes in which variables may be read, and in which saved states may be restored.
    of_states : mapping of str to str
        The names of the functions of saved states; one of the keys is "get".
    """
    reading = ("Get", "GetDirectionalDerivative", "GetContinuousStates", "GetEventIndicators")
    return {
        "SetDebugLogging": FREEABLE,
        "EnterInitializationMode": frozenset((INSTANTIATED,)),
        "ExitInitializationMode": frozenset((INITIALIZING,)),
        "Terminate": RUNNING,
        "Reset": FREEABLE,
        **dict.fromkeys(of_states.values(), saving),
        of_states["get"]: LIVE,  # in place of `saving`: a failed instance has no state worth saving
        "DoStep": frozenset((STEPPING,)),
        "EnterContinuousTimeMode": frozenset((EVENT,)),
        "CompletedIntegratorStep": frozenset((CONTINUOUS,)),
        "SetTime": frozenset((EVENT, CONTINUOUS)),
        "SetContinuousStates": frozenset((CONTINUOUS,)),
        **dict.fromkeys((*reading, "GetNominalsOfContinuousStates"), readable),
    }
