"""Mechanical energy of a model, for its balance."""

from __future__ import annotations

import cosim
from cosim_mechanics.spatial import Reals, angular, cross, dot, linear, plus, rotate, rotate_inverse


def inertia_times(inertia: Reals, w: Reals) -> tuple[float, float, float]:
    """The six elements (Ixx Iyy Izz Ixy Ixz Iyz) of an inertia matrix times a vector in the same axes.

    >>> inertia_times((1, 2, 3, 0, 0, 0), (1, 1, 1))
    (1, 2, 3)
    """
    return (
        inertia[0] * w[0] + inertia[3] * w[1] + inertia[4] * w[2],
        inertia[3] * w[0] + inertia[1] * w[1] + inertia[5] * w[2],
        inertia[4] * w[0] + inertia[5] * w[1] + inertia[2] * w[2],
    )


class Energy(cosim.Component):
    """Kinetic, potential and dissipated energy of the whole model, and their sum.

    Law: the kinetic energy is sum (m v^2 + w . I w) / 2 over the bodies, v the velocity of the centre of
    mass in Ground. The potential energy is the sum of every ``potential_energy`` in the model, and the
    dissipated energy of every ``dissipated_energy``. Where all forces report theirs, `total` is constant:
    its drift is the error of the integration.

    Limits
    ------
    What inputs, motors or constraints with prescribed motion do to the model is work that is not counted
    here.

    Stage
    -----
    REPORT: these values cost nothing while the model is integrated.

    Signals
    -------
    ``kinetic``, ``potential``, ``dissipated``, ``total``, J.

    Examples
    --------
    >>> Energy.declarations["total"].unit()
    'J'
    """

    body = cosim.body(each=True, description="every body that has a mass")
    stored = cosim.collect("potential_energy", description="potential energy of every part that has it")
    lost = cosim.collect("dissipated_energy", description="dissipated energy of every part that has it")

    kinetic = cosim.output(unit="J", accumulates=True, description="kinetic energy of all bodies")
    potential = cosim.output(unit="J", accumulates=True, description="sum of all potential energies")
    dissipated = cosim.output(unit="J", accumulates=True, description="sum of all dissipated energies")
    total = cosim.output(unit="J", description="kinetic + potential + dissipated")

    @cosim.kernel(stage=cosim.Stage.REPORT)
    def add_kinetic(X_GB, V_GB, mass, center_of_mass, inertia, kinetic):
        w = angular(V_GB)
        v = plus(linear(V_GB), cross(w, rotate(X_GB, center_of_mass)))
        w_B = rotate_inverse(X_GB, w)
        kinetic[0] += 0.5 * (mass * dot(v, v) + dot(w_B, inertia_times(inertia, w_B)))

    @cosim.kernel(stage=cosim.Stage.REPORT)
    def add_potential(stored, potential):
        potential[0] += stored

    @cosim.kernel(stage=cosim.Stage.REPORT)
    def add_dissipated(lost, dissipated):
        dissipated[0] += lost

    @cosim.kernel(stage=cosim.Stage.REPORT)
    def add_up(kinetic, potential, dissipated, total):
        total[0] = kinetic + potential + dissipated
