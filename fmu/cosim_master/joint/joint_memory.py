"""The part of the state of a joint system that is in Python: neither in the State nor in FMUs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cosim_master.joint.joint_model import JointPart

LENGTH = 8
"""Bytes of the length of the text in `JointMemory.to_bytes`."""


class JointMemory(NamedTuple):
    """The memory in Python at an instant.

    Attributes
    ----------
    events : int
        The number of events.
    next_events : list of float
        The next event of each part, s.
    written : dict of str to dict
        By member, the last values of its discrete inputs.
    """

    events: int
    next_events: list[float]
    written: dict[str, Any]

    @classmethod
    def of(cls, events: int, parts: Sequence[JointPart], members: Mapping[str, Any]) -> JointMemory:
        """The present memory of the parts and members, with this number of events."""
        written = {name: member.written for name, member in members.items()}
        return cls(events, [part.next_event for part in parts], written)

    def apply(self, parts: Sequence[JointPart], members: Mapping[str, Any]) -> None:
        """Restore the memory of the parts and members; the caller removes later events."""
        for part, next_event in zip(parts, self.next_events, strict=True):
            part.next_event = next_event
        for name, written in self.written.items():
            members[name].written = written

    def to_bytes(self, loops: Any) -> bytes:
        """The memory as bytes, after their number; `loops` is the memory of `JointWiring`."""
        fields = {"events": self.events, "next": self.next_events, "loops": loops, "written": self.written}
        text = json.dumps(fields).encode()
        return len(text).to_bytes(LENGTH, "little") + text

    @classmethod
    def from_bytes(cls, saved: bytes) -> tuple[JointMemory, Any, bytes]:
        """The memory, the memory of the loops, and the bytes that follow those of `to_bytes`."""
        end = LENGTH + int.from_bytes(saved[:LENGTH], "little")
        fields = json.loads(saved[LENGTH:end])
        return cls(fields["events"], fields["next"], fields["written"]), fields["loops"], saved[end:]


class SavedMemory(NamedTuple):
    """The memory in Python at a state that compiled code saves.

    Attributes
    ----------
    memory : JointMemory
    modes : list of str
        The mode of the instance of each part, which compiled code does not restore.
    """

    memory: JointMemory
    modes: list[str]
