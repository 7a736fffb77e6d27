"""The modes of an instance: the state machines of FMI 2.0 and 3.0 in common words.

FMI 1.0 has no initialization mode and no event mode; its instance passes through them without a call
(`Fmi1Instance`).
"""

from __future__ import annotations

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
LIVING = INITIALIZED | {INSTANTIATED, CONFIGURING, TERMINATED}
FREEABLE = LIVING | {FAILED}
