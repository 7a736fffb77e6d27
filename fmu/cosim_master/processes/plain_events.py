"""Records of events as plain data: in checkpoints, and in messages between processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import cosim

TUPLES = ("window", "witness_values", "changed")


def plain_event(event: cosim.EventRecord) -> dict[str, Any]:
    """A record as numbers, text, and lists and dicts of these, for `event_of_plain`."""
    plain = {field.name: getattr(event, field.name) for field in fields(event)}
    return {**plain, "cause": int(event.cause), "severity": int(event.severity)}


def event_of_plain(plain: Mapping[str, Any]) -> cosim.EventRecord:
    """The event record that `plain_event` made plain."""
    tuples = {name: tuple(plain[name]) for name in TUPLES}
    codes = {"cause": cosim.EventCause(plain["cause"]), "severity": cosim.Severity(plain["severity"])}
    return cosim.EventRecord(**{**plain, **tuples, **codes})
