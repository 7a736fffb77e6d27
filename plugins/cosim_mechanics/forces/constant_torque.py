"""A torque that keeps its size and its direction in Ground."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import add_torque, angular, dot


class ConstantTorque(contracts.Force):
    """A constant torque on a body.

    Law: the torque m, whatever the motion.

    Frames and signs
    ----------------
    m is expressed in Ground and does not turn with the body; positive by the right-hand rule.

    Limits
    ------
    None.

    Parameters
    ----------
    body : body
    torque : array_like, shape (3,), N.m
        m, in Ground.

    Energy
    ------
    A torque with a fixed direction has no potential in space. What it does, m . w, is counted as supplied, in
    `supplied_energy`.

    References
    ----------
    Simbody 3.7, ``Force::ConstantTorque``.

    Examples
    --------
    >>> ConstantTorque(body="wheel", torque=(0, "5 N.m", 0)).torque.tolist()
    [0.0, 5.0, 0.0]
    """

    known_as = ("torque",)
    body = contracts.body(description="the body that the torque acts on")
    torque = cosim.parameter(unit="N.m", shape=3, description="the torque, in Ground", elements="xyz")
    supplied_energy = contracts.supplied_energy()

    @cosim.kernel
    def force(V_GB, torque, F_GB, supplied_energy_dot):
        add_torque(F_GB, torque)
        supplied_energy_dot[0] = dot(torque, angular(V_GB))
