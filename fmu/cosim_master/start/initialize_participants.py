"""The beginning of a run: participants are initialized and their values made consistent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any

import cosim
from cosim_fmi.instances.same_folder import same_folder
from cosim_master.abilities import InitializationMode, ReportsCloseError, TellsWarnings
from cosim_master.coupling.feedthrough import Port
from cosim_master.coupling.link import Link
from cosim_master.coupling.stop_requested import StopRequested
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.start.initial_exchange import make_consistent


def initialize_participants(
    coupled: CoupledParticipants,
    values: Mapping[str, Mapping[str, Any]],
    tolerances: Mapping[str, float | None],
    times: tuple[float, float | None],
    parameter_links: Sequence[Link],
    stack: ExitStack,
) -> dict[Port, Any]:
    """Initialize all participants, make inputs and outputs consistent, end their initialization modes.

    Parameters
    ----------
    coupled : CoupledParticipants
    values : mapping of str to mapping
        Start values by participant.
    tolerances : mapping of str to float or None
        By participant.
    times : (float, float or None)
        Start and end, s.
    parameter_links : sequence of Link
        Connections that pass a value once.
    stack : ExitStack
        Closes the participants.

    Returns
    -------
    dict of (str, str) to object
        What the inputs have been given.
    """
    start, stop = times
    coupled.time = start
    for name, participant in coupled.participants.items():
        stack.callback(_close, name, participant, coupled.statistics.warnings)
        with same_folder():
            coupled.guarded(name, participant.initialize, start, stop, values[name], tolerances[name])
    given: dict[Port, Any] = {}
    joint_links = [] if coupled.joint is None else coupled.joint.links
    make_consistent(coupled, coupled.descriptions, given, [*joint_links, *parameter_links])
    waiting = {n: p for n, p in coupled.participants.items() if isinstance(p, InitializationMode)}
    for name, ready in waiting.items():
        try:
            coupled.guarded(name, ready.exit_initialization)
        except StopRequested as request:
            coupled.stop(name, request)
    if waiting:
        make_consistent(coupled, coupled.descriptions, given)
    return given


def _close(name: str, participant: cosim.Participant, warnings: list[str]) -> None:
    with suppress(Exception):
        if isinstance(participant, TellsWarnings):
            warnings += [f"{name}: {text}" for text in participant.warnings]
    with suppress(Exception):  # a close that fails hides neither the results nor what failed before
        participant.close()
        if isinstance(participant, ReportsCloseError) and (why := participant.close_error()):
            warnings.append(f"{name}: it did not end as it should: {why}")
