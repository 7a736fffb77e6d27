"""The errors of a joint system: of one participant, or of the system as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cosim
from cosim_master.coupling.errors import CoSimulationError
from cosim_master.joint.joint_model import JointModel, UnsolvedError


def joint_error(
    error: Exception, model: JointModel, members: Mapping[str, Any], time: float, function: str = ""
) -> Exception:
    """The error to raise, with its `__cause__`, for an exception of the solver or of a member.

    The first row that applies decides:

    =================================================== ======================================================
    the exception                                       the error
    =================================================== ======================================================
    has a `CoSimulationError` among its causes          that cause
    has no `UnsolvedError` among them, and its root is  `member_error` of the root, for the member that was
    no `SimulationError`: a call of an FMU has failed   called last
    is of a system with one member                      of that participant, with the text of the exception
    is any other                                        of the whole system, with the text of the
                                                        `UnsolvedError`, of the last inputs that could not be
                                                        determined, or of the root
    =================================================== ======================================================

    Parameters
    ----------
    error : Exception
        No `CoSimulationError`, which stays as it is.
    model : JointModel
    members : mapping of str to ModelExchangeParticipant
    time : float
        The begin of the step, s.
    function : str
        The call, for the message.
    """
    causes: list[BaseException] = [error]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    known_cause = next((c for c in causes if isinstance(c, (CoSimulationError, UnsolvedError))), None)
    if isinstance(known_cause, CoSimulationError):
        return _caused_by(error, known_cause)
    root, name = causes[-1], model.at or next(iter(members))
    if known_cause is None and isinstance(root, Exception) and not isinstance(root, cosim.SimulationError):
        return member_error(root, members, name, time, function)
    if len(members) == 1:
        return _caused_by(error, members[name].failed(RuntimeError(str(error))))
    text = f"{' + '.join(members)}, solved jointly: {known_cause or model.lost or root}"
    return _caused_by(error, CoSimulationError(time, text))


def member_error(
    error: Exception, members: Mapping[str, Any], name: str, time: float, function: str = ""
) -> Exception:
    """The error to raise, with its `__cause__`, for a failed call of a member; it names one of several.

    Parameters
    ----------
    error : Exception
    members : mapping of str to ModelExchangeParticipant
    name : str
        The member.
    time : float
        The begin of the step, s.
    function : str
        The call, for the message.
    """
    failure: Exception = members[name].failed(error, function)
    failure.__cause__ = error.__cause__ if failure is error else error
    if len(members) == 1:
        return failure
    return _caused_by(failure, CoSimulationError(time, str(failure), name))


def _caused_by(cause: Exception, error: Exception) -> Exception:
    error.__cause__ = cause
    return error
