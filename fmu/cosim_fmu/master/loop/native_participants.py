"""Which participants compiled code calls by their C functions, and which in Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_fmu.abilities import NativeCalls, StepsNatively, StepsTypesNatively
from cosim_fmu.master.co_simulation_error import CoSimulationError
from cosim_fmu.master.loop.communication_points import CommunicationPoints
from cosim_fmu.master.loop.coupled_participants import CoupledParticipants
from cosim_fmu.master.loop.not_compiled_error import NotCompiledError

NUMBERS = ("real", "integer", "boolean")


def native_participants(
    coupled: CoupledParticipants,
    points: CommunicationPoints,
    flags: NDArray[np.float64],
    along: bool,
    goes_back: bool,
) -> dict[str, NativeCalls | None]:
    """The C functions of each participant; None for one that is called in Python at its place.

    Parameters
    ----------
    coupled : CoupledParticipants
    points : CommunicationPoints
    flags : ndarray, shape (participants, k)
        A row for each, which its functions write.
    along : bool
        Whether inputs run along lines.
    goes_back : bool
        Whether steps are repeated from a saved state.

    Raises
    ------
    NotCompiledError
        There are none, what one exchanges cannot be called so, or the run is too short to be worth it.
    """
    _check_worth(coupled, points)
    found: dict[str, NativeCalls | None] = {}
    reasons: dict[str, str] = {}
    try:
        for name, row in zip(coupled.participants, flags, strict=True):
            found[name] = None
            try:
                found[name] = _native_calls(coupled, name, row, along, goes_back)
            except _NoFunctionsError as reason:
                reasons[name] = str(reason)
        if reasons:
            _check_reasons(coupled, reasons)
    except BaseException:
        _leave(found)
        raise
    return found


def _leave(found: dict[str, NativeCalls | None]) -> None:
    """These participants are called in Python after all."""
    for calls in found.values():
        if calls is not None and calls.leave is not None:
            calls.leave()


def _check_reasons(coupled: CoupledParticipants, reasons: dict[str, str]) -> None:
    """Refuse participants without C functions, for these reasons, that cannot be called in Python."""
    why = next(iter(reasons.values()))
    if len(reasons) == len(coupled.participants) or coupled.ticking or coupled.threads.count > 1:
        raise NotCompiledError(why)
    for name in reasons:
        variables = coupled.descriptions[name].variables
        for exchanged in (*coupled.input_names[name], *coupled.reads[name]):
            kind = variables[exchanged].type
            if kind not in NUMBERS:
                raise NotCompiledError(f"{name}.{exchanged} is {kind}")


class _NoFunctionsError(Exception):
    """Why a participant is called in Python."""


def _native_calls(
    coupled: CoupledParticipants, name: str, flags: NDArray[np.float64], along: bool, goes_back: bool
) -> NativeCalls:
    participant = coupled.participants[name]
    if not isinstance(participant, StepsNatively):
        raise _NoFunctionsError(f"{name} is a {coupled.descriptions[name].kind}")
    variables = coupled.descriptions[name].variables
    names = [*coupled.input_names[name], *coupled.reads[name]]
    known = ("real", *(participant.native_types if isinstance(participant, StepsTypesNatively) else ()))
    other = [n for n in names if variables[n].type not in known]
    if other:
        raise _NoFunctionsError(f"{name}.{other[0]} is {variables[other[0]].type}")
    try:
        calls = participant.native_calls(coupled.input_names[name], coupled.reads[name], flags)
    except cosim.FmuError as error:
        raise CoSimulationError(coupled.time, str(error), name) from error
    except cosim.ModelError as error:
        first = error.problems[0]
        text = f"{name}: {first.where}: {first.text}"
        raise (NotCompiledError if first.where == "inside" else _NoFunctionsError)(text) from error
    if calls is None:
        raise _NoFunctionsError(
            f"{name} has no solver of its own, arrays, types other than Float64, or lacks a function"
        )
    if along and coupled.follows_lines(name) and not calls.set_slopes:
        raise _NoFunctionsError(f"{name} takes slopes of its inputs in Python")
    if goes_back and not (calls.save and calls.restore and calls.state):
        raise _NoFunctionsError(f"{name} saves its state in Python")
    return calls


def _check_worth(coupled: CoupledParticipants, points: CommunicationPoints) -> None:
    """Refuse short runs of participants whose preparation takes as long as many steps in Python."""
    natives = {n: p for n, p in coupled.participants.items() if isinstance(p, StepsNatively)}
    least = {name: p.least_native_steps for name, p in natives.items() if p.least_native_steps > 0}
    if least and points.count * sum(1.0 / steps for steps in least.values()) < 1.0:
        name = next(iter(least))
        kind = coupled.descriptions[name].kind
        text = f"{name} is a {kind}, and {points.count} steps are too few to load compiled code"
        raise NotCompiledError(text)
