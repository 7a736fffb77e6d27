"""Which participants run in processes of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import cosim
from cosim.kit import matches
from cosim_master.participants.instance_participant import InstanceParticipant
from cosim_master.participants.process_participant import ProcessParticipant


class Isolation(NamedTuple):
    """What the command line says beside a scenario.

    Attributes
    ----------
    patterns : tuple of str or None
        Names of participants; None leaves it to the scenario, nothing among them means none.
    """

    patterns: tuple[str, ...] | None = None

    @classmethod
    def of(cls, isolate: str | None, in_process: bool) -> Isolation:
        """As it was typed: ``--isolate``, ``--isolate "plant,wheel_*"``, ``--in-process``."""
        if in_process:
            return cls(())
        return cls() if isolate is None else cls(tuple(text.strip() for text in isolate.split(",")))

    def applies(self, name: str, said: bool) -> bool:
        """Whether a participant runs in a process of its own, if the scenario says it, or does not."""
        if self.patterns is None:
            return said
        if not self.patterns:
            return False
        return said or any(matches(name, pattern) for pattern in self.patterns)

    def check(self, names: Iterable[str]) -> None:
        """Raise `LookUpError` for a pattern that means none of the participants."""
        known = list(names)
        for pattern in self.patterns or ():
            if not any(matches(name, pattern) for name in known):
                raise cosim.LookUpError("participant for --isolate", pattern, known)


AS_SAID = Isolation()
"""As the scenario says."""


def places_of_fmus(participants: Mapping[str, cosim.Participant]) -> dict[str, list[str]]:
    """Names of FMUs whose code runs ``inside`` the process of the run, and ``isolated`` ones."""
    return {
        "inside": [name for name, part in participants.items() if isinstance(part, InstanceParticipant)],
        "isolated": [name for name, part in participants.items() if isinstance(part, ProcessParticipant)],
    }
