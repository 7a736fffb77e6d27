"""The events of a joint system as those of its members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import cosim
from cosim_master.joint.joint_model import JointPart
from cosim_master.model_exchange.fmu_model import INDICATOR
from cosim_master.model_exchange.model_exchange_system import STATE_EVENT, TIME_EVENT, indicator_of

STATES = "fmu.z"


def events_of_member(
    events: Sequence[cosim.EventRecord], part: JointPart, due: Mapping[float, Sequence[str]]
) -> list[cosim.EventRecord]:
    """The events of one of several members, with its own indicators and states.

    Parameters
    ----------
    events : sequence of EventRecord
        All events of the system.
    part : JointPart
        The member.
    due : mapping of float to sequence of str
        The members that requested a time event, by its time (s).

    Returns
    -------
    list of EventRecord
        Those of its event indicators, its time events, and its requests at ends of steps.
    """
    own_events = []
    for event in events:
        indicator = indicator_of(event)
        if indicator is not None:
            place = indicator - part.indicators.start
            if not 0 <= place < part.model.indicators:
                continue
            event = replace(
                event,
                handler=f"{STATE_EVENT}{place}",
                witness=f"{INDICATOR}{place}",
                name=f"indicator_{place}",
            )
        elif event.handler == TIME_EVENT:
            if part.name not in due.get(event.time, [part.name]):
                continue
        elif not event.changed or not part.model.wants_steps:
            continue
        own_events.append(_with_states_of(event, part))
    return own_events


def _with_states_of(event: cosim.EventRecord, part: JointPart) -> cosim.EventRecord:
    """The record with the states of one member alone."""
    if STATES not in event.changed:
        return event
    before, after = ({**side, STATES: side[STATES][part.states]} for side in (event.before, event.after))
    changed = tuple(
        path for path in event.changed if path != STATES or list(before[path]) != list(after[path])
    )
    return replace(
        event,
        changed=changed,
        before={n: v for n, v in before.items() if n in changed},
        after={n: v for n, v in after.items() if n in changed},
    )
