"""What happened inside participants, told with their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import cosim
from cosim_master.abilities import RecordsEvents


def events_inside(participants: Mapping[str, cosim.Participant]) -> list[cosim.EventRecord]:
    """Events of the participants that record some; handlers and variables with the participant's name.

    Parameters
    ----------
    participants : mapping of str to Participant
        Those that record events (`RecordsEvents`) are asked.
    """
    return [
        _named(name, event)
        for name, participant in participants.items()
        if isinstance(participant, RecordsEvents)
        for event in tuple(participant.events)
    ]


def in_order(*lists: Iterable[cosim.EventRecord]) -> list[cosim.EventRecord]:
    """All events by time; those of one instant in the order of the lists."""
    return sorted((event for events in lists for event in events), key=lambda event: event.time)


def without_returns(
    returned: Iterable[cosim.EventRecord], told: Iterable[cosim.EventRecord]
) -> list[cosim.EventRecord]:
    """The events of the coupling but for early returns of which the participant itself tells more."""
    known = {(event.handler.partition(".")[0], event.time) for event in told}
    triggered = cosim.EventCause.TRIGGERED
    return [e for e in returned if e.cause is not triggered or (e.handler, e.time) not in known]


def _named(name: str, event: cosim.EventRecord) -> cosim.EventRecord:
    before, after = (
        {f"{name}.{path}": value for path, value in values.items()} for values in (event.before, event.after)
    )
    changed = tuple(f"{name}.{path}" for path in event.changed)
    return replace(event, handler=f"{name}.{event.handler}", changed=changed, before=before, after=after)
