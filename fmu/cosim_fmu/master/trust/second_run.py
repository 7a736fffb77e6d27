"""A second run of a co-simulation, and how far the first one is from it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_fmu.lowering.refusals import system_refusals
from cosim_fmu.master.participants.system_participant import SystemParticipant
from cosim_fmu.master.participants.timed_inputs import TimedInputs
from cosim_workbench.agreement import difference_of

if TYPE_CHECKING:
    from cosim_fmu.master.co_simulation import CoSimulation
    from cosim_fmu.master.loop.coupled_participants import CoupledParticipants

Vector = NDArray[np.float64]
MOST_STEPS = 400_000
"""Of all participants in a second run that nobody has asked for."""
TIGHTER = 10.0 / 9.0
"""Error over the difference to a run with a tenth of the tolerance, where the error follows it."""


class SecondRun(NamedTuple):
    """What a second run shows.

    Attributes
    ----------
    differences : ndarray, shape (outputs,)
        The largest ones of the run.
    factor : float
        Error over difference.
    how : str
        What the first run was compared with.
    """

    differences: Vector
    factor: float
    how: str


def compare(
    loop: CoSimulation, again: CoSimulation, first: CoupledParticipants, until: float | str | None
) -> SecondRun:
    """Run `again`, a refinement of `loop`, and compare all that is sampled.

    The error of order p falls to 2^-p of itself with half the step, so that it is 2^p / (2^p - 1) times the
    difference (Richardson).

    Raises
    ------
    CosimError
        The run fails, or has no point in common with the first.
    """
    assert loop.algorithm is not None
    step, algorithm = loop.step, loop.algorithm
    recorded = [".".join(port) for port in first.sampled_ports]
    second = again.simulate(until, record=recorded, inside="nothing").evidence
    assert second is not None
    places = {port: i for i, port in enumerate(second.sampled_ports)}
    columns = [places[port] for port in first.sampled_ports]
    before, after = first.samples.samples(), second.samples.samples()
    place = np.minimum(np.searchsorted(after.times, before.times - 1e-6 * step), after.times.size - 1)
    common = np.abs(after.times[place] - before.times) <= 1e-6 * step
    if np.count_nonzero(common) < 2:
        raise cosim.CosimError("the two runs have no points in common")
    times, one, other = before.times[common], before.outputs[common], after.outputs[place[common]][:, columns]
    differences = np.array(
        [difference_of(times, one[:, i], other[:, i], counted=False).largest for i in range(one.shape[1])]
    )
    if algorithm.tightened() is not None:
        return SecondRun(differences, TIGHTER, "against a tenth of the tolerance")
    return SecondRun(
        differences, 2.0**algorithm.order / (2.0**algorithm.order - 1.0), "against half the step"
    )


def second_run(
    loop: CoSimulation, again: CoSimulation | None, first: CoupledParticipants
) -> SecondRun | None:
    """Compare with `again`; None where it is too long, or does not come to the end of the first."""
    steps = 2 * first.statistics.steps * len(first.participants)
    if again is None or steps > MOST_STEPS or not first.time > loop.start:
        return None
    try:
        return compare(loop, again, first, first.time)
    except cosim.CosimError:
        return None


def refined(loop: CoSimulation) -> CoSimulation:
    """The same co-simulation with half the step, or a tenth of the tolerance."""
    assert loop.algorithm is not None
    tightened = loop.algorithm.tightened()
    return loop.with_step(
        loop.step if tightened is not None else 0.5 * loop.step, tightened or loop.algorithm
    )


def undisturbed_again(loop: CoSimulation) -> CoSimulation | None:
    """The same refined, with participants of its own; None where a second run could be noticed.

    It cannot where nothing but systems made of compiled functions, and values over time, take part.
    """
    if loop.joint is not None or loop.algorithm is None:
        return None
    for participant in loop.participants.values():
        is_system = type(participant) is SystemParticipant and not system_refusals(participant.system)
        if not is_system and type(participant) is not TimedInputs:
            return None
    again = refined(loop)
    again.take_participants({name: copy.copy(each) for name, each in loop.participants.items()})
    return again
