"""Singular positions to which a motion leads, for the message of a step that could not be taken."""

from __future__ import annotations

import numpy as np

import cosim
from cosim_mechanics import contracts

#: How far from the last good state, in lengths of the step that failed.
FARTHER = 4.0
#: Positions that are checked, at least and at most, and how far coordinates move between two of them.
FEWEST, MOST = 64, 1000
CLOSE = 4e-3


def singular_ahead(state: cosim.State, duration: float) -> tuple[list[str], float]:
    """The constraints that are in a singular position along the tangent of the motion, and when (s).

    The speeds stay what they are, and positions miss the constraints by the square of the way: what is found
    lies near the singular position, not at it.

    Parameters
    ----------
    state : State
        It is left as it is.
    duration : float
        Of the step that failed, s.
    """
    system, twin = state.system, state.copy()
    names = [name for name, part in system.parts.items() if isinstance(part, contracts.Constraint)]
    if not names:
        return [], state.time
    try:
        q_dot = twin.realize(cosim.Stage.ACCELERATION).y_dot[: system.nq].copy()
        reach = FARTHER * duration
        fastest = float(np.abs(q_dot).max(initial=0.0))
        if not np.isfinite(fastest * reach):
            return [], state.time
        for time in np.linspace(0.0, reach, int(min(max(FEWEST, fastest * reach / CLOSE), MOST))):
            twin.set_q(state.q + time * q_dot)
            twin.realize(cosim.Stage.ACCELERATION)
            singular = [name for name in names if twin[f"{name}.singular"]]
            if singular:
                return singular, state.time + float(time)
    except cosim.CosimError:
        pass  # there is a message already: that of the step
    return [], state.time
