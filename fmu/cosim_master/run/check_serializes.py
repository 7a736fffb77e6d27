"""The check, before a run, that its checkpoints can be written."""

from __future__ import annotations

from collections.abc import Mapping

import cosim
from cosim.kit import ParticipantDescription, ResultStream


def check_serializes(descriptions: Mapping[str, ParticipantDescription], stream: ResultStream | None) -> None:
    """Refuse, before the run, a co-simulation that cannot be saved.

    Raises
    ------
    ModelError
        A problem for each participant that cannot serialize its state, and for rows that go to a stream.
    """
    problems = [
        cosim.Problem(
            f"participants.{name}",
            f"cannot be saved in a checkpoint: a {description.kind} that does not serialize its state"
            + (" (canSerializeFMUstate)" if "FMI" in description.kind else ""),
        )
        for name, description in descriptions.items()
        if not description.can_serialize
    ]
    if stream is not None:
        text = "rows that have gone to a stream are not saved: hold the results in memory"
        problems.append(cosim.Problem("checkpoint", text))
    if problems:
        raise cosim.ModelError(problems)
