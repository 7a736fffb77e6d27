"""A gear with play: two shafts that touch only at the ends of a gap."""

import cosim
import cosim_mechanics


class Backlash(cosim_mechanics.Force):
    """Torque between two shafts that is zero within the play and stiff beyond it.

    Law: d = q1 - q2; beyond half the gap the teeth have the depth e = |d| - gap / 2 and press with
    k e (1 + c e'), never pull.

    Frames and signs
    ----------------
    A positive torque acts on the second coordinate, its opposite on the first.

    Limits
    ------
    The teeth are elastic: a step resolves each touch. At rest the shafts may stand anywhere in the gap.

    Energy
    ------
    Stored: k e^2 / 2. Dissipated: what the damping takes while the teeth touch.

    Examples
    --------
    >>> Backlash(driving="motor", driven="load", gap="2 deg").stiffness
    10000.0
    """

    driving = cosim_mechanics.coordinate(description="the first shaft")
    driven = cosim_mechanics.coordinate(description="the second shaft")
    gap = cosim.parameter(unit="rad", default="1 deg", minimum=0.0, description="whole play")
    stiffness = cosim.parameter(unit="N.m/rad", default=1e4, minimum=0.0, description="k of the teeth")
    damping = cosim.parameter(unit="s/rad", default=0.05, minimum=0.0, description="c")
    torque = cosim.output(unit="N.m", description="on the second shaft")
    potential_energy = cosim.cache_slot(unit="J", description="stored in the teeth")
    dissipated_energy = cosim.auxiliary_state(unit="J", description="lost between the teeth")

    @cosim.kernel
    def energy(q_driving, q_driven, gap, stiffness, potential_energy):
        depth = max(0.0, abs(q_driving - q_driven) - 0.5 * gap)
        potential_energy[0] = 0.5 * stiffness * depth * depth

    @cosim.kernel
    def force(
        q_driving,
        q_driven,
        u_driving,
        u_driven,
        gap,
        stiffness,
        damping,
        tau_driving,
        tau_driven,
        torque,
        dissipated_energy_dot,
    ):
        side = 1.0 if q_driving > q_driven else -1.0
        depth = max(0.0, side * (q_driving - q_driven) - 0.5 * gap)
        rate = side * (u_driving - u_driven)
        press = max(0.0, stiffness * depth * (1.0 + damping * rate))
        torque[0] = side * press
        tau_driving[0] -= side * press
        tau_driven[0] += side * press
        dissipated_energy_dot[0] = (press - stiffness * depth) * rate
