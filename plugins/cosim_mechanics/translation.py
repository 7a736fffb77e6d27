"""Translation joint: three translations."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import clear, put12


class Translation(contracts.Joint):
    """Lets the child move in every direction without turning.

    Law: q = p_FM; q_dot = u = v_FM in F.

    Limits
    ------
    None.

    Parameters
    ----------
    parent, child : body
    frame_on_parent, frame_on_child : pose, default identity
        X_PF and X_BM.
    q : array_like, shape (3,), m, start value of the position of M's origin in F
    u : array_like, shape (3,), m/s, start value of its velocity

    References
    ----------
    Simbody 3.7, ``MobilizedBody::Translation``.

    Examples
    --------
    >>> Translation.nq, Translation.nu
    (3, 3)
    """

    q = cosim.position(unit="m", shape=3, description="position of M's origin in F", elements="xyz")
    u = cosim.speed(unit="m/s", shape=3, description="its velocity, in F", elements="xyz")

    axes = (3, 4, 5)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        put12(X_FM, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, q[0], q[1], q[2]))
        clear(H_FM, 18)
        H_FM[3] = 1.0
        H_FM[10] = 1.0
        H_FM[17] = 1.0

    @cosim.kernel
    def rates(u, q_dot, HDotU_FM):
        for i in range(3):
            q_dot[i] = u[i]
        clear(HDotU_FM, 6)
