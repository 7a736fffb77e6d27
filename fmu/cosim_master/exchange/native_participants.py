"""Which participants the interpreter of exchanges calls by their C functions, and which in Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_master.abilities import NativeCalls, StepsNatively, StepsTypesNatively
from cosim_master.coupling.co_simulation_error import CoSimulationError
from cosim_master.coupling.communication_points import CommunicationPoints
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.value_numbers import TABLED


def native_participants(
    coupled: CoupledParticipants,
    points: CommunicationPoints,
    flags: NDArray[np.float64],
    along: bool,
    goes_back: bool,
) -> dict[str, NativeCalls | str]:
    """The C functions of each participant, or why it is called in Python at its place.

    Where text or binary data are read (`shows_tables`), the function that reads is for all else.

    Parameters
    ----------
    coupled : CoupledParticipants
    points : CommunicationPoints
    flags : ndarray, shape (participants, 5)
        A row for each, which its functions write.
    along : bool
        Whether inputs run along lines.
    goes_back : bool
        Whether steps are repeated from a saved state.
    """
    found: dict[str, NativeCalls | str] = {}
    is_short = _is_short(coupled, points)
    try:
        for name, row in zip(coupled.participants, flags, strict=True):
            try:
                found[name] = _native_calls(coupled, name, row, along, goes_back, is_short)
            except _NoFunctionsError as reason:
                found[name] = str(reason)
    except BaseException:
        for calls in found.values():  # these participants are called in Python after all
            if isinstance(calls, NativeCalls) and calls.leave is not None:
                calls.leave()
        raise
    return found


class _NoFunctionsError(Exception):
    """Why a participant is called in Python."""


def shows_tables(coupled: CoupledParticipants, name: str) -> bool:
    """Whether text or binary data of a participant are read."""
    variables = coupled.descriptions[name].variables
    return any(variables[output].type in TABLED for output in coupled.reads[name])


def _native_calls(
    coupled: CoupledParticipants,
    name: str,
    flags: NDArray[np.float64],
    along: bool,
    goes_back: bool,
    is_short: bool,
) -> NativeCalls:
    participant = coupled.participants[name]
    if not isinstance(participant, StepsNatively):
        raise _NoFunctionsError(f"a {coupled.descriptions[name].kind}")
    if is_short and participant.least_native_steps > 0:
        raise _NoFunctionsError("its compiled code takes longer to load than so few steps")
    inputs, reads = coupled.input_names[name], coupled.reads[name]
    variables = coupled.descriptions[name].variables
    known = ("real", *(participant.native_types if isinstance(participant, StepsTypesNatively) else ()))
    numbers = [n for n in reads if variables[n].type not in TABLED]
    other = [n for n in (*inputs, *numbers) if variables[n].type not in known]
    if other:
        raise _NoFunctionsError(f"{other[0]} is {variables[other[0]].type}")
    try:
        calls = participant.native_calls(inputs, numbers, flags)
    except cosim.FmuError as error:
        raise CoSimulationError(coupled.time, str(error), name) from error
    except cosim.ContractError as error:  # nothing is compiled here
        raise _NoFunctionsError(str(error)) from error
    except cosim.ModelError as error:
        first = error.problems[0]
        raise _NoFunctionsError(f"{first.where}: {first.text}") from error
    if calls is None:
        raise _NoFunctionsError("no solver of its own, arrays, types other than Float64, or a function lacks")
    if along and coupled.follows_lines(name) and not calls.set_slopes:
        raise _NoFunctionsError("it takes slopes of its inputs in Python")
    if goes_back and not (calls.save and calls.restore and calls.state):
        raise _NoFunctionsError("it saves its state in Python")
    return calls


def _is_short(coupled: CoupledParticipants, points: CommunicationPoints) -> bool:
    """Whether preparing participants takes as long as the whole run in Python."""
    natives = [p for p in coupled.participants.values() if isinstance(p, StepsNatively)]
    least = [p.least_native_steps for p in natives if p.least_native_steps > 0]
    return bool(least) and points.count * sum(1.0 / steps for steps in least) < 1.0
