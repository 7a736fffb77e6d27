"""Weld joint: no degree of freedom."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import IDENTITY, put12


class Weld(contracts.Joint):
    """Fixes the child to the parent: M coincides with F.

    Law: X_FM is the identity; there are no coordinates and no speeds.

    Parameters
    ----------
    parent, child : body
    frame_on_parent, frame_on_child : pose, default identity
        X_PF and X_BM.

    Stage
    -----
    INSTANCE: the pose never changes.

    References
    ----------
    Simbody 3.7, ``MobilizedBody::Weld``.

    Examples
    --------
    >>> Weld.nq, Weld.nu
    (0, 0)
    """

    known_as = ("fixed", "rigid")

    @cosim.kernel(stage=cosim.Stage.INSTANCE)
    def across(X_FM):
        put12(X_FM, IDENTITY)
