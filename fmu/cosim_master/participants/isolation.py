"""The choice of participants that run in separate processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import cosim
from cosim.kit import matches
from cosim_master.participants.instance_participant import InstanceParticipant
from cosim_master.participants.process_participant import ProcessParticipant


class Isolation(NamedTuple):
    """The choice of participants that run in separate processes, by the options of the command line.

    Attributes
    ----------
    patterns : tuple of str or None
        Names of participants; None leaves the choice to the scenario; an empty tuple isolates none.
    """

    patterns: tuple[str, ...] | None = None

    @classmethod
    def of(cls, isolate: str | None, in_process: bool) -> Isolation:
        """The choice by the options ``--isolate``, ``--isolate "plant,wheel_*"``, ``--in-process``."""
        if in_process:
            return cls(())
        return cls() if isolate is None else cls(tuple(text.strip() for text in isolate.split(",")))

    def applies(self, name: str, declared: bool) -> bool:
        """Whether a participant runs in a process of its own; `declared`: whether the scenario says so."""
        if self.patterns is None:
            return declared
        if not self.patterns:
            return False
        return declared or any(matches(name, pattern) for pattern in self.patterns)

    def check(self, names: Iterable[str]) -> None:
        """Raise `LookUpError` for a pattern that matches no participant."""
        listed = list(names)
        for pattern in self.patterns or ():
            if not any(matches(name, pattern) for name in listed):
                raise cosim.LookUpError("participant for --isolate", pattern, listed)


DECLARED = Isolation()
"""The choice of the scenario."""


def places_of_fmus(participants: Mapping[str, cosim.Participant]) -> dict[str, list[str]]:
    """Names of FMUs whose code runs ``inside`` the process of the run, ``isolated`` and ``remote`` ones."""
    others = {name: part for name, part in participants.items() if isinstance(part, ProcessParticipant)}
    return {
        "inside": [name for name, part in participants.items() if isinstance(part, InstanceParticipant)],
        "isolated": [name for name, part in others.items() if part.host is None],
        "remote": [name for name, part in others.items() if part.host is not None],
    }


def hosts_of_fmus(participants: Mapping[str, cosim.Participant]) -> dict[str, list[str]]:
    """Names of FMUs whose code runs on another machine, by its address."""
    hosts: dict[str, list[str]] = {}
    for name, part in participants.items():
        if isinstance(part, ProcessParticipant) and part.host is not None:
            hosts.setdefault(str(part.host), []).append(name)
    return hosts
